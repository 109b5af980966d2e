import {randomUUID} from 'node:crypto'
import type {SeenRequest} from './listener.ts'
import {openRaw, type RawAnswer, type RawFixture, type Script} from './raw-server.ts'

/** A server that marks all that it says with the principal whose identity came with the request. */
export interface MarkingServer extends RawFixture {
  /** Sentences of what one principal got of another there; none where all is right. */
  readonly faults: string[]
}

/** The mark of the principal whose identity headers bear; undefined where they bear none. */
export type MarkOf = (headers: SeenRequest['headers']) => string | undefined

/** The mark of requests without an identity, as those of a sync. */
export const NOBODY = 'mknobody'
const HOLD_MS = 150
const SCHEMA = {type: 'object', properties: {mark: {type: 'string'}}, required: ['mark']}
const tool = (name: string, mark: string) => ({name, description: mark, inputSchema: {type: 'object'}})
const toolsOf = (mark: string) => ['whoami', 'ask', 'hold', `tool-${mark}`].map(name => tool(name, mark))
const noticeOf = (mark: string) => ({
  ...{jsonrpc: '2.0', method: 'notifications/resources/updated', params: {uri: `note://${mark}`}},
})
const answerOf = (mark: string, more = '') => ({content: [{type: 'text', text: `${mark}${more}`}]})

interface MarkedSession {
  readonly mark: string
  readonly questions: Map<string, (mark: unknown) => void>
  readonly holds: Map<string | number, () => void>
  stream: RawAnswer | null
}

/** Of the revisions with a handshake: each session is its principal's. */
export async function openMarkingLegacy(markOf: MarkOf): Promise<MarkingServer> {
  const faults: string[] = []
  const sessions = new Map<string, MarkedSession>()
  const within =
    (play: (answer: RawAnswer, session: MarkedSession, seen: SeenRequest) => unknown): Script =>
    (answer, seen) => {
      const session = sessions.get(seen.headers['mcp-session-id'] ?? '')
      if (!session) return answer.refuse(404, -32001, 'Session not found')
      const mark = markOf(seen.headers) ?? NOBODY
      if (mark !== session.mark) faults.push(`${mark} spoke in the session of ${session.mark}`)
      play(answer, session, seen)
    }
  const server = await openRaw({
    initialize(answer, {headers}) {
      const mark = markOf(headers) ?? NOBODY
      const id = randomUUID()
      sessions.set(id, {mark, questions: new Map(), holds: new Map(), stream: null})
      answer.headers({'mcp-session-id': id}).result({
        protocolVersion: '2025-11-25',
        capabilities: {tools: {listChanged: true}, resources: {subscribe: true}, prompts: {}, logging: {}},
        ...{serverInfo: {name: `server of ${mark}`, version: '1'}, instructions: mark},
      })
    },
    'notifications/initialized': answer => answer.status(202),
    GET: within((answer, session) => {
      session.stream = answer.stream()
      answer.event(noticeOf(session.mark))
    }),
    DELETE: within((answer, session, {headers}) => {
      session.stream?.end()
      sessions.delete(headers['mcp-session-id']!)
      answer.status(200)
    }),
    answer: within((answer, session, {body}) => {
      const {id, result} = JSON.parse(body) as {id: string; result?: {content?: {mark?: unknown}}}
      const take = session.questions.get(id)
      if (take) take(result?.content?.mark)
      else faults.push(`${session.mark} answered the question ${id}, which was not put there`)
      answer.status(202)
    }),
    'notifications/cancelled': within((answer, session, {message}) => {
      session.holds.get(message!.params!.requestId as string | number)?.()
      answer.status(202)
    }),
    'tools/call': within((answer, session, {message}) => {
      const {mark, questions, holds, stream} = session
      const {name, _meta} = message!.params!
      const called = name as string
      if (called === 'hold') {
        const timer = setTimeout(() => answer.result(answerOf(mark, ' kept')), HOLD_MS)
        holds.set(message!.id!, () => {
          clearTimeout(timer)
          answer.result(answerOf(mark, ' cancelled'))
        })
        return
      }
      answer.stream()
      const progressToken = _meta?.progressToken
      if (progressToken !== undefined)
        answer.event({
          ...{jsonrpc: '2.0', method: 'notifications/progress', params: {progressToken, progress: 1, message: mark}},
        })
      answer.event({jsonrpc: '2.0', method: 'notifications/message', params: {level: 'error', data: mark}})
      if (stream && !stream.response.writableEnded) stream.event(noticeOf(mark))
      if (called !== 'ask') return answer.done(answerOf(mark))
      const id = randomUUID()
      questions.set(id, given => {
        if (given !== mark) faults.push(`the question of ${mark} was answered by ${String(given)}`)
        answer.done(answerOf(mark))
      })
      answer.event({
        ...{jsonrpc: '2.0', id, method: 'elicitation/create'},
        params: {mode: 'form', message: mark, requestedSchema: SCHEMA},
      })
    }),
    'tools/list': within((answer, {mark}, {message}) => {
      const cursor = message!.params?.cursor
      if (cursor !== undefined && cursor !== `cursor-${mark}`) faults.push(`${mark} came with ${String(cursor)}`)
      answer.result({tools: toolsOf(mark), ...(cursor === undefined && {nextCursor: `cursor-${mark}`})})
    }),
    'resources/read': within((answer, {mark}) => answer.result({contents: [{uri: 'note://x', text: mark}]})),
    'resources/list': within((answer, {mark}) => answer.result({resources: [{uri: `note://${mark}`, name: mark}]})),
    'prompts/list': within((answer, {mark}) => answer.result({prompts: [{name: mark}]})),
    other: within(answer => answer.result({})),
  })
  return {...server, faults}
}

/** Of 2026-07-28: each request is its principal's. What it says may be kept, it lies, by everybody. */
export async function openMarkingModern(markOf: MarkOf): Promise<MarkingServer> {
  const faults: string[] = []
  const whole = {resultType: 'complete', ttlMs: 60_000, cacheScope: 'public'}
  const marked =
    (play: (answer: RawAnswer, mark: string, seen: SeenRequest) => unknown): Script =>
    (answer, seen) =>
      void play(answer, markOf(seen.headers) ?? NOBODY, seen)
  const server = await openRaw({
    'server/discover': marked((answer, mark) =>
      answer.result({
        ...{...whole, cacheScope: 'private', supportedVersions: ['2026-07-28'], instructions: mark},
        capabilities: {tools: {listChanged: true}, resources: {subscribe: true}, prompts: {}, logging: {}},
        _meta: {'io.modelcontextprotocol/serverInfo': {name: `server of ${mark}`, version: '1'}},
      }),
    ),
    initialize: answer => answer.refuse(404, -32601, 'Method not found'),
    'tools/list': marked((answer, mark, {message}) => {
      const cursor = message!.params?.cursor
      if (cursor !== undefined && cursor !== `cursor-${mark}`) faults.push(`${mark} came with ${String(cursor)}`)
      answer.result({...whole, tools: toolsOf(mark), ...(cursor === undefined && {nextCursor: `cursor-${mark}`})})
    }),
    'tools/call': marked((answer, mark, {message}) => {
      const {name, _meta, inputResponses, requestState} = message!.params!
      if (name === 'hold') {
        setTimeout(() => answer.result({resultType: 'complete', ...answerOf(mark, ' kept')}), HOLD_MS)
        return
      }
      if (name === 'ask' && inputResponses === undefined) {
        const params = {mode: 'form', message: mark, requestedSchema: SCHEMA}
        return answer.result({
          ...{resultType: 'input_required', requestState: `state-${mark}`},
          inputRequests: {q: {method: 'elicitation/create', params}},
        })
      }
      if (name === 'ask') {
        const given = (inputResponses as {q?: {content?: {mark?: unknown}}}).q?.content?.mark
        if (requestState !== `state-${mark}` || given !== mark)
          faults.push(`${mark} came with the state ${String(requestState)} and the answer of ${String(given)}`)
      }
      answer.stream()
      const progressToken = _meta?.progressToken
      if (progressToken !== undefined)
        answer.event({
          ...{jsonrpc: '2.0', method: 'notifications/progress', params: {progressToken, progress: 1, message: mark}},
        })
      answer.done({resultType: 'complete', ...answerOf(mark)})
    }),
    'subscriptions/listen': marked((answer, mark, {message}) => {
      const _meta = {'io.modelcontextprotocol/subscriptionId': message!.id}
      const {notifications} = message!.params!
      answer
        .stream()
        .event({jsonrpc: '2.0', method: 'notifications/subscriptions/acknowledged', params: {notifications, _meta}})
      const notice = noticeOf(mark)
      answer.event({...notice, params: {...notice.params, _meta}})
    }),
    'resources/read': marked((answer, mark) => answer.result({...whole, contents: [{uri: 'note://x', text: mark}]})),
    'resources/list': marked((answer, mark) => answer.result({...whole, resources: [{uri: 'note://x', name: mark}]})),
    'prompts/list': marked((answer, mark) => answer.result({...whole, prompts: [{name: mark}]})),
    other: answer => answer.refuse(404, -32601, 'Method not found'),
  })
  return {...server, faults}
}
