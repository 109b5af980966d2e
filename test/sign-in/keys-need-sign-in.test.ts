import {afterAll, beforeAll, describe, expect, test} from 'vitest'
import {startGateway, type TestGateway} from '../support/gateway.ts'
import {type OidcHouse, openOidc, says} from '../support/sign-in.ts'
import {KINDS} from '../support/stores.ts'

const DAY_MS = 86_400_000
const SCOPES = ['configs.list', 'completions.write']
const AGAIN =
  /has not signed in for 30 days\. The key works again after the next sign-in at http:.*\/v2\/auth\/sign-in\.$/

describe.each(KINDS)('C22: keys of people who no longer sign in, on %s', kind => {
  const clock = {ms: Date.now()}
  const options = {now: () => clock.ms}
  let house: OidcHouse
  let workspace_id: string
  let twin: TestGateway | undefined
  beforeAll(async () => {
    house = await openOidc(kind, {}, options)
    const {gateway} = house
    workspace_id = (await gateway.admin<{data: {id: string}[]}>('GET', '/admin/workspaces')).data[0]!.id
    if (kind === 'postgres') twin = await startGateway({...gateway.shared, PORT: '0'}, options)
    await need(30)
  }, 60_000)
  afterAll(async () => {
    await twin?.close()
    await house?.close()
  })

  const need = (days: number | null) => house.gateway.auth({provisioning: {keys_need_sign_in_days: days}})
  const signIn = async (name: string) => {
    const iat = Math.floor(Date.now() / 1000)
    const now_s = Math.floor(clock.ms / 1000)
    says(house.provider, {
      ...{sub: name, email: `${name}@example.test`, email_verified: true},
      ...{iat: Math.max(iat, now_s), exp: Math.max(iat, now_s) + 300},
    })
    const {browser, reply} = await house.signIn()
    expect([reply.status, reply.text.slice(0, 80)]).toEqual([303, ''])
    return browser
  }
  interface Key {
    readonly id: string
    readonly key: string
  }
  const keyOf = async (user_id: string, role: 'member' | null = 'member'): Promise<Key> => {
    const users = [{id: user_id, role: 'member'}]
    if (role) await house.gateway.admin('POST', `/admin/workspaces/${workspace_id}/users`, {users})
    const body = {workspace_id, user_id, name: 'laptop', scopes: SCOPES}
    return house.gateway.admin<Key>('POST', '/api-keys/workspace/user', body)
  }
  const joined = async (name: string) => {
    const {user} = await (await signIn(name)).self()
    return {user_id: user.id as string, ...(await keyOf(user.id))}
  }
  /** The statuses of the administration and of a call, and what the latter says. */
  const used = async ({key}: {readonly key: string}, url = house.gateway.url) => {
    const headers = {'x-gateway-api-key': key, 'content-type': 'application/json'}
    const admin = await fetch(`${url}/v1/configs`, {headers})
    await admin.arrayBuffer()
    const call = await fetch(`${url}/v1/chat/completions`, {method: 'POST', headers, body: '{"model":"m"}'})
    const {error, message} = (await call.json()) as {error?: {message: string}; message?: string}
    return {admin: admin.status, call: call.status, says: error?.message ?? message}
  }
  const WORKS = {admin: 200, call: 400}
  const later = (days: number) => {
    clock.ms += days * DAY_MS
  }
  const soon = () => later((1 / DAY_MS) * 1000)
  const urls = () => [house.gateway.url, twin?.url].filter(url => url !== undefined)

  test('works for so many days after a sign-in, then is refused on both planes, and works after the next', async () => {
    const key = await joined('mia')
    later(29.99)
    for (const url of urls()) expect(await used(key, url)).toMatchObject(WORKS)
    later(0.02)
    for (const url of urls())
      expect(await used(key, url)).toMatchObject({admin: 403, call: 403, says: expect.stringMatching(AGAIN)})
    await expect
      .poll(() => house.gateway.rows('api-key'))
      .toContainEqual({
        ...{action: 'manage', actor_type: 'system', status: 403},
        body: {error: expect.stringMatching(AGAIN), user_id: key.user_id, count: 1},
      })
    await signIn('mia')
    soon()
    for (const url of urls()) expect(await used(key, url)).toMatchObject(WORKS)
  })

  test('a person who never came in that way has the days from when the key was made', async () => {
    const user_id = await house.gateway.person('nia', 'member')
    const key = await keyOf(user_id)
    later(29)
    expect(await used(key)).toMatchObject(WORKS)
    const second = await keyOf(user_id, null)
    later(2)
    expect(await used(key)).toMatchObject({admin: 403, call: 403})
    expect(await used(second)).toMatchObject(WORKS)
  })

  test('a session that no provider stands behind opens nothing', async () => {
    const key = await joined('oona')
    later(31)
    await house.gateway.admin('POST', '/operator/sessions', {email: 'oona@example.test', ttl_s: 3600})
    soon()
    expect(await used(key)).toMatchObject({admin: 403, call: 403})
  })

  test('links that were deleted, and sessions that ended, leave the time of the last sign-in', async () => {
    const key = await joined('pia')
    const {issuer} = house.oidc
    await house.gateway.admin('DELETE', `/admin/organisation/identities?issuer=${encodeURIComponent(issuer)}`)
    later(20)
    expect(await used(key)).toMatchObject(WORKS)
  })

  test('service keys, and keys of people where it is not set, work on', async () => {
    const body = {workspace_id, name: 'service', scopes: SCOPES}
    const service = await house.gateway.admin<Key>('POST', '/api-keys/workspace/service', body)
    const key = await joined('ria')
    later(31)
    for (const url of urls()) {
      expect(await used(service, url)).toMatchObject(WORKS)
      expect(await used(key, url)).toMatchObject({admin: 403, call: 403})
    }
    await need(null)
    for (const url of urls()) await expect.poll(() => used(key, url), {timeout: 5000}).toMatchObject(WORKS)
    await need(30)
    for (const url of urls()) await expect.poll(() => used(key, url), {timeout: 5000}).toMatchObject({call: 403})
  })

  test('the key says by when its person has to sign in', async () => {
    const {id, key} = await joined('sia')
    const by = new Date(clock.ms + 30 * DAY_MS).toISOString()
    const shown = await house.gateway.admin<Record<string, unknown>>('GET', `/api-keys/${id}`)
    const {data} = await house.gateway.admin<{data: Record<string, unknown>[]}>('GET', '/api-keys')
    const headers = {'x-gateway-api-key': key}
    const self = await (await fetch(`${house.gateway.url}/v1/api-keys/self/details`, {headers})).json()
    const listed = data.find(row => row.id === id)
    expect([shown, listed, self].map(row => (row as typeof shown).needs_sign_in_by)).toEqual([by, by, by])
    expect(data.filter(row => row.type !== 'workspace-user').every(row => !('needs_sign_in_by' in row))).toBe(true)
    await need(null)
    expect(await house.gateway.admin('GET', `/api-keys/${id}`)).not.toHaveProperty('needs_sign_in_by')
    await need(30)
  })

  test.each([0, -1, 1.5, 3651, '30', true])('%s days are refused', async days => {
    await expect(need(days as number)).rejects.toThrow(/answers 400.*provisioning\.keys_need_sign_in_days/)
    expect(await house.gateway.admin('GET', '/admin/organisation/auth')).toMatchObject({
      provisioning: {keys_need_sign_in_days: 30},
    })
  })
})
