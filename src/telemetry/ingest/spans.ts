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
/** Exporters give up a request after ten seconds: later work is lost. */
const MOST_WAIT_MS = 5_000
/** Bodies wait for the database in a place that calls share, and are lost where it is full: this is a part of it. */
const MOST_UNWRITTEN_BYTES = 4 << 20
/** The weight of a row there, beside its body. */
const ROW_BYTES = 2048

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

  /**
   * Refuses (429) when too many wait, or its turn comes too late. `decoded` undoes the coding of the body: in its turn,
   * as few bytes become many.
   */
  async take(came: Buffer, how: IngestForm, sender: SpanSender, decoded: Decode = asItCame): Promise<SpanIntake> {
    const {length} = came
    const came_ms = this.#ports.now()
    if (this.#waiting === MOST_WAITING || this.#bytes + length > MOST_WAITING_BYTES) throw new Refusal('spans.busy')
    this.#waiting++
    this.#bytes += length
    const turn = this.#last.then(async () => {
      if (this.#ports.now() - came_ms > MOST_WAIT_MS) throw new Refusal('spans.busy')
      return this.#take(await decoded(came), how, sender)
    })
    this.#last = turn.catch(() => undefined)
    try {
      return await turn
    } finally {
      this.#waiting--
      this.#bytes -= length
    }
  }

  async #take(body: Buffer, how: IngestForm, sender: SpanSender): Promise<SpanIntake> {
    const {spans, rejected} = await this.#read(body, how)
    await this.#note(spans, sender, await this.#ownCalls(spans, sender))
    return {taken: spans.length, rejected}
  }

  /** Resolves when the journal has all of them. */
  async #note(spans: readonly TakenSpan[], sender: SpanSender, own: ReadonlyMap<string, string>): Promise<void> {
    const {masked, most_body_bytes, cost, note, now, pause, settled} = this.#ports
    const written: Promise<Error | undefined>[] = []
    let unwritten_bytes = 0
    for (const [at, span] of spans.entries()) {
      if (at % SPANS_AT_ONCE === SPANS_AT_ONCE - 1) await pause()
      const own_call_id = own.get(spanKey(span)) ?? null
      const of_all = {masked, most_body_bytes, cost, sender, now: new Date(now()).toISOString()}
      const {row, bodies} = rowOfSpan(span, {...of_all, own_call_id})
      written.push(new Promise(done => note(row, bodies, done)))
      if (bodies) unwritten_bytes += ROW_BYTES + (bodies.request_body?.length ?? 0)
      if (unwritten_bytes < MOST_UNWRITTEN_BYTES) continue
      await allWritten(written.splice(0))
      await settled()
      unwritten_bytes = 0
    }
    await allWritten(written)
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

/** Undoes the coding of a body. */
type Decode = (came: Buffer) => Promise<Buffer>

const asItCame: Decode = async came => came

/** Refuses (503) when one of them was not written. */
async function allWritten(written: readonly Promise<Error | undefined>[]): Promise<void> {
  const fault = (await Promise.all(written)).find(each => each !== undefined)
  // those that are written add nothing when the request comes again
  if (fault) throw new Refusal('journal.full', {}, {cause: fault})
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
