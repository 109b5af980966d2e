import {afterAll, beforeAll, describe, expect, test} from 'vitest'
import {logDetail} from '../../support/mcp/ledger.ts'
import {openLegacy} from '../../support/mcp/legacy-server.ts'
import {openModern} from '../../support/mcp/modern-server.ts'
import {openRaw, type RawFixture} from '../../support/mcp/raw-server.ts'
import {rpcBody} from '../../support/mcp/rpc-body.ts'
import {McpGateway} from '../../support/mcp/served.ts'
import type {FixtureState} from '../../support/mcp/tools.ts'

const ERAS = ['modern', 'legacy'] as const
type Era = (typeof ERAS)[number]
/** Of the client, and of the upstream. */
const WAYS = ERAS.flatMap(client => ERAS.map(upstream => [client, upstream] as const))

let mcp: McpGateway
let raw: RawFixture
const states = {} as Record<Era, FixtureState>
const closing: (() => Promise<void>)[] = []

beforeAll(async () => {
  const [legacy, modern] = [await openLegacy(), await openModern()]
  raw = await openRaw()
  Object.assign(states, {legacy: legacy.state, modern: modern.state})
  mcp = await McpGateway.open()
  closing.push(() => mcp.close(), ...[legacy, modern, raw].map(each => () => each.close()))
  for (const [slug, url] of [
    ['legacy', legacy.url],
    ['modern', modern.url],
    ['raw', raw.url],
  ] as const)
    await mcp.server(slug, url)
  await guardrail(
    'No secrets in',
    [{id: 'default.contains', parameters: {words: ['SECRET-IN'], operator: 'none'}}],
    'input',
  )
  await guardrail(
    'No secrets out',
    [{id: 'default.contains', parameters: {words: ['SECRET-OUT'], operator: 'none'}}],
    'output',
  )
  await guardrail('Personal data', [{id: 'default.pii', parameters: {redact: true, categories: ['email']}}], 'both')
}, 60_000)
afterAll(async () => {
  for (const close of closing) await close()
})

const attached: Record<`${'input' | 'output'}_guardrails`, string[]> = {input_guardrails: [], output_guardrails: []}

/** Makes a guardrail that runs on all calls of tools of the workspace. */
async function guardrail(name: string, checks: readonly object[], on: 'input' | 'output' | 'both', of: Made = {}) {
  const workspace = await mcp.workspace()
  const {slug} = await mcp.gateway.admin<{slug: string}>('POST', '/guardrails', {
    ...{name, target: 'mcp_tools', workspace_id: workspace.id, checks, actions: {deny: true}},
    ...of,
  })
  const sides = on === 'both' ? (['input', 'output'] as const) : [on]
  for (const side of sides) attached[`${side}_guardrails`].push(slug)
  await mcp.gateway.admin('PUT', `/admin/workspaces/${workspace.id}`, {defaults: attached})
  return slug
}
interface Made {
  readonly actions?: object
}

/** The result of a call of a tool, as a client of an era gets it, and the row of it. */
async function called(client: Era, slug: string, name: string, args: object, key: string) {
  const response = await (client === 'modern'
    ? mcp.modernCall(slug, 'tools/call', {name, arguments: args}, {key})
    : mcp.post(
        slug,
        {jsonrpc: '2.0', id: 1, method: 'tools/call', params: {name, arguments: args}},
        {'x-gateway-api-key': key},
      ))
  const {result} = await rpcBody(response)
  return {status: response.status, result}
}
async function rowOf(key_name: string) {
  const listed = (await mcp.gateway.logs()).find(({api_key_name}) => api_key_name === key_name)!
  return {listed, whole: await mcp.gateway.admin<Record<string, unknown>>('GET', `/logs/${listed.id}`)}
}

describe.each(WAYS)('fact 42: a %s client at an upstream of the %s era', (client, upstream) => {
  const of = `${client} ${upstream}`

  test('what is denied on the way in does not reach the upstream, and the model sees that', async () => {
    const key = await mcp.key(`in ${of}`)
    const before = states[upstream].runs('echo')
    const {status, result} = await called(client, upstream, 'echo', {text: 'a SECRET-IN'}, key)
    expect([status, result]).toEqual([
      200,
      {
        ...{content: [{type: 'text', text: 'Blocked by guardrail No secrets in'}], isError: true},
        ...(client === 'modern' && {resultType: 'complete'}),
      },
    ])
    expect(states[upstream].runs('echo')).toBe(before)
    const {listed} = await rowOf(`in ${of}`)
    expect(listed).toMatchObject({response_status_code: 446, is_success: false, cost: 0})
    expect(await logDetail(mcp.gateway, String(listed.id))).toMatchObject({
      hook_results: {before_request_hooks: expect.arrayContaining([expect.objectContaining({verdict: false})])},
    })
  })

  test('what is denied on the way out never reaches the client, and is in no log', async () => {
    const key = await mcp.key(`out ${of}`)
    const before = states[upstream].runs('echo')
    const {status, result} = await called(client, upstream, 'echo', {text: 'a SECRET-OUT'}, key)
    expect([status, result]).toMatchObject([
      200,
      {content: [{type: 'text', text: 'Blocked by guardrail No secrets out'}], isError: true},
    ])
    expect(states[upstream].runs('echo')).toBe(before + 1)
    const {listed, whole} = await rowOf(`out ${of}`)
    expect(listed).toMatchObject({response_status_code: 446, is_success: false})
    expect(JSON.stringify(whole.response)).not.toContain('SECRET-OUT')
  })

  test('personal data is taken out of the arguments: the upstream and the log have the placeholder', async () => {
    const key = await mcp.key(`mail ${of}`)
    const {result} = await called(client, upstream, 'echo', {text: 'to ada@example.com', n: 1.0}, key)
    expect(result).toMatchObject({content: [{type: 'text', text: 'to <EMAIL_1>'}]})
    expect(JSON.stringify((await rowOf(`mail ${of}`)).whole)).not.toContain('ada@example.com')
  })

  test('log messages of a call do not pass while its answer is judged', async () => {
    const key = await mcp.key(`log ${of}`)
    const response = await (client === 'modern'
      ? mcp.modernCall(
          upstream,
          'tools/call',
          {name: 'log', arguments: {words: 'SECRET-OUT'}},
          {key, meta: {'io.modelcontextprotocol/logLevel': 'debug'}},
        )
      : mcp.post(
          upstream,
          {jsonrpc: '2.0', id: 1, method: 'tools/call', params: {name: 'log', arguments: {words: 'SECRET-OUT'}}},
          {'x-gateway-api-key': key},
        ))
    expect(await response.text()).not.toContain('SECRET-OUT')
  })

  test('what no guardrail minds is as it was', async () => {
    const key = await mcp.key(`plain ${of}`)
    expect((await called(client, upstream, 'add', {a: 1, b: 2}, key)).result).toMatchObject({
      ...{content: [{type: 'text', text: '3'}], structuredContent: {sum: 3}},
    })
  })
})

describe('structured content', () => {
  const MAIL = {type: 'string', format: 'email'}
  /** A server whose tool `who` has this schema and gives this result. */
  const playing = (outputSchema: object | undefined, result: object) =>
    raw.play({
      'tools/list': answer => answer.result({tools: [{name: 'who', inputSchema: {type: 'object'}, outputSchema}]}),
      'tools/call': answer => answer.stream().done(result),
    })
  const RESULT = {
    content: [
      {type: 'text', text: '{"mail":"ada@example.com","n":1.50}'},
      {type: 'resource', resource: {uri: 'note://1', text: 'Write to ada@example.com'}},
    ],
    structuredContent: {mail: 'ada@example.com', n: 1.5},
  }

  test.each(ERAS)('fact 42: a redacted leaf that fits its schema stays in place, for a %s client', async client => {
    playing({type: 'object', properties: {mail: {type: 'string'}, n: {type: 'number'}}, required: ['mail']}, RESULT)
    const {result} = await called(client, 'raw', 'who', {}, await mcp.key(`fits ${client}`))
    expect(result).toMatchObject({
      content: [
        {type: 'text', text: '{"mail":"<EMAIL_1>","n":1.50}'},
        {type: 'resource', resource: {uri: 'note://1', text: 'Write to <EMAIL_1>'}},
      ],
      structuredContent: {mail: '<EMAIL_1>', n: 1.5},
    })
  })

  test.each([
    ['a format', {type: 'object', properties: {mail: MAIL}}],
    ['an enumeration', {type: 'object', properties: {mail: {enum: ['ada@example.com']}}}],
    ['a schema that cannot be read', {type: 'object', $ref: 'https://example.com/schema'}],
  ])('where no replacement fits (%s), the result is denied', async (name, schema) => {
    playing(schema, RESULT)
    const {result} = await called('modern', 'raw', 'who', {}, await mcp.key(`unfit ${name}`))
    expect(result).toMatchObject({content: [{text: 'Blocked by guardrail Personal data'}], isError: true})
    expect(JSON.stringify(result)).not.toContain('ada@')
  })

  test('an error of the upstream is judged like a result', async () => {
    raw.play({'tools/call': answer => answer.refuse(200, -32000, 'no SECRET-OUT for ada@example.com')})
    const {result} = await called('modern', 'raw', 'who', {}, await mcp.key('error'))
    expect(result).toMatchObject({content: [{text: 'Blocked by guardrail No secrets out'}], isError: true})
  })
})

test('a call that waits for an answer is judged when it comes', async () => {
  const key = await mcp.key('held')
  const ask = (params: object = {}) =>
    mcp.modernCall('legacy', 'tools/call', {name: 'ask', arguments: {}, ...params}, {key})
  const first = (await rpcBody(await ask())).result as {inputRequests: object; requestState: string}
  const inputResponses = Object.fromEntries(
    Object.keys(first.inputRequests).map(name => [name, {action: 'accept', content: {ok: 'SECRET-OUT'}}]),
  )
  const last = await rpcBody(await ask({requestState: first.requestState, inputResponses}))
  expect(JSON.stringify(last)).not.toContain('SECRET-OUT')
})

test('a guardrail for tools judges no call of a model, and one for models no call of a tool', async () => {
  const headers = {'x-gateway-provider': '@demo'}
  const ask = {model: 'echo', messages: [{role: 'user', content: 'SECRET-IN'}]}
  expect((await mcp.gateway.chat(ask, headers)).status).toBe(200)
  const words = {id: 'default.contains', parameters: {words: ['OF-MODELS'], operator: 'none'}}
  await guardrail('Of models', [words], 'input', {target: 'llm'} as Made)
  const of_models = {...ask, messages: [{role: 'user', content: 'OF-MODELS'}]}
  expect((await mcp.gateway.chat(of_models, headers)).status).toBe(446)
  const {result} = await called('modern', 'modern', 'echo', {text: 'OF-MODELS'}, await mcp.key('of models'))
  expect(result).toMatchObject({content: [{text: 'OF-MODELS'}]})
})

test('a guardrail of some servers judges calls at them alone, on the side that it is set for', async () => {
  const workspace = await mcp.workspace()
  const {slug} = await mcp.gateway.admin<{slug: string}>('POST', '/guardrails', {
    ...{name: 'At one', target: 'mcp_tools', workspace_id: workspace.id, actions: {deny: true}},
    checks: [{id: 'default.contains', parameters: {words: ['AT-ONE'], operator: 'none'}}],
  })
  const path = `/guardrails/${slug}/mcp-servers`
  expect(await mcp.gateway.admin('GET', path)).toEqual({mcp_servers: [], run_on: 'both'})
  const set = {mcp_servers: ['modern'], run_on: 'input'}
  expect(await mcp.gateway.admin('PUT', path, set)).toEqual(set)
  const key = await mcp.key('at one')
  const text = 'AT-ONE'
  expect((await called('modern', 'modern', 'echo', {text}, key)).result).toMatchObject({isError: true})
  expect((await called('modern', 'legacy', 'echo', {text}, key)).result).toMatchObject({content: [{text}]})
  await mcp.gateway.admin('PUT', path, {mcp_servers: ['legacy'], run_on: 'output'})
  const before = states.legacy.runs('echo')
  expect((await called('modern', 'modern', 'echo', {text}, key)).result).toMatchObject({content: [{text}]})
  expect((await called('modern', 'legacy', 'echo', {text}, key)).result).toMatchObject({isError: true})
  expect(states.legacy.runs('echo')).toBe(before + 1)
  const refused = async (handle: string, body: object) =>
    (await mcp.gateway.app.inject({method: 'PUT', url: `/v1/guardrails/${handle}/mcp-servers`, body})).status
  expect(await refused(slug, {mcp_servers: ['no-such-server']})).toBe(404)
  expect(await refused(slug, {mcp_servers: ['modern'], run_on: 'sideways'})).toBe(400)
  const of_models = await mcp.gateway.admin<{slug: string}>('POST', '/guardrails', {
    ...{name: 'Models', workspace_id: workspace.id, actions: {deny: true}},
    checks: [{id: 'default.contains', parameters: {words: ['x'], operator: 'none'}}],
  })
  expect(await refused(of_models.slug, {mcp_servers: ['modern']})).toBe(400)
  await mcp.gateway.admin('PUT', path, {mcp_servers: []})
  expect((await called('modern', 'legacy', 'echo', {text}, key)).result).toMatchObject({content: [{text}]})
})

test('GUARDRAILS_ENABLED=OFF judges no call of a tool', async () => {
  const modern = await openModern()
  const off = await McpGateway.open({GUARDRAILS_ENABLED: 'OFF'})
  try {
    await off.server('modern', modern.url)
    const {result} = await rpcBody(
      await off.modernCall('modern', 'tools/call', {name: 'echo', arguments: {text: 'SECRET-IN'}}),
    )
    expect(result).toMatchObject({content: [{text: 'SECRET-IN'}]})
  } finally {
    await off.close()
    await modern.close()
  }
})
