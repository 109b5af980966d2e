import {mkdtempSync, rmSync} from 'node:fs'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {afterAll, beforeAll, expect, test} from 'vitest'
import {type LyingProvider, startLyingProvider} from '../identity/oidc/lying-provider.ts'
import {startGateway, type TestGateway} from '../support/gateway.ts'
import {forRing} from '../support/ring.ts'
import {Browser, freePort, says} from '../support/sign-in.ts'

const MIA = {sub: 'mia', email: 'mia@example.test', email_verified: true}

let folder: string
let provider: LyingProvider
let base: Record<string, string>
let gateway: TestGateway | undefined
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'gateway-environment-'))
  provider = await startLyingProvider()
  const port = await freePort()
  base = {PORT: String(port), CONTROL_PLANE_URL: `http://127.0.0.1:${port}`, AUTH_VERIFIED_DOMAINS: 'example.test'}
})
afterAll(async () => {
  await gateway?.close()
  await provider.close()
  rmSync(folder, {recursive: true, force: true})
})

/** Starts the gateway on the same data directory, in place of the one that runs. */
async function restart(env: Record<string, string>) {
  await gateway?.close()
  gateway = await startGateway({...base, ...env}, {folder})
  return gateway
}

const sso = () => ({
  ...{AUTH_MODE: 'SSO', AUTH_SSO_TYPE: 'oidc', OIDC_ISSUER: provider.issuer},
  ...{OIDC_CLIENTID: provider.client_id, OIDC_CLIENT_SECRET: 'lying-secret-of-the-client'},
})

async function signIn(): Promise<Browser> {
  says(provider, MIA)
  const browser = new Browser(base.CONTROL_PLANE_URL!)
  const {location} = await browser.go('/v2/auth/login')
  const {href} = await provider.answerTo(location!)
  expect((await browser.go(href)).status).toBe(303)
  return browser
}

const OTHERS = forRing<readonly (readonly [string, () => Record<string, string>])[]>({
  own: [['no AUTH_MODE', () => ({})]],
  ci: [
    ['no AUTH_MODE', () => ({})],
    ['another issuer', () => ({...sso(), OIDC_ISSUER: 'https://other.test'})],
  ],
  full: [
    ['no AUTH_MODE', () => ({})],
    ['AUTH_MODE=NO_AUTH', () => ({AUTH_MODE: 'NO_AUTH'})],
    ['another issuer', () => ({...sso(), OIDC_ISSUER: 'https://other.test'})],
    ['another kind', () => ({AUTH_MODE: 'SSO', AUTH_SSO_TYPE: 'saml', OIDC_ISSUER: 'https://other.test/metadata'})],
  ],
})

test.each(OTHERS)('a restart with %s ends the sessions of the connection, for ever, and no other', async (_, other) => {
  await restart(sso())
  const browser = await signIn()
  const user = (await browser.self()).user.id
  await gateway!.admin('POST', '/operator/users', {email: `o-${user}@example.test`, role: 'owner'}).catch(() => null)
  const body = {email: `o-${user}@example.test`, ttl_s: 3600}
  const {token} = await gateway!.admin<{token: string}>('POST', '/operator/sessions', body)
  const operator = () =>
    fetch(`${base.CONTROL_PLANE_URL}/v1/auth/self`, {headers: {authorization: `Bearer ${token}`}}).then(r => r.status)
  // who speaks stays the same
  await restart({...sso(), OIDC_CLIENT_SECRET: 'a-rotated-secret-of-the-client'})
  expect((await browser.self()).user.id).toBe(user)
  const {lines} = await restart(other())
  expect([await browser.self(), await operator()]).toEqual([401, 200])
  expect(lines.filter(line => line.includes('its sessions were ended'))).toHaveLength(1)
  await restart(sso())
  expect([await browser.self(), await operator()]).toEqual([401, 200])
  expect((await (await signIn()).self()).user.id).toBe(user)
})
