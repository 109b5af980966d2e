import {ChargedWork} from '../../charge/work.ts'
import type {AttemptOutcome, AttemptResult, RewrittenResponse, Statuses} from '../records/attempt-result.ts'
import {intentOf, settle} from '../records/settle.ts'
import {Copy} from '../upstream/body-copy.ts'
import {decodeWhole} from '../upstream/decode.ts'
import type {AttemptParts, RoutingDecision} from './attempt-owner.ts'
import {NO_RESPONSE, type OpenResponse} from './open-response.ts'
import type {ResponseMask} from './response-mask.ts'
import type {Times} from './timeouts.ts'

/** The response as it is when the attempt is settled. */
export interface SettledResponse {
  readonly statuses: Statuses
  readonly rewritten: RewrittenResponse | null
  readonly decision: RoutingDecision | undefined
}

/** The records of an attempt: intent, settlement, usage, and the copy of its response for the log and the cache. */
export class AttemptRecorder {
  readonly copy: Copy
  received_bytes = 0
  readonly #parts: AttemptParts
  readonly #times: Times
  readonly #mask: ResponseMask | null
  #work!: ChargedWork
  #response: OpenResponse = NO_RESPONSE

  constructor(parts: AttemptParts, times: Times, mask: ResponseMask | null) {
    this.#parts = parts
    this.#mask = mask
    this.#times = times
    this.copy = new Copy(parts.services.settings.log_body_max_bytes)
  }

  /** Writes the intent; `done` with a fault when the journal takes none. */
  begin(done: (fault?: Error) => void): void {
    const {call, target, request, services} = this.#parts
    call.attempts++
    this.#work = new ChargedWork(intentOf(call, target, request.model, services), services)
    this.#work.begin(done)
  }

  open(response: OpenResponse): void {
    this.#response = response
    this.#parts.host.cache?.restart()
    const {status, stream, is_rewritten, headers, encoding} = response
    if (!stream && !is_rewritten && status < 300) this.copy.readOn(headers['content-type'], encoding)
  }

  /** The next bytes, as the provider sent them. */
  received(chunk: Buffer): void {
    this.received_bytes += chunk.length
    if (this.#response.guarded) return // what leaves is recorded
    this.copy.add(chunk)
    if (!this.#parts.request.translating) this.#parts.host.cache?.observe(chunk)
  }

  /** The next bytes of a stream, as the client reads them: a translated one is cached so. */
  translated(bytes: Buffer): void {
    if (this.#parts.request.translating && !this.#response.guarded) this.#parts.host.cache?.observe(bytes)
  }

  /** Bytes that leave a guarded stream, hook results excluded. */
  onSent(bytes: Buffer): void {
    this.copy.add(bytes)
    this.#parts.host.cache?.observe(bytes)
  }

  /** Reads the usage and writes the settlement; `done` runs once that is safe, or has failed. */
  settle(outcome: AttemptOutcome, {statuses, rewritten, decision}: SettledResponse, done: () => void): void {
    const {call, target, request, host, services} = this.#parts
    const {headers, stream, guarded} = this.#response
    const {fault} = outcome
    const encoding = rewritten ? null : this.#response.encoding
    const result: AttemptResult & {encoding: string | null} = {
      outcome: outcome.outcome,
      kind: outcome.kind,
      fault,
      statuses,
      headers,
      encoding,
      received_bytes: this.received_bytes,
      stream,
      source: this.#response.source,
      copy: this.copy,
      rewritten,
      times: this.#times,
    }
    const is_retried = decision?.passes === false && decision.is_retried
    const is_last = decision?.passes !== false
    const {route: chosen, cache} = host
    const spend = (actual: Parameters<typeof host.spend>[0]) => host.spend(actual, {is_retried, is_last})
    guarded?.settled(fault)
    const mask = this.#mask
    const write = (whole: Buffer | null) => {
      const plain = whole && mask ? mask.kept(whole) : whole
      if (is_last && outcome.outcome === 'ok' && !fault)
        cache?.storeResponse(result, this.copy.isCut ? null : plain, mask ? bytes => mask.kept(bytes) : undefined)
      // the cache may have compared the answer with another just now
      const similar = is_last && cache ? host.route.similar : undefined
      const route = similar ? {...chosen, similar} : chosen
      const work = this.#work
      const has_row = !is_retried
      settle(
        {call, target, request, work, intent: work.intent, result, plain, route, is_last, has_row, spend, mask},
        services,
        done,
      )
    }
    if (!stream && outcome.outcome === 'ok') return this.copy.plain(encoding, write)
    if (!mask) return write(null)
    decodeWhole(encoding, this.copy.bytes(), plain => {
      const kept = plain && mask.kept(plain)
      if (kept && kept !== plain) {
        this.copy.mask(() => kept)
        result.encoding = null
      }
      write(null)
    })
  }

  close(): void {
    this.copy.close()
  }
}
