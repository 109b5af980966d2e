import {isoTime} from '../../base/clock.ts'
import {newTimeId} from '../../base/ids.ts'
import {chargedSum, NOTHING_OWED} from '../../charge/charged.ts'
import {intent} from '../../charge/intent.ts'
import {logRow} from '../../charge/log-row.ts'
import {ChargedWork} from '../../charge/work.ts'
import type {EntityLimit} from '../../limits/claims.ts'
import type {CounterReservation} from '../../limits/index.ts'
import type {HookResults} from '../../schema/guardrails.ts'
import {mcpEndpoint} from '../../schema/mcp-endpoints.ts'
import type {LogBodies, McpLogDetail, Outcome} from '../../schema/records.ts'
import {NOTHING_SPENT, spent} from '../../schema/spent.ts'
import type {McpServer} from '../call/server.ts'
import {priceOfTool} from '../call/tool-prices.ts'
import type {McpTrace} from '../call/trace.ts'
import type {McpAdmission, McpCaller, McpUses} from '../services.ts'
import {ToolFacts} from './policy-facts.ts'

/** The facts of one logical request, known before it goes to the upstream. */
export interface MessageFacts {
  readonly caller: McpCaller
  readonly server: McpServer
  readonly method: string
  /** The tool, the prompt or the address that it names; null where the method has none. */
  readonly name: string | null
  readonly trace: McpTrace
  readonly metadata: Readonly<Record<string, string>>
  /** Milliseconds since the epoch. */
  readonly at_ms: number
  /** The same moment on the clock of durations. */
  readonly started: number
  readonly http: {readonly method: string; readonly url: string; readonly headers: Readonly<Record<string, string>>}
  /** JSON text of `params`, as the client sent them. */
  readonly params: string | undefined
  readonly detail: Pick<
    McpLogDetail,
    'client_protocol' | 'client_name' | 'auth' | 'virtual_server' | 'rpc_id' | 'session_digest'
  >
  readonly keeps_bodies: boolean
  /** False: it is a step of other work, and has a row only where it failed. */
  readonly has_row: boolean
  /** A further round of a call whose row is written, and which was charged with the first. */
  readonly continues?: {readonly call_id: string; readonly log_id: string}
}

/** The end of a logical request. */
export interface MessageEnd {
  readonly outcome: Outcome
  /** HTTP status of the reply. */
  readonly status: number
  /** JSON text of the result or the error. */
  readonly answer: string | null
  readonly error: string | null
  /** True where the upstream took the request and did not fail on the way: a call of a tool is charged then. */
  readonly is_served: boolean
  /** True where it was sent, and the wait for its answer ended from our side: `CHARGE_UNANSWERED` decides. */
  readonly is_unanswered?: boolean
  readonly delivered: boolean
  readonly is_stream: boolean
  /** Guardrails that judged it; `late`: those that it does not wait for. */
  readonly hooks?: {readonly late: Promise<unknown> | null; results(): HookResults}
  readonly detail: Pick<McpLogDetail, 'outcome' | 'rpc_code' | 'rounds' | 'upstream_protocol' | 'upstream_transport'>
}

type Services = McpUses<
  'after' | 'findPolicies' | 'limits' | 'log' | 'mcp_metrics' | 'metrics' | 'now' | 'recorder' | 'settings' | 'steady'
>

const NO_LIMITS: readonly EntityLimit[] = []
/** Bodies of the log are cut at this size. */
const MOST_BODY_BYTES = 256 * 1024

/**
 * The row of the log of one logical request, however many rounds it takes, and the claims and the ledger entry of one
 * that calls a tool. It is written once, before the client has its answer.
 */
export class MessageRecord {
  readonly facts: MessageFacts
  readonly call_id: string
  readonly log_id: string
  readonly #services: Services
  readonly #is_tool_call: boolean
  #work: ChargedWork | undefined
  #admission: McpAdmission | null = null
  #held: CounterReservation | null = null
  #upstream_ms = 0

  constructor(facts: MessageFacts, services: Services) {
    this.facts = facts
    this.#services = services
    this.call_id = facts.continues?.call_id ?? newTimeId(facts.at_ms)
    this.log_id = facts.continues?.log_id ?? newTimeId(facts.at_ms)
    this.#is_tool_call = facts.method === 'tools/call' && facts.name !== null
  }

  /**
   * Admits a call of a tool by budgets and policies, and writes its intent: nothing reaches the upstream before. Other
   * methods need neither. Throws a `Refusal`.
   */
  async begin(): Promise<void> {
    if (!this.#is_tool_call || this.facts.continues) return
    const limits = await this.#limits()
    this.#admission = await this.#services.limits.admit(limits, this.call_id, this.facts.at_ms)
    try {
      const claims = this.#admission?.strict_claims
      if (claims) this.#held = await this.#services.limits.hold(claims, this.call_id, 1, this.#least)
      await this.#written(done => this.#charged.begin(done))
    } catch (fault) {
      this.#release()
      throw fault
    }
  }

  /** Counts time that the upstream took. */
  waited(ms: number): void {
    this.#upstream_ms += ms
  }

  /** Writes the end. Resolves once it outlives the process. */
  async end(end: MessageEnd): Promise<void> {
    this.#count(end)
    if (!this.facts.has_row && end.outcome === 'ok') return
    const {charge_unanswered} = this.#services.settings
    const is_charged = this.#is_tool_call && end.is_served && (charge_unanswered || !end.is_unanswered)
    if (!is_charged) this.#release()
    const price_nanousd = is_charged ? this.#price : 0
    const [input, output] = is_charged ? [tokensIn(this.facts.params), tokensIn(end.answer ?? undefined)] : [0, 0]
    const {late = null, results} = end.hooks ?? {}
    const hooks = late && results ? {late, results} : null
    const row = {log: this.#row(end), bodies: this.#bodies(end), counted_as: 'call' as const, hooks}
    const of = {
      outcome: end.outcome,
      status: end.is_served ? 200 : null,
      model: this.#model,
      usage: is_charged ? {input_uncached_tokens: input, output_text_tokens: output, units: {tool_calls: 1}} : {},
      usage_source: is_charged ? ('estimated' as const) : ('none' as const),
      charged: is_charged ? chargedSum(price_nanousd) : NOTHING_OWED,
      delivered: end.delivered,
      has_entry: is_charged && !this.facts.continues,
    }
    const actual = spent(input + output, price_nanousd)
    const spend = () => {
      this.#held?.settle(is_charged ? actual : NOTHING_SPENT)
      if (is_charged) this.#admission?.settle(actual)
    }
    await this.#written(done => void this.#charged.settle(of, {...row, spend}, done))
  }

  #count({detail: {outcome}}: MessageEnd) {
    const {server, method, started} = this.facts
    const duration_ms = this.#services.steady() - started
    this.#services.mcp_metrics.ended({server: server.slug, method, outcome, duration_ms})
  }

  get #charged(): ChargedWork {
    this.#work ??= new ChargedWork(this.#intent(), this.#services)
    return this.#work
  }

  get #price(): number {
    return priceOfTool(this.facts.server.prices, this.facts.name!)
  }

  get #least() {
    return spent(tokensIn(this.facts.params), this.#price)
  }

  get #model(): string {
    const {server, method, name} = this.facts
    return name !== null && (method === 'tools/call' || method === 'prompts/get')
      ? `${server.slug}/${name}`
      : server.slug
  }

  /** Budgets of the credential and its workspace; their rates are of calls of models. Policies for tools. */
  async #limits(): Promise<readonly EntityLimit[]> {
    const {caller, server, name, metadata} = this.facts
    const policies = await this.#services.findPolicies(caller.workspace_id)
    const budgets = caller.limits.filter(({usage}) => usage !== null).map(limit => ({...limit, rates: null}))
    const matched = policies?.match(new ToolFacts(caller, server, name!, metadata)) ?? NO_LIMITS
    return [...budgets, ...matched]
  }

  #intent() {
    const {caller, server, method, trace, at_ms} = this.facts
    return intent({
      kind: 'mcp_message',
      call_id: this.call_id,
      trace_id: trace.trace_id,
      organisation_id: caller.organisation_id,
      workspace_id: caller.workspace_id,
      principal: {kind: caller.kind, id: caller.id},
      user_id: caller.user_id,
      managed: {id: server.id, slug: server.slug, integration_id: server.integration_id},
      config_id: null,
      provider: 'mcp',
      model: this.#model,
      endpoint: mcpEndpoint(method),
      admitted_at: isoTime(at_ms),
      counter_keys: this.#admission?.counter_keys ?? [],
      held_keys: this.#held?.keys,
      w3c: trace.w3c,
      hold_nanousd: this.#is_tool_call ? this.#price : 0,
    })
  }

  #row(end: MessageEnd) {
    const {server, trace, metadata, at_ms, started, http, params, keeps_bodies, detail} = this.facts
    const total_ms = this.#services.steady() - started
    return logRow({
      id: this.log_id,
      created_at: isoTime(at_ms),
      span_id: trace.span_id,
      parent_span_id: trace.parent_span_id,
      span_name: this.#spanName,
      method: http.method,
      url: http.url,
      upstream_url: withoutQuery(server.place.url),
      response_status: end.status,
      is_stream: end.is_stream,
      request_bytes: bytesOf(params),
      response_bytes: bytesOf(end.answer),
      metadata,
      error: end.error,
      last_byte_ms: total_ms,
      overhead_ms: Math.max(0, total_ms - this.#upstream_ms),
      keeps_bodies,
      ...(end.hooks && {hook_results: end.hooks.results()}),
      mcp: {server_id: server.id, method: this.facts.method, name: this.facts.name, ...detail, ...end.detail},
    })
  }

  /** No address in it: names of spans are few. */
  get #spanName(): string {
    const {method, name} = this.facts
    return name !== null && method !== 'resources/read' ? `${method} ${name}` : method
  }

  #bodies({answer}: MessageEnd): LogBodies | null {
    const {keeps_bodies, http, params} = this.facts
    if (!keeps_bodies) return null
    const [request, response] = [cut(params), cut(answer)]
    return {
      log_id: this.log_id,
      request_headers: http.headers,
      request_body: request.bytes,
      response_headers: {},
      response_body: response.bytes,
      response_encoding: null,
      cut: request.is_cut || response.is_cut,
    }
  }

  #release() {
    this.#held?.settle(NOTHING_SPENT)
    this.#admission?.release()
    this.#admission = null
  }

  async #written(write: (done: (fault?: Error) => void) => void): Promise<void> {
    const {promise, resolve, reject} = Promise.withResolvers<void>()
    write(fault => (fault ? reject(fault) : resolve()))
    await promise
  }
}

/** Four bytes a token, estimated. */
function tokensIn(text: string | undefined): number {
  return text === undefined ? 0 : Math.ceil(Buffer.byteLength(text) / 4)
}

function bytesOf(text: string | null | undefined): number {
  return text == null ? 0 : Buffer.byteLength(text)
}

function cut(text: string | null | undefined): {readonly bytes: Buffer | null; readonly is_cut: boolean} {
  if (text == null) return {bytes: null, is_cut: false}
  const bytes = Buffer.from(text)
  return bytes.length > MOST_BODY_BYTES
    ? {bytes: bytes.subarray(0, MOST_BODY_BYTES), is_cut: true}
    : {bytes, is_cut: false}
}

function withoutQuery(url: string): string {
  return url.split('?', 1)[0]!
}
