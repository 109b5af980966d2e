import {mkdtempSync, rmSync} from 'node:fs'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {afterAll, afterEach, beforeAll, beforeEach, describe, expect, test} from 'vitest'
import {newId} from '../../src/base/ids.ts'
import {readSettings} from '../../src/settings/index.ts'
import {openStore} from '../../src/store/dialect/index.ts'
import {insertDomain} from '../../src/store/domains.ts'
import {NO_SLAPD, type Slapd, startSlapd} from '../identity/ldap/slapd.ts'
import {startGateway, type TestGateway} from '../support/gateway.ts'
import {Browser, freePort} from '../support/sign-in.ts'
import {addGroup, addPerson, PEOPLE, RIGHT} from './ldap-house.ts'

describe.skipIf(NO_SLAPD)('73: the connection of the environment, to a directory', () => {
  let slapd: Slapd
  let folder: string
  const running: TestGateway[] = []
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'gateway-ldap-'))
  })
  const stopAll = async () => {
    for (const gateway of running.splice(0)) await gateway.close()
  }
  afterEach(async () => {
    await stopAll()
    rmSync(folder, {recursive: true, force: true})
  })
  beforeAll(async () => {
    slapd = await startSlapd({tls: true})
    for (const uid of ['ada', 'ben']) addPerson(slapd, uid)
    addPerson(slapd, 'sub', ['sub@dev.vouched.test'])
    addGroup(slapd, 'gw-admins', 'ada')
  })
  afterAll(() => slapd?.stop())

  const envOf = async () => {
    const port = await freePort()
    return {
      PORT: String(port),
      CONTROL_PLANE_URL: `http://127.0.0.1:${port}`,
      AUTH_MODE: 'SSO',
      AUTH_SSO_TYPE: 'ldap',
      AUTH_VERIFIED_DOMAINS: 'example.test,*.vouched.test',
      LDAP_URL: `ldaps://localhost:1, ${slapd.url}`,
      LDAP_CA: slapd.ca_pem!,
      LDAP_BIND_DN: slapd.admin_dn,
      LDAP_BIND_PASSWORD: slapd.admin_password,
      LDAP_USER_BASE: PEOPLE,
      LDAP_NAME_ATTRIBUTES: 'uid,sn',
      LDAP_GROUP_BASE: 'ou=groups,dc=example,dc=test',
      LDAP_GROUP_FILTER: '(member={dn})',
    }
  }
  const opened = async (changes: Record<string, string | undefined> = {}) => {
    const env = {...(await envOf()), ...changes}
    const given = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== undefined))
    const gateway = await startGateway(given as Record<string, string>, {folder})
    running.push(gateway)
    const signIn = async (username: string) => {
      const browser = new Browser(env.CONTROL_PLANE_URL)
      const reply = await browser.go('/v2/auth/ldap', {method: 'POST', body: {username, password: RIGHT}})
      return {browser, reply}
    }
    return {gateway, env, signIn}
  }

  test('people sign in by it, and groups give roles', async () => {
    const {gateway, signIn} = await opened()
    const role_mapping = [{group: 'gw-admins', role: 'admin'}]
    await gateway.admin('PUT', '/admin/organisation/auth', {provisioning: {role_mapping}})
    const {browser} = await signIn('ada')
    expect(await browser.self()).toMatchObject({
      user: {email: 'ada@example.test', first_name: 'ada'},
      organisation: {role: 'admin'},
      session: {method: 'ldap'},
    })
    expect((await (await signIn('sub')).browser.self()).user.email).toBe('sub@dev.vouched.test')
  })

  test('its place in the organisation is read-only, and shows no secret', async () => {
    const {gateway} = await opened()
    const view = await gateway.admin('GET', '/admin/organisation/auth')
    expect(JSON.stringify(view)).not.toContain(slapd.admin_password)
    const sso = {enabled: true, type: 'ldap', ldap: {url: 'ldaps://other.test', user_base: PEOPLE}}
    const reply = await gateway.app.inject({method: 'PUT', url: '/v1/admin/organisation/auth', body: {sso}})
    expect(reply.status).toBe(409)
    expect(JSON.stringify(reply.body)).toContain('AUTH_MODE')
    expect(JSON.stringify(reply.body)).toContain('AB07')
  })

  test('a domain that the settings name no more is verified no more; one of the operator stays', async () => {
    const first = await opened()
    expect((await first.signIn('ben')).reply.status).toBe(200)
    await first.gateway.admin('POST', '/operator/domains', {domain: 'kept.test'})
    await stopAll()
    const {gateway, signIn} = await opened({AUTH_VERIFIED_DOMAINS: 'vouched.test'})
    // known or not: his domain lets nobody in
    expect((await signIn('ben')).reply.status).toBe(403)
    expect((await signIn('sub')).reply.status).toBe(403)
    expect(await domainsOf(gateway)).toEqual(['kept.test', 'vouched.test'])
    await stopAll()
    const none = await opened({AUTH_VERIFIED_DOMAINS: undefined})
    expect(await domainsOf(none.gateway)).toEqual(['kept.test'])
  })

  test('a domain that was claimed before the settings named it is theirs: with them it goes', async () => {
    const {gateway} = await opened({AUTH_VERIFIED_DOMAINS: undefined})
    await gateway.admin('POST', '/admin/organisation/domains', {domain: 'claimed.test'})
    await stopAll()
    const named = await opened({AUTH_VERIFIED_DOMAINS: 'claimed.test'})
    const {data} = await named.gateway.admin<{data: object[]}>('GET', '/admin/organisation/domains')
    expect(data).toMatchObject([{domain: 'claimed.test', status: 'verified', proof: 'settings', looked_at: null}])
    await stopAll()
    const none = await opened({AUTH_VERIFIED_DOMAINS: undefined})
    expect(await domainsOf(none.gateway)).toEqual([])
  })

  test('without AUTH_MODE the domains are vouched for, and nobody signs in by LDAP', async () => {
    const port = await freePort()
    const env = {PORT: String(port), CONTROL_PLANE_URL: `http://127.0.0.1:${port}`, AUTH_VERIFIED_DOMAINS: 'b.test'}
    const gateway = await startGateway(env, {folder})
    running.push(gateway)
    expect(await domainsOf(gateway)).toEqual(['b.test'])
    const body = {username: 'ada', password: RIGHT}
    const reply = await new Browser(env.CONTROL_PLANE_URL).go('/v2/auth/ldap', {method: 'POST', body})
    expect(reply.status).toBe(404)
  })

  test('of several organisations one has to be named; a domain of another one is not taken from it', async () => {
    const {gateway} = await opened()
    const [own] = (await gateway.admin<{data: {id: string; slug: string}[]}>('GET', '/operator/organisations')).data
    const other = await gateway.admin<{id: string}>('POST', '/operator/organisations', {name: 'Other'})
    await stopAll()
    const store = await openStore({kind: 'sqlite', folder, role: 'operator'})
    const at = new Date().toISOString()
    await insertDomain(store.db, {
      ...{id: newId(), organisation_id: other.id, domain: 'theirs.test', allow_subdomains: 0, status: 'verified'},
      ...{code: 'of the operator', created_at: at, verified_at: at},
    })
    await store.close()
    await expect(opened()).rejects.toThrow('AUTH_ORGANISATION has to say which organisation it is')
    await expect(opened({AUTH_ORGANISATION: 'nowhere'})).rejects.toThrow('there is no organisation nowhere')
    const named = {AUTH_ORGANISATION: own!.slug}
    await expect(opened({...named, AUTH_VERIFIED_DOMAINS: 'example.test,theirs.test'})).rejects.toThrow(
      'AUTH_VERIFIED_DOMAINS: theirs.test is a verified domain of another organisation.',
    )
    expect((await (await opened(named)).signIn('ada')).reply.status).toBe(200)
  })

  const domainsOf = async (gateway: TestGateway) => {
    const {data} = await gateway.admin<{data: {domain: string}[]}>('GET', '/admin/organisation/domains')
    return data.map(({domain}) => domain).sort()
  }
})

test.each<[string, Record<string, string>, string]>([
  ['no type', {AUTH_MODE: 'SSO'}, 'AUTH_SSO_TYPE'],
  ['no place', {AUTH_MODE: 'SSO', AUTH_SSO_TYPE: 'ldap'}, 'LDAP_URL and LDAP_USER_BASE'],
  ['no base', {AUTH_MODE: 'SSO', AUTH_SSO_TYPE: 'ldap', LDAP_URL: 'ldaps://d.test'}, 'LDAP_USER_BASE'],
  ['no mode', {LDAP_URL: 'ldaps://d.test'}, 'AUTH_MODE=SSO'],
  [
    'a password in the clear',
    {
      ...{AUTH_MODE: 'SSO', AUTH_SSO_TYPE: 'ldap', LDAP_URL: 'ldap://d.test', LDAP_USER_BASE: PEOPLE},
      LDAP_START_TLS: 'OFF',
    },
    'LDAP_ALLOW_PLAINTEXT=ON',
  ],
])('73: settings with %s are refused before a start', (_, env, named) => {
  expect(() => readSettings({env})).toThrow(named)
})
