import Anthropic from '@anthropic-ai/sdk'
import OpenAI from 'openai'
import {afterAll, beforeAll, beforeEach, describe, expect, test} from 'vitest'
import {WORKSPACE_KEY} from '../support/gateway.ts'
import {type LegacyFixture, openLegacy} from '../support/mcp/legacy-server.ts'
import {type ModernFixture, openModern} from '../support/mcp/modern-server.ts'
import {type ScriptedModel, scriptedModel} from '../support/mcp/scripted-model.ts'
import {McpGateway} from '../support/mcp/served.ts'

const BETA = 'server-side-mcp-2026-06-01'

let mcp: McpGateway
let modern: ModernFixture
let legacy: LegacyFixture
let model: ScriptedModel

beforeAll(async () => {
  model = await scriptedModel()
  modern = await openModern()
  legacy = await openLegacy()
  mcp = await McpGateway.open()
  await mcp.server('modern', modern.url)
  await mcp.server('legacy', legacy.url)
  for (const kind of ['openai', 'anthropic', 'mistral-ai']) await mcp.gateway.provider(kind, kind, model.provider.url)
}, 60_000)
afterAll(async () => {
  await mcp.close()
  await Promise.all([modern, legacy, model].map(each => each.close()))
})

let run = 0
let trace = ''
beforeEach(() => {
  trace = `trace-of-run-${++run}`
})

const headers = (kind: string, more: Record<string, string> = {}) => ({
  ...{'x-gateway-provider': `@${kind}`, 'x-gateway-beta': BETA, 'x-gateway-trace-id': trace},
  ...more,
})
const openai = (kind: string, more: Record<string, string> = {}) =>
  new OpenAI({
    ...{apiKey: 'unused', baseURL: `${mcp.gateway.url}/v1`, maxRetries: 0},
    defaultHeaders: {...headers(kind, more), 'x-gateway-api-key': WORKSPACE_KEY},
  })
const anthropic = (kind: string, more: Record<string, string> = {}) =>
  new Anthropic({
    ...{apiKey: WORKSPACE_KEY, baseURL: mcp.gateway.url, maxRetries: 0},
    defaultHeaders: headers(kind, more),
  })

const rows = async (of = trace) =>
  (await mcp.gateway.logs()).filter(({trace_id}) => trace_id === of).map(row => String(row.ai_model))

const TWO_TURNS = [
  {text: 'Let me see.', calls: [{name: 'mcp__modern__echo', args: {text: 'one'}}]},
  {calls: [{name: 'mcp__modern__add', args: {a: 1, b: 2}}]},
  {text: 'Done.'},
] as const
const MCP_TOOL = {type: 'mcp' as const, server_label: '@gateway-mcp/modern'}
const ASKED = {model: 'm', input: 'Go.'}

/** Items that both ways show: of each its type, and what it says. */
const outline = (items: readonly unknown[]) =>
  (items as Record<string, never>[]).map(({type, name, output, error, content}) =>
    type === 'mcp_call'
      ? [type, name, output ?? error]
      : type === 'message'
        ? [type, (content as unknown as {text: string}[])[0]!.text]
        : [type],
  )

describe.each([
  ['that has Responses', 'openai'],
  ['of chat', 'mistral-ai'],
] as const)('fact 53: Responses at a provider %s', (_, kind) => {
  const expected = [
    ['mcp_list_tools'],
    ['message', 'Let me see.'],
    ['mcp_call', 'echo', 'one'],
    ['mcp_call', 'add', '3'],
    ['message', 'Done.'],
  ]

  test('has two tools run in two turns, in one answer, with three rows of calls and two of tools', async () => {
    model.play(...TWO_TURNS)
    const answer = await openai(kind).responses.create({...ASKED, tools: [MCP_TOOL]})
    expect(outline(answer.output)).toEqual(expected)
    expect(answer.output_text).toBe('Let me see.Done.')
    expect(answer.status).toBe('completed')
    expect(answer.tools).toEqual([MCP_TOOL])
    expect(answer.usage).toMatchObject({input_tokens: 30, output_tokens: 15, total_tokens: 45})
    expect((await rows()).toSorted()).toEqual(['m', 'm', 'm', 'modern/add', 'modern/echo'])
    expect(model.bodies).toHaveLength(3)
    expect(JSON.stringify(model.bodies[2])).toContain('one')
  })

  test('streams the turns as one sequence of events', async () => {
    model.play(...TWO_TURNS)
    const events = []
    const stream = openai(kind).responses.stream({...ASKED, tools: [MCP_TOOL]})
    for await (const event of stream) events.push(event)
    const final = await stream.finalResponse()
    expect(outline(final.output)).toEqual(expected)
    expect(final.usage).toMatchObject({input_tokens: 30, output_tokens: 15, total_tokens: 45})
    const types = events.map(({type}) => type as string)
    expect(types.filter(type => /\.(?:created|completed|in_progress)$/.test(type) && !/mcp/.test(type))).toEqual([
      'response.created',
      'response.in_progress',
      'response.completed',
    ])
    expect(events.map(event => event.sequence_number)).toEqual(events.map((_, at) => at))
    const added = events.filter(event => event.type === 'response.output_item.added')
    const done = events.filter(event => event.type === 'response.output_item.done')
    expect(added.map(event => [event.output_index, event.item.type])).toEqual(expected.map(([type], at) => [at, type]))
    expect(done.map(event => event.output_index).toSorted()).toEqual([0, 1, 2, 3, 4])
    expect(done.map(({item}) => item.id).toSorted()).toEqual(final.output.map(({id}) => id).toSorted())
    expect(types).toContain('response.mcp_call_arguments.delta')
    expect(types.filter(type => type === 'response.mcp_call.completed')).toHaveLength(2)
    expect(types.some(type => type.includes('function_call'))).toBe(false)
    expect((await rows()).toSorted()).toEqual(['m', 'm', 'm', 'modern/add', 'modern/echo'])
  })

  test('takes its answer back as the input of a later request', async () => {
    model.play(...TWO_TURNS)
    const {output} = await openai(kind).responses.create({...ASKED, tools: [MCP_TOOL]})
    model.play({text: 'Again.'})
    const input = [{role: 'user', content: 'Go.'}, ...output, {role: 'user', content: 'And?'}] as never
    const {output_text} = await openai(kind).responses.create({model: 'm', input, tools: [MCP_TOOL]})
    expect(output_text).toBe('Again.')
    const sent = JSON.stringify(model.bodies[0])
    expect(sent).not.toMatch(/"mcp_(?:call|list_tools)"/)
    expect(sent).toContain('mcp__modern__echo')
  })
})

describe.each([
  ['that has Messages', 'anthropic'],
  ['of chat', 'openai'],
] as const)('fact 53: Messages at a provider %s', (_, kind) => {
  const servers = {
    mcp_servers: [{type: 'url' as const, name: '@gateway-mcp/modern', url: 'https://ignored.example'}],
    tools: [{type: 'mcp_toolset' as const, mcp_server_name: '@gateway-mcp/modern'}],
  }
  const asked = {model: 'm', max_tokens: 99, messages: [{role: 'user' as const, content: 'Go.'}], ...servers}
  const expected = ['text', 'mcp_tool_use', 'mcp_tool_result', 'mcp_tool_use', 'mcp_tool_result', 'text']

  test('has two tools run in two turns, in one answer, with three rows of calls and two of tools', async () => {
    model.play(...TWO_TURNS)
    const answer = await anthropic(kind).beta.messages.create({...asked, betas: ['mcp-client-2025-11-20']})
    expect(answer.content.map(({type}) => type)).toEqual(expected)
    expect(answer.content[1]).toMatchObject({name: 'echo', server_name: '@gateway-mcp/modern', input: {text: 'one'}})
    const {id} = answer.content[1] as {id: string}
    expect(answer.content[2]).toEqual({
      ...{type: 'mcp_tool_result', tool_use_id: id, is_error: false},
      content: [{type: 'text', text: 'one'}],
    })
    expect(answer.stop_reason).toBe('end_turn')
    expect(answer.usage).toMatchObject({input_tokens: 30, output_tokens: 15})
    expect((await rows()).toSorted()).toEqual(['m', 'm', 'm', 'modern/add', 'modern/echo'])
  })

  test('streams the turns as one message', async () => {
    model.play(...TWO_TURNS)
    const stream = anthropic(kind).beta.messages.stream({...asked, betas: ['mcp-client-2025-11-20']})
    const types: string[] = []
    const indices: number[] = []
    stream.on('streamEvent', event => {
      types.push(event.type)
      if (event.type === 'content_block_start') indices.push(event.index)
    })
    const final = await stream.finalMessage()
    expect(final.content.map(({type}) => type)).toEqual(expected)
    expect(final.content[1]).toMatchObject({name: 'echo', input: {text: 'one'}})
    expect(final.stop_reason).toBe('end_turn')
    expect(final.usage).toMatchObject({input_tokens: 30, output_tokens: 15})
    expect(indices).toEqual([0, 1, 2, 3, 4, 5])
    for (const type of ['message_start', 'message_delta', 'message_stop'])
      expect(types.filter(each => each === type)).toHaveLength(1)
    expect((await rows()).toSorted()).toEqual(['m', 'm', 'm', 'modern/add', 'modern/echo'])
  })

  test('takes its answer back as a message of a later request', async () => {
    model.play(...TWO_TURNS)
    const {content} = await anthropic(kind).beta.messages.create(asked)
    model.play({text: 'Again.'})
    const messages = [...asked.messages, {role: 'assistant', content}, {role: 'user', content: 'And?'}] as never
    const again = await anthropic(kind).beta.messages.create({...asked, messages})
    expect(again.content).toMatchObject([{type: 'text', text: 'Again.'}])
    const sent = model.bodies[0]
    expect(JSON.stringify(sent)).not.toContain('mcp_tool_')
    if (kind !== 'anthropic') return
    expect(sent.messages.map(({role}: {role: string}) => role)).toEqual([
      ...['user', 'assistant', 'user', 'assistant', 'user', 'assistant', 'user'],
    ])
  })
})
