import type {After} from '../base/delay.ts'
import type {TelemetryExport} from '../settings/index.ts'
import type {FindManyBodies} from '../store/bodies/index.ts'
import type {Mark} from '../store/journal/index.ts'
import {Delivery, type ExportCounts, noCounts} from './export/delivery.ts'
import {JournalExport, type JournalExportOptions} from './export/journal-export.ts'
import {isBefore, type JournalReader} from './export/journal-reader.ts'
import type {SendOutcome} from './export/outcome.ts'
import {CALLS_SCOPE, sourceOf} from './export/source.ts'
import {measurements} from './metrics/measurements.ts'
import {MetricsExport} from './metrics/metrics-export.ts'
import {MetricSums} from './metrics/sums.ts'
import {toJson} from './otlp/json.ts'
import type {OtlpBatch, OtlpLogRecord, OtlpMetric, OtlpSpan} from './otlp/model.ts'
import {toProtobuf} from './otlp/protobuf.ts'
import {type Generation, namesOf} from './semconv.ts'
import {analyticsSpan} from './spans/analytics-span.ts'
import {callLog} from './spans/call-log.ts'
import {callSpans} from './spans/call-spans.ts'
import type {ExportedRecord} from './spans/record.ts'
import {isSampled} from './spans/sampler.ts'
import type {SpanServices} from './spans/span-services.ts'

export interface TelemetryReport {
  readonly level: 'info' | 'warn' | 'error'
  readonly text: string
  readonly facts: Readonly<Record<string, string | number>>
}

export type Send = (body: Buffer, signal: AbortSignal) => Promise<SendOutcome>

export interface TelemetryParts {
  readonly exports: readonly TelemetryExport[]
  readonly generation: Generation
  readonly delay_ms: number
  readonly most_items: number
  /** How often metrics are sent. */
  readonly metric_interval_ms: number
  /** Names this process: its sums are not those of another. */
  readonly instance: string
  readonly spool_bytes: number
  readonly reader: JournalReader
  readonly marks: ReadonlyMap<string, Mark>
  readonly saveMark: (name: string, mark: Mark) => Promise<void>
  readonly findBodies: FindManyBodies
  readonly senderOf: (of: TelemetryExport) => Send
  readonly report: (report: TelemetryReport) => void
  /** No export needs what is before the mark. */
  readonly onPassed: (mark: Mark) => void
  readonly now: () => number
  readonly after: After
  readonly random: () => number
}

export interface ExportStatus extends ExportCounts {
  readonly name: string
  readonly behind_bytes: number
}

/** The exports that follow the journal, each with a mark, a receiver and a failure of its own. */
export class Telemetry {
  readonly #parts: TelemetryParts
  readonly #exports: readonly {readonly name: string; readonly counts: ExportCounts; readonly of: Following}[]

  constructor(parts: TelemetryParts) {
    this.#parts = parts
    this.#exports = parts.exports.map(one => {
      const counts = noCounts()
      return {name: one.name, counts, of: follow(one, counts, parts, () => this.#passed())}
    })
  }

  committed(mark: Mark): void {
    for (const {of} of this.#exports) of.committed(mark)
  }

  /** Everything that waits is passed over at once, and counted: there is no room for it. */
  passOver(): void {
    for (const {of} of this.#exports) of.passOver()
  }

  async flush(): Promise<void> {
    await Promise.all(this.#exports.map(({of}) => of.flush()))
  }

  async close(): Promise<void> {
    await Promise.all(this.#exports.map(({of}) => of.close()))
  }

  status(): readonly ExportStatus[] {
    return this.#exports.map(({name, counts, of}) => ({name, ...counts, behind_bytes: of.behind_bytes}))
  }

  #passed(): void {
    const marks = this.#exports.map(({of}) => of.mark)
    this.#parts.onPassed(marks.reduce((least, mark) => (isBefore(mark, least) ? mark : least)))
  }
}

type Following = Pick<
  JournalExport<unknown> | MetricsExport,
  'committed' | 'passOver' | 'flush' | 'close' | 'mark' | 'behind_bytes'
>

const INSTANCE_NAME = 'service.instance.id'
const MAX_AGE_MS = 24 * 3_600_000

function follow(one: TelemetryExport, counts: ExportCounts, parts: TelemetryParts, onPassed: () => void): Following {
  const {generation, reader, marks, saveMark, senderOf, report} = parts
  const {kind, name, content} = one
  const services: SpanServices = {names: namesOf(generation), generation, content}
  const {most_items, now, after, random} = parts
  const warn = (text: string, facts: Readonly<Record<string, string | number>>) =>
    report({level: 'warn', text, facts: {export: name, ...facts}})
  const onBad = ({entry}: ExportedRecord, fault: unknown) => {
    counts.dropped++
    warn('no telemetry can be made of a record of the journal, which is passed over', {
      call_id: entry.call_id,
      reason: fault instanceof Error ? fault.name : String(fault),
    })
  }
  const saveOwn = (mark: Mark) =>
    saveMark(name, mark).catch(fault =>
      warn('how far telemetry was sent could not be written; it may be sent once more', {reason: String(fault)}),
    )
  const onFault = (fault: unknown) =>
    report({
      level: 'error',
      text: 'telemetry could not be made of the journal; it is tried again',
      facts: {export: name, reason: fault instanceof Error ? (fault.stack ?? fault.message) : String(fault)},
    })
  const deliveryOf = <T>(encode: (items: readonly T[]) => Buffer) =>
    new Delivery<T>({encode, send: senderOf(one), most_items, counts, now, after, random, warn})
  const following = <T>(
    batchOf: (items: readonly T[]) => OtlpBatch,
    make: JournalExportOptions<T>['make'],
  ): Following => {
    const delivery = deliveryOf(encoderOf(one, batchOf))
    return new JournalExport<T>({
      ...{reader, mark: marks.get(name)!, make, delivery, counts, onPassed, onFault, saveMark: saveOwn, now, after},
      delay_ms: parts.delay_ms,
      most_bytes: parts.spool_bytes,
      most_age_ms: MAX_AGE_MS,
    })
  }
  const source = sourceOf(one.resource, generation, kind === 'analytics' ? one.resource['service.name']! : CALLS_SCOPE)
  if (kind === 'metrics') {
    // sums of two processes under one name would undo each other
    const resource = {[INSTANCE_NAME]: parts.instance, ...one.resource}
    const batchOf = (items: readonly OtlpMetric[]): OtlpBatch => ({
      ...{signal: 'metrics', items},
      source: sourceOf(resource, generation, CALLS_SCOPE),
    })
    return new MetricsExport({
      ...{reader, mark: marks.get(name)!, onPassed, onFault, saveMark: saveOwn, now, after},
      sums: new MetricSums(now() * 1000),
      delivery: deliveryOf(encoderOf(one, batchOf)),
      interval_ms: parts.metric_interval_ms,
      addTo(sums, record) {
        try {
          for (const measurement of measurements(record, services)) sums.add(measurement)
        } catch (fault) {
          onBad(record, fault)
        }
      },
    })
  }
  if (kind === 'logs')
    return following<OtlpLogRecord>(
      items => ({signal: 'logs', source, items}),
      madeOfEach(async record => callLog(record, services) ?? [], onBad),
    )
  const spansOf = (items: readonly OtlpSpan[]): OtlpBatch => ({signal: 'traces', source, items})
  if (kind === 'analytics')
    return following<OtlpSpan>(
      spansOf,
      madeOfEach(async record => {
        const span = analyticsSpan(record, services)
        return span ? withTraceState([span], record.w3c?.state) : []
      }, onBad),
    )
  const spansOfEach = madeOfEach(
    async record => withTraceState(await callSpans(record, services), record.w3c?.state),
    onBad,
  )
  return following<OtlpSpan>(spansOf, async (records, needs_content) => {
    const spans: OtlpSpan[] = []
    for (const some of byWeight(records.filter(record => isSampled(record, one.sampler)))) {
      if (needs_content) await addBodies(some, parts.findBodies)
      spans.push(...(await spansOfEach(some)))
      for (const record of some) record.bodies = null
    }
    return spans
  })
}

/** The client's state of its trace is that of all spans below. */
function withTraceState(spans: readonly OtlpSpan[], trace_state: string | undefined): readonly OtlpSpan[] {
  return trace_state === undefined ? spans : spans.map(span => ({...span, trace_state}))
}

/** So much of bodies, as they came, is in memory together. */
const MOST_BODY_BYTES = 32 << 20

/** Records in groups whose bodies are few enough together. */
function* byWeight(records: readonly ExportedRecord[]): Generator<readonly ExportedRecord[]> {
  let some: ExportedRecord[] = []
  let bytes = 0
  for (const record of records) {
    const {request_bytes = 0, response_bytes = 0} = record.row?.detail ?? {}
    if (some.length > 0 && bytes + request_bytes + response_bytes > MOST_BODY_BYTES) {
      yield some
      some = []
      bytes = 0
    }
    some.push(record)
    bytes += request_bytes + response_bytes
  }
  if (some.length > 0) yield some
}

/** A record that nothing can be made of is passed over, and holds back no other. */
function madeOfEach<T>(
  make: (record: ExportedRecord) => Promise<T | readonly T[]>,
  onBad: (record: ExportedRecord, fault: unknown) => void,
) {
  return async (records: readonly ExportedRecord[]): Promise<readonly T[]> => {
    const items: T[] = []
    for (const record of records) {
      try {
        const made = await make(record)
        if (Array.isArray(made)) items.push(...(made as readonly T[]))
        else items.push(made as T)
      } catch (fault) {
        onBad(record, fault)
      }
    }
    return items
  }
}

function encoderOf<T>({target}: TelemetryExport, batchOf: (items: readonly T[]) => OtlpBatch) {
  return target.protocol === 'http/json'
    ? (items: readonly T[]) => Buffer.from(toJson(batchOf(items)))
    : (items: readonly T[]) => toProtobuf(batchOf(items))
}

/** Bodies that are gone by now are left out. */
async function addBodies(records: readonly ExportedRecord[], find: FindManyBodies): Promise<void> {
  const wanted = new Map<string, ExportedRecord>()
  for (const record of records) {
    const {row} = record
    if (row && row.ending !== 'again' && row.detail.keeps_bodies) wanted.set(row.id, record)
  }
  const rows = [...wanted.values()].map(({row}) => ({
    id: row!.id,
    created_at: row!.created_at,
    last_byte_ms: row!.detail.last_byte_ms,
    received_at: row!.detail.received_at,
  }))
  // what was read is used again for the next: bodies are copied
  await find(rows, found => {
    wanted.get(found.log_id)!.bodies = found
  })
}
