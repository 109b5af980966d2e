import {createHash} from 'node:crypto'
import {mkdtempSync, rmSync} from 'node:fs'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {expect, onTestFinished, test} from 'vitest'
import {passwordHash} from '../../src/identity/password.ts'
import {startGateway} from '../support/gateway.ts'
import {openOidc, says} from '../support/sign-in.ts'
import type {PeopleHouse} from './people-house.ts'
import {addSaml} from './people-saml.ts'

const VERIFIER = 'v'.repeat(43)
const CHALLENGE = createHash('sha256').update(VERIFIER).digest('base64url')
const SEND = {method: 'POST', headers: {accept: 'application/json'}}

async function opened() {
  const folder = mkdtempSync(join(tmpdir(), 'gateway-restarts-'))
  const house = await openOidc('sqlite', {}, {folder})
  const others: {close(): Promise<void>}[] = [house.gateway]
  onTestFinished(async () => {
    await others.at(-1)!.close()
    await house.provider.close()
    rmSync(folder, {recursive: true, force: true})
  })
  const {shared, url} = house.gateway
  return {
    house,
    async restart() {
      await others.at(-1)!.close()
      others.push(await startGateway({...shared, PORT: new URL(url).port, CONTROL_PLANE_URL: url}, {folder}))
    },
  }
}

test('a restart between the steps of a sign-in: each way goes on, once', async () => {
  const {house, restart} = await opened()
  const {gateway, provider} = house
  const saml = await addSaml(house as unknown as PeopleHouse)
  const oidc = `?issuer=${encodeURIComponent(provider.issuer)}`
  says(provider, {sub: 'mia', email: 'mia@example.test', email_verified: true})
  const {browser: mia} = await house.signIn(undefined, oidc)
  const late = gateway.browser()
  const {href} = await provider.answerTo((await late.go(`/v2/auth/login${oidc}`)).location!)
  const sam = gateway.browser()
  const finish = await saml.answered(sam, {email: 'sam@example.test'})
  const {device_code, user_code} = (await mia.go('/v1/auth/device', {...SEND, body: {host: 'laptop'}})).body
  await mia.go('/v2/auth/device', {...SEND, body: {user_code, decision: 'approve'}})
  const command = `&cli_port=4567&cli_state=${'s'.repeat(20)}&cli_challenge=${CHALLENGE}`
  const {location} = await mia.go(`/v2/auth/login${oidc}${command}`)
  const body = {request: new URL(location!, mia.base).searchParams.get('request'), decision: 'approve'}
  const code = new URL((await mia.go('/v2/auth/cli', {...SEND, body})).body.location).searchParams.get('code')

  await restart()
  const nobody = gateway.browser()
  const fetched = async () =>
    Promise.all([
      nobody.go('/v1/auth/device/token', {...SEND, body: {device_code}}).then(({status}) => status),
      nobody.go('/v1/auth/cli/token', {...SEND, body: {code, code_verifier: VERIFIER}}).then(({status}) => status),
    ])
  expect((await mia.self()).user.email).toBe('mia@example.test')
  expect((await late.go(href)).status).toBe(303)
  expect((await late.self()).user.email).toBe('mia@example.test')
  expect((await sam.go(finish)).status).toBe(303)
  expect((await sam.self()).user.email).toBe('sam@example.test')
  expect(await fetched()).toEqual([200, 200])

  await restart()
  expect([(await late.go(href)).status, (await sam.go(finish)).status]).toEqual([400, 400])
  expect(await fetched()).toEqual([400, 400])
})

test('a stop while a sign-in is judged: its person gets the answer, and the session is there afterwards', async () => {
  const {house, restart} = await opened()
  const {gateway} = house
  await gateway.person('olga', 'owner')
  const password = 'correct horse of the owner'
  await gateway.admin('POST', '/operator/users/password', {email: 'olga@example.test', password})
  // one derivation at a time: the one of the sign-in waits for these
  const before = [passwordHash(password), passwordHash(password)]
  const browser = gateway.browser()
  const answer = browser.go('/v2/auth/password', {...SEND, body: {email: 'olga@example.test', password}})
  await expect.poll(async () => (await fetch(`${gateway.url}/livez`)).status, {interval: 5}).toBe(200)
  const stopped = restart()
  const {status, headers} = await answer
  expect([status, headers.get('set-cookie')]).toEqual([200, expect.stringContaining('session=gs-')])
  await Promise.all([stopped, ...before])
  expect((await browser.self()).user.email).toBe('olga@example.test')
})
