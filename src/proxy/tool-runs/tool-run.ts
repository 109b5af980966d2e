import type {Refusal} from '../../base/errors.ts'
import type {FastRequest} from '../../base/ingress/request.ts'
import {remoteAddressOf} from '../../base/ingress/request.ts'
import type {ClientResponse} from '../../base/ingress/response.ts'
import {isObject, object, parsedObject} from '../../base/json-object.ts'
import {spliced} from '../../base/json-splice.ts'
import type {Json} from '../../providers/translation.ts'
import type {ServerTools, ToolsCaller} from '../../schema/server-tools.ts'
import type {ClientCall} from '../call/call.ts'
import type {StateOwner} from '../call/state.ts'
import type {ReceivedRequest} from '../inbound/request.ts'
import type {Uses} from '../services.ts'
import type {Outcomes, RunDialect, Stopped, Transcript, Turn} from './dialect.ts'
import {turnHeaders} from './inner-headers.ts'
import {lastIdOf, noteLastId} from './last-ids.ts'
import type {RunOffer} from './offer.ts'
import {runTools} from './run-tools.ts'
import {answerHeadersOf, type TurnAnswer, TurnInProgress} from './turn-answer.ts'

/** A stream has a sign of life at least so often, however long its tools take. */
const QUIET_MS = 15_000

/** Refusals of a turn behind the first that end a run with what it has, for they say nothing against its answer. */
const STOPS: Readonly<Record<number, Stopped>> = {412: 'budget_exhausted', 429: 'rate_limited', 503: 'shutting_down'}

const NOTHING: Outcomes = new Map()

/** The parts of a run. */
export interface RunOf {
  readonly call: ClientCall
  readonly incoming: ReceivedRequest
  readonly dialect: RunDialect
  readonly offer: RunOffer
  /** The client's body, and its text. */
  readonly body: Json
  readonly text: string
  readonly caller: ToolsCaller
  readonly tools: ServerTools
  readonly services: Uses<'after' | 'settings'>
  /** The data plane: it takes a turn as it takes the request of a client. */
  handle(request: FastRequest, response: ClientResponse): void
}

/**
 * One request that the model answers in several turns, with calls of tools between them. Each turn is a call of its own
 * at the data plane, with the client's credential, headers and config: it is planned, guarded, cached, admitted and
 * settled by itself. Each call of a tool is one of its own at the plane of MCP. The run adds nothing that is charged.
 */
export class ToolRun implements StateOwner {
  readonly #of: RunOf
  readonly #transcript: Transcript
  readonly #over = new AbortController()
  readonly #ended = Promise.withResolvers<never>()
  #turn: TurnInProgress | null = null
  #is_stream = false
  #first_id: unknown
  #callOff = () => {}

  constructor(of: RunOf) {
    this.#of = of
    this.#transcript = of.dialect.transcript(of.body, of.offer)
    this.#ended.promise.catch(() => undefined)
  }

  /** Resolves when the client has its answer. Rejects with a refusal, or where the client left. */
  async run(): Promise<void> {
    try {
      await Promise.race([this.#turns(), this.#ended.promise])
    } finally {
      this.#callOff()
      this.#over.abort()
      this.#turn?.leave()
    }
  }

  end(fault: Refusal): void {
    this.#ended.reject(fault)
  }

  clientReady(): void {
    this.#turn?.ready()
  }

  async #turns(): Promise<void> {
    const {dialect, offer, services, tools, caller, body: of_client} = this.#of
    const most = services.settings.mcp_max_turns
    const limit = of_client.max_tool_calls
    let left = typeof limit === 'number' && limit >= 0 ? limit : Number.POSITIVE_INFINITY
    let body = this.#continued(dialect.opened(of_client, offer))
    let last: Turn | null = null
    for (let number = 1; !this.#over.signal.aborted; number++) {
      const came = await this.#ask(body)
      const answer = came.is_whole && came.status < 300 ? this.#answerOf(came) : null
      if (!answer) return this.#refused(came, last)
      const turn = dialect.turnOf(answer, offer)
      last = turn
      this.#first_id ??= answer.id
      if (turn.calls.length === 0 || !turn.is_whole) return this.#finish(came, turn, NOTHING, null)
      if (number >= most) return this.#finish(came, turn, NOTHING, 'max_turns')
      this.#keepAlive()
      const {signal} = this.#over
      const outcomes = await runTools(turn.calls, {offer, tools, caller, left, signal})
      this.#callOff()
      if (signal.aborted) return
      left -= turn.calls.length
      // the functions of the client are its own to run
      if (turn.calls_client) return this.#finish(came, turn, outcomes, null)
      this.#add(turn, outcomes)
      body = dialect.next(body, turn, outcomes)
    }
  }

  #continued(body: Json): Json {
    const {previous_response_id: id} = body
    if (!this.#of.dialect.keeps_answers || typeof id !== 'string') return body
    return {...body, previous_response_id: lastIdOf(this.#of.call.caller.workspace_id, id)}
  }

  #ask(body: Json): Promise<TurnAnswer> {
    const {call, incoming, text, body: of_client, handle} = this.#of
    const {relay} = call
    const bytes = Buffer.from(spliced(text, of_client, body))
    this.#turn = new TurnInProgress(
      bytes,
      {
        url: incoming.request.url!,
        headers: turnHeaders(incoming, bytes.length),
        remote_address: remoteAddressOf(incoming.request),
      },
      {
        begins: (status, headers) => {
          if (this.#is_stream) return
          this.#is_stream = true
          relay.head(status, answerHeadersOf(headers), false)
          relay.flushHead()
        },
        event: (event, raw) => {
          if (!event) return relay.write(raw)
          return relay.write(Buffer.from(this.#transcript.event(event)))
        },
      },
      handle,
    )
    return this.#turn.answer
  }

  #answerOf({is_stream, body}: TurnAnswer): Json | null {
    return is_stream ? this.#transcript.assembled() : (parsedObject(body.toString('utf8')) ?? null)
  }

  #add(turn: Turn, outcomes: Outcomes) {
    this.#transcript.add(turn, outcomes)
    if (this.#is_stream) this.#of.call.relay.write(Buffer.from(this.#transcript.outcomes(turn, outcomes)))
  }

  #finish(came: TurnAnswer, turn: Turn, outcomes: Outcomes, stopped: Stopped | null) {
    this.#add(turn, outcomes)
    this.#end(came, turn.answer, stopped)
  }

  #end({status, headers}: Pick<TurnAnswer, 'status' | 'headers'>, last: Json, stopped: Stopped | null) {
    const {relay, caller} = this.#of.call
    if (this.#is_stream) {
      if (this.#of.dialect.keeps_answers) noteLastId(caller.workspace_id, this.#first_id, last.id)
      return relay.end([Buffer.from(this.#transcript.end(last, stopped))])
    }
    relay.head(status, answerHeadersOf(headers), false)
    relay.end([Buffer.from(JSON.stringify(this.#transcript.whole(last, stopped)))])
  }

  /** A turn without an answer. The first one's is the client's; behind it tools have run, which no retry may repeat. */
  #refused(came: TurnAnswer, last: Turn | null) {
    const {relay} = this.#of.call
    const {status, headers, body, is_whole} = came
    if (!is_whole || (status < 300 && came.is_stream)) return relay.cut()
    const stopped = last && STOPS[status]
    if (last && stopped) {
      const kept = this.#is_stream ? headers : withType(headers)
      return this.#end({status: 200, headers: kept}, last.answer, stopped)
    }
    if (this.#is_stream && last)
      return relay.end([Buffer.from(this.#transcript.failed(last.answer, {status, message: messageOf(body)}))])
    const more = last ? ['x-should-retry', 'false'] : []
    relay.head(status, [...answerHeadersOf(headers), ...more], false)
    relay.end([body])
  }

  #keepAlive() {
    if (!this.#is_stream) return
    this.#callOff = this.#of.services.after(QUIET_MS, () => {
      this.#of.call.relay.write(COMMENT)
      this.#keepAlive()
    })
  }
}

const COMMENT = Buffer.from(': tools are running\n\n')

/** An answer of the run in the place of a refusal of a turn. */
function withType(headers: readonly string[]): string[] {
  const kept: string[] = []
  for (let at = 0; at < headers.length; at += 2)
    if (!/^(?:content-type|retry-after)$|-(?:ratelimit-.*|gateway-exception)$/i.test(headers[at]!))
      kept.push(headers[at]!, headers[at + 1]!)
  return [...kept, 'content-type', 'application/json']
}

/** The sentence of an error in any dialect. */
function messageOf(body: Buffer): string {
  const value = parsedObject(body.toString('utf8'))
  const error = object(value?.error)
  const message = [error.message, value?.message, object(value?.data).message].find(each => typeof each === 'string')
  return isObject(value) && typeof message === 'string' ? message : 'A turn of the run failed.'
}
