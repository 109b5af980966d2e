import {afterAll, expect, test} from 'vitest'
import type {McpUpstream} from '../../../src/mcp/upstream/upstream.ts'
import {openReference} from '../../support/mcp/reference-server.ts'
import {ask, Collected, callTool, faultIn, textIn, UpstreamTests} from '../../support/mcp/upstream.ts'
import {RING} from '../../support/ring.ts'

/** All that a sync declares: servers hide tools from clients that declare less. */
const ALL = {elicitation: {form: {}, url: {}}, sampling: {}, roots: {listChanged: true}}
const tests = new UpstreamTests()
afterAll(() => tests.close())

function answering(upstream: McpUpstream): Collected {
  const answers: Readonly<Record<string, string>> = {
    'elicitation/create': '{"action":"accept","content":{"name":"Ada","check":true}}',
    'sampling/createMessage': '{"role":"assistant","content":{"type":"text","text":"sampled"},"model":"m"}',
    'roots/list': '{"roots":[{"uri":"file:///a","name":"a"}]}',
  }
  return new Collected(({id, method}) => void upstream.answer(id, {result: answers[method]!}))
}

test.skipIf(RING === 'own').each(['streamableHttp', 'sse'] as const)(
  '14: the reference server over %s',
  async transport => {
    const server = await openReference(transport)
    const {upstream, finding} = await tests.open(server.url, {declares: ALL})
    expect(finding).toMatchObject({era: 'legacy', transport: transport === 'sse' ? 'sse' : 'http'})
    const tools = (await ask(upstream, 'tools/list')).result!.tools as {name: string}[]
    expect(tools.length).toBeGreaterThanOrEqual(16)
    expect(textIn(await callTool(upstream, 'echo', {message: 'hä'}))).toBe('Echo: hä')
    const structured = await callTool(upstream, 'get-structured-content', {location: 'New York'})
    expect(structured.result).toHaveProperty('structuredContent')
    const sink = answering(upstream)
    const long = {duration: 0.2, steps: 4}
    await callTool(upstream, 'trigger-long-running-operation', long, {sink, meta: '{"progressToken":"mine"}'})
    const progress = sink.notifications.filter(({method}) => method === 'notifications/progress')
    expect(progress.map(({params}) => [params!.progressToken, params!.progress])).toEqual(
      [1, 2, 3, 4].map(step => ['mine', step]),
    )
    expect(textIn(await callTool(upstream, 'trigger-elicitation-request', {}, {sink}))).toMatch(/provided|accept/i)
    const sampled = await callTool(upstream, 'trigger-sampling-request', {prompt: 'x', maxTokens: 5}, {sink})
    expect(textIn(sampled)).toMatch(/sampled/)
    expect(sink.questions.map(({method}) => method)).toEqual(
      expect.arrayContaining(['elicitation/create', 'sampling/createMessage']),
    )
    expect((await ask(upstream, 'prompts/list')).result!.prompts).not.toHaveLength(0)
    expect((await ask(upstream, 'resources/templates/list')).result!.resourceTemplates).not.toHaveLength(0)
    await upstream.close()
    await server.close()
    expect(await faultIn(tests.open(server.url))).toMatchObject({reason: 'upstream_unreachable'})
  },
)
