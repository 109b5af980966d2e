import {Refusal} from '../../base/errors.ts'
import {WireFault} from '../otlp/wire-reader.ts'
import {ownCalls, spanKey} from './own-calls.ts'
import type {IngestPorts, SpanSender} from './ports.ts'
import {jsonSpans} from './read-json.ts'
import {protobufSpans} from './read-protobuf.ts'
import {
  type FoundSpan,
  type IngestSignal,
  MAX_PARTS,
  MAX_SPANS,
  REJECTIONS,
  type ReceivedSpan,
  type SpanRejection,
} from './received.ts'
import {rowOfSpan, type TakenSpan} from './rows.ts'

/** The spans of a request that were taken, and why others were not. */
export interface SpanIntake {
  readonly taken: number
  readonly rejected: ReadonlyMap<SpanRejection, number>
}

export type OtlpEncoding = 'json' | 'protobuf'

/** The form of a request. */
export interface IngestForm {
  readonly signal: IngestSignal
  readonly encoding: OtlpEncoding
}

const NS_A_MS = 1_000_000n
const DAY_MS = 86_400_000
/** Between two pauses: some milliseconds of work. */
const SPANS_AT_ONCE = 64
/** Requests that wait for their turn, and the bytes of them: what is beyond comes again later. */
const MOST_WAITING = 64
const MOST_WAITING_BYTES = 128 << 20

/**
 * Takes spans of applications into the log, by the way that calls take: each is in the journal before it is
 * acknowledged, and one that comes again adds nothing. Requests are read one after the other, as a request takes much
 * memory while it is read.
 */
export class SpanIntakes {
  readonly #ports: IngestPorts
  #last: Promise<unknown> = Promise.resolve()
  #waiting = 0
  #bytes = 0

  constructor(ports: IngestPorts) {
    this.#ports = ports
  }

  /** Refuses (429) when too many wait. */
  async take(body: Buffer, how: IngestForm, sender: SpanSender): Promise<SpanIntake> {
    if (this.#waiting === MOST_WAITING || this.#bytes + body.length > MOST_WAITING_BYTES)
      throw new Refusal('spans.busy')
    this.#waiting++
    this.#bytes += body.length
    const turn = this.#last.then(() => this.#take(body, how, sender))
    this.#last = turn.catch(() => undefined)
    try {
      return await turn
    } finally {
      this.#waiting--
      this.#bytes -= body.length
    }
  }

  async #take(body: Buffer, how: IngestForm, sender: SpanSender): Promise<SpanIntake> {
    const {spans, rejected} = await this.#read(body, how)
    const own = await this.#ownCalls(spans, sender)
    const now = new Date(this.#ports.now()).toISOString()
    const {masked, most_body_bytes, cost} = this.#ports
    const written: Promise<Error | undefined>[] = []
    for (const [at, span] of spans.entries()) {
      if (at % SPANS_AT_ONCE === SPANS_AT_ONCE - 1) await this.#ports.pause()
      const own_call_id = own.get(spanKey(span)) ?? null
      const {row, bodies} = rowOfSpan(span, {masked, most_body_bytes, cost, sender, own_call_id, now})
      written.push(new Promise(done => this.#ports.note(row, bodies, done)))
    }
    const fault = (await Promise.all(written)).find(each => each !== undefined)
    // those that are written add nothing when the request comes again
    if (fault) throw new Refusal('journal.full', {}, {cause: fault})
    return {taken: spans.length, rejected}
  }

  async #read(body: Buffer, how: IngestForm) {
    const spans: TakenSpan[] = []
    const rejected = new Map<SpanRejection, number>()
    const oldest_ms = this.#ports.now() - this.#ports.log_retention_days * DAY_MS
    let [found, parts] = [0, 0]
    for (const span of readSpans(body, how)) {
      if (++parts > MAX_PARTS) throw new Refusal('spans.too_many', {most: MAX_SPANS})
      if (parts % SPANS_AT_ONCE === 0) await this.#ports.pause()
      if (span === 'part') continue
      if (++found > MAX_SPANS) throw new Refusal('spans.too_many', {most: MAX_SPANS})
      const taken = judged(span, oldest_ms, this.#ports.now() + DAY_MS)
      if (typeof taken === 'string') rejected.set(taken, (rejected.get(taken) ?? 0) + 1)
      else spans.push(taken)
    }
    return {spans, rejected}
  }

  async #ownCalls(spans: readonly TakenSpan[], {workspace_id}: SpanSender): Promise<ReadonlyMap<string, string>> {
    const traces = new Set(spans.map(({trace_id}) => trace_id))
    if (traces.size === 0) return new Map()
    // a call that the application knows to have ended has its row
    await this.#ports.settled()
    return ownCalls(spans, await this.#ports.rowsOfTraces(workspace_id, [...traces]))
  }
}

/** The spans of a body. Refuses (400) one that is none. */
function* readSpans(body: Buffer, {encoding, signal}: IngestForm): Generator<FoundSpan> {
  try {
    yield* encoding === 'json' ? jsonSpans(body, signal) : protobufSpans(body, signal)
  } catch (fault) {
    if (fault instanceof SyntaxError) throw new Refusal('body.not_json', {reason: reasonOf(fault)}, {cause: fault})
    if (fault instanceof WireFault) throw new Refusal('spans.unreadable', {reason: fault.message}, {cause: fault})
    throw fault
  }
}

/** A parser's own words quote the text. */
function reasonOf({message}: SyntaxError): string {
  return message.startsWith('it ') ? message : 'it does not parse'
}

/** A span that can be kept, or why it is not. Of times that contradict each other the beginning counts. */
function judged(span: ReceivedSpan | null, oldest_ms: number, newest_ms: number): TakenSpan | SpanRejection {
  if (span === null) return 'unreadable'
  const {start_ns, end_ns} = span
  if (span.trace_id === '' || span.span_id === '' || span.parent_span_id === '') return 'ids'
  if (start_ns === null || end_ns === null) return 'times'
  if (start_ns < BigInt(Math.ceil(oldest_ms)) * NS_A_MS) return 'old'
  const newest_ns = BigInt(Math.ceil(newest_ms)) * NS_A_MS
  if (start_ns > newest_ns) return 'future'
  const has_bad_times = end_ns < start_ns || end_ns > newest_ns
  return {...span, start_ns, end_ns: has_bad_times ? start_ns : end_ns, has_bad_times}
}

/** The sentence for the sender of rejected spans; it quotes nothing of them. */
export function rejectedText(rejected: SpanIntake['rejected'], signal: IngestSignal): string {
  const one = signal === 'traces' ? 'span' : 'log record'
  return [...rejected].map(([why, count]) => `${count} ${one}${count === 1 ? '' : 's'}: ${REJECTIONS[why]}.`).join(' ')
}
