import {afterAll, beforeAll, describe, expect, test} from 'vitest'
import {rolesOf} from '../support/scim.ts'
import {KINDS} from '../support/stores.ts'
import {openPeople, type PeopleHouse} from './people-house.ts'

const ADMINS = [{group: 'gw-admins', role: 'admin'}]
const rita = {sub: 's1', email: 'rita@example.test'}

describe.each(KINDS)('roles and groups of a sign-in, on %s', kind => {
  let house: PeopleHouse
  beforeAll(async () => {
    house = await openPeople(kind)
    await house.gateway.auth({
      sso: {oidc: {groups_claim: 'groups'}},
      provisioning: {role_mapping: ADMINS, default_role: 'member'},
    })
  })
  afterAll(() => house.close())

  /** Bodies of the rows about roles, newest first. */
  const roleRows = async () => (await house.gateway.rows('user')).map(({body}) => body).filter(body => 'to' in body)

  test('IC1 (1, 2): the role of a group goes with it, for sessions of before as well', async () => {
    const first = await house.comes({...rita, groups: ['gw-admins']})
    expect(first.reply.status).toBe(303)
    expect((await first.browser.self()).organisation.role).toBe('admin')
    expect((await first.browser.go('/v1/admin/users')).status).toBe(200)
    const second = await house.comes({...rita, groups: ['staff']})
    expect(second.reply.status).toBe(303)
    expect((await second.browser.self()).organisation.role).toBe('member')
    expect((await first.browser.self()).organisation.role).toBe('member')
    expect((await first.browser.go('/v1/admin/users')).status).toBe(403)
    expect(await roleRows()).toEqual([{by: 'oidc', from: 'admin', to: 'member'}])
  })

  test.each([
    ['3', 'no groups', {groups: []}],
    ['4', 'no claim of groups', {}],
  ])('IC1 (%s): %s takes the role that a group gave', async (_, __, none) => {
    await house.comes({...rita, groups: ['gw-admins']})
    expect(await house.role(rita.email)).toBe('admin')
    const {reply} = await house.comes({...rita, ...none})
    expect([reply.status, await house.role(rita.email)]).toEqual([303, 'member'])
  })

  test('IC1 (5): an admin by hand stays one, also of groups that map to less', async () => {
    await house.gateway.person('adam', 'admin')
    await house.gateway.auth({provisioning: {role_mapping: [...ADMINS, {group: 'staff', role: 'member'}]}})
    for (const groups of [[], ['staff'], ['gw-admins'], []]) {
      const {reply} = await house.comes({sub: 'adam', email: 'adam@example.test', groups})
      expect([reply.status, await house.role('adam@example.test')]).toEqual([303, 'admin'])
    }
    await house.gateway.auth({provisioning: {role_mapping: ADMINS}})
  })

  test('IC1 (6): the last owner stays owner, and a row says why', async () => {
    const owners = [{group: 'gw-owners', role: 'owner'}]
    await house.gateway.auth({provisioning: {role_mapping: [...ADMINS, ...owners]}})
    const olga = {sub: 'olga', email: 'olga@example.test'}
    const {browser} = await house.comes({...olga, groups: ['gw-owners', 'gw-admins']})
    expect((await browser.self()).organisation.role).toBe('owner')
    const alone = await house.comes({...olga, groups: []})
    expect([alone.reply.status, await house.role(olga.email)]).toEqual([303, 'owner'])
    expect((await roleRows())[0]).toEqual({by: 'oidc', kept: 'last owner', to: 'member'})
    await house.gateway.person('otto', 'owner')
    await house.comes({...olga, groups: ['gw-admins']})
    expect(await house.role(olga.email)).toBe('admin')
    await house.gateway.auth({provisioning: {role_mapping: ADMINS}})
  })

  test('of several groups the highest role counts, and a higher one raises a role by hand', async () => {
    const mixed = [
      {group: 'gw-admins', role: 'admin'},
      {group: 'staff', role: 'member'},
    ]
    await house.gateway.auth({provisioning: {role_mapping: mixed}})
    await house.gateway.person('mia', 'member')
    await house.comes({sub: 'mia', email: 'mia@example.test', groups: ['gw-admins', 'staff']})
    expect(await house.role('mia@example.test')).toBe('admin')
    await house.comes({sub: 'mia', email: 'mia@example.test', groups: ['staff']})
    expect(await house.role('mia@example.test')).toBe('member')
    await house.gateway.auth({provisioning: {role_mapping: ADMINS}})
  })

  test('a role by default is for new people alone, is lowered by nothing, and is left of a mapped one', async () => {
    await house.gateway.auth({provisioning: {default_role: 'admin'}})
    await house.gateway.person('hal', 'member')
    await house.comes({sub: 'hal', email: 'hal@example.test', groups: ['staff']})
    expect(await house.role('hal@example.test')).toBe('member')
    await house.invite('ina@example.test', 'member')
    await house.comes({sub: 'ina', email: 'ina@example.test', groups: ['staff']})
    expect(await house.role('ina@example.test')).toBe('member')
    const dan = {sub: 'dan', email: 'dan@example.test'}
    await house.comes({...dan, groups: ['staff']})
    expect(await house.role(dan.email)).toBe('admin')
    await house.comes({...rita, groups: ['gw-admins']})
    await house.gateway.auth({provisioning: {default_role: 'member'}})
    await house.comes({...dan, groups: ['staff']})
    await house.comes({...rita, groups: ['staff']})
    expect([await house.role(dan.email), await house.role(rita.email)]).toEqual(['admin', 'member'])
  })

  test('§4 (6): a mapped role wins over the one of an invite', async () => {
    await house.gateway.auth({provisioning: {role_mapping: [...ADMINS, {group: 'staff', role: 'member'}]}})
    for (const [name, groups, role] of [
      ['ivy', ['staff'], 'member'],
      ['ian', [], 'admin'],
    ] as const) {
      await house.invite(`${name}@example.test`, 'admin')
      await house.comes({sub: name, email: `${name}@example.test`, groups})
      expect(await house.role(`${name}@example.test`)).toBe(role)
    }
    await house.comes({sub: 'ian', email: 'ian@example.test', groups: []})
    expect(await house.role('ian@example.test')).toBe('admin')
    await house.gateway.auth({provisioning: {role_mapping: ADMINS}})
  })
})

describe.each(KINDS)('groups that do not fit into the token, on %s', kind => {
  let house: PeopleHouse
  let kitchen: string
  beforeAll(async () => {
    house = await openPeople(kind)
    kitchen = (await house.gateway.admin<{id: string}>('POST', '/admin/workspaces', {name: 'kitchen'})).id
    await house.gateway.admin('POST', '/scim/workspaces', {
      workspace_id: kitchen,
      role: 'manager',
      scim_group_name: 'gw-admins',
    })
    await house.gateway.auth({
      sso: {oidc: {groups_claim: 'groups'}},
      provisioning: {role_mapping: ADMINS, sync_groups: true},
    })
  })
  afterAll(() => house.close())

  test.each([
    ['is at another address', () => over(house)],
    ['has a mark', () => ({hasgroups: true})],
    ['has a mark in text', () => ({hasgroups: 'true'})],
    ['is null', () => ({groups: null})],
    ['is a number', () => ({groups: 7})],
  ])('IC2: a claim that %s changes nothing, and a new person has the default', async (name, claims) => {
    const {browser} = await house.comes({...rita, groups: ['gw-admins']})
    const {user} = await browser.self()
    const before = await rolesOf(house.gateway, user.id)
    expect(before).toMatchObject({kitchen: 'manager'})
    const later = await house.comes({...rita, ...claims()})
    expect([later.reply.status, await house.role(rita.email)]).toEqual([303, 'admin'])
    expect(await rolesOf(house.gateway, user.id)).toEqual(before)
    expect((await house.letIn()).body.notes).toEqual(['groups not in token'])
    const email = `${name.replaceAll(' ', '-')}@example.test`
    const fresh = await house.comes({sub: name, email, ...claims()})
    expect(fresh.reply.status).toBe(303)
    const self = await fresh.browser.self()
    expect(self.organisation.role).toBe('member')
    expect(await rolesOf(house.gateway, self.user.id)).toEqual({})
    expect(house.provider.requests.filter(({line}) => line.endsWith('/groups-source'))).toEqual([])
  })

  test('groups that are not asked for change nothing, and need no note', async () => {
    await house.comes({...rita, groups: ['gw-admins']})
    await house.gateway.auth({sso: {oidc: {groups_claim: null}}})
    await house.comes({...rita, groups: []})
    expect(await house.role(rita.email)).toBe('admin')
    expect((await house.letIn()).body.notes).toEqual([])
    await house.gateway.auth({sso: {oidc: {groups_claim: 'groups'}}})
  })
})

function over({provider}: PeopleHouse) {
  return {_claim_names: {groups: 'src1'}, _claim_sources: {src1: {endpoint: `${provider.issuer}/groups-source`}}}
}

describe.each(KINDS)('groups that give memberships, on %s', kind => {
  let house: PeopleHouse
  const places: Record<string, string> = {}
  beforeAll(async () => {
    house = await openPeople(kind)
    for (const name of ['kitchen', 'cellar', 'roof', 'attic'])
      places[name] = (await house.gateway.admin<{id: string}>('POST', '/admin/workspaces', {name})).id
    for (const [workspace, group, role] of [
      ['kitchen', 'cooks', 'member'],
      ['kitchen', 'chefs', 'admin'],
      ['cellar', 'cooks', 'member'],
      ['attic', 'heads', 'admin'],
      ['attic', 'hands', 'member'],
    ])
      await house.gateway.admin('POST', '/scim/workspaces', {
        workspace_id: places[workspace!],
        role,
        scim_group_name: group,
      })
    await house.gateway.auth({sso: {oidc: {groups_claim: 'groups'}}, provisioning: {sync_groups: true}})
  })
  afterAll(() => house.close())

  const held = async (groups: unknown, sub = 'gus') => {
    const {browser} = await house.comes({sub, email: `${sub}@example.test`, groups})
    return rolesOf(house.gateway, (await browser.self()).user.id)
  }

  test('sync_groups gives and takes by the mappings of groups, the highest role of several', async () => {
    expect(await held(['cooks'])).toEqual({kitchen: 'member', cellar: 'member'})
    expect(await held(['cooks', 'chefs'])).toEqual({kitchen: 'admin', cellar: 'member'})
    expect(await held(['chefs', 'cooks'])).toEqual({kitchen: 'admin', cellar: 'member'})
    expect(await held(['chefs'])).toEqual({kitchen: 'admin'})
    expect(await held(['cooks'])).toEqual({kitchen: 'member', cellar: 'member'})
    expect(await held(['heads', 'hands'])).toEqual({attic: 'admin'})
    expect(await held(['COOKS', ' cooks', 'cook'])).toEqual({})
  })

  test('what was given by hand or by a directory is neither changed nor taken', async () => {
    await held([])
    const {id} = (await house.users()).find(({email}) => email === 'gus@example.test')!
    for (const [name, role] of [
      ['roof', 'manager'],
      ['kitchen', 'manager'],
    ] as const)
      await house.gateway.admin('POST', `/admin/workspaces/${places[name]}/users`, {users: [{id, role}]})
    expect(await held(['chefs', 'cooks'])).toEqual({roof: 'manager', kitchen: 'manager', cellar: 'member'})
    expect(await held([])).toEqual({roof: 'manager', kitchen: 'manager'})
  })

  test('without sync_groups the groups give and take nothing', async () => {
    expect(await held(['cooks'], 'hal')).toMatchObject({cellar: 'member'})
    await house.gateway.auth({provisioning: {sync_groups: false}})
    expect(await held([], 'hal')).toMatchObject({cellar: 'member'})
    expect(await held(['cooks'], 'ike')).toEqual({})
  })

  test('IC3: what is no text in the list of groups is dropped, and counted in the row', async () => {
    await house.gateway.auth({provisioning: {sync_groups: true, role_mapping: ADMINS}})
    expect(await held(['cooks', {name: 'gw-admins'}, 5], 'jan')).toMatchObject({cellar: 'member'})
    expect(await house.role('jan@example.test')).toBe('member')
    expect((await house.letIn()).body.notes).toEqual(['2 groups are no text, and were dropped'])
    for (const groups of [['/gw-admins'], ['GW-ADMINS'], 'gw-admins,staff']) {
      await held(groups, 'jan')
      expect(await house.role('jan@example.test')).toBe('member')
    }
  })
})
