import {newSpanId, newTimeId} from '../../base/ids.ts'
import type {JsonObject} from '../../base/json-member.ts'
import {own} from '../../base/json-member.ts'
import {MAX_ID_BYTES, storedText} from '../../base/stored-text.ts'
import {
  type ClientTrace,
  clientTrace,
  readTraceparent,
  readTracestate,
  traceparentOf,
} from '../../base/trace-context.ts'
import {ownHeaders} from '../../schema/headers.ts'
import type {TextEdit} from '../wire/edits.ts'
import {type HeaderFields, headerValue} from '../wire/header-values.ts'

/** The place of a message in a trace. */
export interface McpTrace {
  readonly trace_id: string
  readonly span_id: string
  readonly parent_span_id: string | null
  /** 32 hexadecimal digits, for W3C Trace Context; null where the id of the client has another form. */
  readonly w3c_id: string | null
  /** `tracestate` and `baggage` of the HTTP headers, where they are those of this trace; `_meta` keeps its own. */
  readonly carried: Readonly<Record<string, string>>
  /** Of a client that sent a `traceparent`. */
  readonly w3c: ClientTrace | undefined
}

/** Of `_meta`, else of the HTTP headers, else of our own header, else made. */
export function traceOf(meta: JsonObject | undefined, headers: HeaderFields, now_ms: number): McpTrace {
  const {values} = ownHeaders(headers as Record<string, string>)
  const of_meta = own(meta, 'traceparent')
  const is_of_meta = typeof of_meta === 'string'
  const found = readTraceparent(is_of_meta ? of_meta : headerValue(headers, 'traceparent'))
  // each with the one that it came with
  const state = is_of_meta ? own(meta, 'tracestate') : headerValue(headers, 'tracestate')
  const named = short(values['trace-id'])
  const trace_id = found?.trace_id ?? named ?? newTimeId(now_ms)
  const digits = trace_id.replaceAll('-', '')
  return {
    trace_id,
    span_id: short(values['span-id']) ?? newSpanId(),
    parent_span_id: found?.parent_span_id ?? short(values['parent-span-id']) ?? null,
    w3c_id: /^[\da-f]{32}$/.test(digits) ? digits : null,
    carried: is_of_meta ? NOTHING : carriedBy(headers, meta, found !== undefined),
    w3c: found && clientTrace(found, state),
  }
}

const NOTHING = {}
/** W3C Trace Context and Baggage: visible ASCII and blanks. */
const CARRIED = /^[\x20-\x7e]{1,8192}$/

const BOTH = ['tracestate', 'baggage'] as const
const BAGGAGE = ['baggage'] as const

/** `tracestate` means nothing without the `traceparent` that it came with; baggage stays by itself. */
function carriedBy(headers: HeaderFields, meta: JsonObject | undefined, is_traced: boolean): Record<string, string> {
  const carried: Record<string, string> = {}
  for (const name of is_traced ? BOTH : BAGGAGE) {
    const value = own(meta, name) === undefined ? headerValue(headers, name) : undefined
    if (value === undefined || !CARRIED.test(value)) continue
    const kept = name === 'tracestate' ? readTracestate(value) : value
    if (kept !== '') carried[name] = kept
  }
  return carried
}

/** The edit of `params` that hands the trace on, with our span as its parent. */
export function traceEdits({w3c_id, span_id, carried, w3c}: McpTrace): readonly TextEdit[] {
  const others = Object.entries(carried).map(([name, value]) => ({path: ['_meta', name], set: JSON.stringify(value)}))
  if (w3c_id === null || !/^[\da-f]{16}$/.test(span_id)) return others
  const parent = traceparentOf(w3c_id, span_id, w3c?.is_sampled ?? true)
  return [{path: ['_meta', 'traceparent'], set: JSON.stringify(parent)}, ...others]
}

function short(text: string | undefined): string | undefined {
  return text ? storedText(text, MAX_ID_BYTES) : undefined
}
