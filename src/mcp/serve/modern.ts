import {own} from '../../base/json-member.ts'
import {memberText} from '../../base/json-splice.ts'
import {traceOf} from '../call/trace.ts'
import {clientCapabilitiesText} from '../content/capabilities.ts'
import {
  answersOfRetry,
  inputRequestText,
  inputRequiredText,
  type Question,
  takesQuestion,
} from '../content/questions.ts'
import type {GuardedCall} from '../guards/guarded-call.ts'
import {
  MOST_ROUNDS,
  MOST_UPSTREAM_STATE,
  openState,
  type RequestState,
  STATE_MS,
  sealState,
} from '../held/request-state.ts'
import {SignInNeededFault, type UpstreamClient} from '../pool/source.ts'
import type {MessageRecord} from '../records/message-record.ts'
import {checkAllowed, nameOf} from '../relay/allowed.ts'
import {type RelayedAnswer, relayedAnswer} from '../relay/answer.ts'
import {isWanted} from '../relay/log-level.ts'
import {paramsEdits} from '../relay/params.ts'
import {RunningCall, type UpstreamTurn} from '../relay/running-call.ts'
import {sealedNotice} from '../relay/task-ids.ts'
import type {Hello} from '../upstream/upstream.ts'
import type {ModernRequest} from '../wire/client-era.ts'
import {edited} from '../wire/edits.ts'
import {META_KEYS} from '../wire/envelope.ts'
import {errorObjectText, McpFault} from '../wire/faults.ts'
import {answerText, paramsText, type RpcRequest} from '../wire/messages.ts'
import {checkParamHeaders} from '../wire/param-headers.ts'
import {discovered} from './discover.ts'
import {endOfAnswer, endOfDenied, endOfFault, endOfLeft, endOfOurs, faultOf, headersOfFault, written} from './end.ts'
import {cursorOf, type McpExchange, metaOf, recordOf, type ServingParts, sightedOf} from './exchange.ts'
import {deniedResult, guardedCall, guardsEnd, judgedAnswer} from './guarding.ts'
import {serveListen} from './listen.ts'
import {signInFault, signInQuestion} from './sign-in.ts'

/** Serves one request of a modern client: it describes itself, and its answer ends the reply. */
export async function serveModern(post: ModernRequest, exchange: McpExchange, parts: ServingParts): Promise<void> {
  if (post.message.method === 'subscriptions/listen') return serveListen(post, exchange, parts)
  return new ModernServing(post, exchange, parts).serve()
}

class ModernServing {
  readonly #post: ModernRequest
  readonly #exchange: McpExchange
  readonly #parts: ServingParts
  #record: MessageRecord
  /** The request as its guardrails left it: it goes up, and the log keeps it. */
  #sent: RpcRequest
  #guarded: GuardedCall | null = null
  #running: RunningCall | null = null
  #known_client: UpstreamClient | undefined
  #state: RequestState | null = null

  constructor(post: ModernRequest, exchange: McpExchange, parts: ServingParts) {
    this.#post = post
    this.#exchange = exchange
    this.#parts = parts
    this.#sent = post.message
    this.#record = this.#newRecord()
  }

  async serve(): Promise<void> {
    const {message} = this.#post
    const {server, reply, request, via} = this.#exchange
    try {
      checkAllowed(message.method, message.params, server, message.id_text)
      const name = nameOf(message.method, message.params)
      const known = message.method === 'tools/call' && name !== null ? this.#parts.tools.find(server, name) : undefined
      if (known && !via?.is_inside) checkParamHeaders(known.headers, message, request.headers)
      this.#state = this.#openedState()
      const held = this.#state?.held
      if (held) {
        const open = await this.#answerHeld(held)
        if (open.size > 0) return this.#hold(open)
      } else {
        if (this.#state && !this.#state.is_sign_in) await this.#takeRound(this.#state)
        await this.#judge()
        if (this.#guarded?.denial) return await this.#denied(this.#guarded)
        await this.#record.begin()
        if (message.method === 'server/discover') return await this.#discover()
        this.#start()
      }
      await this.#turn()
    } catch (fault) {
      if (reply.gone.aborted) return this.#left()
      if (fault instanceof SignInNeededFault) return this.#signIn(fault)
      await this.#refuse(faultOf(fault, this.#parts.services.log))
    }
  }

  /** Continues a call whose state is the upstream's: each round once, whatever process it comes to. */
  async #takeRound(state: RequestState) {
    const {call_id, round, expires_ms} = state
    if (!(await this.#parts.services.takeRound(call_id, round, expires_ms))) throw new McpFault('state_invalid')
    this.#record = this.#newRecord(state)
  }

  /** Has guardrails judge the arguments: all that follows knows what they left. */
  async #judge() {
    const {message} = this.#post
    this.#guarded = await guardedCall(message, this.#exchange, this.#record.facts.trace, this.#parts)
    if (!this.#guarded) return
    this.#sent = await this.#guarded.judgeInput(message)
    if (this.#sent !== message) this.#record = this.#newRecord(this.#state ?? undefined)
  }

  async #denied(guarded: GuardedCall) {
    const text = deniedResult(guarded, 'modern')
    await written(this.#record, endOfDenied(text, {...this.#ended, ...guardsEnd(guarded)}), this.#parts.services.log)
    this.#exchange.reply.end(200, answerText(this.#post.message.id_text, {result: text}))
  }

  get #client(): UpstreamClient {
    this.#known_client ??= this.#newClient()
    return this.#known_client
  }

  #newClient(): UpstreamClient {
    const {caller, server, request, validated} = this.#exchange
    const {envelope, message} = this.#post
    const meta_text = memberText(paramsText(message)!, '_meta')!
    const capabilities = memberText(meta_text, META_KEYS.client_capabilities)!
    return {
      ...{server, caller, validated, headers: request.headers, session_id: null},
      client_info: memberText(meta_text, META_KEYS.client_info) ?? JSON.stringify({name: 'unknown', version: '0.0.0'}),
      // the other era hears of nothing that is not relayed between the two; the same era gets the words as they came
      client_capabilities: clientCapabilitiesText(capabilities, envelope.client_capabilities, {
        client: 'modern',
        upstream: this.#parts.services.eras.get(server.integration)?.era ?? 'legacy',
      }),
    }
  }

  #newRecord(state?: RequestState): MessageRecord {
    const {version, envelope} = this.#post
    const message = this.#sent
    const {services} = this.#parts
    const trace = traceOf(metaOf(message.params), this.#exchange.request.headers, this.#exchange.at_ms)
    const continues = state && {call_id: state.call_id, log_id: state.log_id}
    return recordOf(
      this.#exchange,
      message,
      {trace, version, client_info: envelope.client_info, ...(continues && {continues})},
      services,
    )
  }

  #openedState(): RequestState | null {
    const {message} = this.#post
    const state = own(message.params, 'requestState')
    if (state === undefined) return null
    if (typeof state !== 'string') throw new McpFault('state_invalid')
    return openState(this.#parts.services.seal, this.#owner, state, this.#parts.services.now())
  }

  get #owner() {
    const {caller, server} = this.#exchange
    const {method, params} = this.#post.message
    return {caller, server, method, params}
  }

  #start() {
    const {envelope} = this.#post
    const message = this.#sent
    const {services, source, task_ids, tools} = this.#parts
    const cursor = cursorOf(message, this.#parts, this.#exchange)
    const state = this.#state
    this.#running = new RunningCall(
      {
        ...{source, tools, client: this.#client},
        request: {
          method: message.method,
          params: paramsText(message),
          edits: hello =>
            paramsEdits(
              {
                ...{
                  client_era: 'modern',
                  method: message.method,
                  params: message.params,
                  trace: this.#record.facts.trace,
                  cursor,
                },
                openTask: id => task_ids.open(id, this.#exchange),
                ...(state && {upstream_state: state.upstream, is_first: state.is_sign_in === true}),
              },
              hello.era,
            ),
          tool: message.method === 'tools/call' ? nameOf(message.method, message.params) : null,
          log_level: envelope.log_level,
          passes_questions: true,
        },
      },
      services,
    )
  }

  /** Takes a held call and answers its questions; gives those that are still open. */
  async #answerHeld({
    id,
    holder,
  }: {
    readonly id: string
    readonly holder: string
  }): Promise<ReadonlyMap<string, Question>> {
    const {message} = this.#post
    const {held, process_id} = this.#parts
    const state = this.#state!
    if (holder !== process_id) throw new McpFault('call_lost')
    const found = held.take(id, state.round)
    if (!found) throw new McpFault('state_invalid')
    this.#running = found.running
    this.#record = found.record
    this.#guarded = found.guarded
    const methods = new Map([...found.questions].map(([key, {method}]) => [key, method]))
    const answers = answersOfRetry(message.params!, paramsText(message)!, methods)
    if (!answers) throw new McpFault('params_invalid', {reason: 'inputResponses has an answer of another form'})
    for (const [key, text] of answers) await found.running.answer(key, {result: text})
    return new Map([...found.questions].filter(([key]) => !answers.has(key)))
  }

  /** Waits for the next turn of the call, and ends the reply with it. */
  async #turn() {
    const {reply} = this.#exchange
    const running = this.#running!
    const {log_level} = this.#post.envelope
    running.sink = async message => {
      if (this.#guarded?.withholds || !reply.may_stream || !isWanted(message, log_level)) return
      reply.event(sealedNotice(message, id => this.#parts.task_ids.close(id, this.#exchange)))
      await reply.taken()
    }
    const cancel = () => running.cancel()
    reply.gone.addEventListener('abort', cancel, {once: true})
    if (reply.gone.aborted) cancel()
    let turn: UpstreamTurn
    try {
      turn = await running.next()
    } finally {
      reply.gone.removeEventListener('abort', cancel)
      running.sink = null
    }
    if (turn.kind === 'questions') {
      if (this.#exchange.is_of_run) throw nobodyAnswers(turn.questions)
      return this.#hold(turn.questions)
    }
    await this.#answered(turn)
  }

  async #answered({answer: given, hello}: UpstreamTurn & {kind: 'answer'}) {
    const {services} = this.#parts
    const of = {message: this.#sent, client: this.#client, signal: this.#exchange.reply.gone}
    const answer = await judgedAnswer(this.#guarded, given, of, this.#parts)
    const view = this.#view(hello, cursorOf(this.#post.message, this.#parts, this.#exchange))
    let relayed = relayedAnswer(answer, view)
    if (relayed.outcome === 'input_required' && this.#exchange.is_of_run) throw nobodyAnswers()
    if (relayed.outcome === 'input_required') relayed = {...relayed, text: this.#withState(relayed.text, answer.result)}
    this.#record.waited(this.#running!.upstream_ms)
    const ended = {...this.#ended, ...guardsEnd(this.#guarded)}
    await written(this.#record, endOfAnswer(relayed, hello, ended), services.log)
    this.#end(this.#guarded ? {...relayed, text: this.#guarded.forClient(relayed.text)} : relayed)
  }

  #view(hello: Hello, cursor: string | null) {
    const {message} = this.#post
    const {server, caller} = this.#exchange
    const {cursors, task_ids, tools} = this.#parts
    const name = nameOf(message.method, message.params)
    const is_private = server.integration.auth_type === 'oauth_auto'
    return {
      ...{server, caller, cursors, task_ids, tools, cursor, hello, name, is_private},
      method: message.method,
      client_era: 'modern' as const,
      sighted: sightedOf(this.#parts, this.#exchange),
    }
  }

  /** Wraps the state of a modern upstream, also where it gave none: the retry is known by it. */
  #withState(text: string, result: unknown): string {
    const given = own(result, 'requestState')
    const upstream = typeof given === 'string' ? given : null
    const {server} = this.#exchange
    if (upstream !== null && upstream.length > MOST_UPSTREAM_STATE)
      throw new McpFault('upstream_nonsense', {server: server.slug, reason: 'its requestState is too large'})
    const state = this.#sealed(null, upstream)
    return edited(text, [{path: ['requestState'], set: JSON.stringify(state)}])
  }

  /** The person signs in at the upstream first: an address to open, and the same call once more after it. */
  async #signIn(fault: SignInNeededFault) {
    const question = signInQuestion(fault, this.#exchange)
    const {message, envelope} = this.#post
    if (!takesQuestion(envelope.client_capabilities, question))
      return this.#refuse(signInFault(fault, this.#exchange, null))
    const {services} = this.#parts
    const state = this.#sealed(null, null, true)
    const text = inputRequiredText(new Map([['sign-in', inputRequestText(question)]]), state, null)
    const end = {...endOfOurs(this.#ended), answer: text}
    await written(this.#record, {...end, detail: {...end.detail, outcome: 'input_required'}}, services.log)
    this.#exchange.reply.end(200, answerText(message.id_text, {result: text}))
  }

  #sealed(held: RequestState['held'], upstream: string | null, is_sign_in = false): string {
    const round = (this.#state?.round ?? 1) + 1
    if (round > MOST_ROUNDS) throw new McpFault('too_many_rounds', {limit: MOST_ROUNDS})
    const {services} = this.#parts
    const {call_id, log_id} = this.#record
    const expires_ms = services.now() + STATE_MS
    return sealState(services.seal, this.#owner, {call_id, log_id, round, held, upstream, expires_ms, is_sign_in})
  }

  /** A legacy upstream waits for an answer: the reply ends, and the call is held for the next one. */
  async #hold(questions: ReadonlyMap<string, Question>) {
    const {held, process_id, services, work} = this.#parts
    const running = this.#running!
    const id = held.newId()
    const state = this.#sealed({id, holder: process_id}, null)
    const record = this.#record
    const round = (this.#state?.round ?? 1) + 1
    running.rounds++
    const end = (why: string) => {
      running.cancel()
      const ended = written(
        record,
        {
          // as where the client left: the reply with the question went out well, the call did not end well
          ...endOfLeft(499, {rounds: running.rounds, is_stream: false, was_sent: true}),
          error: `The call was ${why} while a question waited for its answer.`,
        },
        services.log,
      )
      work.add(ended)
      void ended.finally(() => work.delete(ended))
    }
    const {caller} = this.#exchange
    held.hold({
      ...{id, running, record, round, end, questions, guarded: this.#guarded, sign_in: running.sign_in},
      principal: `${caller.kind} ${caller.id} ${caller.user_id ?? ''}`,
    })
    const requests = new Map([...questions].map(([key, question]) => [key, inputRequestText(question)]))
    const {message} = this.#post
    this.#exchange.reply.end(200, answerText(message.id_text, {result: inputRequiredText(requests, state, null)}))
  }

  async #discover() {
    this.#end(await discovered(this.#exchange, this.#client, {record: this.#record, ended: this.#ended}, this.#parts))
  }

  get #ended() {
    const {reply} = this.#exchange
    const {rounds = 1, was_sent = false} = this.#running ?? {}
    return {delivered: !reply.gone.aborted, rounds, is_stream: reply.is_stream, was_sent}
  }

  #end({kind, text, status}: RelayedAnswer) {
    const {id_text} = this.#post.message
    const body = answerText(id_text, kind === 'result' ? {result: text} : {error: text})
    this.#exchange.reply.end(status, body)
  }

  async #refuse(fault: McpFault) {
    const {id_text} = this.#post.message
    this.#running?.cancel()
    const {hooks} = guardsEnd(this.#guarded)
    const end = {...endOfFault(fault, 'modern', this.#ended), ...(hooks && {hooks})}
    await written(this.#record, end, this.#parts.services.log)
    const body = answerText(id_text, {error: errorObjectText(fault)})
    this.#exchange.reply.end(fault.http, body, headersOfFault(fault))
  }

  async #left() {
    this.#running?.cancel()
    const {is_stream} = this.#exchange.reply
    const {rounds = 1, was_sent = false} = this.#running ?? {}
    await written(this.#record, endOfLeft(499, {rounds, is_stream, was_sent}), this.#parts.services.log)
  }
}

/** In a run of a model a question has no one to go to. */
function nobodyAnswers(questions?: ReadonlyMap<string, Question>): McpFault {
  const [first] = questions?.values() ?? []
  return new McpFault('client_incapable', {kind: first?.method ?? 'input_required', reason: 'is a model in a run'})
}
