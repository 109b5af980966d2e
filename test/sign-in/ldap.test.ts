import {existsSync, readdirSync, readFileSync} from 'node:fs'
import {join} from 'node:path'
import {afterAll, beforeAll, beforeEach, describe, expect, test} from 'vitest'
import {NO_SLAPD} from '../identity/ldap/slapd.ts'
import {KINDS} from '../support/stores.ts'
import {
  addGroup,
  addPerson,
  elsewhere,
  type LdapHouse,
  openLdap,
  PEOPLE,
  RIGHT,
  removeGroup,
  shownOf,
} from './ldap-house.ts'

describe.skipIf(NO_SLAPD).each(KINDS)('LDAP, from the typed password to a session, on %s', kind => {
  let house: LdapHouse
  beforeAll(async () => {
    house = await openLdap(kind)
    const {slapd, gateway} = house
    for (const uid of ['ada', 'rita', 'mia', 'adam', 'olga', 'twin']) addPerson(slapd, uid)
    addPerson(slapd, 'mallory', ['mia@example.test'])
    addPerson(slapd, 'twin2', ['twin@example.test'])
    addPerson(slapd, 'mixed', ['mixed@elsewhere.test', 'mixed@example.test', 'not an address'])
    addPerson(slapd, 'foreign', ['foreign@elsewhere.test'])
    addPerson(slapd, 'silent', [])
    await gateway.person('adam', 'admin')
    await gateway.person('olga', 'owner')
    await house.connect()
  })
  afterAll(() => house?.close())
  beforeEach(() => house.later())

  const usersOf = async (email: string) => {
    const {data} = await house.gateway.admin<{data: {email: string}[]}>('GET', '/admin/users')
    return data.filter(user => user.email === email)
  }

  test('67: a right password makes a member with a session, and the second time he is the same', async () => {
    const {browser, reply} = await house.signIn({username: 'ada', more: {return_to: '/v2/auth/account?a=b'}})
    expect([reply.status, reply.body]).toEqual([200, {location: '/v2/auth/account?a=b'}])
    const [cookie] = reply.headers.getSetCookie()
    expect(cookie).toMatch(/^__Host-gateway_session=gs-[\w-]{43}; Path=\/; Secure; HttpOnly; SameSite=Lax$/)
    expect(reply.headers.get('cache-control')).toBe('no-store')
    const self = await browser.self()
    expect(self).toMatchObject({
      user: {email: 'ada@example.test', last_name: 'ada'},
      organisation: {role: 'member'},
      session: {kind: 'browser', method: 'ldap'},
    })
    const [row] = await house.gateway.rows('sign_in')
    expect(row).toMatchObject({
      ...{action: 'manage', actor_type: 'user', status: 200},
      body: {method: 'ldap', email: 'ada@example.test', subject: expect.stringMatching(/^[\da-f-]{36}$/)},
    })
    const made = (await house.gateway.rows('user')).find(each => each.body.email === 'ada@example.test')
    expect(made).toMatchObject({action: 'create', body: {by: 'ldap'}})
    const again = await house.signIn({username: 'ADA@example.test'})
    expect((await again.browser.self()).user.id).toBe(self.user.id)
    expect(again.browser.session).not.toBe(browser.session)
    expect(await usersOf('ada@example.test')).toHaveLength(1)
    expect(house.bindsOf(`uid=ada,${PEOPLE}`).map(({password}) => password)).toEqual([RIGHT, RIGHT])
  })

  test('a session that the browser held before ends with the next', async () => {
    const {browser} = await house.signIn({username: 'ada'})
    const {session} = browser
    await house.signIn({username: 'ada', browser})
    expect(browser.session).not.toBe(session)
    const before = house.gateway.browser()
    before.cookies.set('__Host-gateway_session', session!)
    expect(await before.self()).toBe(401)
  })

  test('35: a return to another host stays here', async () => {
    for (const return_to of ['https://evil.test/', '//evil.test', '/\\evil.test', '/%5cevil.test'])
      expect((await house.signIn({username: 'ada', more: {return_to}})).reply.body).toEqual({location: '/'})
  })

  test.each([
    ['json', {accept: 'application/json'}],
    ['a page', {accept: 'text/html'}],
  ])('67: an unknown user gets the bytes of a wrong password, as %s', async (as, headers) => {
    const wrong = async (username: string, password = RIGHT) => {
      const browser = house.gateway.browser()
      const fields = {username, password}
      const body = as === 'json' ? fields : new URLSearchParams(fields)
      const reply = await browser.go('/v2/auth/ldap', {method: 'POST', body, headers})
      await house.expectShut({browser, reply}, 'credentials_wrong')
      return shownOf(reply)
    }
    const right_name = await wrong('ada', 'wrong')
    expect(right_name.status).toBe(401)
    expect(right_name.text).toContain('The user name or the password is wrong.')
    expect(house.binds.map(({dn}) => dn)).toContain(`uid=ada,${PEOPLE}`)
    for (const username of ['nobody', 'twin@example.test', '*', '*)(uid=*', '\\2a', 'ad*', 'ada)(|(uid=ada', ''])
      expect(await wrong(username), username).toEqual(right_name)
    expect(await wrong('ada', ''), 'no password').toEqual(right_name)
    expect(await wrong('ada', `\0${RIGHT}`), 'NUL').toEqual(right_name)
  })

  test('67: an unknown user costs the directory a bind as well, as no entry', async () => {
    await house.signIn({username: 'nobody'})
    expect(house.binds.map(({dn, password}) => [dn, password])).toContainEqual([
      `cn=gateway-no-such-entry,${PEOPLE}`,
      RIGHT,
    ])
  })

  test.each([
    ['empty', {password: ''}],
    ['absent', {}],
    ['null', {password: null}],
  ])('67: a password that is %s is sent to no directory', async (_, fields) => {
    const browser = house.gateway.browser()
    const reply = await browser.go('/v2/auth/ldap', {method: 'POST', body: {username: 'ada', ...fields}})
    expect(reply.status).toBe(401)
    expect(house.binds).toEqual([])
    await house.expectShut({browser, reply}, 'credentials_wrong')
  })

  test.each([
    ['a list for a password', {username: 'ada', password: [RIGHT]}],
    ['a list for a name', {username: ['ada'], password: RIGHT}],
    ['a password of 1025 characters', {username: 'ada', password: 'x'.repeat(1025)}],
    ['a name of 257 characters', {username: 'a'.repeat(257), password: RIGHT}],
  ])('67: %s is refused before anything is sent', async (_, body) => {
    const reply = await house.gateway.browser().go('/v2/auth/ldap', {method: 'POST', body})
    expect([reply.status, reply.text.includes(RIGHT)]).toEqual([400, false])
    expect(house.binds).toEqual([])
  })

  test('67: two entries that fit: no bind as either of them', async () => {
    const {browser, reply} = await house.signIn({username: 'twin@example.test'})
    expect(reply.status).toBe(401)
    expect(house.binds.filter(({dn}) => dn.startsWith('uid='))).toEqual([])
    await house.expectShut({browser, reply}, 'credentials_wrong')
    await expect.poll(() => house.refusal().then(body => body?.detail)).toBe('several entries fit the user name')
  })

  test('67, IC1: groups give roles, and take them back', async () => {
    await house.gateway.auth({provisioning: {role_mapping: [{group: 'gw-admins', role: 'admin'}]}})
    const roleOf = async (username: string) => {
      const {browser} = await house.signIn({username})
      return {browser, role: (await browser.self()).organisation.role}
    }
    addGroup(house.slapd, 'gw-admins', 'rita')
    const first = await roleOf('rita')
    expect(first.role).toBe('admin')
    removeGroup(house.slapd, 'gw-admins')
    addGroup(house.slapd, 'GW-admins', 'rita') // compared exactly: another group
    expect((await roleOf('rita')).role).toBe('member')
    expect((await first.browser.self()).organisation.role).toBe('member')
    const [row] = await house.gateway.rows('user')
    expect(row).toMatchObject({action: 'update', body: {by: 'ldap', from: 'admin', to: 'member'}})
    removeGroup(house.slapd, 'GW-admins')
  })

  test('IC1: groups that cannot be read take nothing, and let nobody in', async () => {
    addGroup(house.slapd, 'gw-admins', 'rita')
    const group_base = 'ou=groups,dc=example,dc=test'
    await house.connect({group_base, group_filter: '(member={dn})'})
    const {browser} = await house.signIn({username: 'rita'})
    expect((await browser.self()).organisation.role).toBe('admin')
    await house.connect({group_base: 'ou=absent,dc=example,dc=test', group_filter: '(member={dn})'})
    const {reply} = await house.signIn({username: 'rita'})
    expect(reply.status).toBe(503)
    expect((await browser.self()).organisation.role).toBe('admin')
    await house.connect({group_base: null, group_filter: null})
    removeGroup(house.slapd, 'gw-admins')
    await house.gateway.auth({provisioning: {role_mapping: null}})
  })

  test('IC5: an address of two entries is the account of neither; linked before, it stays', async () => {
    await house.expectShut(await house.signIn({username: 'mallory'}), 'address_not_unique')
    const mia = await house.signIn({username: 'mia'})
    expect(mia.reply.status).toBe(409)
    expect(await usersOf('mia@example.test')).toEqual([])
    house.slapd.add(`dn: uid=mallory,${PEOPLE}\nchangetype: modify\nreplace: mail\nmail: mallory@example.test`)
    expect((await house.signIn({username: 'mia'})).reply.status).toBe(200)
    house.slapd.add(`dn: uid=mallory,${PEOPLE}\nchangetype: modify\nreplace: mail\nmail: mia@example.test`)
    house.later()
    await house.expectShut(await house.signIn({username: 'mallory'}), 'address_not_unique')
    const {browser, reply} = await house.signIn({username: 'mia'})
    expect(reply.status).toBe(200)
    expect((await browser.self()).user.email).toBe('mia@example.test')
    expect(await usersOf('mia@example.test')).toHaveLength(1)
  })

  test('IC5: a user name that is an address of two entries is as wrong as any', async () => {
    const {reply} = await house.signIn({username: 'mia@example.test'})
    expect(reply.status).toBe(401)
    expect(house.binds.filter(({dn}) => dn.startsWith('uid='))).toEqual([])
  })

  test.each([
    ['his own first', ['mallory@example.test', 'mia@example.test']],
    ['his own last', ['mia@example.test', 'mallory@example.test']],
  ])('IC5: two addresses of verified domains, %s, are none', async (_, addresses) => {
    const lines = addresses.map(address => `mail: ${address}`).join('\n')
    house.slapd.add(`dn: uid=mallory,${PEOPLE}\nchangetype: modify\nreplace: mail\n${lines}`)
    const signed = await house.signIn({username: 'mallory'})
    expect(signed.reply.status).toBe(409)
    await house.expectShut(signed, 'address_not_unique')
  })

  test('C2: of several addresses the only one of a verified domain counts', async () => {
    const {browser} = await house.signIn({username: 'mixed'})
    expect((await browser.self()).user.email).toBe('mixed@example.test')
  })

  test.each([
    ['adam', 'link_needs_proof', 409],
    ['olga', 'link_needs_proof', 409],
    ['foreign', 'domain_foreign', 403],
    ['silent', 'email_missing', 403],
  ])('IC4, 32: the address alone lets %s in nowhere: %s', async (username, reason, status) => {
    const signed = await house.signIn({username})
    expect(signed.reply.status).toBe(status)
    await house.expectShut(signed, reason)
    const links = await house.gateway.rows('identity')
    expect(links.filter(({body}) => body.email === `${username}@example.test`)).toEqual([])
  })

  describe('77: where the request comes from', () => {
    const sent = async (headers: Record<string, string>, as: 'form' | 'json') => {
      const fields = {username: 'ada', password: RIGHT}
      const body = as === 'form' ? new URLSearchParams(fields) : JSON.stringify(fields)
      const type: Record<string, string> = as === 'form' ? {} : {'content-type': 'application/json'}
      const url = new URL('/v2/auth/ldap', house.gateway.shared.CONTROL_PLANE_URL!)
      // no browser: what it sends of its origin is said here alone
      return fetch(url, {method: 'POST', redirect: 'manual', body, headers: {...type, ...headers}})
    }

    test.each<[string, Record<string, string>, 'form' | 'json']>([
      ['a form of another site', {'sec-fetch-site': 'cross-site', origin: 'https://evil.test'}, 'form'],
      ['a form of a sibling site', {'sec-fetch-site': 'same-site'}, 'form'],
      ['a form of another site in an old browser', {origin: 'https://evil.test'}, 'form'],
      ['a form of a page without an origin', {origin: 'null'}, 'form'],
      ['a form that says nothing', {}, 'form'],
      ['a script of another site', {'sec-fetch-site': 'cross-site'}, 'json'],
      ['a script of another site in an old browser', {origin: 'https://evil.test'}, 'json'],
      ['a link that was typed in', {'sec-fetch-site': 'none'}, 'form'],
    ])('%s: 403, and nothing is bound', async (_, headers, as) => {
      const reply = await sent(headers, as)
      expect([reply.status, reply.headers.getSetCookie()]).toEqual([403, []])
      expect(house.binds).toEqual([])
    })

    test.each<[string, () => Record<string, string>, 'form' | 'json', number]>([
      ['a form of ours', () => ({'sec-fetch-site': 'same-origin', accept: 'text/html'}), 'form', 303],
      ['a form of ours in an old browser', () => ({...origin(), accept: 'text/html'}), 'form', 303],
      ['a script of ours', () => ({'sec-fetch-site': 'same-origin'}), 'json', 200],
      ['JSON of no browser', () => ({}), 'json', 200],
    ])('%s: a session', async (_, headers, as, status) => {
      const reply = await sent(headers(), as)
      expect(reply.status).toBe(status)
      expect(reply.headers.getSetCookie()[0]).toMatch(/^__Host-gateway_session=gs-/)
    })
    const origin = () => ({origin: house.gateway.shared.CONTROL_PLANE_URL!})
  })

  test('a name of this gateway at which browsers keep no session is refused before anything is sent', async () => {
    const {CONTROL_PLANE_URL} = house.gateway.shared
    const reply = await elsewhere(CONTROL_PLANE_URL!, '/v2/auth/ldap', {username: 'ada', password: RIGHT})
    expect(reply).toEqual({status: 403, cookies: []})
    expect(house.binds).toEqual([])
  })

  test('a sign-in by the link of an invite is over once its connection was changed', async () => {
    addPerson(house.slapd, 'ines')
    const invite = {email: 'ines@example.test', role: 'member', workspaces: []}
    const link = await house.gateway.admin<{invite_link: string}>('POST', '/admin/users/invites', invite)
    const token = link.invite_link.split('#token=')[1]!
    const begun = async () => {
      const browser = house.gateway.browser()
      const {location} = await browser.go(`/v2/auth/login?invite_token=${token}`)
      const {connection, state} = Object.fromEntries(new URL(location!, browser.base).searchParams)
      return () => house.signIn({username: 'ines', browser, more: {connection: connection!, state: state!}})
    }
    const late = await begun()
    await house.connect({user_filter: '(uid={username})'})
    const {reply} = await late()
    expect([reply.status, reply.body.data.errorCode]).toEqual([400, 'AB01'])
    expect(house.binds).toEqual([])
    expect((await (await begun())()).reply.status).toBe(200)
    await house.connect({user_filter: null})
  })

  test('an organisation without a connection of this kind: 404', async () => {
    const {reply} = await house.signIn({username: 'ada', more: {organisation_id: 'none'}})
    expect(reply.status).toBe(404)
    expect(house.binds).toEqual([])
  })

  test('of connections of several kinds the one to a directory is meant', async () => {
    const oidc = {issuer: 'http://127.0.0.1:1', client_id: 'gateway', client_secret: 'secret-of-the-client'}
    const [own] = (await house.gateway.admin<{sso: {connections: {id: string}[]}}>('GET', '/admin/organisation/auth'))
      .sso.connections
    const other = {name: 'other', type: 'oidc', enabled: true, oidc}
    await house.gateway.auth({sso: {connections: [{id: own!.id}, other]}})
    expect((await house.signIn({username: 'ada'})).reply.status).toBe(200)
    await house.gateway.auth({sso: {connections: [{id: own!.id}]}})
  })

  test('72: no password is in a log line, an audit row, an error or the database', async () => {
    const canaries = ['canary-typed-wrong', RIGHT, house.slapd.admin_password, 'no-longer-right']
    const {reply} = await house.signIn({username: 'ada', password: 'canary-typed-wrong'})
    const {reply: refused} = await house.signIn({
      username: 'ada',
      password: 'canary-typed-wrong',
      headers: {'sec-fetch-site': 'cross-site'},
    })
    await expect.poll(() => house.gateway.rows('sign_in').then(({length}) => length)).toBeGreaterThan(0)
    const rows = await Promise.all(['sign_in', 'user', 'identity', 'organisation'].map(house.gateway.rows))
    const view = await house.gateway.admin('GET', '/admin/organisation/auth')
    expect(house.gateway.lines.length).toBeGreaterThan(0)
    await house.gateway.app.flushed()
    const files = readdirSync(house.gateway.folder, {recursive: true, withFileTypes: true})
      .filter(each => each.isFile())
      .flatMap(each => textOf(join(each.parentPath, each.name)))
    expect(files.length).toBeGreaterThan(0)
    const places = [
      ...house.gateway.lines,
      JSON.stringify(rows),
      JSON.stringify(view),
      reply.text,
      refused.text,
      ...files,
    ]
    for (const canary of canaries) expect(places.filter(text => text.includes(canary))).toEqual([])
  })
})

/** The text of a file; none of one that the gateway removed meanwhile, as it does with parts of its journal. */
function textOf(path: string): string[] {
  return existsSync(path) ? [readFileSync(path, 'latin1')] : []
}
