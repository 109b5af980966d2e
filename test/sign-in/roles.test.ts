import {afterAll, beforeAll, describe, expect, test} from 'vitest'
import {requestOf} from '../../cli/connect.ts'
import type {AnyOperation} from '../../src/admin/operation.ts'
import {OPERATIONS} from '../../src/admin/registry.ts'
import {ASKED, DECIDES, EXPECTED, MCP, OF_ITS_USER} from '../admin/matrix-rows.ts'
import {forRing, generated} from '../support/ring.ts'
import {LETTERS, type Letter, nowhere, openRoles, type RolesHouse, type Sent} from './roles-house.ts'
import {type Call, call, keyOf, memberAs, ROWS, roleIs} from './roles-rows.ts'

let house: RolesHouse
beforeAll(async () => {
  house = await openRoles()
}, 60_000)
afterAll(() => house?.close())

interface Answer {
  readonly status: number
  readonly body: {readonly data?: {readonly errorCode?: string}} | null | undefined
}

/** `in` where the role may, whatever the call then finds; else why not. */
function outcome({status, body}: Answer): string | number {
  if (status === 403) return body?.data?.errorCode ?? 403
  return status === 401 || status >= 500 ? status : 'in'
}

/** Expects the same of the cookie of a person and of a session that the operator opened for the same person. */
async function expectBoth(letter: Letter, name: string, make: () => Sent, expected: 'in' | 'AB03') {
  const replies = await house.both(letter, make)
  const why = `${letter} ${name}: ${JSON.stringify(replies).slice(0, 500)}`
  expect(replies.map(outcome), why).toEqual([expected, expected])
  if (make().method === 'GET') expect(replies[0].status, why).toBe(replies[1].status)
  return {replies, why}
}

describe('every operation by the cookie of a person who signed in', () => {
  /** By the scopes of the matrix of roles. */
  function isLetIn(letter: Letter, {id, scopes}: AnyOperation): boolean {
    if (!scopes?.length) return true
    const decisive = DECIDES[id] ? [DECIDES[id]!] : scopes
    return decisive.some(scope => EXPECTED.get(scope)?.usual.includes(letter))
  }

  /** What removes is sent for an id that is not there: the role is looked at first. */
  function sentOf(operation: AnyOperation): Sent {
    const removes = operation.method === 'DELETE' && !operation.body
    const {params = {}, query = {}, body} = ASKED[operation.id]!(removes ? nowhere(house.place) : house.place)
    return {...requestOf(operation, {params, query}), ...(body !== undefined && {body})}
  }

  test.each(LETTERS)('%s: is open or shut as for a bearer session, and as the matrix has it', async letter => {
    const seen = {in: 0, AB03: 0}
    // in a short run each role takes a part of its own
    const every = forRing({own: 4, ci: 1, full: 1})
    const tried = OPERATIONS.filter(
      ({scopes}, at) => scopes?.length === 0 || (at + LETTERS.indexOf(letter)) % every === 0,
    )
    for (const operation of tried) {
      const make = () => sentOf(operation)
      if (operation.scopes === null) {
        // what is open to all looks at no session: its refusals are of something else
        const [cookie, bearer] = await house.both(letter, make)
        expect([operation.id, cookie.status]).toEqual([operation.id, bearer.status])
        continue
      }
      const expected = isLetIn(letter, operation) ? 'in' : 'AB03'
      const {replies, why} = await expectBoth(letter, operation.id, make, expected)
      if (
        operation.method === 'GET' &&
        expected === 'in' &&
        operation.scopes.length > 0 &&
        !OF_ITS_USER.has(operation.id)
      )
        expect(replies[0].status, why).toBe(200)
      seen[expected]++
    }
    expect(seen.in).toBeGreaterThan(0)
    expect(seen.AB03 > 0).toBe(letter !== 'O' && letter !== 'A')
    generated(`operations by the cookie of ${letter}`, seen.in + seen.AB03)
  })

  test.each(LETTERS)(
    '62: %s: a write that no page of the gateway made is refused, whatever the role may',
    async letter => {
      const {browser} = house.people[letter]
      const headers = {accept: 'application/json', 'sec-fetch-site': 'cross-site'}
      const writes = OPERATIONS.filter(({method, scopes}) => method !== 'GET' && scopes !== null)
      for (const operation of writes) {
        const {method, path, body} = sentOf(operation)
        const reply = await browser.go(path, {method, headers, ...(body !== undefined && {body})})
        expect([operation.id, reply.status], reply.text).toEqual([operation.id, 403])
        expect(reply.text).toContain('page')
      }
    },
  )
})

describe.each(ROWS)('§1.8: %s', (_, letters, calls) => {
  test.each(LETTERS)('%s', async letter => {
    const around = {place: house.place, own_id: house.people[letter].id}
    for (const [name, call] of Object.entries(calls)) {
      const expected = letters.includes(letter) ? 'in' : 'AB03'
      const {replies, why} = await expectBoth(letter, name, () => call(around), expected)
      if (expected === 'in') expect(Math.max(...replies.map(({status}) => status)), why).toBeLessThan(300)
    }
  })
})

describe('§1.8: beyond the rows', () => {
  const tries = (letter: Letter, made: Call, expected: 'in' | 'AB03') =>
    expectBoth(letter, 'beyond', () => made({place: house.place, own_id: house.people[letter].id}), expected)

  test('none gives a role above the own one', async () => {
    for (const letter of ['O', 'A', 'W'] as const) await tries(letter, memberAs('admin'), 'in')
    await tries('G', memberAs('admin'), 'AB03')
    // owners are made by the operator alone
    for (const letter of ['O', 'A'] as const) {
      const {replies} = await tries(letter, roleIs('owner'), 'in')
      expect(replies.map(({status}) => status)).toEqual([400, 400])
    }
    for (const letter of ['W', 'G', 'M', 'N'] as const) await tries(letter, roleIs('owner'), 'AB03')
    const roles = new Set((await house.users()).filter(({role}) => role === 'owner').map(({email}) => email))
    expect([...roles]).toEqual(['olga@example.test'])
  })

  test('integrations and tools of the organisation: owners and admins alone open them to workspaces', async () => {
    const tool = await house.gateway.admin<{id: string}>('POST', '/mcp-integrations', MCP)
    const workspaces = [{id: house.workspace, enabled: true}]
    for (const [path, more] of [
      ['/v1/integrations/demo/workspaces', {create_default_provider: false}],
      [`/v1/mcp-integrations/${tool.id}/workspaces`, {}],
    ] as const) {
      const statuses: Record<string, readonly number[]> = {}
      for (const letter of LETTERS) {
        const replies = await house.both(letter, () => ({method: 'PUT', path, body: {workspaces, ...more}}))
        statuses[letter] = replies.map(({status}) => status)
      }
      // who writes those of a workspace does not find the organisation's own
      const expected = {O: [200, 200], A: [200, 200], N: [403, 403], W: [404, 404], G: [404, 404], M: [403, 403]}
      expect(statuses, path).toEqual(expected)
    }
  })

  test('what they make without naming a workspace is of the one that they are in', async () => {
    const integration = {name: 'Made', ai_provider_id: 'openai', key: 'sk-0123456789'}
    for (const letter of ['W', 'G'] as const)
      for (const [path, body] of [
        ['/integrations', integration],
        ['/mcp-integrations', MCP],
      ] as const) {
        const made = await house.people[letter].byCookie({method: 'POST', path: `/v1${path}`, body})
        const kept = await house.gateway.admin('GET', `${path}/${made.body.slug}`)
        expect(kept, `${letter} ${path}`).toMatchObject({workspace_id: house.workspace})
      }
  })

  test('what is of the operator alone is not there for any role', async () => {
    for (const letter of LETTERS)
      for (const [path, body] of [
        ['/v1/operator/users', {email: 'eve@example.test', role: 'owner'}],
        ['/v1/operator/domains', {domain: 'eve.test'}],
        ['/v1/operator/sessions', {email: 'olga@example.test', ttl_s: 3600}],
      ] as const) {
        const [cookie, bearer] = await house.both(letter, () => ({method: 'POST', path, body}))
        expect([cookie.status, bearer.status], `${letter} ${path}`).toEqual([401, 401])
      }
    expect((await house.users()).map(({email}) => email)).not.toContain('eve@example.test')
  })

  test('archived workspaces are there for owners and admins alone', async () => {
    const {id} = await house.gateway.admin<{id: string}>('POST', '/admin/workspaces', {name: 'Gone'})
    const users = (['W', 'G', 'M'] as const).map(letter => ({id: house.people[letter].id, role: 'member'}))
    await house.gateway.admin('POST', `/admin/workspaces/${id}/users`, {users})
    await house.gateway.admin('DELETE', `/admin/workspaces/${id}`, {name: 'Gone', force_delete: true})
    for (const letter of LETTERS) {
      const replies = await house.both(letter, () => ({method: 'GET', path: `/v1/logs?workspace_id=${id}`}))
      const is_shown = letter === 'O' || letter === 'A'
      const why = `${letter}: ${JSON.stringify(replies)}`
      expect(
        replies.map(({status}) => status === 200),
        why,
      ).toEqual([is_shown, is_shown])
    }
  })
})

describe('a security setting that changes while a browser is signed in', () => {
  const own = keyOf(({own_id}) => own_id)
  const others = keyOf(({place}) => place.user)
  const around = (letter: Letter) => ({place: house.place, own_id: house.people[letter].id})
  const prompt = call(
    'PUT',
    ({prompt}) => `/prompts/${prompt}`,
    () => ({name: 'Changed'}),
  )
  const configs = call('GET', p => `/configs?workspace_id=${p.workspace}`)
  const edit = call(
    'PUT',
    p => `/admin/workspaces/${p.workspace}`,
    () => ({description: 'Changed'}),
  )
  const integration = call(
    'PUT',
    p => `/integrations/${p.integration}`,
    () => ({name: 'Changed'}),
  )

  test.each([
    ['M', 'api_keys', 'membersManageApiKeys', own],
    ['M', 'prompts', 'membersWritePrompts', prompt],
    ['M', 'configs', 'membersViewConfigs', configs],
    ['G', 'configs', 'managersViewConfigs', configs],
    ['G', 'api_keys', 'managersManageApiKeys', others],
    ['G', 'prompts', 'managersWritePrompts', prompt],
    ['G', 'workspace_management', 'managersEditWorkspace', edit],
    ['G', 'integrations', 'managersWriteWsIntegrations', integration],
  ] as const)('%s, %s.%s: the next request knows', async (letter, category, setting, call) => {
    const sent = () => call(around(letter))
    const before = outcome((await house.both(letter, sent))[0])
    const set = (value: boolean | null) =>
      house.people.A.byCookie({
        ...{method: 'PUT', path: '/v1/admin/organisation'},
        body: {settings: {security: {[category]: {[setting]: value}}}},
      })
    const [usual, turned] = before === 'in' ? (['in', 'AB03'] as const) : (['AB03', 'in'] as const)
    expect((await set(turned === 'in')).status).toBe(200)
    await expectBoth(letter, setting, sent, turned)
    // admins are not concerned
    await expectBoth('A', setting, () => call(around('A')), 'in')
    await expectBoth('W', setting, () => call(around('W')), 'in')
    expect((await set(null)).status).toBe(200)
    await expectBoth(letter, setting, sent, usual)
  })

  test('with the setting a member makes a key of the own alone', async () => {
    const change = (membersManageApiKeys: boolean | null) =>
      house.gateway.admin('PUT', '/admin/organisation', {settings: {security: {api_keys: {membersManageApiKeys}}}})
    await change(true)
    const {replies} = await expectBoth('M', 'own', () => own(around('M')), 'in')
    expect(replies.map(({status}) => status)).toEqual([200, 200])
    await expectBoth('M', 'of another', () => others(around('M')), 'AB03')
    await change(null)
  })

  test('a role that is lowered is lowered for the cookie as well, at the next request', async () => {
    const users = () => ({method: 'GET', path: '/v1/admin/users'})
    await expectBoth('A', 'users', users, 'in')
    const {id} = house.people.A
    await house.gateway.admin('PUT', `/admin/users/${id}`, {role: 'member'})
    await expectBoth('A', 'users', users, 'AB03')
    await house.gateway.admin('PUT', `/admin/users/${id}`, {role: 'admin'})
    await expectBoth('A', 'users', users, 'in')
  })
})
