import {afterAll, beforeAll, describe, expect, onTestFinished, test, vi} from 'vitest'
import {type LegacyFixture, openLegacy} from '../../support/mcp/legacy-server.ts'
import {type ModernFixture, openModern} from '../../support/mcp/modern-server.ts'
import {type McpProcess, McpProcesses} from '../../support/mcp/processes.ts'
import {rpcBody} from '../../support/mcp/rpc-body.ts'
import {ASKED, type ModernCall} from '../../support/mcp/served.ts'

const database = process.env.TEST_DATABASE_URL
const REDIS_URL = process.env.TEST_REDIS_URL

const ACCEPTED = {action: 'accept', content: {ok: true}}

interface Required {
  readonly inputRequests: Record<string, unknown>
  readonly requestState: string
}

describe.skipIf(!database || !REDIS_URL)('two processes on one PostgreSQL and one Redis', {timeout: 240_000}, () => {
  let processes: McpProcesses
  let one: McpProcess
  let other: McpProcess
  let legacy: LegacyFixture
  let modern: ModernFixture

  beforeAll(async () => {
    legacy = await openLegacy()
    modern = await openModern()
    processes = await McpProcesses.open('postgres', {REDIS_URL: REDIS_URL!})
    one = await processes.start()
    other = await processes.start()
    await one.server('legacy', legacy.url)
    await one.server('modern', modern.url)
    for (const slug of ['legacy', 'modern'])
      await vi.waitFor(async () => expect((await other.modernCall(slug, 'tools/list', {})).status).toBe(200), 20_000)
  }, 240_000)
  afterAll(async () => {
    await processes.close()
    await Promise.all([legacy, modern].map(each => each.close()))
  })

  const asked = async (of: McpProcess, slug: string, more: ModernCall = {}): Promise<Required> => {
    const {result} = await rpcBody(await of.modernCall(slug, 'tools/call', {name: 'ask', arguments: {}}, more))
    expect(result).toMatchObject({resultType: 'input_required', requestState: expect.any(String)})
    return result as unknown as Required
  }
  const retried = async (of: McpProcess, slug: string, first: Required, more: ModernCall = {}) => {
    const inputResponses = Object.fromEntries(Object.keys(first.inputRequests).map(key => [key, ACCEPTED]))
    const params = {name: 'ask', arguments: {}, requestState: first.requestState, inputResponses}
    return rpcBody(await of.modernCall(slug, 'tools/call', params, {id: 2, ...more}))
  }
  /** Answers of the tool `ask` at a modern upstream: requests that carry the answer. */
  const answersAt = (fixture: ModernFixture) =>
    fixture.of('tools/call').filter(({message}) => message?.params?.inputResponses !== undefined).length
  const recorded = (trace_id: string) =>
    processes.read(async db => ({
      entries: (
        await db.selectFrom('traffic.ledger_entries').select('call_id').where('trace_id', '=', trace_id).execute()
      ).length,
      rows: (
        await db
          .selectFrom('traffic.logs')
          .select('id')
          .where('trace_id', '=', trace_id)
          .where('outcome', '=', 'ok')
          .execute()
      ).length,
    }))

  test('a held call whose retry comes to another process is lost, and its tool is not run again', async () => {
    const runs = legacy.state.runs('ask')
    const first = await asked(one, 'legacy')
    expect(legacy.state.runs('ask')).toBe(runs + 1)
    const lost = await retried(other, 'legacy', first)
    expect(lost).toMatchObject({id: 2, error: {code: -32603, message: expect.stringContaining('call again')}})
    expect(legacy.state.runs('ask')).toBe(runs + 1)
    // its holder has it still: a client that is led there again gets the result of the one run
    expect(await retried(one, 'legacy', first)).toMatchObject({result: {content: [{text: 'accept {"ok":true}'}]}})
    expect(legacy.state.runs('ask')).toBe(runs + 1)
  })

  test('the state of a modern upstream works at another process, once, as one row and one entry', async () => {
    const answers = answersAt(modern)
    const first = await asked(one, 'modern', {headers: {'x-gateway-trace-id': 'moved-modern'}})
    const of = {headers: {'x-gateway-trace-id': 'moved-modern'}}
    expect(await retried(other, 'modern', first, of)).toMatchObject({
      result: {content: [{text: 'accept {"ok":true}'}]},
    })
    expect(answersAt(modern)).toBe(answers + 1)
    // the same round once more, at either: no second run
    for (const each of [one, other])
      expect(await retried(each, 'modern', first, of)).toMatchObject({error: {code: -32602}})
    expect(answersAt(modern)).toBe(answers + 1)
    await expect.poll(() => recorded('moved-modern'), {timeout: 20_000}).toEqual({entries: 1, rows: 1})
  })

  test('of many retries of one round at both processes at once exactly one reaches the upstream', async () => {
    const answers = answersAt(modern)
    const first = await asked(one, 'modern')
    const bodies = await Promise.all(
      Array.from({length: 12}, (_, at) => retried(at % 2 ? one : other, 'modern', first, {id: at})),
    )
    expect(bodies.filter(({result}) => result)).toHaveLength(1)
    expect(bodies.filter(({error}) => error?.code === -32602)).toHaveLength(11)
    expect(answersAt(modern)).toBe(answers + 1)
  })

  const begin = async (of: McpProcess, slug: string, capabilities: object = ASKED) => {
    const params = {protocolVersion: '2025-11-25', capabilities, clientInfo: {name: 'c', version: '1'}}
    const response = await of.post(slug, {jsonrpc: '2.0', id: 0, method: 'initialize', params})
    expect(response.status).toBe(200)
    await response.text()
    const headers = {
      'mcp-session-id': response.headers.get('mcp-session-id')!,
      'mcp-protocol-version': '2025-11-25',
    }
    await of.post(slug, {jsonrpc: '2.0', method: 'notifications/initialized'}, headers)
    return headers
  }
  const callOf = (id: number, name: string, args: object = {}) => ({
    ...{jsonrpc: '2.0', id, method: 'tools/call', params: {name, arguments: args}},
  })

  test('MC2: after kill -9 sessions are carried on, held calls are lost, states work; nothing runs twice', async () => {
    const dying = await processes.start()
    const [runs, answers, begun] = [legacy.state.runs('ask'), answersAt(modern), legacy.of('initialize').length]
    const sessions = {legacy: await begin(dying, 'legacy'), modern: await begin(dying, 'modern')}
    const carried = async (of: McpProcess, slug: 'legacy' | 'modern', text: string) =>
      expect(await rpcBody(await of.post(slug, callOf(3, 'echo', {text}), sessions[slug]))).toMatchObject({
        ...{id: 3, result: {content: [{text}]}},
      })
    for (const slug of ['legacy', 'modern'] as const)
      for (const [at, of] of [dying, other, dying].entries()) await carried(of, slug, `${slug} ${at}`)
    const initialized = legacy.of('initialize').length
    const [held, stated] = [await asked(dying, 'legacy'), await asked(dying, 'modern')]
    await dying.kill()

    for (const slug of ['legacy', 'modern'] as const)
      for (const [at, of] of [one, other].entries()) await carried(of, slug, `${slug} after ${at}`)
    // one session at the upstream, whatever process speaks in it
    expect(initialized - begun).toBe(1)
    const echoes = legacy.of('tools/call').filter(({message}) => message!.params!.name === 'echo')
    expect(new Set(echoes.slice(-5).map(({headers}) => headers['mcp-session-id']))).toHaveProperty('size', 1)
    const key = await one.key('stranger')
    expect((await other.post('legacy', callOf(4, 'echo'), {...sessions.legacy, 'x-gateway-api-key': key})).status).toBe(
      404,
    )

    expect(await retried(other, 'legacy', held)).toMatchObject({error: {code: -32603}})
    expect(legacy.state.runs('ask')).toBe(runs + 1)
    expect(await retried(other, 'modern', stated)).toMatchObject({result: {content: [{text: 'accept {"ok":true}'}]}})
    expect(answersAt(modern)).toBe(answers + 1)
    const again = await asked(other, 'legacy')
    expect(await retried(other, 'legacy', again)).toMatchObject({result: {content: [{text: 'accept {"ok":true}'}]}})
    expect(legacy.state.runs('ask')).toBe(runs + 2)
  })

  test('calls of one session at both processes at once have ids of their own at the upstream', async () => {
    const headers = await begin(one, 'legacy', {})
    const from = legacy.of('tools/call').length
    const tags = Array.from({length: 10}, (_, at) => `tag ${at}`)
    const answers = tags.map(async (text, at) =>
      rpcBody(await (at % 2 ? one : other).post('legacy', callOf(1, 'hold', {tag: text}), headers)),
    )
    onTestFinished(() => legacy.state.release())
    await legacy.state.whenHeld(tags.length)
    legacy.state.release()
    expect(await Promise.all(answers)).toMatchObject(
      tags.map(text => ({id: 1, result: {content: [{text: `${text} released`}]}})),
    )
    const ids = legacy
      .of('tools/call')
      .slice(from)
      .map(({message}) => message!.id)
    expect(new Set(ids)).toHaveProperty('size', tags.length)
  })
})
