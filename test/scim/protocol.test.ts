import {afterAll, beforeAll, describe, expect, test} from 'vitest'
import {ADMIN_KEY} from '../support/gateway.ts'
import {openScim, rolesOf, type Scim} from '../support/scim.ts'
import {KINDS} from '../support/stores.ts'

// The numbered facts of a directory: what it sends, and what it sees.

describe.each(KINDS)('on %s', kind => {
  let scim: Scim
  beforeAll(async () => {
    scim = await openScim({}, kind)
  })
  afterAll(() => scim.gateway.close())

  const BASE = 'https://gateway.example.com/scim/v2'

  test('45: what is made says where it is, and in which version', async () => {
    const {ask} = scim
    const made = await ask('POST', '/Users', {userName: 'f45@example.com', externalId: 'e45'})
    expect([made.status, made.headers.get('content-type')]).toEqual([201, 'application/scim+json; charset=utf-8'])
    expect(made.headers.get('location')).toBe(made.body.meta.location)
    expect(made.body).toMatchObject({
      userName: 'f45@example.com',
      externalId: 'e45',
      active: true,
      meta: {resourceType: 'User', location: `${BASE}/Users/${made.body.id}`, version: 'W/"1"'},
    })
    const group = await ask('POST', '/v1/scim/v2/Groups', {displayName: 'G45'})
    expect(group.headers.get('location')).toBe(`https://gateway.example.com/v1/scim/v2/Groups/${group.body.id}`)
  })

  test('46: versions: a read that is not new, a write of an old one', async () => {
    const {ask, user} = scim
    const {id} = await user('f46')
    const path = `/Users/${id}`
    const etag = (await ask('GET', path)).headers.get('etag')!
    expect((await ask('GET', path, undefined, {headers: {'if-none-match': etag}})).status).toBe(304)
    const put = (headers: Record<string, string>) =>
      ask('PUT', path, {userName: 'f46@example.com', title: `T ${Math.random()}`}, {headers})
    expect((await put({'if-match': etag})).status).toBe(200)
    expect(await put({'if-match': etag})).toMatchObject({status: 412, body: {status: '412'}})
    expect((await ask('DELETE', path, undefined, {headers: {'if-match': etag}})).status).toBe(412)
  })

  test('47: a PATCH twice is a PATCH once', async () => {
    const {user, patch} = scim
    const {id} = await user('f47')
    const change = {op: 'Add', path: 'phoneNumbers[type eq "work"].value', value: '1'}
    const first = await patch(`/Users/${id}`, change)
    expect(await patch(`/Users/${id}`, change)).toMatchObject({status: 200, body: first.body})
  })

  describe('49: who may come in', () => {
    test.each([
      ['no token', ''],
      ['an admin key', ADMIN_KEY],
      ['a token that is none', `gd-${'x'.repeat(43)}`],
    ])('%s', async (_, token) => {
      const reply = await scim.ask('GET', '/Users', undefined, {token})
      expect(reply).toMatchObject({status: 401, body: {schemas: [expect.stringContaining('Error')], status: '401'}})
      expect(reply.headers.get('www-authenticate')).toBe('Bearer realm="scim"')
    })

    test('its token opens nothing else', async () => {
      const {gateway, token} = scim
      const headers = {authorization: `Bearer ${token}`}
      expect((await fetch(`${gateway.url}/v1/admin/users`, {headers})).status).toBe(401)
      expect((await fetch(`${gateway.url}/v1/models`, {headers})).status).toBe(401)
    })
  })

  test('50: a broken filter is named, and none finds what it does not ask for', async () => {
    const {ask, user} = scim
    await user('f50', {externalId: 'e50'})
    const found = async (filter: string) => (await ask('GET', `/Users?filter=${encodeURIComponent(filter)}`)).body
    expect(await found('userName eq "F50@EXAMPLE.com"')).toMatchObject({totalResults: 1, itemsPerPage: 1})
    expect((await found('externalId eq "e50"')).totalResults).toBe(1)
    expect((await found('emails[type eq "work"].value eq "f50@example.com"')).totalResults).toBe(0)
    expect((await found('userName sw "f50"')).totalResults).toBe(1)
    for (const text of ["' or 1=1 --", '%', '_', '\\\\'])
      expect((await found(`userName eq "${text}"`)).totalResults).toBe(0)
    expect(await found('userName eq')).toMatchObject({status: '400', scimType: 'invalidFilter'})
    expect((await ask('GET', '/Users?filter=userName+eq+%22a%2Bb%40example.com%22')).body.totalResults).toBe(0)
    const searched = await ask('POST', '/Users/.search', {filter: 'externalId eq "e50"', attributes: ['userName']})
    expect(searched.body.Resources).toEqual([
      {schemas: expect.anything(), id: expect.anything(), userName: 'f50@example.com'},
    ])
  })

  test('51: pages give each once', async () => {
    const {ask, user} = scim
    for (const n of [1, 2, 3, 4, 5]) await user(`page${n}`)
    const filter = encodeURIComponent('userName sw "page"')
    const page = async (start: number, count: number) =>
      (await ask('GET', `/Users?filter=${filter}&startIndex=${start}&count=${count}`)).body
    const seen = [await page(1, 2), await page(3, 2), await page(5, 2)]
    expect(seen.map(({itemsPerPage}) => itemsPerPage)).toEqual([2, 2, 1])
    const names = seen.flatMap(({Resources}) => Resources.map((each: {userName: string}) => each.userName))
    expect(new Set(names).size).toBe(5)
    expect(await page(1, 0)).toMatchObject({totalResults: 5, itemsPerPage: 0, Resources: []})
    expect(await page(-3, 1)).toMatchObject({startIndex: 1, itemsPerPage: 1})
    const sorted = await ask('GET', `/Users?filter=${filter}&sortBy=userName&sortOrder=descending&count=1`)
    expect(sorted.body.Resources[0].userName).toBe('page5@example.com')
  })

  test('52: an address of another domain is an invalid value', async () => {
    const reply = await scim.ask('POST', '/Users', {userName: 'eve@example.com.evil.net'})
    expect(reply).toMatchObject({
      status: 400,
      body: {
        scimType: 'invalidValue',
        detail: 'userName: example.com.evil.net is no verified domain of the organisation.',
      },
    })
    expect((await scim.ask('POST', '/Users', {userName: 'eve@sub.example.com'})).status).toBe(400)
  })

  test('53: who is switched off loses all at once, and gets his groups back, not his keys', async () => {
    const {gateway, user, group, patch} = scim
    const {id} = await user('f53')
    await group('ws-F53-role-manager', [id])
    expect(await rolesOf(gateway, id)).toEqual({F53: 'manager'})
    const key = await gateway.admin<{key: string}>('POST', '/api-keys/workspace/user', {
      ...{name: 'his', scopes: ['completions.write', 'configs.list'], user_id: id},
      workspace_id: (await gateway.admin<{data: {id: string; name: string}[]}>('GET', '/admin/workspaces')).data.find(
        ({name}) => name === 'F53',
      )!.id,
    })
    const {token} = await gateway.admin<{token: string}>('POST', '/operator/sessions', {email: 'f53@example.com'})
    const status = async (credential: string) =>
      (await fetch(`${gateway.url}/v1/configs`, {headers: {'x-gateway-api-key': credential}})).status
    expect([await status(key.key), await status(token)]).toEqual([200, 200])
    expect((await patch(`/Users/${id}`, {op: 'Replace', path: 'active', value: 'False'})).body).toMatchObject({
      active: false,
      groups: [{display: 'ws-F53-role-manager'}],
    })
    expect([await status(key.key), await status(token)]).toEqual([401, 401])
    expect(await rolesOf(gateway, id)).toEqual({})
    await patch(`/Users/${id}`, {op: 'Replace', path: 'active', value: true})
    expect(await rolesOf(gateway, id)).toEqual({F53: 'manager'})
    expect([await status(key.key), await status(token)]).toEqual([401, 401])
  })

  test('54: who is deleted is gone for the directory, and may come again', async () => {
    const {ask, user} = scim
    const {id} = await user('f54', {externalId: 'e54'})
    expect((await ask('DELETE', `/Users/${id}`)).status).toBe(204)
    expect((await ask('GET', `/Users/${id}`)).status).toBe(404)
    expect((await ask('DELETE', `/Users/${id}`)).status).toBe(404)
    const filter = encodeURIComponent('userName eq "f54@example.com"')
    expect((await ask('GET', `/Users?filter=${filter}`)).body.totalResults).toBe(0)
    expect((await user('f54', {externalId: 'e54'})).id).toBe(id)
    expect((await ask('POST', '/Users', {userName: 'f54@example.com'})).body).toMatchObject({
      status: '409',
      scimType: 'uniqueness',
    })
  })

  test('54: a new person of an old address is somebody else', async () => {
    const {ask, user} = scim
    const {id} = await user('f54b', {externalId: 'old'})
    await ask('DELETE', `/Users/${id}`)
    expect((await user('f54b', {externalId: 'new'})).id).not.toBe(id)
  })

  test('55: the last owner stays', async () => {
    const {gateway, ask, patch} = scim
    const {id} = await gateway.admin<{id: string}>('POST', '/operator/users', {email: 'f55@example.com', role: 'owner'})
    for (const change of [
      {op: 'replace', path: 'active', value: false},
      {op: 'replace', path: 'roles', value: [{value: 'member'}]},
    ])
      expect(await patch(`/Users/${id}`, change)).toMatchObject({
        status: 409,
        body: {detail: 'The organisation has no other owner.'},
      })
    expect((await ask('DELETE', `/Users/${id}`)).status).toBe(409)
    expect((await ask('GET', `/Users/${id}`)).body).toMatchObject({active: true, roles: [{value: 'owner'}]})
  })

  test('56: a group maps a workspace by its name, and takes it with it when a directory made it', async () => {
    const {gateway, ask, user, group, patch} = scim
    const {id} = await user('f56')
    const names = async () =>
      (await gateway.admin<{data: {name: string}[]}>('GET', '/admin/workspaces')).data.map(({name}) => name)
    const first = await group('ws-F56-role-admin', [id])
    expect(await names()).toContain('F56')
    expect(await rolesOf(gateway, id)).toEqual({F56: 'admin'})
    const second = await group('ws-F56-role-member', [id])
    expect(await rolesOf(gateway, id)).toEqual({F56: 'admin'})
    await patch(`/Groups/${first.id}`, {op: 'replace', value: {id: first.id, displayName: 'Plain'}})
    expect(await rolesOf(gateway, id)).toEqual({F56: 'member'})
    expect((await ask('GET', `/Groups/${first.id}`)).body.members).toHaveLength(1)
    await ask('DELETE', `/Groups/${second.id}`)
    expect(await rolesOf(gateway, id)).toEqual({})
    expect(await names()).not.toContain('F56')
    const usual = (await gateway.admin<{data: {name: string}[]}>('GET', '/admin/workspaces')).data[0]!.name
    const of_usual = await group(`ws-${usual}-role-member`)
    await ask('DELETE', `/Groups/${of_usual.id}`)
    expect(await names()).toContain(usual)
  })

  test('56: who was added by hand stays as he was, whatever groups say', async () => {
    const {gateway, ask, user, group} = scim
    const {id} = await user('by-hand')
    const {id: workspace_id} = await gateway.admin<{id: string}>('POST', '/admin/workspaces', {name: 'Hand'})
    await gateway.admin('POST', `/admin/workspaces/${workspace_id}/users`, {users: [{id, role: 'manager'}]})
    const made = await group('ws-Hand-role-member', [id])
    expect(await rolesOf(gateway, id)).toEqual({Hand: 'manager'})
    await ask('PUT', `/Groups/${made.id}`, {displayName: 'ws-Hand-role-member', members: []})
    expect(await rolesOf(gateway, id)).toEqual({Hand: 'manager'})
  })

  test('56: a mapping by row gives at once, and its people stay when it is taken out', async () => {
    const {gateway, user, group, patch} = scim
    const {id} = await user('by-row')
    const made = await group('By row', [id])
    const {id: workspace_id} = await gateway.admin<{id: string}>('POST', '/admin/workspaces', {name: 'Row'})
    const mapping = await gateway.admin<{id: string}>('POST', '/scim/workspaces', {
      ...{workspace_id, role: 'manager', scim_group_name: 'By row'},
    })
    expect(await rolesOf(gateway, id)).toEqual({Row: 'manager'})
    await gateway.admin('DELETE', `/scim/workspaces/${mapping.id}`)
    await patch(`/Groups/${made.id}`, {op: 'remove', path: 'members'})
    expect(await rolesOf(gateway, id)).toEqual({Row: 'manager'})
  })

  test('56: a role that is changed by hand is by hand', async () => {
    const {gateway, user, group, patch} = scim
    const {id} = await user('raised')
    const made = await group('ws-Raised-role-member', [id])
    const {data} = await gateway.admin<{data: {id: string; name: string}[]}>('GET', '/admin/workspaces')
    const workspace = data.find(({name}) => name === 'Raised')!.id
    await gateway.admin('PUT', `/admin/workspaces/${workspace}/users/${id}`, {role: 'admin'})
    await patch(`/Groups/${made.id}`, {op: 'remove', path: 'members'})
    expect(await rolesOf(gateway, id)).toEqual({Raised: 'admin'})
  })

  test('57: an archived person in a group has nothing of it', async () => {
    const {gateway, user, group, patch} = scim
    const {id} = await user('f57', {active: false})
    const made = await group('ws-F57-role-member', [id])
    expect(await rolesOf(gateway, id)).toEqual({})
    expect(
      (await patch(`/Groups/${made.id}`, {op: 'add', path: 'members', value: [{value: 'nobody'}]})).body,
    ).toMatchObject({
      status: '400',
      scimType: 'invalidValue',
    })
  })

  test('59: two tokens work, one that is deleted does not', async () => {
    const {gateway, ask} = scim
    const made = await gateway.admin<{id: string; token: string}>('POST', '/admin/organisation/scim-tokens', {
      name: 'new',
    })
    expect((await ask('GET', '/Users', undefined, {token: made.token})).status).toBe(200)
    await gateway.admin('DELETE', `/admin/organisation/scim-tokens/${made.id}`)
    expect((await ask('GET', '/Users', undefined, {token: made.token})).status).toBe(401)
    expect((await ask('GET', '/Users')).status).toBe(200)
  })

  test('61: a password is taken, and kept nowhere', async () => {
    const {gateway, ask} = scim
    const password = 'canary-of-61-password'
    const {body} = await ask('POST', '/Users', {userName: 'f61@example.com', password, nickName: 'Six'})
    expect(body).toMatchObject({nickName: 'Six'})
    expect(JSON.stringify(body)).not.toContain(password)
    const {records} = await gateway.admin<{records: {request_body: string}[]}>(
      'GET',
      '/audit-logs?start_time=2020-01-01T00:00:00Z&end_time=2100-01-01T00:00:00Z&resource_type=scim_user',
    )
    expect(records.length).toBeGreaterThan(0)
    expect(JSON.stringify(records)).not.toContain(password)
    expect(gateway.lines.join('\n')).not.toContain(password)
  })

  test('a directory whose token no owner made lets no owner in, and changes none', async () => {
    const {gateway, ask} = scim
    const reply = await fetch(`${gateway.url}/v1/admin/organisation/scim-tokens`, {
      method: 'POST',
      headers: {'x-gateway-api-key': ADMIN_KEY, 'content-type': 'application/json'},
      body: JSON.stringify({name: 'of an admin'}),
    })
    const {token} = (await reply.json()) as {token: string}
    const made = await ask('POST', '/Users', {userName: 'boss@example.com', roles: [{value: 'owner'}]}, {token})
    expect(made.body.roles).toEqual([{value: 'admin', primary: true}])
    const {id} = await gateway.admin<{id: string}>('POST', '/operator/users', {
      email: 'real@example.com',
      role: 'owner',
    })
    for (const change of [
      {op: 'replace', path: 'active', value: false},
      {op: 'replace', path: 'userName', value: 'mine@example.com'},
    ])
      expect((await ask('PATCH', `/Users/${id}`, {Operations: [change]}, {token})).status).toBe(409)
    expect((await ask('DELETE', `/Users/${id}`, undefined, {token})).status).toBe(409)
    expect(
      (await ask('PATCH', `/Users/${id}`, {Operations: [{op: 'add', path: 'title', value: 'T'}]}, {token})).status,
    ).toBe(200)
  })

  test('discovery says what there is, and what there is not is said', async () => {
    const {ask} = scim
    const config = await ask('GET', '/ServiceProviderConfig')
    expect(config.body).toMatchObject({patch: {supported: true}, bulk: {supported: false}, etag: {supported: true}})
    expect((await ask('GET', '/Schemas')).body).toMatchObject({totalResults: 3})
    const user = 'urn:ietf:params:scim:schemas:core:2.0:User'
    expect((await ask('GET', `/Schemas/${user}`)).body).toMatchObject({id: user, name: 'User'})
    expect((await ask('GET', '/ResourceTypes/Group')).body).toMatchObject({endpoint: '/Groups'})
    for (const path of ['/Bulk', '/Me']) expect((await ask('POST', path, {})).status).toBe(501)
    expect((await ask('GET', '/Users/nobody')).body).toMatchObject({status: '404'})
  })

  test.each([
    ['no JSON', '{', 400, 'invalidSyntax'],
    ['a list', '[]', 400, 'invalidSyntax'],
    ['no name', '{}', 400, 'invalidValue'],
    ['a NUL', '{"userName":"a\\u0000@example.com"}', 400, 'invalidValue'],
    ['an object’s own workings', '{"userName":"n@example.com","__proto__":{"a":1}}', 400, 'invalidSyntax'],
    [
      'more than 64 KB',
      JSON.stringify({userName: 'n@example.com', title: 't', note: 'x'.repeat(70_000)}),
      413,
      undefined,
    ],
  ])('a body that is %s is refused', async (_, body, status, scimType) => {
    const reply = await scim.ask('POST', '/Users', body)
    expect([reply.status, reply.body.scimType]).toEqual([status, scimType])
  })

  test('changes of one group side by side lose no member', async () => {
    const {ask, user, group, patch} = scim
    const ids: string[] = []
    for (let n = 0; n < 8; n++) ids.push((await user(`side${n}`)).id)
    const {id} = await group('Side by side')
    const all = await Promise.all(
      ids.map(value => patch(`/Groups/${id}`, {op: 'Add', path: 'members', value: [{value}]})),
    )
    expect(all.map(({status}) => status)).toEqual(Array(8).fill(200))
    expect((await ask('GET', `/Groups/${id}`)).body.members).toHaveLength(8)
  })
})
