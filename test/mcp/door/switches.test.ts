import {afterAll, beforeAll, describe, expect, test} from 'vitest'
import {openLegacy} from '../../support/mcp/legacy-server.ts'
import type {McpListener} from '../../support/mcp/listener.ts'
import {openModern} from '../../support/mcp/modern-server.ts'
import {McpGateway} from '../../support/mcp/served.ts'

/** Switches of capabilities, at lists and at calls of both eras. */

let mcp: McpGateway
const servers: Record<string, McpListener & {readonly url: string}> = {}

beforeAll(async () => {
  mcp = await McpGateway.open()
  for (const [slug, open] of [
    ['legacy', openLegacy],
    ['modern', openModern],
  ] as const) {
    servers[slug] = await open()
    await mcp.server(slug, servers[slug].url)
  }
}, 60_000)
afterAll(async () => {
  await mcp.close()
  for (const server of Object.values(servers)) await server.close()
})

type Era = 'legacy' | 'modern'
interface Answer {
  readonly result?: Record<string, {name: string; uri?: string}[]>
  readonly error?: {readonly code: number; readonly message: string}
}
async function ask(slug: string, era: Era, method: string, params: Record<string, unknown> = {}): Promise<Answer> {
  const response =
    era === 'modern'
      ? await mcp.modernCall(slug, method, params)
      : await mcp.post(slug, {jsonrpc: '2.0', id: 1, method, params})
  const text = await response.text()
  return JSON.parse(text.startsWith('{') ? text : text.slice(text.lastIndexOf('data: ') + 6))
}
async function names(slug: string, era: Era, method: string, member: string): Promise<string[]> {
  const {result} = await ask(slug, era, method)
  return result![member]!.map(({name}) => name)
}
/** Capabilities can be switched once a sync has found them. */
async function put(place: string, capability: object) {
  const body = {capabilities: [capability]}
  const tried = () => mcp.gateway.admin('PUT', `/${place}/capabilities`, body).then(() => 'put', String)
  await expect.poll(tried, {timeout: 20_000}).toBe('put')
}

const KINDS = [
  ['tool', 'echo', 'tools/list', 'tools', 'tools/call', {name: 'echo', arguments: {text: 'x'}}],
  ['prompt', 'greet', 'prompts/list', 'prompts', 'prompts/get', {name: 'greet', arguments: {name: 'Ada'}}],
  ['resource', 'note', 'resources/list', 'resources', 'resources/read', {uri: 'note://one'}],
] as const
const WAYS = (['legacy', 'modern'] as const).flatMap(slug => KINDS.map(kind => [slug, ...kind] as const))

describe.each(WAYS)('fact 26: at an upstream of the %s era a %s', (slug, type, name, list, member, method, params) => {
  test.each(['legacy', 'modern'] as const)(
    'that is switched off is neither listed nor used by a %s client',
    async era => {
      const place = `mcp-servers/${slug}`
      expect(await names(slug, era, list, member)).toContain(name)
      const neighbours = (await names(slug, era, list, member)).filter(each => each !== name)
      await put(place, {name, type, enabled: false})
      expect(await names(slug, era, list, member)).toEqual(neighbours)
      const before = servers[slug]!.of(method).length
      const {error} = await ask(slug, era, method, params)
      expect(error!.code).toBe(-32602)
      expect(servers[slug]!.of(method)).toHaveLength(before)
      await put(place, {name, type, enabled: true})
      expect(await names(slug, era, list, member)).toContain(name)
      expect((await ask(slug, era, method, params)).result).toBeDefined()
    },
  )

  test('that is off at the integration is off, whatever its server says', async () => {
    await put(`mcp-integrations/${slug}-integration`, {name, type, enabled: false})
    await put(`mcp-servers/${slug}`, {name, type, enabled: true})
    const before = servers[slug]!.of(method).length
    for (const era of ['legacy', 'modern'] as const) {
      expect(await names(slug, era, list, member)).not.toContain(name)
      expect((await ask(slug, era, method, params)).error!.code).toBe(-32602)
    }
    expect(servers[slug]!.of(method)).toHaveLength(before)
    await put(`mcp-integrations/${slug}-integration`, {name, type, enabled: true})
    expect((await ask(slug, 'modern', method, params)).result).toBeDefined()
  })
})

test('fact 26: a name that is off has the words of one that nobody offers', async () => {
  await put('mcp-servers/modern', {name: 'count', type: 'tool', enabled: false})
  const {error} = await ask('modern', 'modern', 'tools/call', {name: 'count', arguments: {}})
  expect(error).toMatchObject({code: -32602, message: 'Unknown tool: count'})
  await put('mcp-servers/modern', {name: 'count', type: 'tool', enabled: true})
})
