import {afterAll, beforeAll, describe, expect, test} from 'vitest'
import {type LyingProvider, startLyingProvider} from '../identity/oidc/lying-provider.ts'
import {type Browser, says} from '../support/sign-in.ts'
import {KINDS} from '../support/stores.ts'
import {everyRow, openPeople, type PeopleHouse} from './people-house.ts'

const bea = {sub: 'bea', email: 'bea@example.test', given_name: 'Bea', family_name: 'First'}

describe.each(KINDS)('people of two organisations, on %s', kind => {
  let house: PeopleHouse
  let other: {id: string; provider: LyingProvider}
  let own_id: string
  beforeAll(async () => {
    house = await openPeople(kind)
    const provider = await startLyingProvider()
    own_id = (await house.gateway.admin<{id: string}>('GET', '/admin/organisation')).id
    const place = {name: 'Other', slug: 'other'}
    const {id} = await house.gateway.admin<{id: string}>('POST', '/operator/organisations', place)
    other = {id, provider}
    await at('POST', '/operator/domains', {domain: 'other.test'})
    await connect(provider)
    await at('POST', '/operator/users', {email: bea.email, role: 'admin'})
  })
  afterAll(async () => {
    await house.close()
    await other.provider.close()
  })

  const at = async (method: string, path: string, body?: unknown) => {
    const reply = await house.operator(other.id, method, path, body)
    if (reply.status !== 200)
      throw new Error(`${method} ${path} answers ${reply.status}: ${JSON.stringify(reply.body)}`)
    return reply.body
  }
  const connect = ({issuer, client_id}: LyingProvider) =>
    at('PUT', '/admin/organisation/auth', {
      sso: {enabled: true, type: 'oidc', oidc: {issuer, client_id, client_secret: 'other-secret-of-the-client'}},
    })
  const comes = async (
    organisation_id: string,
    provider: LyingProvider,
    claims: Record<string, unknown>,
    browser = house.gateway.browser(),
  ) => {
    says(provider, {email_verified: true, ...claims})
    const {location} = await browser.go(`/v2/auth/login?organisation_id=${organisation_id}`)
    return {browser, reply: await browser.go((await provider.answerTo(location!)).href)}
  }
  const switchTo = (browser: Browser, organisation_id: string) =>
    browser.go('/v1/auth/switch', {method: 'POST', body: {organisation_id}, headers: {accept: 'application/json'}})
  const opens = async (browser: Browser) => {
    const {organisations} = await browser.self()
    return Object.fromEntries(organisations.map((each: {id: string; opens: boolean}) => [each.id, each.opens]))
  }

  test('36: the provider of one organisation does not open another', async () => {
    const {browser} = await comes(own_id, house.provider, bea)
    const before = browser.session
    expect(await opens(browser)).toEqual({[own_id]: true, [other.id]: false})
    const {status, body} = await switchTo(browser, other.id)
    expect([status, body.data.login_url]).toEqual([
      403,
      `${house.gateway.shared.CONTROL_PLANE_URL}/v2/auth/login?organisation_id=${other.id}`,
    ])
    expect(browser.session).toBe(before)
    const self = await browser.self()
    expect([self.organisation.id, self.organisation.role]).toEqual([own_id, 'member'])
    expect((await browser.go('/v1/admin/users')).status).toBe(403)
  })

  test('36: an organisation in which one is nobody is not found, also with the same provider', async () => {
    await connect(house.provider)
    const {browser} = await comes(own_id, house.provider, {sub: 'nob', email: 'nob@example.test'})
    const [theirs, none] = [await switchTo(browser, other.id), await switchTo(browser, 'none')]
    expect([theirs.status, theirs.body]).toEqual([404, none.body])
    await connect(other.provider)
  })

  test('36: the same issuer switches, and both sessions are of their own organisation', async () => {
    await connect(house.provider)
    const {browser} = await comes(own_id, house.provider, bea)
    const before = browser.session!
    expect(await opens(browser)).toEqual({[own_id]: true, [other.id]: true})
    expect((await switchTo(browser, other.id)).status).toBe(200)
    expect(browser.session).not.toBe(before)
    expect((await browser.self()).organisation).toMatchObject({id: other.id, role: 'admin'})
    expect((await house.as(before, 'GET', '/v1/auth/self')).body.organisation.id).toBe(own_id)
    await connect(other.provider)
  })

  test('§4 (5): a domain of another organisation is foreign here', async () => {
    const {browser, reply} = await comes(other.id, other.provider, {sub: 'eve', email: 'eve@example.test'})
    expect([reply.status, browser.session]).toEqual([403, undefined])
  })

  test('IC4: an admin of another organisation needs proof here, too', async () => {
    await at('POST', '/operator/users', {email: 'ada@example.test', role: 'admin'})
    const {browser, reply} = await comes(own_id, house.provider, {
      sub: 'ada',
      email: 'ada@example.test',
      email_verified: undefined,
    })
    expect([reply.status, browser.session, await house.role('ada@example.test')]).toEqual([409, undefined, undefined])
    const opened = await comes(own_id, house.provider, {sub: 'ada', email: 'ada@example.test'})
    expect((await opened.browser.self()).organisation).toMatchObject({id: own_id, role: 'member'})
  })

  test('34: a person of another organisation is made one of this as a new one is', async () => {
    await at('POST', '/operator/users', {email: 'cid@example.test', role: 'member'})
    await house.gateway.auth({provisioning: {disable_auto_provision_user: true}})
    const cid = {sub: 'cid', email: 'cid@example.test'}
    const {browser, reply} = await comes(own_id, house.provider, cid)
    expect([reply.status, browser.session, await house.role(cid.email)]).toEqual([403, undefined, undefined])
    await house.invite(cid.email)
    expect((await comes(own_id, house.provider, cid)).reply.status).toBe(303)
    await house.gateway.auth({provisioning: {disable_auto_provision_user: null}})
  })

  test('76: nor does the first sign-in of one who was in both before', async () => {
    const dee = {sub: 'dee', email: 'dee@example.test', given_name: 'Dee'}
    await at('POST', '/operator/users', {email: dee.email, role: 'member', first_name: 'Deirdre'})
    await house.gateway.person('dee', 'member')
    const {browser} = await comes(own_id, house.provider, dee)
    expect((await browser.self()).user.first_name).toBe('Deirdre')
    await house.gateway.person('fay', 'member')
    const alone = await comes(own_id, house.provider, {sub: 'fay', email: 'fay@example.test', given_name: 'Fay'})
    expect((await alone.browser.self()).user.first_name).toBe('Fay')
  })

  test('76: a person of two organisations keeps address and names when one provider changes them', async () => {
    await comes(own_id, house.provider, bea)
    const changed = {...bea, email: 'bea.new@example.test', given_name: 'Beatrix', family_name: 'Second'}
    const {browser, reply} = await comes(own_id, house.provider, changed)
    expect(reply.status).toBe(303)
    const {user} = await browser.self()
    // the first sign-in found her as she was made by hand, of another organisation, without names
    expect(user).toMatchObject({email: bea.email, first_name: null, last_name: null})
    expect((await house.letIn()).body.notes).toEqual([
      'the address stays, not bea.new@example.test: he is of another organisation too',
    ])
    await at('DELETE', `/admin/users/${user.id}`)
    await comes(own_id, house.provider, changed)
    expect((await browser.self()).user).toMatchObject({
      email: 'bea.new@example.test',
      first_name: 'Beatrix',
      last_name: 'Second',
    })
  })
})

describe.each(KINDS)('75: what an admin writes makes and lets in no owner, on %s', kind => {
  let house: PeopleHouse
  let admin: string
  const olga = {sub: 'olga', email: 'olga@example.test'}
  beforeAll(async () => {
    house = await openPeople(kind)
    await house.gateway.person('adam', 'admin')
    await house.gateway.person('olga', 'owner')
    admin = await house.session('adam')
    await house.gateway.auth({sso: {oidc: {groups_claim: 'groups'}}})
  })
  afterAll(() => house.close())

  const writes = async (token: string, change: object) => {
    const reply = await house.as(token, 'PUT', '/v1/admin/organisation/auth', change)
    expect(reply.status).toBe(200)
    return reply.body
  }

  test('a role mapping of an admin makes admins of owners; one of an owner makes owners', async () => {
    await writes(admin, {provisioning: {role_mapping: [{group: 'gw-owners', role: 'owner'}]}})
    const kim = {sub: 'kim', email: 'kim@example.test', groups: ['gw-owners']}
    await house.comes(kim)
    expect(await house.role(kim.email)).toBe('admin')
    expect((await house.letIn()).body.notes).toEqual([
      'owner is admin: the mapping or the connection was written by an admin',
    ])
    const owner = await house.session('olga')
    await writes(owner, {provisioning: {role_mapping: [{group: 'gw-owners', role: 'owner'}]}})
    await house.comes(kim)
    expect(await house.role(kim.email)).toBe('owner')
    await writes(admin, {provisioning: {default_role: 'member'}})
    await house.comes({sub: 'kat', email: 'kat@example.test', groups: ['gw-owners']})
    expect(await house.role('kat@example.test')).toBe('owner')
  })

  test('a connection that an admin wrote lets in no owner, linked or not, until an owner writes it', async () => {
    expect((await house.comes(olga)).reply.status).toBe(303)
    const {sso} = await writes(admin, {sso: {oidc: {email_claim: 'email', email_verified: 'true'}}})
    expect(sso.connections[0].lets_owners_in).toBe(false)
    const links = await house.links()
    for (const claims of [olga, {...olga, given_name: 'Mallory', email: 'mallory@example.test'}]) {
      const {browser, reply} = await house.comes(claims)
      expect([reply.status, browser.session]).toEqual([403, undefined])
    }
    await house.gateway.person('otto', 'owner')
    const unlinked = await house.comes({sub: 'otto', email: 'otto@example.test'})
    expect([unlinked.reply.status, unlinked.browser.session]).toEqual([403, undefined])
    expect((await house.refusal('owner_protected')).status).toBe(403)
    expect(await house.links()).toEqual(links)
    expect(await house.role(olga.email)).toBe('owner')
    const kit = await house.comes({sub: 'kit', email: 'kit@example.test', groups: ['gw-owners']})
    expect((await kit.browser.self()).organisation.role).toBe('admin')
    await writes(await house.session('olga'), {sso: {oidc: {email_verified: null}}})
    expect((await house.comes(olga)).reply.status).toBe(303)
  })
})

describe.each(KINDS)('a sign-in that is tried, on %s', kind => {
  let house: PeopleHouse
  beforeAll(async () => {
    house = await openPeople(kind)
    await house.gateway.person('olga', 'owner')
    await house.gateway.auth({
      sso: {oidc: {groups_claim: 'groups'}},
      provisioning: {role_mapping: [{group: 'gw-admins', role: 'admin'}], sync_groups: true},
    })
    const kitchen = await house.gateway.admin<{id: string}>('POST', '/admin/workspaces', {name: 'kitchen'})
    await house.gateway.admin('POST', '/scim/workspaces', {
      ...{workspace_id: kitchen.id, role: 'manager'},
      scim_group_name: 'gw-admins',
    })
    await house.invite('ivo@example.test', 'admin')
    await house.comes({sub: 'rita', email: 'rita@example.test'})
  })
  afterAll(() => house.close())

  test.each([
    [
      'a new person',
      {subject: 'new', email: 'new@example.test', email_verified: true, groups: ['gw-admins']},
      [true, /^in as new@example\.test, admin; would user create, identity create$/],
    ],
    [
      'a person whose role a group raises',
      {subject: 'rita', email: 'rita@example.test', groups: ['gw-admins']},
      [true, /^in as rita@example\.test, admin; would user update$/],
    ],
    [
      'an address that changed',
      {subject: 'rita', email: 'rita.new@example.test'},
      [true, /^in as rita\.new@example\.test, member; would user update$/],
    ],
    [
      'an invite',
      {subject: 'ivo', email: 'ivo@example.test', email_verified: true},
      [true, /^in as ivo@example\.test, admin; would .*invite manage/],
    ],
    ['an invite without proof', {subject: 'ivo', email: 'ivo@example.test'}, [false, /^invite_link_needed: /]],
    ['an owner without proof', {subject: 'olga', email: 'olga@example.test'}, [false, /^link_needs_proof: /]],
    ['a foreign domain', {subject: 'eve', email: 'eve@evil.test'}, [false, /^domain_foreign: /]],
    ['no address', {subject: 'eve'}, [false, /^email_missing: /]],
    [
      'an address that is not verified',
      {email: 'eve@example.test', email_verified: false},
      [false, /^email_unverified: /],
    ],
  ] as const)('%s: says so, and writes nothing', async (_, statement, [is_ok, detail]) => {
    await house.gateway.app.flushed()
    const before = await everyRow(house.gateway)
    expect(before.length).toBeGreaterThan(10)
    const reply = await house.gateway.admin<{ok: boolean; steps: {name: string; ok: boolean; detail: string}[]}>(
      'POST',
      '/admin/organisation/auth/test',
      {part: 'oidc', statement},
    )
    const person = reply.steps.find(({name}) => name === 'person')!
    expect([person.ok, reply.ok]).toEqual([is_ok, is_ok])
    expect(person.detail).toMatch(detail)
    expect(reply.steps.filter(({name, ok}) => name !== 'person' && !ok)).toEqual([])
    await house.gateway.app.flushed()
    expect(await everyRow(house.gateway)).toEqual(before)
  })
})
