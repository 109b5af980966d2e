import {newId} from '../../base/ids.ts'
import {own} from '../../base/json-member.ts'
import {parsed} from '../../base/json-object.ts'
import {traceOf} from '../call/trace.ts'
import {inputResponseText, type Question, refusalOf, requestParamsText, takesQuestion} from '../content/questions.ts'
import type {GuardedCall} from '../guards/guarded-call.ts'
import {SignInNeededFault, type UpstreamClient} from '../pool/source.ts'
import type {MessageRecord} from '../records/message-record.ts'
import {checkAllowed, nameOf} from '../relay/allowed.ts'
import {relayedAnswer} from '../relay/answer.ts'
import {isWanted} from '../relay/log-level.ts'
import {paramsEdits} from '../relay/params.ts'
import {RunningCall, type UpstreamTurn} from '../relay/running-call.ts'
import {relatedEdit, sealedNotice} from '../relay/task-ids.ts'
import type {KeptStream} from '../sessions/kept-stream.ts'
import type {ClientSession} from '../sessions/session.ts'
import {edited} from '../wire/edits.ts'
import {isLogLevel} from '../wire/envelope.ts'
import {errorObjectText, McpFault} from '../wire/faults.ts'
import {answerText, errorMemberText, paramsText, type RpcRequest, requestText, resultText} from '../wire/messages.ts'
import {isStatelessMethod} from '../wire/methods.ts'
import type {LegacyVersion} from '../wire/versions.ts'
import {endOfAnswer, endOfDenied, endOfFault, endOfLeft, endOfOurs, faultOf, headersOfFault, written} from './end.ts'
import {cursorOf, type McpExchange, metaOf, recordOf, type ServingParts, sightedOf} from './exchange.ts'
import {deniedResult, guardedCall, guardsEnd, judgedAnswer} from './guarding.ts'
import {clientOf} from './session-client.ts'
import {signInFault} from './sign-in.ts'

/** The reply to one request: the JSON-RPC message, and the status and headers where it is not on a stream. */
export interface LegacyAnswer {
  readonly text: string
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly is_error: boolean
}

export interface LegacyFacts {
  /** Null of a call without session: the client takes no question. */
  readonly session: ClientSession | null
  readonly version: LegacyVersion
  readonly exchange: McpExchange
  readonly parts: ServingParts
  /** Of a call in a session, whose stream can be resumed. */
  readonly stream?: KeptStream | undefined
}

const ASK_MS = 10 * 60_000
/** A session's client may leave, and comes again for the answer: its work is done to the end. */
const NEVER = new AbortController().signal

/** Answers one request of a legacy client; never rejects. */
export async function answerLegacy(message: RpcRequest, facts: LegacyFacts): Promise<LegacyAnswer> {
  const {session, exchange, parts, version} = facts
  const ok = (result: string) => ({
    ...{text: answerText(message.id_text, {result}), status: 200, headers: {}, is_error: false},
  })
  if (message.method === 'ping') return ok('{}')
  const trace = traceOf(metaOf(message.params), exchange.request.headers, exchange.at_ms)
  const client_info = session?.client ?? null
  const of_session = {trace, version, client_info, session_digest: session?.digest}
  const newRecord = (of: RpcRequest) => recordOf(exchange, of, of_session, parts.services)
  let record = newRecord(message)
  let guarded: GuardedCall | null = null
  const ended = (rounds: number) => ({
    delivered: !exchange.reply.gone.aborted,
    rounds,
    is_stream: exchange.reply.is_stream,
  })
  let serving: LegacyServing | undefined
  try {
    if (!session && !isStatelessMethod(message.method))
      throw new McpFault('method_unknown', {method: `${message.method} (it needs a session)`})
    checkAllowed(message.method, message.params, exchange.server, message.id_text)
    if (session && isOurs(message.method, facts)) {
      await noteState(message, session, parts)
      await written(record, endOfOurs(ended(1)), parts.services.log)
      return ok('{}')
    }
    guarded = await guardedCall(message, exchange, trace, parts)
    const sent = guarded ? await guarded.judgeInput(message) : message
    if (sent !== message) record = newRecord(sent)
    if (guarded?.denial) {
      const text = deniedResult(guarded, 'legacy')
      await written(record, endOfDenied(text, {...ended(1), ...guardsEnd(guarded)}), parts.services.log)
      return ok(text)
    }
    await record.begin()
    serving = new LegacyServing(sent, record, facts, guarded)
    const {answer, hello} = await serving.answer()
    const judged = await judgedAnswer(guarded, answer, {message: sent, client: serving.client, signal: NEVER}, parts)
    const {server, caller} = exchange
    const relayed = relayedAnswer(judged, {
      ...{server, caller, hello, cursors: parts.cursors, task_ids: parts.task_ids, tools: parts.tools},
      ...{client_era: 'legacy' as const, is_private: true},
      sighted: sightedOf(parts, exchange),
      ...{
        method: message.method,
        name: nameOf(message.method, message.params),
        cursor: cursorOf(message, parts, exchange),
      },
    })
    record.waited(serving.upstream_ms)
    await noteState(message, session, parts)
    const end = endOfAnswer(relayed, hello, {...ended(serving.rounds), ...guardsEnd(guarded)})
    await written(record, end, parts.services.log)
    const text = guarded ? guarded.forClient(relayed.text) : relayed.text
    const body = relayed.kind === 'result' ? {result: text} : {error: text}
    const is_error = relayed.kind === 'error'
    return {text: answerText(message.id_text, body), status: relayed.status, headers: {}, is_error}
  } catch (thrown) {
    const fault = faultOf(known(thrown, facts), parts.services.log)
    const {rounds = 1, was_sent = false} = serving ?? {}
    const end = isCancelled(thrown)
      ? endOfLeft(200, {rounds, is_stream: exchange.reply.is_stream, was_sent})
      : endOfFault(fault, 'legacy', {...ended(rounds), was_sent})
    const {hooks} = guardsEnd(guarded)
    await written(record, {...end, ...(hooks && {hooks})}, parts.services.log)
    if (fault.reason === 'client_incapable' && message.method === 'tools/call')
      return ok(JSON.stringify({content: [{type: 'text', text: fault.message}], isError: true}))
    const text = answerText(message.id_text, {error: errorObjectText(fault)})
    return {text, status: fault.httpFor('legacy'), headers: headersOfFault(fault), is_error: true}
  }
}

/** A modern upstream has none of these: the session keeps them, and each call and stream says them. */
const OF_SESSION: ReadonlySet<string> = new Set(['logging/setLevel', 'resources/subscribe', 'resources/unsubscribe'])

function isOurs(method: string, {exchange, parts}: LegacyFacts): boolean {
  return OF_SESSION.has(method) && parts.services.eras.get(exchange.server.integration)?.era === 'modern'
}

/** A fault as this client is to read it. */
function known(thrown: unknown, {exchange, session}: LegacyFacts): unknown {
  if (thrown instanceof SignInNeededFault) return signInFault(thrown, exchange, session)
  return isCancelled(thrown) ? new McpFault('call_lost', {}, {cause: thrown}) : thrown
}

function isCancelled(thrown: unknown): boolean {
  return thrown instanceof Error && thrown.name === 'AbortError'
}

/** Keeps what a request set for the whole session. */
async function noteState(message: RpcRequest, session: ClientSession | null, {sessions}: ServingParts): Promise<void> {
  if (!session) return
  const level = own(message.params, 'level')
  const uri = own(message.params, 'uri')
  if (message.method === 'logging/setLevel' && isLogLevel(level)) session.log_level = level
  else if (message.method === 'resources/subscribe' && typeof uri === 'string') session.subscriptions.add(uri)
  else if (message.method === 'resources/unsubscribe' && typeof uri === 'string') session.subscriptions.delete(uri)
  else return
  if (message.method !== 'logging/setLevel') session.onSubscriptions?.()
  await sessions.changed(session)
}

/** One request of a legacy client at its upstream: questions go to the client on the stream of the reply. */
class LegacyServing {
  readonly #message: RpcRequest
  readonly #facts: LegacyFacts
  readonly #running: RunningCall
  readonly #guarded: GuardedCall | null
  readonly client: UpstreamClient

  constructor(message: RpcRequest, record: MessageRecord, facts: LegacyFacts, guarded: GuardedCall | null) {
    const {exchange, parts, session} = facts
    this.#message = message
    this.#facts = facts
    this.#guarded = guarded
    this.client = this.#newClient()
    const cursor = cursorOf(message, parts, exchange)
    this.#running = new RunningCall(
      {
        source: parts.source,
        tools: parts.tools,
        client: this.client,
        request: {
          method: message.method,
          params: paramsText(message),
          edits: hello =>
            paramsEdits(
              {
                ...{client_era: 'legacy', method: message.method, params: message.params, cursor},
                ...{trace: record.facts.trace, openTask: id => parts.task_ids.open(id, exchange)},
              },
              hello.era,
            ),
          tool: message.method === 'tools/call' ? nameOf(message.method, message.params) : null,
          log_level: session?.log_level ?? null,
          passes_questions: false,
        },
      },
      parts.services,
    )
  }

  get rounds(): number {
    return this.#running.rounds
  }

  get upstream_ms(): number {
    return this.#running.upstream_ms
  }

  get was_sent(): boolean {
    return this.#running.was_sent
  }

  async answer(): Promise<UpstreamTurn & {kind: 'answer'}> {
    const {session, exchange, stream} = this.#facts
    const {reply} = exchange
    const running = this.#running
    const forget = session?.opened(this.#message.id, running)
    // a client without a session has nothing to come back to; one with a session gets the answer when it resumes
    const left = () => running.cancel()
    if (!session) reply.gone.addEventListener('abort', left, {once: true})
    running.sink = async message => {
      if (this.#guarded?.withholds || !reply.may_stream) return
      if (!isWanted(message, session ? (session.log_level ?? 'debug') : null)) return
      const text = sealedNotice(message, id => this.#facts.parts.task_ids.close(id, exchange))
      if (stream) stream.send(text)
      else reply.event(text)
      await reply.taken()
    }
    try {
      for (;;) {
        const turn = await running.next()
        if (turn.kind === 'answer') return turn
        running.rounds++
        for (const [key, question] of turn.questions) await this.#ask(key, question)
      }
    } catch (fault) {
      running.cancel()
      throw fault
    } finally {
      running.sink = null
      if (!session) reply.gone.removeEventListener('abort', left)
      forget?.()
    }
  }

  #newClient(): UpstreamClient {
    const {session, exchange} = this.#facts
    if (session) return clientOf(session, exchange)
    const {server, caller, request, validated} = exchange
    const client_info = JSON.stringify({name: 'unknown', version: '0.0.0'})
    return {
      server,
      caller,
      validated,
      headers: request.headers,
      session_id: null,
      client_info,
      client_capabilities: '{}',
    }
  }

  /** Puts a question to the client, and its answer to the upstream. */
  async #ask(key: string, question: Question): Promise<void> {
    const {session, exchange, parts, stream} = this.#facts
    const {reply} = exchange
    const cannot = (reason: string) => new McpFault('client_incapable', {kind: question.method, reason})
    if (!session) throw cannot('has no session for questions')
    if (!takesQuestion(session.capabilities, question)) throw cannot('did not declare it')
    const has_stream = stream && reply.may_stream && !reply.is_over
    if (!has_stream && !session.stream) return this.#running.answer(key, refusalOf(question.method))
    const id_text = session.newQuestion()
    const params_text = requestParamsText(question, newId()) ?? '{}'
    const related = relatedEdit(parsed(params_text), [], id => parts.task_ids.close(id, exchange))
    const text = requestText(id_text, question.method, edited(params_text, related))
    if (has_stream) stream.send(text)
    else session.send(text)
    const patience = new AbortController()
    const callOff = parts.services.after(ASK_MS, () => patience.abort())
    try {
      const answer = await session.answerTo(id_text, patience.signal)
      const given = resultText(answer)
      const open = (id: string) => parts.task_ids.open(id, exchange)
      const result = given === undefined ? undefined : edited(given, relatedEdit(answer.result, [], open))
      const response = inputResponseText(question.method, answer)
      if (result !== undefined) await this.#running.answer(key, {result})
      else await this.#running.answer(key, response === null ? {error: errorMemberText(answer)!} : {result: response})
    } finally {
      callOff()
    }
  }
}
