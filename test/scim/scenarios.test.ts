import {afterAll, beforeAll, describe, expect, test} from 'vitest'
import {openScim, rolesOf, type Scim} from '../support/scim.ts'
import {KINDS} from '../support/stores.ts'

// Cases of comparable products, by their numbers: what directories do, and what must come of it.

describe.each(KINDS)('on %s', kind => {
  let scim: Scim
  beforeAll(async () => {
    scim = await openScim({}, kind)
    for (const [name, role] of [
      ['olga', 'owner'],
      ['adam', 'admin'],
      ['mia', 'member'],
      ['kim', 'member'],
    ])
      await scim.gateway.admin('POST', '/operator/users', {email: `${name}@example.com`, role})
  })
  afterAll(() => scim.gateway.close())

  const notesOf = async (id: string): Promise<string[]> => {
    const {records} = await scim.gateway.admin<{records: {resource_id: string; request_body: string}[]}>(
      'GET',
      '/audit-logs?start_time=2020-01-01T00:00:00Z&end_time=2100-01-01T00:00:00Z&resource_type=scim_user',
    )
    return records
      .filter(({resource_id}) => resource_id === id)
      .flatMap(({request_body}) => (JSON.parse(request_body ?? '{}') as {notes?: string[]}).notes ?? [])
  }
  const userOf = async (email: string) => {
    const {data} = await scim.gateway.admin<{data: {id: string; email: string}[]}>('GET', '/admin/users')
    return data.find(each => each.email === email)?.id
  }

  test.each([
    ['IC6', '\u212Aim@example.com'],
    ['IC6', 'k\u0131m@example.com'],
    ['IC6', 'K\u0130M@example.com'],
    ['IC6', 'kim@\uFF45xample.com'],
    ['IC6', 'kim@ex\u00ADample.com'],
    ['IC6', 'kim@example\u3002com'],
    ['IC7', 'eve@example.com@evil.com'],
    ['IC7', 'eve@evil.com@example.com'],
    ['IC7', '"eve@evil.com"@example.com'],
    ['IC7', 'eve@example.com,eve@evil.com'],
    ['IC7', ['eve@example.com']],
    ['IC7', {v: 'eve@example.com'}],
    ['IC7', 'eve@example.com.'],
    ['IC7', ' eve@example.com'],
    ['IC7', 'eve @example.com'],
    ['IC7', 'eve@example.com\n'],
    ['IC7', 'eve@example.com\u0000'],
    ['IC7', 'eve@[127.0.0.1]'],
    ['IC7', 'Eve <eve@example.com>'],
    ['IC7', `${'e'.repeat(243)}@example.com`],
  ])('%s: %j is nobody’s address', async (_, userName) => {
    expect(await scim.ask('POST', '/Users', {userName})).toMatchObject({status: 400, body: {scimType: 'invalidValue'}})
  })

  test('IC8: letter case makes no second person, and of twenty at once one comes in', async () => {
    const {ask} = scim
    const spellings = ['Pat.Lee@Example.com', 'pat.lee@example.com', 'PAT.LEE@EXAMPLE.COM']
    const all = await Promise.all(
      Array.from({length: 20}, (_, at) => ask('POST', '/Users', {userName: spellings[at % 3]})),
    )
    expect(all.map(({status}) => status).sort()).toEqual([201, ...Array(19).fill(409)])
    const filter = encodeURIComponent('userName eq "PAT.LEE@EXAMPLE.COM"')
    expect((await ask('GET', `/Users?filter=${filter}`)).body.totalResults).toBe(1)
  })

  test('IC9: what is under way ends when somebody leaves, and stays ended', async () => {
    const {gateway, ask, user, patch} = scim
    const {id} = await user('leaver')
    await gateway.admin('POST', '/operator/sessions', {email: 'leaver@example.com'})
    await patch(`/Users/${id}`, {op: 'Replace', path: 'active', value: 'False'})
    expect(await notesOf(id)).toEqual(['ended: 1 sessions, 0 keys, 0 invites, 0 grants of MCP clients'])
    const invite = await gateway.admin<{id: string}>('POST', '/admin/users/invites', {
      ...{email: 'late@example.com', role: 'member', workspaces: []},
    })
    const late = await user('late')
    await ask('DELETE', `/Users/${late.id}`)
    expect(await gateway.admin('GET', `/admin/users/invites/${invite.id}`)).toMatchObject({status: 'cancelled'})
  })

  test('IC15: of many changes of one group at once none is lost', async () => {
    const {gateway, ask, user, group, patch} = scim
    const ids: string[] = []
    for (let n = 0; n < 60; n++) ids.push((await user(`ic15-${n}`)).id)
    const {id} = await group('ws-IC15-role-member', ids.slice(0, 30))
    const path = `/Groups/${id}`
    const all = await Promise.all([
      ...ids.slice(30, 50).map(value => patch(path, {op: 'Add', path: 'members', value: [{value}]})),
      ...ids.slice(0, 10).map(value => patch(path, {op: 'Remove', path: 'members', value: [{value}]})),
      ...[1, 2, 3, 4, 5].map(n => patch(path, {op: 'Replace', path: 'externalId', value: `e${n}`})),
    ])
    expect(new Set(all.map(({status}) => status))).toEqual(new Set([200]))
    const members = (await ask('GET', path)).body.members.map(({value}: {value: string}) => value)
    expect(members.toSorted()).toEqual(ids.slice(10, 50).toSorted())
    expect(await rolesOf(gateway, ids[45]!)).toEqual({IC15: 'member'})
    expect(await rolesOf(gateway, ids[5]!)).toEqual({})
  })

  test('IC17: Entra renames whom it deletes; the address stays the account’s, and a new hire is somebody else', async () => {
    const {ask, user, patch} = scim
    const externalId = '0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0'
    const renamed = '0f1e2d3c4b5a69788796a5b4c3d2e1f0tom@example.com'
    const {id} = await user('tom', {externalId})
    const path = `/Users/${id}`
    const gone = [
      {op: 'Replace', path: 'userName', value: renamed},
      {op: 'Replace', path: 'active', value: 'False'},
    ]
    const back = [
      {op: 'Replace', path: 'userName', value: 'tom@example.com'},
      {op: 'Replace', path: 'active', value: 'True'},
    ]
    const found = async (name: string) =>
      (await ask('GET', `/Users?filter=${encodeURIComponent(`userName eq "${name}"`)}`)).body.totalResults
    expect((await patch(path, ...gone)).body).toMatchObject({userName: renamed, active: false})
    expect([await found('tom@example.com'), await found(renamed)]).toEqual([0, 1])
    expect((await patch(path, ...back)).body).toMatchObject({id, userName: 'tom@example.com', active: true})
    expect((await patch(path, gone[0]!)).body.active).toBe(true)
    await patch(path, ...gone)
    const hire = await ask('POST', '/Users', {userName: 'tom@example.com', externalId: 'another'})
    expect(hire.status).toBe(201)
    expect(hire.body.id).not.toBe(id)
    expect(await patch(path, ...back)).toMatchObject({status: 409, body: {scimType: 'uniqueness'}})
  })

  test('IC18: a name changes only to one that is free, of the house, and by the name itself', async () => {
    const {ask, patch} = scim
    const id = (await userOf('mia@example.com'))!
    const path = `/Users/${id}`
    const rename = (value: string) => patch(path, {op: 'Replace', path: 'userName', value})
    expect(await rename('adam@example.com')).toMatchObject({status: 409, body: {scimType: 'uniqueness'}})
    expect(await rename('x@evil.com')).toMatchObject({status: 400, body: {scimType: 'invalidValue'}})
    expect((await rename('MIA@example.com')).body.userName).toBe('MIA@example.com')
    expect(await userOf('mia@example.com')).toBe(id)
    const version = (await ask('GET', path)).headers.get('etag')
    const two = await patch(
      path,
      {op: 'Add', path: 'title', value: 'T'},
      {op: 'Replace', path: 'userName', value: 'x@evil.com'},
    )
    expect(two.status).toBe(400)
    expect((await ask('GET', path)).headers.get('etag')).toBe(version)
    await patch(path, {op: 'Add', path: 'emails[type eq "work"].value', value: 'else@example.com'})
    expect(await userOf('mia@example.com')).toBe(id)
    expect((await rename('mia.new@example.com')).status).toBe(200)
    expect(await userOf('mia.new@example.com')).toBe(id)
    expect(await notesOf(id)).toEqual(['address: mia@example.com, now mia.new@example.com'])
  })

  test('IC19: a group is written again, and a name that only looks like a slug opens no workspace', async () => {
    const {gateway, ask, user, group, patch} = scim
    const {id} = await user('ic19')
    const made = await group('Same', [id, id])
    const path = `/Groups/${made.id}`
    expect(made.members).toHaveLength(1)
    expect(
      (await ask('PUT', path, {displayName: 'Same', members: [{value: id}, {value: id}]})).body.members,
    ).toHaveLength(1)
    const twice = {op: 'Add', path: 'members', value: [{value: id}, {value: id}]}
    expect((await patch(path, twice, twice)).body.members).toHaveLength(1)
    const {id: workspace} = await gateway.admin<{id: string}>('POST', '/admin/workspaces', {
      name: 'SRE Team',
      slug: 'sre-team',
    })
    await group('ws-SRE:Team-role-admin', [id])
    expect(await rolesOf(gateway, id)).toEqual({'SRE:Team': 'admin'})
    expect((await gateway.admin<{data: unknown[]}>('GET', `/admin/workspaces/${workspace}/users`)).data).toEqual([])
    expect((await ask('POST', '/Groups', {displayName: 'SAME'})).body).toMatchObject({
      status: '409',
      scimType: 'uniqueness',
    })
    const filter = encodeURIComponent('displayName eq "sAmE"')
    expect((await ask('GET', `/Groups?filter=${filter}`)).body.totalResults).toBe(1)
  })

  test('IC20: one tenant’s token sees and changes nothing of another’s', async () => {
    const {gateway, ask, group} = scim
    const other = await gateway.admin<{admin_key: string}>('POST', '/operator/organisations', {name: 'Other'})
    const of_other = async <T>(method: string, path: string, body?: object): Promise<T> => {
      const reply = await fetch(`${gateway.url}/v1${path}`, {
        method,
        headers: {'x-gateway-api-key': other.admin_key, ...(body && {'content-type': 'application/json'})},
        ...(body && {body: JSON.stringify(body)}),
      })
      return (await reply.json()) as T
    }
    const {token} = await of_other<{token: string}>('POST', '/admin/organisation/scim-tokens', {name: 'theirs'})
    const id = (await userOf('kim@example.com'))!
    const made = await group('Ours')
    const random = '00000000-0000-4000-8000-000000000000'
    for (const [method, path, body] of [
      ['GET', '/Users/ID', undefined],
      ['PUT', '/Users/ID', {userName: 'kim@example.com'}],
      ['PATCH', '/Users/ID', {Operations: [{op: 'replace', path: 'active', value: false}]}],
      ['DELETE', '/Users/ID', undefined],
      ['DELETE', '/Groups/ID', undefined],
    ] as const) {
      const at = (each: string) => ask(method, path.replace('ID', each), body, {token})
      const [theirs, nobody] = [await at(path.startsWith('/Users') ? id : made.id), await at(random)]
      expect([theirs.status, nobody.status]).toEqual([404, 404])
      expect(JSON.stringify(theirs.body).replace(/[\da-f-]{36}/, 'ID')).toBe(
        JSON.stringify(nobody.body).replace(/[\da-f-]{36}/, 'ID'),
      )
    }
    const listed = await ask('GET', '/Users', undefined, {token})
    expect(listed.body.totalResults).toBe(0)
    expect((await ask('POST', '/Groups', {displayName: 'G', members: [{value: id}]}, {token})).body).toMatchObject({
      ...{status: '400', scimType: 'invalidValue'},
    })
  })
})
