import type {Refusal} from '../../base/errors.ts'
import {WireWriter} from '../otlp/wire.ts'
import {type IngestForm, type OtlpEncoding, rejectedText, type SpanIntake} from './spans.ts'

/** An answer in the encoding of its request. */
export interface IngestAnswer {
  readonly type: string
  readonly body: Buffer
}

const TYPES: Readonly<Record<OtlpEncoding, string>> = {json: 'application/json', protobuf: 'application/x-protobuf'}

/** The content types of OTLP over HTTP; parameters mean nothing. Undefined for another. */
export function encodingOfType(content_type: string | undefined): OtlpEncoding | undefined {
  const type = (content_type ?? '').split(';', 1)[0]!.trim().toLowerCase()
  if (type === 'application/json') return 'json'
  return type === 'application/x-protobuf' || type === 'application/protobuf' ? 'protobuf' : undefined
}

/** An `ExportTraceServiceResponse`; that of logs has the same form. */
export function intakeAnswer({rejected}: SpanIntake, {encoding, signal}: IngestForm): IngestAnswer {
  let count = 0
  for (const each of rejected.values()) count += each
  const text = rejectedText(rejected, signal)
  if (encoding === 'json') {
    const partial = count === 0 ? {} : {partialSuccess: {[COUNTS[signal]]: String(count), errorMessage: text}}
    return {type: TYPES.json, body: Buffer.from(JSON.stringify(partial))}
  }
  const out = new WireWriter()
  if (count > 0)
    out.message(1, () => {
      out.int(1, count)
      out.string(2, text)
    })
  return {type: TYPES.protobuf, body: out.finish()}
}

const COUNTS = {traces: 'rejectedSpans', logs: 'rejectedLogRecords'} as const

/** A `google.rpc.Status`, as exporters read faults. */
export function faultAnswer(
  {status, message}: Pick<Refusal, 'status' | 'message'>,
  encoding: OtlpEncoding,
): IngestAnswer {
  const code = CODES[status] ?? (status < 500 ? FAILED_PRECONDITION : INTERNAL)
  if (encoding === 'json') return {type: TYPES.json, body: Buffer.from(JSON.stringify({code, message}))}
  const out = new WireWriter()
  out.int(1, code)
  out.string(2, message)
  return {type: TYPES.protobuf, body: out.finish()}
}

const FAILED_PRECONDITION = 9
const INTERNAL = 13
/** The codes of google.rpc.Code by HTTP status. */
const CODES: Readonly<Record<number, number>> = {
  400: 3,
  401: 16,
  403: 7,
  404: 5,
  413: 8,
  415: 3,
  429: 8,
  503: 14,
}
