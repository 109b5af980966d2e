import {Refusal} from '../../base/errors.ts'
import {parsed} from '../../base/json-object.ts'
import {spliced} from '../../base/json-splice.ts'
import {deniedBody, shownResults, statusOf} from '../../guardrails/answer.ts'
import {readAnswerJson} from '../../guardrails/answer-json.ts'
import {BytesView} from '../../guardrails/bytes-view.ts'
import type {CheckContext} from '../../guardrails/check.ts'
import {type Coverage, coverageOf} from '../../guardrails/coverage.ts'
import type {Hook} from '../../guardrails/hook.ts'
import {isObject, type JsonValue} from '../../guardrails/json.ts'
import {loggedResults} from '../../guardrails/logged-results.ts'
import type {Restore} from '../../guardrails/pii/restore.ts'
import {type PhaseOutcome, runHooks} from '../../guardrails/run.ts'
import {inTimeSlices} from '../../guardrails/time-slices.ts'
import {nothingOf, type View, viewOf} from '../../guardrails/view.ts'
import type {EndpointName} from '../../schema/endpoints.ts'
import type {HookResult, HookResults, Side} from '../../schema/guardrails.ts'
import type {Call} from '../call/call.ts'
import type {CallGuardrails, Judged, ProviderFailure, RowRoute, Whole} from '../call/call-guardrails.ts'
import {readPassing} from '../call/read-body.ts'
import type {GuardrailServices} from '../guardrail-services.ts'
import {type Body, readAs, readJson} from '../inbound/body.ts'
import {GuardrailDenial} from '../inbound/denial.ts'
import type {Uses} from '../services.ts'
import type {TargetGuardrails} from '../targets/guardrails.ts'
import type {Target} from '../targets/target.ts'
import {headersForChecks} from '../upstream/client-headers.ts'
import {isStrict, writtenText} from '../upstream/translate.ts'
import {RowResults, withResults} from './hook-results.ts'
import {
  type FormOfRows,
  NOTHING_READ,
  type RequestRead,
  readAnswer,
  readBody,
  readForm,
  WHOLE_BODY,
} from './request-strings.ts'
import {restored} from './stream-restorer.ts'
import {isProtective, judgesStrings, unreadHooks, withUnread} from './unread.ts'

type Services = Uses<'guardrails' | 'settings'>

/** The part of a target that guardrails know. */
export type JudgedPlace = Pick<Target, 'params' | 'model' | 'strict'> & {
  readonly provider: Pick<Target['provider'], 'slug'>
}

/** The guardrails of a call at one target: their results so far, and the body they leave. */
export class GuardedVisit implements CallGuardrails {
  readonly guards: TargetGuardrails
  readonly endpoint: EndpointName
  readonly tells_in_streams: boolean
  readonly #coverage: Coverage
  /** All that is attached to the answer, those that do not judge it among them. */
  readonly #attached: readonly Hook[]
  readonly #call: Call
  readonly #target: JudgedPlace
  readonly #services: GuardrailServices
  readonly #all: Services
  #before: readonly HookResult[] = []
  #after: readonly HookResult[] = []
  #is_failed_before = false
  #is_failed_after = false
  /** The request as it was sent; null where it is no JSON that has texts. */
  #request: View | null = null
  #is_request_transformed = false
  #late: Promise<void>[] = []
  #client_headers: Readonly<Record<string, string>> | undefined
  /** State that checks keep of an answer that comes in parts. */
  #parts = new Map<object, unknown>()
  /** Results of the rows of its file; null: it has none. */
  #rows: RowResults | null = null
  rows_passed = false
  headers: Readonly<Record<string, string>> = {}
  has_judged = false
  restore: Restore | null = null
  is_stream = false

  constructor(guards: TargetGuardrails, call: Call, target: JudgedPlace, services: Services) {
    const coverage = coverageOf({name: call.endpoint, method: call.incoming.method}, 'output')
    this.#coverage = coverage
    this.#attached = guards.output
    this.guards =
      coverage === 'dialect' ? guards : {...guards, output: guards.output.filter(hook => judgesStrings(hook, coverage))}
    this.endpoint = call.endpoint
    this.tells_in_streams = !isStrict(call, target)
    this.#call = call
    this.#target = target
    this.#services = services.guardrails!
    this.#all = services
  }

  get #most_bytes(): number {
    return this.#all.settings.guardrail_max_body_mb * 2 ** 20
  }

  get #denies_unreadable(): boolean {
    return (this.guards.unreadable_bodies ?? this.#all.settings.unreadable_bodies) === 'deny'
  }

  /** Judges the request; gives the body that goes out instead, or null where it stays. Throws `GuardrailDenial`. */
  async judgeInput(form: FormOfRows | null): Promise<Body | null> {
    const {endpoint} = this
    if (form) this.#rows = new RowResults()
    const {view, unread} = await (form
      ? readForm(this.endpoint, this.#call, form, this.#most_bytes)
      : this.#readRequest())
    const seen = view ?? nothingOf(endpoint, 'input', this.#call.body.kind === 'none' ? 'none' : 'unread')
    const outcome = await runHooks(this.guards.input, seen, this.#context('input', view, null, null))
    const unjudged = unread.length ? unreadHooks(this.guards.input, endpoint) : []
    this.#before = unjudged.length ? withUnread(outcome.results, unjudged, unread) : outcome.results
    this.#is_failed_before = outcome.is_failed
    this.headers = outcome.headers
    this.restore = outcome.restore
    this.#request = view && outcome.view
    this.#is_request_transformed = outcome.is_transformed
    this.#later(outcome, added => {
      this.#before = [...this.#before, ...added]
    })
    const left = await this.#bodyLeft(outcome)
    this.has_judged = true
    if (outcome.is_denied || (this.#denies_unreadable && unjudged.some(isProtective))) {
      if (left) this.#call.body = left // what its row keeps
      throw this.denied()
    }
    // An answer that has no text for them.
    if (!this.judges_answers) this.#after = this.#attached.map(({id, type}) => ({id, type, skipped: true as const}))
    return left
  }

  /** The body as the checks left it; null where they changed nothing. */
  async #bodyLeft(outcome: PhaseOutcome): Promise<Body | null> {
    if (!outcome.is_transformed) return null
    const {route, headers} = this.#call.incoming
    if (!(outcome.view instanceof BytesView))
      return readJson(Buffer.from(writtenText(outcome.view.body, this.#target.provider.slug)), route.endpoint)
    const bytes = await inTimeSlices(outcome.view.splicing())
    return this.#call.body.kind === 'other'
      ? {kind: 'other', bytes}
      : readAs(bytes, headers['content-type'] ?? '', route.endpoint)
  }

  judgeRow(view: View, {endpoint, model}: RowRoute): Promise<PhaseOutcome> {
    return runHooks(this.guards.input, view, {
      ...this.#context('input', view, null, null),
      endpoint,
      model,
      is_streaming: false,
    })
  }

  noteRow(results: readonly HookResult[], line: number) {
    this.#rows ??= new RowResults()
    this.#rows.add(results, line)
  }

  noteUnread(parts: readonly string[]) {
    // A row is a request of some route that is guarded.
    const hooks = unreadHooks(this.guards.input, ROWS)
    this.#before = withUnread(this.#before, hooks, parts)
    if (this.#denies_unreadable && hooks.some(isProtective)) throw this.denied()
  }

  /** The results of the request by now. */
  get #results(): readonly HookResult[] {
    return this.#rows?.beside(this.#before) ?? this.#before
  }

  /** The request as its checks see it; nothing is read where none does. */
  async #readRequest(): Promise<RequestRead> {
    const call = this.#call
    if (call.body.kind === 'none' || unreadHooks(this.guards.input, this.endpoint).length === 0) return NOTHING_READ
    await readPassing(call, this.#all)
    return readBody(this.endpoint, call, this.#target.params, this.#most_bytes)
  }

  get reads_answers(): boolean {
    return (
      this.judges_answers ||
      this.restore !== null ||
      this.#rows !== null ||
      this.#before.some(result => 'checks' in result)
    )
  }

  get judges_answers(): boolean {
    return this.guards.output.length > 0 && this.#coverage !== 'none'
  }

  readsAnswer(content_type: string | undefined, content_length: number | null): boolean {
    if (this.#coverage === 'dialect' || !this.reads_answers) return this.reads_answers
    const is_json = content_type !== undefined && /json/i.test(content_type)
    // Results alone are no reason to hold back what may be long.
    if (!this.judges_answers)
      return is_json && (this.restore !== null || (content_length !== null && content_length <= MAX_TOLD_BYTES))
    if (is_json || content_type === undefined || /^(?:text\/|application\/(?:xml|[^;]*\+xml))/i.test(content_type))
      return true
    this.#after = this.#skippedAnswer()
    return false
  }

  #skippedAnswer(): readonly HookResult[] {
    return this.#attached.map(({id, type}) => ({id, type, skipped: true, reason: 'unreadable', part: WHOLE_BODY}))
  }

  get keeps_streams(): boolean {
    const is_late =
      this.judges_answers && this.guards.output.some(({async, stream_mode}) => !async && stream_mode === 'after')
    return !is_late && this.restore === null
  }

  begin() {
    this.#is_failed_after = false
    this.#parts = new Map()
    if (this.judges_answers) this.#after = []
  }

  statusOf(upstream_status: number): number {
    return statusOf(upstream_status, this.#is_failed_before || this.#is_failed_after || this.#rows?.is_failed === true)
  }

  get shown(): HookResults | null {
    return shownResults(this.#results, this.#after)
  }

  denied(line: number | null = null): GuardrailDenial {
    return new GuardrailDenial(
      this.endpoint,
      {before_request_hooks: this.#results, after_request_hooks: this.#after},
      line,
    )
  }

  async evaluateResponse<R extends Whole>(reply: R, upstream_status: number): Promise<R & Judged> {
    if (!this.judges_answers) return this.#judged(reply, upstream_status, reply.bytes, reply.bytes)
    if (this.#coverage !== 'dialect') return this.#evaluateStrings(reply, upstream_status)
    const {text, json} = await readAnswerJson(reply.bytes, reason => this.unreadable(reason))
    const outcome = await this.judge(this.guards.output, json, upstream_status)
    if (outcome.is_denied) return this.#deniedAnswer(reply)
    // Only changed parts are serialised again: the rest of the answer stays as it came.
    const bytes = outcome.is_transformed ? Buffer.from(spliced(text, parsed(text), outcome.view.body)) : reply.bytes
    return this.#judged(reply, upstream_status, bytes, outcome.is_failed || this.restore ? null : bytes)
  }

  /** The same of an answer in an unknown format. */
  async #evaluateStrings<R extends Whole>(reply: R, upstream_status: number): Promise<R & Judged> {
    const {view} = await inTimeSlices(
      readAnswer({endpoint: this.endpoint, side: 'output'}, reply.bytes, this.#most_bytes),
    )
    if (!view) {
      this.#after = this.#skippedAnswer()
      return this.#judged(reply, upstream_status, reply.bytes, null)
    }
    const outcome = await this.#judgeView(this.guards.output, view, upstream_status)
    if (outcome.is_denied) return this.#deniedAnswer(reply)
    const bytes =
      outcome.view instanceof BytesView && outcome.is_transformed
        ? await inTimeSlices(outcome.view.splicing())
        : reply.bytes
    return this.#judged(reply, upstream_status, bytes, outcome.is_failed || this.restore ? null : bytes)
  }

  get judges_errors(): boolean {
    return this.judges_answers && this.#errorHooks(this.guards.output).length > 0
  }

  /** An error is judged by hooks alone that keep something from leaving. */
  #errorHooks(hooks: readonly Hook[]): readonly Hook[] {
    return hooks.filter(hook => isProtective(hook) && judgesStrings(hook, 'strings'))
  }

  async evaluateError<R extends Whole>(reply: R, upstream_status: number): Promise<R & Judged> {
    const as_it_came = {...reply, status: upstream_status, kept: null, logged: reply.bytes}
    const outcome = await this.#judgeError(this.guards.output, reply.bytes, Math.max(upstream_status, FIRST_ERROR))
    if (!outcome) return as_it_came
    if (outcome.is_denied) return this.#deniedAnswer(reply)
    if (!(outcome.view instanceof BytesView && outcome.is_transformed)) return as_it_came
    const bytes = await inTimeSlices(outcome.view.splicing())
    return {...as_it_came, bytes, logged: bytes}
  }

  async judgeFailure(
    hooks: readonly Hook[],
    failed: ProviderFailure,
    upstream_status: number,
  ): Promise<ProviderFailure | null> {
    const bytes = Buffer.from(JSON.stringify(failed))
    const outcome = await this.#judgeError(hooks, bytes, Math.max(failed.status ?? upstream_status, FIRST_ERROR))
    if (outcome?.is_denied) return null
    if (!(outcome?.view instanceof BytesView && outcome.is_transformed)) return failed
    return parsed((await inTimeSlices(outcome.view.splicing())).toString()) as ProviderFailure
  }

  /** Null when no hook judges it, or there is nothing to read. */
  async #judgeError(attached: readonly Hook[], bytes: Buffer, status: number): Promise<PhaseOutcome | null> {
    const hooks = this.#errorHooks(attached)
    if (hooks.length === 0) return null
    const {view} = await inTimeSlices(readAnswer({endpoint: this.endpoint, side: 'output'}, bytes, this.#most_bytes))
    if (view) return this.#judgeView(hooks, view, status)
    this.#after = this.#skippedAnswer()
    return null
  }

  #deniedAnswer<R extends Whole>(reply: R): R & Judged {
    const denial = Buffer.from(JSON.stringify(deniedBody(this.endpoint, this.shown!)))
    return {
      ...reply,
      status: this.denied().status,
      bytes: denial,
      content_type: 'application/json',
      kept: null,
      logged: denial,
    }
  }

  #judged<R extends Whole>(reply: R, upstream_status: number, left: Buffer, kept: Buffer | null): R & Judged {
    const logged = withResults(left, this.shown)
    const bytes =
      this.restore && isObject(parsed(left.toString())) ? withResults(restored(this.restore, left), this.shown) : logged
    return {...reply, status: this.statusOf(upstream_status), bytes, kept, logged}
  }

  async judge(hooks: readonly Hook[], json: JsonValue, upstream_status: number): Promise<PhaseOutcome> {
    return this.#judgeView(hooks, viewOf(this.endpoint, 'output', json), upstream_status)
  }

  async #judgeView(hooks: readonly Hook[], view: View, upstream_status: number): Promise<PhaseOutcome> {
    const outcome = await runHooks(hooks, view, this.#context('output', this.#request, view, upstream_status))
    this.#after = outcome.results
    this.#is_failed_after = outcome.is_failed
    this.#later(outcome, added => {
      this.#after = [...this.#after, ...added]
    })
    return outcome
  }

  evaluateInBackground(hooks: readonly Hook[], json: JsonValue, upstream_status: number): Promise<void> {
    const view = viewOf(this.endpoint, 'output', json)
    const work = runHooks(hooks, view, this.#context('output', this.#request, view, upstream_status)).then(
      async outcome => {
        this.#after = [...this.#after, ...outcome.results]
        this.#after = [...this.#after, ...((await outcome.background) ?? [])]
      },
    )
    this.#late.push(work)
    return work
  }

  unreadable(reason: string): Refusal {
    return new Refusal('upstream.bad_reply', {provider: this.#target.provider.slug, reason})
  }

  get logged(): HookResults {
    return loggedResults(
      {before_request_hooks: this.#results, after_request_hooks: this.#after},
      this.is_stream ? this.guards.output : [],
    )
  }

  get late(): Promise<void> | null {
    if (this.#late.length === 0) return null
    const work = Promise.all(this.#late).then(() => undefined)
    this.#services.beside(work)
    return work
  }

  #later({background}: PhaseOutcome, add: (results: readonly HookResult[]) => void) {
    if (background) this.#late.push(background.then(add))
  }

  #context(side: Side, request_view: View | null, response: View | null, response_status: number | null): CheckContext {
    const {called_endpoint: endpoint, incoming, metadata, body, caller} = this.#call
    const model = 'model' in body ? body.model : null
    this.#client_headers ??= headersForChecks(incoming)
    return {
      ...this.#services.checkServices(caller.workspace_id),
      side,
      endpoint,
      provider: this.#target.provider.slug,
      model: this.#target.model ?? model,
      metadata,
      headers: this.#client_headers,
      trace: this.#call.trace,
      is_streaming: body.kind === 'json' && body.stream,
      request: request_view,
      is_request_transformed: this.#is_request_transformed,
      response,
      response_status,
      ...(response && this.is_stream ? {parts: this.#parts} : {}),
    }
  }
}

/** The assumed route of a row whose own cannot be read. */
const ROWS: EndpointName = 'chatComplete'
/** An answer of this status or a higher one is an error, or none that anybody reads. */
const FIRST_ERROR = 300
/** The longest answer that is held back to tell results of its request in it. */
const MAX_TOLD_BYTES = 1 << 20
