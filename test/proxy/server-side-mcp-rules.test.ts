import {afterAll, beforeAll, beforeEach, describe, expect, test} from 'vitest'
import {type LegacyFixture, openLegacy} from '../support/mcp/legacy-server.ts'
import {type ModernFixture, openModern} from '../support/mcp/modern-server.ts'
import {type ModelRequest, type ScriptedModel, scriptedModel} from '../support/mcp/scripted-model.ts'
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
  for (const kind of ['openai', 'anthropic']) await mcp.gateway.provider(kind, kind, model.provider.url)
}, 60_000)
afterAll(async () => {
  await mcp.close()
  await Promise.all([modern, legacy, model].map(each => each.close()))
})

let trace = ''
let run = 0
beforeEach(() => {
  trace = `rules-of-run-${++run}`
})

interface More {
  readonly key?: string
  readonly headers?: Record<string, string>
  readonly signal?: AbortSignal
}

const present = (headers: Record<string, string>) =>
  Object.fromEntries(Object.entries(headers).filter(([, value]) => value !== ''))
const post = (path: string, kind: string, body: object, {key, headers, signal}: More = {}) =>
  mcp.gateway.call(path, {
    method: 'POST',
    headers: present({
      ...{'content-type': 'application/json', 'x-gateway-provider': `@${kind}`, 'x-gateway-trace-id': trace},
      ...{'x-gateway-beta': BETA, ...(key !== undefined && {'x-gateway-api-key': key})},
      ...headers,
    }),
    body: JSON.stringify(body),
    ...(signal && {signal}),
  })
const MCP_TOOL = {type: 'mcp', server_label: '@gateway-mcp/modern'}
const respond = (more: object = {}, of: More = {}) =>
  post('/v1/responses', 'openai', {model: 'm', input: 'Go.', tools: [MCP_TOOL], ...more}, of)
const SERVERS = {
  mcp_servers: [{type: 'url', name: '@gateway-mcp/modern'}],
  tools: [{type: 'mcp_toolset', mcp_server_name: '@gateway-mcp/modern'}],
}
const MESSAGE = {model: 'm', max_tokens: 99, messages: [{role: 'user', content: 'Go.'}]}
const message = (more: object = {}, of: More = {}) =>
  post('/v1/messages', 'anthropic', {...MESSAGE, ...SERVERS, ...more}, of)

const bodyOf = async (reply: Response): Promise<ModelRequest> => reply.json()
const callOf = (answer: ModelRequest) => answer.output.find(({type}: {type: string}) => type === 'mcp_call')
const namesOf = ({tools = []}: ModelRequest) => tools.map(({name}: {name: string}) => name)
const rows = async () => (await mcp.gateway.logs()).filter(({trace_id}) => trace_id === trace)
const ONE_CALL = [{calls: [{name: 'mcp__modern__echo', args: {text: 'one'}}]}, {text: 'Done.'}] as const
const calling = (name: string, args: object | string = {}) => [{calls: [{name, args}]}, {text: 'Done.'}]

describe('fact 53: what is no run passes as it was sent', () => {
  test.each([
    ['without the header', {'x-gateway-beta': ''}, MCP_TOOL],
    ['with another beta', {'x-gateway-beta': 'other-2026'}, MCP_TOOL],
    ['for a server of the provider', {}, {...MCP_TOOL, server_label: 'mine', server_url: 'https://mcp.example.com'}],
  ])('%s', async (_, headers, tool) => {
    model.play({text: 'Done.'})
    expect((await respond({tools: [tool]}, {headers})).status).toBe(200)
    expect(model.bodies).toEqual([{model: 'm', input: 'Go.', tools: [tool]}])
    model.play({text: 'Done.'})
    if (tool !== MCP_TOOL) return
    expect((await message({}, {headers})).status).toBe(200)
    expect(model.bodies).toEqual([{...MESSAGE, ...SERVERS}])
  })

  test('and the alias of header and label is a run, in a list of names', async () => {
    model.play(...ONE_CALL)
    const headers = {'x-gateway-beta': '', 'x-portkey-beta': `other, ${BETA}`}
    const reply = await respond({tools: [{...MCP_TOOL, server_label: '@portkey-mcp/modern'}]}, {headers})
    expect(callOf(await bodyOf(reply))).toMatchObject({server_label: '@portkey-mcp/modern', output: 'one'})
  })
})

describe('fact 53: which tools the model gets', () => {
  test('those that are allowed; one that it makes up is not run', async () => {
    const before = modern.state.runs('count')
    model.play(...calling('mcp__modern__count'))
    const answer = await bodyOf(await respond({tools: [{...MCP_TOOL, allowed_tools: ['echo', 'add']}]}))
    expect(namesOf(model.bodies[0])).toEqual(['mcp__modern__echo', 'mcp__modern__add'])
    expect(callOf(answer)).toMatchObject({
      status: 'failed',
      output: null,
      error: expect.stringContaining('Unknown tool'),
    })
    expect(modern.state.runs('count')).toBe(before)
  })

  test.each([
    ['an object', {echo: {enabled: true}}],
    ['a list', [{name: 'echo', enabled: true}]],
  ])('those that a toolset switches on, by %s', async (_, configs) => {
    model.play(...ONE_CALL)
    const toolset = {...SERVERS.tools[0], default_config: {enabled: false}, configs}
    expect((await message({tools: [toolset]})).status).toBe(200)
    expect(namesOf(model.bodies[0])).toEqual(['mcp__modern__echo'])
    expect(model.bodies[0].mcp_servers).toBeUndefined()
  })

  test('none that is switched off here, and none of a server that the workspace does not see', async () => {
    const workspace = await mcp.gateway.admin<{id: string}>('POST', '/admin/workspaces', {name: 'Elsewhere'})
    const of = {name: 'foreign', url: modern.url, auth_type: 'none', transport: 'http', workspace_id: workspace.id}
    await mcp.gateway.admin('POST', '/mcp-integrations', {...of, slug: 'foreign-integration'})
    await mcp.gateway.admin('POST', '/mcp-servers', {
      ...{name: 'foreign', slug: 'foreign', mcp_integration_id: 'foreign-integration', workspace_id: workspace.id},
    })
    model.play(...ONE_CALL)
    for (const slug of ['foreign', 'nowhere', 'a/b']) {
      const label = `@gateway-mcp/${slug}`
      const reply = await respond({tools: [{...MCP_TOOL, server_label: label}]})
      expect([reply.status, await reply.text()]).toEqual([404, expect.stringContaining(label)])
    }
    expect(model.bodies).toEqual([])
  })

  test('none for a key without mcp.invoke', async () => {
    const key = await mcp.key('models only', {scopes: ['completions.write']})
    model.play(...ONE_CALL)
    const reply = await respond({}, {key})
    expect([reply.status, await reply.text()]).toEqual([403, expect.stringContaining('mcp.invoke')])
    expect(model.bodies).toEqual([])
  })

  test('and a request in the background is refused', async () => {
    model.play(...ONE_CALL)
    const reply = await respond({background: true})
    expect([reply.status, await reply.text()]).toEqual([400, expect.stringContaining('background')])
  })
})

describe('fact 53: how a run ends', () => {
  test('with the tenth turn of a model that does not end', async () => {
    const before = modern.state.runs('count')
    model.play({calls: [{name: 'mcp__modern__count'}]})
    const answer = await bodyOf(await respond())
    expect(model.bodies).toHaveLength(10)
    expect(modern.state.runs('count') - before).toBe(9)
    expect(answer).toMatchObject({status: 'incomplete', incomplete_details: {reason: 'max_turns'}})
    expect(answer.usage.total_tokens).toBe(150)
    model.play({calls: [{name: 'mcp__modern__count'}]})
    expect((await bodyOf(await message())).stop_reason).toBe('pause_turn')
    expect(model.bodies).toHaveLength(10)
  })

  test('with what there is where the budget of the key is used up', async () => {
    const usage_limits = {type: 'tokens', credit_limit: 20}
    const key = await mcp.key('short of tokens', {scopes: ['completions.write', 'mcp.invoke'], usage_limits})
    model.play({text: 'So far.', calls: [{name: 'mcp__modern__echo', args: {text: 'one'}}]})
    const reply = await respond({}, {key})
    const answer = await bodyOf(reply)
    expect([reply.status, answer.status]).toEqual([200, 'incomplete'])
    expect(answer.incomplete_details).toEqual({reason: 'budget_exhausted'})
    expect(callOf(answer)).toMatchObject({output: 'one'})
    expect(model.bodies.length).toBeLessThan(4)
    expect((await respond({}, {key})).status).toBe(412)
  })

  test.each([
    [429, 200, 'incomplete'],
    [400, 400, undefined],
    [500, 500, undefined],
  ])('where a later turn is answered with %i: with %i', async (status, expected, state) => {
    model.play(ONE_CALL[0], {status})
    const reply = await respond()
    expect([reply.status, (await bodyOf(reply)).status]).toEqual([expected, state])
    if (expected !== 200) expect(reply.headers.get('x-should-retry')).toBe('false')
  })

  test('with the first turn as it is where that is refused', async () => {
    model.play({status: 400})
    const reply = await respond({stream: true})
    expect([reply.status, reply.headers.get('x-should-retry')]).toEqual([400, null])
  })

  test('where the model calls a function of the client, with all tools of the turn run', async () => {
    const own = {type: 'function', name: 'ask_user', parameters: {type: 'object', properties: {}}}
    model.play({calls: [{name: 'ask_user'}, {name: 'mcp__modern__echo', args: {text: 'one'}}]})
    const answer = await bodyOf(await respond({tools: [own, MCP_TOOL]}))
    expect(model.bodies).toHaveLength(1)
    expect(answer.output.map(({type}: {type: string}) => type)).toEqual(['mcp_list_tools', 'function_call', 'mcp_call'])
    expect(callOf(answer)).toMatchObject({output: 'one'})
  })

  test('where its client leaves: the tool is cancelled, and no turn follows', async () => {
    model.play(...calling('mcp__modern__hold'))
    const cancelled = modern.state.cancelled
    const leave = new AbortController()
    const reply = respond({}, {signal: leave.signal}).catch(() => 'left')
    await modern.state.whenHeld()
    leave.abort()
    expect(await reply).toBe('left')
    await expect.poll(() => modern.state.cancelled, {timeout: 10_000}).toBe(cancelled + 1)
    await expect.poll(async () => (await rows()).map(row => row.ai_model)).toContain('modern/hold')
    expect(model.bodies).toHaveLength(1)
  })

  test('with its connection where a stream breaks off in a later turn', async () => {
    model.play(ONE_CALL[0], {text: 'Half', cuts: true})
    const reply = await respond({stream: true})
    await expect(reply.text()).rejects.toThrow()
  })
})

describe('fact 53: the rules of calls hold in a run', () => {
  test.each(['modern', 'legacy'])('a tool of a %s server that has a question reports an error', async slug => {
    model.play(...calling(`mcp__${slug}__ask`))
    const answer = await bodyOf(await respond({tools: [{...MCP_TOOL, server_label: `@gateway-mcp/${slug}`}]}))
    expect(answer.status).toBe('completed')
    expect(callOf(answer)).toMatchObject({status: 'failed', output: null})
    expect((await rows()).map(row => row.ai_model)).toContain(`${slug}/ask`)
  })

  test('arguments that are no object, and the header of an argument', async () => {
    model.play(...calling('mcp__modern__echo', '[1'))
    expect(callOf(await bodyOf(await respond())).error).toContain('not a JSON object')
    model.play(...calling('mcp__modern__region', {region: 'eu'}))
    expect(callOf(await bodyOf(await respond())).output).toBe('eu')
  })

  test('a policy of tools refuses a call, and the model reads why', async () => {
    const {id: workspace_id} = await mcp.workspace()
    await mcp.gateway.admin('POST', '/policies/rate-limits', {
      ...{workspace_id, target: 'mcp_tools', conditions: [{key: 'mcp_tool', value: 'add'}]},
      ...{type: 'requests', unit: 'rph', value: 1},
    })
    const add = {name: 'mcp__modern__add', args: {a: 1, b: 2}}
    model.play({calls: [add]}, {calls: [add]}, {text: 'Done.'})
    const answer = await bodyOf(await respond())
    const calls = answer.output.filter(({type}: {type: string}) => type === 'mcp_call')
    expect(calls.map(({status}: {status: string}) => status)).toEqual(['completed', 'failed'])
    expect((await rows()).map(row => row.response_status_code ?? row.status_code).sort()).toContain(429)
  })

  test('a guardrail of tools denies a call, and one of models a later turn', async () => {
    const workspace = await mcp.workspace()
    const {slug} = await mcp.gateway.admin<{slug: string}>('POST', '/guardrails', {
      ...{name: 'No secrets', target: 'mcp_tools', workspace_id: workspace.id, actions: {deny: true}},
      checks: [{id: 'default.contains', parameters: {words: ['SECRET'], operator: 'none'}}],
    })
    await mcp.gateway.admin('PUT', `/guardrails/${slug}/mcp-servers`, {mcp_servers: ['modern'], run_on: 'input'})
    model.play(...calling('mcp__modern__echo', {text: 'SECRET'}))
    expect(callOf(await bodyOf(await respond())).error).toContain('Blocked by guardrail No secrets')
    const config = JSON.stringify({
      output_guardrails: [{'default.contains': {words: ['FORBIDDEN'], operator: 'none'}, deny: true}],
    })
    const headers = {'x-gateway-config': config}
    model.play(ONE_CALL[0], {text: 'FORBIDDEN'})
    const reply = await respond({}, {headers})
    expect([reply.status, reply.headers.get('x-should-retry')]).toEqual([446, 'false'])
    const before = {input_guardrails: [{'default.contains': {words: ['FORBIDDEN'], operator: 'none'}, deny: true}]}
    model.play(...calling('mcp__modern__echo', {text: 'FORBIDDEN'}))
    const of_input = {'x-gateway-config': JSON.stringify(before)}
    const text = await (await respond({stream: true}, {headers: of_input})).text()
    expect(model.bodies).toHaveLength(1)
    expect(text.trimEnd().split('\n\n').at(-1)).toContain('"code":"guardrail_denied"')
  })

  test('a run comes from no cache: its turns may, its tools run', async () => {
    const headers = {'x-gateway-config': JSON.stringify({cache: {mode: 'simple'}})}
    const before = modern.state.runs('count')
    model.play(...calling('mcp__modern__count'))
    expect(callOf(await bodyOf(await respond({}, {headers}))).output).toBe(String(before + 1))
    expect(model.bodies).toHaveLength(2)
    expect(callOf(await bodyOf(await respond({}, {headers}))).output).toBe(String(before + 2))
  })

  test('a choice that forces a call holds for the first turn', async () => {
    model.play(...ONE_CALL)
    await respond({tool_choice: {type: 'mcp', server_label: MCP_TOOL.server_label, name: 'echo'}})
    expect(model.bodies.map(({tool_choice}) => tool_choice)).toEqual([
      {type: 'function', name: 'mcp__modern__echo'},
      'auto',
    ])
  })

  test('a later request continues from the id of a stream', async () => {
    model.play(...ONE_CALL)
    const text = await (await respond({stream: true})).text()
    expect(/"id":"(resp_\d)"/.exec(text)![1]).toBe('resp_1')
    model.play({text: 'Again.'})
    await respond({previous_response_id: 'resp_1'})
    expect(model.bodies[0].previous_response_id).toBe('resp_2')
  })
})
