import {own} from '../../base/json-member.ts'
import type {Question} from '../content/questions.ts'
import {questionOfRequest, questionsOfResult} from '../content/questions.ts'
import {kindOfResult} from '../content/results.ts'
import type {SignInAtServer, UpstreamClient, UpstreamSource} from '../pool/source.ts'
import type {McpUses} from '../services.ts'
import type {Hello, McpUpstream} from '../upstream/upstream.ts'
import {edited, type TextEdit} from '../wire/edits.ts'
import type {McpLogLevel} from '../wire/envelope.ts'
import {McpFault} from '../wire/faults.ts'
import {type RpcAnswer, type RpcNotification, type RpcRequest, resultText} from '../wire/messages.ts'
import {setLevel} from './log-level.ts'
import type {ToolBook} from './tool-book.ts'

/** The answer to a question: JSON text of a result or of an error object. */
export type QuestionAnswer = {readonly result: string} | {readonly error: string}

/** The next thing that an upstream says of a call: its answer, or questions by keys, which want theirs first. */
export type UpstreamTurn =
  | {readonly kind: 'answer'; readonly answer: RpcAnswer; readonly hello: Hello; readonly url: string}
  | {readonly kind: 'questions'; readonly questions: ReadonlyMap<string, Question>}

/** The request of a client, as an upstream of either era is to have it. */
export interface RelayedRequest {
  readonly method: string
  /** JSON text of `params` as it came; undefined where there are none. */
  readonly params: string | undefined
  /** Edits of `params` for an upstream of an era. */
  edits(hello: Hello): readonly TextEdit[]
  /** The tool that is called; null of other requests. */
  readonly tool: string | null
  /** Levels of log messages that the client wants; null for none. */
  readonly log_level: McpLogLevel | null
  /** True where questions of a modern upstream are the client's own to answer: they pass in the result. */
  readonly passes_questions: boolean
}

/** Takes notifications that come before the answer. */
export type NotificationSink = (message: RpcNotification) => void | Promise<void>

type Services = McpUses<'after' | 'settings' | 'steady'>

/** Rounds with questions in one call of a legacy client. */
const MOST_ROUNDS = 8
/** A round without a question is repeated after so long. */
const EMPTY_ROUND_MS = 250
/** Progress lets a call take so many times its time. */
const PROGRESS_FACTOR = 10

/**
 * A call at an upstream, which lives for as long as that works on it: a client may leave while a question waits, and
 * come again with the answer. Questions of both eras are turns of it.
 */
export class RunningCall {
  /** The stream of the client that has it now; notifications are dropped where it has none. */
  sink: NotificationSink | null = null
  readonly #client: UpstreamClient
  readonly #request: RelayedRequest
  readonly #services: Services
  readonly #tools: ToolBook
  readonly #abort = new AbortController()
  readonly #turns: (UpstreamTurn | {readonly kind: 'fault'; readonly fault: unknown})[] = []
  readonly #questions = new Map<string, {readonly message: RpcRequest; readonly upstream: McpUpstream}>()
  #wake: (() => void) | undefined
  #answers: {readonly collected: Map<string, string>; readonly expected: number; readonly done: () => void} | undefined
  #upstream_ms = 0
  #sign_in: SignInAtServer | null = null
  #is_over = false
  #was_sent = false
  rounds = 1

  constructor(
    {
      source,
      client,
      request,
      tools,
    }: {source: UpstreamSource; client: UpstreamClient; request: RelayedRequest; tools: ToolBook},
    services: Services,
  ) {
    this.#client = client
    this.#request = request
    this.#services = services
    this.#tools = tools
    const started = services.steady()
    source
      .use(client, this.#abort.signal, (upstream, sign_in) => {
        this.#sign_in = sign_in
        return this.#run(upstream)
      })
      .then(turn => this.#push(turn))
      .catch(fault => this.#push({kind: 'fault', fault}))
      .finally(() => {
        this.#upstream_ms = services.steady() - started
        this.#is_over = true
      })
  }

  /** The sign-in of its person at the server, once it has a connection; null where it needs none. */
  get sign_in(): SignInAtServer | null {
    return this.#sign_in
  }

  /** True from the moment that the request goes out on a connection: the upstream may work on it. */
  get was_sent(): boolean {
    return this.#was_sent
  }

  get is_over(): boolean {
    return this.#is_over
  }

  /** Milliseconds from the begin to the end at the upstream. */
  get upstream_ms(): number {
    return this.#upstream_ms
  }

  /** The next turn. Rejects with the fault that ended the call. One caller at a time. */
  async next(): Promise<UpstreamTurn> {
    for (;;) {
      const turn = this.#turns.shift()
      if (turn?.kind === 'fault') throw turn.fault
      if (turn) return turn
      await new Promise<void>(resolve => {
        this.#wake = resolve
      })
    }
  }

  /** Answers a question by its key; one that is not open any more is passed over. */
  async answer(key: string, answer: QuestionAnswer): Promise<void> {
    const question = this.#questions.get(key)
    if (question) {
      this.#questions.delete(key)
      return question.upstream.answer(question.message.id, answer)
    }
    const waiting = this.#answers
    if (!waiting || waiting.collected.has(key)) return
    if ('error' in answer) return this.#refuse()
    waiting.collected.set(key, answer.result)
    if (waiting.collected.size === waiting.expected) waiting.done()
  }

  /** Ends it: the upstream hears of it. */
  cancel(): void {
    this.#abort.abort()
  }

  /** A client cannot answer: the call ends, for a modern upstream has no place for an error. */
  #refuse() {
    this.#push({
      kind: 'fault',
      fault: new McpFault('client_incapable', {kind: this.#request.method, reason: 'answered with an error'}),
    })
    this.cancel()
  }

  #push(turn: UpstreamTurn | {readonly kind: 'fault'; readonly fault: unknown}) {
    this.#turns.push(turn)
    this.#wake?.()
    this.#wake = undefined
  }

  async #run(upstream: McpUpstream): Promise<UpstreamTurn> {
    const {hello} = upstream
    await setLevel(
      upstream,
      this.#request.log_level,
      this.#abort.signal,
      this.#services.settings.mcp_request_timeout_ms,
    )
    let edits = this.#request.edits(hello)
    for (let round = 1; ; round++) {
      const answer = await this.#exchange(upstream, edits)
      const {result} = answer
      const is_question = hello.era === 'modern' && result && kindOfResult(result) === 'input_required'
      if (!is_question || this.#request.passes_questions) return {kind: 'answer', answer, hello, url: upstream.url}
      if (round >= MOST_ROUNDS) throw new McpFault('too_many_rounds', {limit: MOST_ROUNDS})
      edits = await this.#ask(answer, upstream)
      this.rounds++
    }
  }

  /** One request; once more where the upstream finds our headers wrong: its schema has changed. */
  async #exchange(upstream: McpUpstream, edits: readonly TextEdit[]): Promise<RpcAnswer> {
    const {method, params, tool, log_level} = this.#request
    const {server, client_info, client_capabilities} = this.#client
    const text = edits.length > 0 ? edited(params ?? '{}', edits) : params
    const total_ms = this.#services.settings.mcp_request_timeout_ms
    const options = {signal: this.#abort.signal, total_ms: total_ms * PROGRESS_FACTOR, idle_ms: total_ms}
    const send = async () => {
      const param_headers = tool === null ? {} : await this.#tools.headersOf(server, upstream, tool, text, options)
      this.#was_sent = true
      return upstream.request(
        {
          ...{method, params: text, client: {client_info, client_capabilities}},
          ...(upstream.hello.era === 'modern' && {param_headers}),
          ...(log_level !== null && {log_level}),
        },
        {notification: message => this.sink?.(message), question: message => this.#onQuestion(message, upstream)},
        options,
      )
    }
    const answer = await send()
    if (answer.error?.code !== -32020 || upstream.hello.era !== 'modern') return answer
    if (tool === null) throw mismatched(server.slug)
    this.#tools.forget(server)
    const again = await send()
    if (again.error?.code === -32020) throw mismatched(server.slug)
    return again
  }

  /** A legacy upstream's question, on the stream of the call. */
  #onQuestion(message: RpcRequest, upstream: McpUpstream) {
    const question = questionOfRequest(message)
    if (!question) {
      void upstream.answer(message.id, {error: JSON.stringify({code: -32601, message: 'Method not found'})})
      return
    }
    const key = message.id_text
    this.#questions.set(key, {message, upstream})
    this.#push({kind: 'questions', questions: new Map([[key, question]])})
  }

  /** A modern upstream's questions: gives the edits of the next round. */
  async #ask(answer: RpcAnswer, upstream: McpUpstream): Promise<readonly TextEdit[]> {
    const {server} = this.#client
    const questions = questionsOfResult(answer.result!, resultText(answer)!)
    if (!questions)
      throw new McpFault('upstream_nonsense', {server: server.slug, reason: 'its questions are not of the protocol'})
    const collected = new Map<string, string>()
    if (questions.size === 0) await this.#pause(EMPTY_ROUND_MS)
    else
      await new Promise<void>((resolve, reject) => {
        const abort = () => reject(new McpFault('call_lost'))
        this.#abort.signal.addEventListener('abort', abort, {once: true})
        const done = () => {
          this.#abort.signal.removeEventListener('abort', abort)
          this.#answers = undefined
          resolve()
        }
        this.#answers = {collected, expected: questions.size, done}
        this.#push({kind: 'questions', questions})
      })
    const state = own(answer.result, 'requestState')
    const responses = [...collected].map(([key, text]) => `${JSON.stringify(key)}:${text}`).join(',')
    return [
      ...this.#request.edits(upstream.hello),
      {path: ['inputResponses'], set: questions.size > 0 ? `{${responses}}` : undefined},
      {path: ['requestState'], set: typeof state === 'string' ? JSON.stringify(state) : undefined},
    ]
  }

  #pause(ms: number): Promise<void> {
    return new Promise(resolve => this.#services.after(ms, resolve))
  }
}

function mismatched(server: string): McpFault {
  return new McpFault('upstream_nonsense', {server, reason: 'it finds our headers and the body to differ'})
}
