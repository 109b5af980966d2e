import {afterAll, beforeAll, describe, expect, test} from 'vitest'
import {startGateway, type TestGateway} from '../support/gateway.ts'
import {type FakeProvider, fakeProvider} from '../support/provider.ts'

/** What a chat with the fake provider uses, in tokens (`USAGE`). */
const TOKENS = 17
const budget = (credit_limit: number) => ({type: 'tokens', credit_limit})

let provider: FakeProvider
let gateway: TestGateway

beforeAll(async () => {
  provider = await fakeProvider()
  gateway = await startGateway({TRUSTED_CUSTOM_HOSTS: '127.0.0.1'})
})
afterAll(async () => {
  await gateway.close()
  await provider.close()
})

interface LimitCase {
  readonly headers: Record<string, string>
  /** Changes its limit, or what else its operation takes. */
  change(body: object): Promise<unknown>
}

let made = 0

/** A new workspace with a key, an integration and a provider of its own, one of which has a budget for one call. */
async function limited(entity: 'key' | 'workspace' | 'provider' | 'integration'): Promise<LimitCase> {
  const slug = `main-${++made}`
  const workspace = await gateway.admin<{id: string}>('POST', '/admin/workspaces', {
    name: slug,
    ...(entity === 'workspace' && {usage_limits: [budget(TOKENS)]}),
  })
  const {key, id} = await gateway.admin<{key: string; id: string}>('POST', '/api-keys/workspace/service', {
    name: slug,
    workspace_id: workspace.id,
    scopes: ['completions.write'],
    ...(entity === 'key' && {usage_limits: budget(TOKENS)}),
  })
  await gateway.admin('POST', '/integrations', {
    name: slug,
    slug,
    ai_provider_id: 'openai',
    key: 'sk-upstream-secret-0123456789',
    configurations: {custom_host: provider.url},
  })
  const open = (more: object) =>
    gateway.admin('PUT', `/integrations/${slug}/workspaces`, {workspaces: [{id: workspace.id, enabled: true, ...more}]})
  await open({create_default_provider: false, ...(entity === 'integration' && {usage_limits: [budget(TOKENS)]})})
  await gateway.admin('POST', '/providers', {
    name: slug,
    slug,
    integration_id: slug,
    workspace_id: workspace.id,
    ...(entity === 'provider' && {usage_limits: budget(TOKENS)}),
  })
  const change = {
    key: (body: object) => gateway.admin('PUT', `/api-keys/${id}`, body),
    workspace: (body: object) => gateway.admin('PUT', `/admin/workspaces/${workspace.id}`, body),
    provider: (body: object) => gateway.admin('PUT', `/providers/${slug}?workspace_id=${workspace.id}`, body),
    integration: open,
  }
  return {headers: {'x-gateway-api-key': key, 'x-gateway-provider': `@${slug}`}, change: change[entity]}
}

const status = async ({headers}: LimitCase) =>
  (await gateway.chat({model: 'gpt-4o-mini', messages: [{role: 'user', content: 'hi'}]}, headers)).status

describe.each(['key', 'workspace', 'provider', 'integration'] as const)(
  'the budget of a %s that is used up',
  entity => {
    const limit = (credit_limit: number) => ({
      usage_limits: entity === 'workspace' || entity === 'integration' ? [budget(credit_limit)] : budget(credit_limit),
    })

    test('is open again once its credit limit is raised, with no other action, and not when it is set as it was', async () => {
      const of = await limited(entity)
      expect([await status(of), await status(of)]).toEqual([200, 412])
      await of.change(limit(TOKENS))
      expect(await status(of)).toBe(412)
      await of.change(limit(2 * TOKENS))
      expect([await status(of), await status(of)]).toEqual([200, 412])
    })

    test('is told with its name, what is used, what is allowed and that it does not reset', async () => {
      const of = await limited(entity)
      await status(of)
      const refused = await gateway.chat({model: 'gpt-4o-mini', messages: [{role: 'user', content: 'hi'}]}, of.headers)
      const {error} = (await refused.json()) as {error: {message: string}}
      expect(error.message).toMatch(
        new RegExp(`^The usage limit of the ${entity === 'key' ? 'API key' : entity} @?[\\w -]+ is used up`),
      )
      expect(error.message).toContain(` ${TOKENS} of ${TOKENS} tokens in all are used; it does not reset by itself.`)
      expect(error.message).not.toContain(of.headers['x-gateway-api-key'])
    })

    test('is open once it is taken away', async () => {
      const of = await limited(entity)
      expect([await status(of), await status(of)]).toEqual([200, 412])
      await of.change({usage_limits: null})
      expect(await status(of)).toBe(200)
    })

    test.skipIf(entity === 'workspace')('is open once its usage is reset by hand', async () => {
      const of = await limited(entity)
      expect([await status(of), await status(of)]).toEqual([200, 412])
      await of.change({reset_usage: true})
      expect([await status(of), await status(of)]).toEqual([200, 412])
    })
  },
)

test('a key past its expiry is refused at the door, whatever its row says still', async () => {
  const [row] = (await gateway.admin<{data: {id: string}[]}>('GET', '/admin/workspaces')).data
  const expires_at = new Date(Date.now() + 400).toISOString()
  const {key} = await gateway.admin<{key: string}>('POST', '/api-keys/workspace/service', {
    name: 'brief',
    workspace_id: row!.id,
    scopes: ['completions.write'],
    expires_at,
  })
  const call = async () =>
    (
      await gateway.chat(
        {model: 'echo', messages: [{role: 'user', content: 'hi'}]},
        {'x-gateway-api-key': key, 'x-gateway-provider': '@demo'},
      )
    ).status
  await expect.poll(call, {timeout: 5000}).toBe(401)
})
