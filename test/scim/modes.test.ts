import {afterEach, expect, test} from 'vitest'
import {openScim, rolesOf, type Scim} from '../support/scim.ts'

let scim: Scim
afterEach(() => scim.gateway.close())

test('58: in user mode users say which groups they are in', async () => {
  scim = await openScim({SCIM_MEMBERSHIP_USER_MODE: 'ON'})
  const {gateway, ask, group, patch} = scim
  const made = await group('ws-Search-role-manager')
  const {body} = await ask('POST', '/Users', {
    userName: 'ada@example.com',
    groups: [{display: 'ws-Search-role-manager'}],
  })
  expect(await rolesOf(gateway, body.id)).toEqual({Search: 'manager'})
  expect((await ask('GET', `/Groups/${made.id}`)).body.members).toMatchObject([{value: body.id}])
  await patch(`/Groups/${made.id}`, {op: 'remove', path: 'members'}, {op: 'add', path: 'externalId', value: 'kept'})
  expect((await ask('GET', `/Groups/${made.id}`)).body).toMatchObject({externalId: 'kept', members: [{value: body.id}]})
  await patch(`/Users/${body.id}`, {op: 'remove', path: `groups[value eq "${made.id}"]`})
  expect(await rolesOf(gateway, body.id)).toEqual({})
})

test('57: an archived person in a group comes back where that is set', async () => {
  scim = await openScim()
  const {gateway, ask, user, group} = scim
  await gateway.admin('PUT', '/admin/organisation/auth', {
    scim: {group_based_user_provisioning: true, workspace_prefix: 'team '},
  })
  const {id} = await user('ada', {active: false})
  await group('team Search-role-member', [id])
  expect((await ask('GET', `/Users/${id}`)).body.active).toBe(true)
  expect(await rolesOf(gateway, id)).toEqual({Search: 'member'})
})

test('60: SCIM_ENABLED=OFF answers 404 on every base', async () => {
  scim = await openScim()
  const {token} = scim
  await scim.gateway.close()
  const {startGateway} = await import('../support/gateway.ts')
  const gateway = await startGateway({SCIM_ENABLED: 'OFF'})
  for (const base of ['/scim/v2', '/v1/scim/v2', '/v1/scim']) {
    const reply = await fetch(`${gateway.url}${base}/Users`, {headers: {authorization: `Bearer ${token}`}})
    expect([reply.status, ((await reply.json()) as {status: string}).status]).toEqual([404, '404'])
  }
  await gateway.close()
  scim = await openScim()
})
