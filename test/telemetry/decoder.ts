// biome-ignore-all lint/suspicious/noExplicitAny: shapes of a generated decoder
import {createRequire} from 'node:module'

/** The decoder of the published transformer package: it knows nothing of ours. */

interface ForeignType {
  decode(bytes: Uint8Array): unknown
  encode(message: unknown): {finish(): Uint8Array}
  fromObject(object: unknown): unknown
  toObject(message: unknown, options: object): unknown
}

const require = createRequire(import.meta.url)
const root = require('@opentelemetry/otlp-transformer/build/src/generated/root.js')
const collector = root.opentelemetry.proto.collector
const TYPES: Readonly<Record<string, ForeignType>> = {
  traces: collector.trace.v1.ExportTraceServiceRequest,
  logs: collector.logs.v1.ExportLogsServiceRequest,
  metrics: collector.metrics.v1.ExportMetricsServiceRequest,
}
const PLAIN = {longs: String, bytes: Buffer, defaults: false}

export type ForeignAttributes = Readonly<Record<string, unknown>>

export interface ForeignSpan {
  readonly trace_id: string
  readonly span_id: string
  readonly parent: string | null
  readonly trace_state: string | undefined
  readonly name: string
  readonly kind: number
  readonly start: bigint
  readonly end: bigint
  readonly attributes: ForeignAttributes
  readonly events: readonly {readonly name: string; readonly attributes: ForeignAttributes}[]
  readonly status: {readonly code: number; readonly message?: string}
  readonly resource: ForeignAttributes
  readonly scope: string
}

/** A body of either encoding as one plain object: ids in hexadecimal, 64-bit numbers as text. */
export function decoded(signal: 'traces' | 'logs' | 'metrics', type: string, body: Buffer): any {
  const message =
    type === 'application/x-protobuf'
      ? TYPES[signal]!.decode(body)
      : TYPES[signal]!.fromObject(JSON.parse(body.toString(), bytesOfIds))
  return plain(TYPES[signal]!.toObject(message, PLAIN))
}

/** A request in JSON as protobuf, by the encoder of the same package. */
export function encoded(signal: 'traces' | 'logs', request: object): Buffer {
  const message = TYPES[signal]!.fromObject(JSON.parse(JSON.stringify(request), bytesOfIds))
  return Buffer.from(TYPES[signal]!.encode(message).finish())
}

/** A reply of a receiver, by the decoder of the same package. */
export function decodedReply(body: Buffer): any {
  return plain(
    collector.trace.v1.ExportTraceServiceResponse.toObject(
      collector.trace.v1.ExportTraceServiceResponse.decode(body),
      PLAIN,
    ),
  )
}

/** JSON has ids in hexadecimal, which the generated code does not know. */
function bytesOfIds(key: string, value: unknown): unknown {
  if (!/^(?:traceId|spanId|parentSpanId)$/.test(key)) return value
  if (typeof value !== 'string' || !/^(?:[\da-f]{16}|[\da-f]{32})$/.test(value)) throw new Error(`${key} is no id`)
  return Buffer.from(value, 'hex')
}

function plain(value: unknown): any {
  if (Buffer.isBuffer(value) || value instanceof Uint8Array) return Buffer.from(value).toString('hex')
  if (Array.isArray(value)) return value.map(plain)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, plain(each)]))
}

export function spansIn(type: string, body: Buffer): ForeignSpan[] {
  const {resourceSpans = []} = decoded('traces', type, body)
  return resourceSpans.flatMap(({resource, scopeSpans}: any) =>
    scopeSpans.flatMap(({scope, spans = []}: any) =>
      spans.map((span: any) => ({
        trace_id: span.traceId,
        span_id: span.spanId,
        parent: span.parentSpanId || null,
        trace_state: span.traceState,
        name: span.name,
        kind: span.kind,
        start: BigInt(span.startTimeUnixNano),
        end: BigInt(span.endTimeUnixNano),
        attributes: attributesOf(span.attributes),
        events: (span.events ?? []).map((event: any) => ({
          name: event.name,
          attributes: attributesOf(event.attributes),
        })),
        status: span.status ?? {code: 0},
        resource: attributesOf(resource?.attributes),
        scope: scope?.name,
      })),
    ),
  )
}

export function attributesOf(list: readonly any[] = []): ForeignAttributes {
  return Object.fromEntries(list.map(({key, value}) => [key, attributeValue(value)]))
}

function attributeValue(value: any): unknown {
  if ('stringValue' in value) return value.stringValue
  if ('boolValue' in value) return value.boolValue
  if ('intValue' in value) return Number(value.intValue)
  if ('doubleValue' in value) return value.doubleValue
  return value.arrayValue.values.map(attributeValue)
}
