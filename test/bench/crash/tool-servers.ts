import {randomUUID} from 'node:crypto'
import {setTimeout as sleep} from 'node:timers/promises'
import {openRaw, type RawAnswer} from '../../support/mcp/raw-server.ts'

/** MCP servers of both eras that know which calls reached them and which they answered in full. */
export interface CountingServers {
  /** By era: their addresses. */
  readonly urls: {readonly legacy: string; readonly modern: string}
  /** Calls that reached them, by marker: how many. The repetition with an answer is a part of its call. */
  readonly received: ReadonlyMap<string, number>
  /** Calls whose last byte the kernel took; one that has a question is over with its repetition. */
  readonly finished: ReadonlyMap<string, number>
  close(): Promise<void>
}

const QUESTION = {
  ...{mode: 'form', message: 'Sure?'},
  requestedSchema: {type: 'object', properties: {ok: {type: 'boolean'}}, required: ['ok']},
}
const DONE = {content: [{type: 'text', text: 'Counted.'}]}

interface Asked {
  readonly name: string
  readonly arguments: {readonly marker: string}
  readonly inputResponses?: unknown
}

/** Starts them; `pause_ms` says how long a tool takes each time. */
export async function countingServers(pause_ms: () => number): Promise<CountingServers> {
  const received = new Map<string, number>()
  const finished = new Map<string, number>()
  /** Counts the call, and its end once its reply is handed to the kernel. */
  const counted = (answer: RawAnswer, {arguments: {marker}, inputResponses}: Asked, is_last: boolean) => {
    if (inputResponses === undefined) count(received, marker)
    if (is_last) answer.response.on('finish', () => count(finished, marker))
  }
  const questions = new Map<string, () => void>()
  const legacy = await openRaw({
    initialize: answer =>
      answer.headers({'mcp-session-id': randomUUID()}).result({
        ...{protocolVersion: '2025-11-25', capabilities: {tools: {}}, serverInfo: {name: 'counting', version: '1'}},
      }),
    async 'tools/call'(answer, {message}) {
      const asked = message!.params as unknown as Asked
      counted(answer, asked, true)
      await sleep(pause_ms())
      if (asked.name === 'count') return answer.result(DONE)
      const id = randomUUID()
      questions.set(id, () => answer.done(DONE))
      answer.stream().event({jsonrpc: '2.0', id, method: 'elicitation/create', params: QUESTION})
    },
    answer(answer, {body}) {
      questions.get((JSON.parse(body) as {id: string}).id)?.()
      answer.status(202)
    },
    'tools/list': answer => answer.result({tools: TOOLS}),
  })
  const whole = {resultType: 'complete'}
  const modern = await openRaw({
    initialize: answer => answer.refuse(404, -32601, 'Method not found'),
    'server/discover': answer =>
      answer.result({
        ...{
          ...whole,
          supportedVersions: ['2026-07-28'],
          capabilities: {tools: {}},
          ttlMs: 60_000,
          cacheScope: 'public',
        },
      }),
    async 'tools/call'(answer, {message}) {
      const asked = message!.params as unknown as Asked
      const asks = asked.name === 'ask' && asked.inputResponses === undefined
      counted(answer, asked, !asks)
      await sleep(pause_ms())
      if (!asks) return answer.result({...whole, ...DONE})
      const inputRequests = {q: {method: 'elicitation/create', params: QUESTION}}
      answer.result({resultType: 'input_required', inputRequests, requestState: 'asked'})
    },
    'tools/list': answer => answer.result({...whole, tools: TOOLS, ttlMs: 0, cacheScope: 'public'}),
    other: answer => answer.refuse(404, -32601, 'Method not found'),
  })
  return {
    urls: {legacy: legacy.url, modern: modern.url},
    received,
    finished,
    async close() {
      await Promise.all([legacy, modern].map(each => each.close()))
    },
  }
}

const TOOLS = ['count', 'ask'].map(name => ({name, inputSchema: {type: 'object'}}))

function count(calls: Map<string, number>, marker: string) {
  calls.set(marker, (calls.get(marker) ?? 0) + 1)
}
