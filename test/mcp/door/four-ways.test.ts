import {afterAll, beforeAll, describe, expect, test} from 'vitest'
import {type LegacyFixture, openLegacy} from '../../support/mcp/legacy-server.ts'
import {type ModernFixture, openModern} from '../../support/mcp/modern-server.ts'
import {McpGateway} from '../../support/mcp/served.ts'

let mcp: McpGateway
let legacy: LegacyFixture
let modern: ModernFixture

beforeAll(async () => {
  legacy = await openLegacy()
  modern = await openModern()
  mcp = await McpGateway.open()
  await mcp.server('legacy', legacy.url)
  await mcp.server('modern', modern.url)
})
afterAll(async () => {
  await mcp.close()
  await legacy.close()
  await modern.close()
})

type Result = {content?: {type: string; text?: string}[]; structuredContent?: unknown; isError?: boolean}
interface AnyClient {
  listTools(): Promise<{tools: {name: string}[]}>
  callTool(request: {name: string; arguments?: Record<string, unknown>}, ...more: unknown[]): Promise<unknown>
  listPrompts(): Promise<{prompts: {name: string}[]}>
  getPrompt(request: {name: string; arguments?: Record<string, string>}): Promise<{messages: unknown[]}>
  listResources(): Promise<{resources: {uri: string}[]}>
  listResourceTemplates(): Promise<{resourceTemplates: {uriTemplate: string}[]}>
  readResource(request: {uri: string}): Promise<{contents: {text?: string}[]}>
  getServerVersion(): {name: string} | undefined
  getInstructions(): string | undefined
}

describe.each(['legacy', 'modern'] as const)('client of the %s era', of_client => {
  describe.each(['legacy', 'modern'] as const)('upstream of the %s era', upstream => {
    let client: AnyClient
    const call = async (name: string, args: Record<string, unknown> = {}) =>
      (await client.callTool({name, arguments: args})) as Result
    const textOf = ({content}: Result) => content?.[0]?.text

    beforeAll(async () => {
      client = (await mcp[of_client](upstream)) as unknown as AnyClient
    })

    test('facts 14 to 17: it says what the upstream is', () => {
      expect(client.getServerVersion()).toMatchObject({name: `${upstream}-fixture`})
      expect(client.getInstructions()).toBe('Call echo.')
    })

    test('facts 14 to 17: lists, prompts, resources and templates', async () => {
      const {tools} = await client.listTools()
      expect(tools.map(({name}) => name)).toEqual(expect.arrayContaining(['echo', 'add', 'ask', 'sample', 'roots']))
      expect((await client.listPrompts()).prompts.map(({name}) => name)).toEqual(['greet'])
      const {messages} = await client.getPrompt({name: 'greet', arguments: {name: 'Ada'}})
      expect(JSON.stringify(messages)).toContain('Greet Ada')
      expect((await client.listResources()).resources.map(({uri}) => uri)).toContain('note://one')
      expect((await client.listResourceTemplates()).resourceTemplates[0]).toMatchObject({
        uriTemplate: 'page://{number}',
      })
      expect((await client.readResource({uri: 'page://7'})).contents[0]).toMatchObject({text: 'page 7'})
    })

    test('facts 14 to 17: calls of tools', async () => {
      expect(textOf(await call('echo', {text: 'hä 𝄞'}))).toBe('hä 𝄞')
      expect((await call('add', {a: 1, b: 2})).structuredContent).toEqual({sum: 3})
      expect(await call('fail')).toMatchObject({isError: true})
    })

    test.each([
      ['ask', 'accept {"ok":true}'],
      ['sample', '{"type":"text","text":"yes"}'],
      ['roots', 'file:///a'],
    ])('facts 14 to 17: the question of %s comes to the client, and its answer to the tool', async (tool, answer) => {
      expect(textOf(await call(tool))).toBe(answer)
    })

    test('fact 35: progress comes in its order', async () => {
      const seen: number[] = []
      const onprogress = ({progress}: {progress: number}) => void seen.push(progress)
      const request = {name: 'slow', arguments: {steps: 5}}
      const options = {onprogress}
      await (of_client === 'legacy' ? client.callTool(request, undefined, options) : client.callTool(request, options))
      expect(seen).toEqual([1, 2, 3, 4, 5])
    })
  })
})
