import {afterAll, afterEach, beforeAll, describe, expect, test} from 'vitest'
import {
  entry,
  type FakeLdap,
  type LdapReplies,
  type LdapRequest,
  result,
  startFakeLdap,
} from '../identity/ldap/fake-ldap.ts'
import {NO_SLAPD} from '../identity/ldap/slapd.ts'
import {openSignInGateway, type SignInGateway} from '../support/sign-in.ts'
import {KINDS} from '../support/stores.ts'
import {addPerson, type LdapHouse, openLdap, PEOPLE} from './ldap-house.ts'

interface Checked {
  readonly data: readonly {email: string; user_id: string; state: string; archived: boolean; kept: string | null}[]
  readonly total: number
  readonly next: string | null
}
type Check = Record<string, unknown>

const ask = async (gateway: SignInGateway, body: Check, headers?: Record<string, string>) => {
  const reply = await fetch(`${gateway.url}/v1/admin/organisation/auth/check`, {
    method: 'POST',
    headers: {'content-type': 'application/json', ...headers},
    body: JSON.stringify(body),
  })
  // biome-ignore lint/suspicious/noExplicitAny: a test says what it expects of it
  return {status: reply.status, body: (await reply.json()) as any}
}

describe.each(KINDS)('C22: people who left a directory, on %s', kind => {
  let gateway: SignInGateway
  let ldap: FakeLdap
  /** The ids of the directory, and what their entries say; one that is absent is gone. */
  const entries = new Map<string, Record<string, readonly string[]>>()
  let answer: (request: LdapRequest) => LdapReplies
  const honest = (request: LdapRequest): LdapReplies => {
    if (request.kind !== 'search') return [result(request, 0)]
    const found = [...entries].filter(([id]) => request.text.includes(id))
    return [...found.map(([id, attributes]) => entry(request, `uid=${id},${PEOPLE}`, attributes)), result(request, 0)]
  }
  const ids = new Map<string, string>()
  beforeAll(async () => {
    answer = honest
    ldap = await startFakeLdap(request => answer(request))
    gateway = await openSignInGateway(kind)
    const settings = {url: ldap.url.replace('localhost', '127.0.0.1'), start_tls: false, user_base: PEOPLE}
    await gateway.auth({
      sso: {
        connections: [
          {name: 'house', type: 'ldap', ldap: {...settings, id_attribute: 'employeeNumber'}},
          {name: 'cloud', type: 'oidc', oidc: {issuer: 'https://login.example.test', client_id: 'gateway'}},
        ],
      },
    })
  }, 60_000)
  afterAll(async () => {
    await gateway?.close()
    await ldap?.close()
  })
  afterEach(async () => {
    answer = honest
    entries.clear()
    for (const [name, id] of ids) {
      const {data} = await gateway.admin<{data: {id: string}[]}>('GET', '/admin/users')
      if (data.some(user => user.id === id) && name !== 'olga') await gateway.admin('DELETE', `/admin/users/${id}`)
    }
    ids.clear()
  })

  /** Users with a link, whose entries are there. */
  const linked = async (...names: readonly string[]) => {
    for (const name of names) {
      const id = await gateway.person(name, name === 'olga' ? 'owner' : 'member')
      ids.set(name, id)
      entries.set(`number-${name}`, {})
      const {data} = await gateway.admin<{data: {user_id: string}[]}>('GET', `/admin/identities?user_id=${id}`)
      const body = {email: `${name}@example.test`, subject: `number-${name}`, connection: 'house'}
      if (data.length === 0) await gateway.admin('POST', '/operator/identities', body)
    }
  }
  const check = (body: Check = {}) =>
    gateway.admin<Checked>('POST', '/admin/organisation/auth/check', {connection: 'house', ...body})
  const states = ({data}: Checked) => Object.fromEntries(data.map(each => [each.email.split('@')[0], each.state]))
  const idsOf = (...names: readonly string[]) => names.map(name => ids.get(name)!)
  const remaining = async () => {
    const {data} = await gateway.admin<{data: {email: string}[]}>('GET', '/admin/users')
    return data.map(({email}) => email.split('@')[0]!).sort()
  }

  test('says for each whether he is there, disabled, locked or gone; and changes nothing', async () => {
    await linked('ada', 'bea', 'cid', 'dan', 'eve', 'fay')
    entries.set('number-bea', {userAccountControl: ['514']})
    entries.set('number-cid', {nsAccountLock: ['TRUE']})
    entries.set('number-dan', {pwdAccountLockedTime: ['000001010000Z']})
    entries.set('number-eve', {pwdAccountLockedTime: ['20260301000000Z']})
    entries.delete('number-fay')
    const before = await remaining()
    const checked = await check()
    expect(states(checked)).toEqual({
      ...{ada: 'present', bea: 'disabled', cid: 'disabled', dan: 'disabled', eve: 'locked', fay: 'gone'},
    })
    expect([checked.total, checked.next]).toEqual([6, null])
    expect(await remaining()).toEqual(before)
  })

  test('an entry of his address with another id is not his, and not taken for gone', async () => {
    await linked('ada')
    entries.clear()
    entries.set('ada@example.test', {})
    expect(states(await check())).toEqual({ada: 'other_entry'})
    expect((await check({archive: idsOf('ada')})).data[0]).toMatchObject({archived: false})
  })

  test('archives those who are gone or disabled: sessions and keys end, and a row has the reason', async () => {
    await linked('ada', 'bea', 'fay')
    entries.set('number-bea', {userAccountControl: ['2']})
    entries.delete('number-fay')
    const body = {email: 'fay@example.test', ttl_s: 3600}
    const {token} = await gateway.admin<{token: string}>('POST', '/operator/sessions', body)
    const tried = {connection: 'house', archive: idsOf('fay')}
    const trial = gateway.admin('POST', '/admin/organisation/auth/check?dry_run=true', tried)
    await expect(trial).rejects.toThrow(/dry_run: is not taken/)
    expect(await remaining()).toContain('fay')
    const {data} = await check({archive: idsOf('ada', 'bea', 'fay')})
    expect(Object.fromEntries(data.map(({email, archived}) => [email.split('@')[0], archived]))).toEqual({
      ...{ada: false, bea: true, fay: true},
    })
    expect(await remaining()).toContain('ada')
    expect(await remaining()).not.toEqual(expect.arrayContaining(['bea']))
    const self = await fetch(`${gateway.url}/v1/auth/self`, {headers: {authorization: `Bearer ${token}`}})
    expect(self.status).toBe(401)
    const rows = await gateway.rows('user')
    expect(rows.filter(({action, body}) => action === 'delete' && body?.connection).map(row => row.body)).toEqual(
      expect.arrayContaining([
        expect.objectContaining({reason: 'directory: gone', connection: 'house', email: 'fay@example.test'}),
        expect.objectContaining({reason: 'directory: disabled', email: 'bea@example.test'}),
      ]),
    )
  })

  test('never the last owner', async () => {
    await linked('olga', 'ada')
    entries.delete('number-olga')
    const {data} = await check({archive: idsOf('olga')})
    expect(data).toMatchObject([{archived: false, kept: expect.stringContaining('no other owner')}])
    expect(await remaining()).toContain('olga')
  })

  test.each([
    ['does not answer', () => ['close'] as const],
    ['answers with an error', (request: LdapRequest) => [result(request, 51)]],
  ])('a directory that %s archives no one', async (_, replies) => {
    await linked('ada', 'fay')
    entries.delete('number-fay')
    answer = request => (request.kind === 'search' && request.text.includes('fay') ? replies(request) : honest(request))
    const before = await remaining()
    const fault = /answers 502.*no one was archived/
    await expect(check()).rejects.toThrow(fault)
    await expect(check({archive: idsOf('ada', 'fay')})).rejects.toThrow(fault)
    expect(await remaining()).toEqual(before)
  })

  test('a directory that has none of three people is taken for a wrong base, but for force', async () => {
    await linked('ada', 'bea', 'fay')
    entries.clear()
    const before = await remaining()
    await expect(check({archive: idsOf('fay')})).rejects.toThrow(/none of the \d+ people of house/)
    expect(await remaining()).toEqual(before)
    expect((await check({archive: idsOf('fay'), force: true})).data).toMatchObject([{archived: true}])
    entries.set('number-ada', {})
    expect((await check({archive: idsOf('bea')})).data).toMatchObject([{archived: true}])
  })

  test('a connection of another type has no way to ask, and names the other ways', async () => {
    await expect(check({connection: 'cloud'})).rejects.toThrow(
      /answers 400.*OpenID Connect.*SCIM.*keys_need_sign_in_days/,
    )
    await expect(check({connection: 'absent'})).rejects.toThrow(/answers 404/)
  })

  test('archiving needs the permission to delete users, and names users of the connection', async () => {
    await linked('ada')
    const made = await gateway.admin<{key: string}>('POST', '/api-keys/organisation/service', {
      ...{name: 'settings', scopes: ['organisation_settings.update']},
    })
    const headers = {'x-gateway-api-key': made.key}
    expect((await ask(gateway, {connection: 'house'}, headers)).status).toBe(200)
    const refused = await ask(gateway, {connection: 'house', archive: idsOf('ada')}, headers)
    expect([refused.status, refused.body.data.message]).toEqual([
      403,
      expect.stringContaining('organisation_users.delete'),
    ])
    const stranger = await gateway.person('stranger', 'member')
    await expect(check({archive: [stranger]})).rejects.toThrow(/archive\[0\]: is no active user/)
    await gateway.admin('DELETE', `/admin/users/${stranger}`)
  })
})

describe.skipIf(NO_SLAPD)('C22: people who left OpenLDAP', () => {
  let house: LdapHouse
  beforeAll(async () => {
    house = await openLdap()
    for (const uid of ['ada', 'bea', 'cid']) addPerson(house.slapd, uid)
    await house.connect()
    for (const uid of ['ada', 'bea', 'cid']) expect((await house.signIn({username: uid})).reply.status).toBe(200)
  }, 60_000)
  afterAll(() => house?.close())

  test('one whose entry was deleted is gone, one who is locked by hand is disabled', async () => {
    house.slapd.add(`dn: uid=bea,${PEOPLE}\nchangetype: delete`)
    house.slapd.add(
      `dn: uid=cid,${PEOPLE}\nchangetype: modify\nadd: pwdAccountLockedTime\npwdAccountLockedTime: 000001010000Z`,
    )
    const {sso} = (await house.gateway.admin('GET', '/admin/organisation/auth')) as {sso: {connections: {id: string}[]}}
    const connection = sso.connections[0]!.id
    const check = (body: Check = {}) =>
      house.gateway.admin<Checked>('POST', '/admin/organisation/auth/check', {connection, ...body})
    const {data} = await check()
    const found = Object.fromEntries(data.map(({email, state}) => [email.split('@')[0], state]))
    expect(found).toEqual({ada: 'present', bea: 'gone', cid: 'disabled'})
    const left = data.filter(({state}) => state !== 'present').map(({user_id}) => user_id)
    expect((await check({archive: left})).data.map(({archived}) => archived)).toEqual([true, true])
    expect((await check()).total).toBe(1)
  })
})
