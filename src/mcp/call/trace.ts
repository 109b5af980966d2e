import {newSpanId, newTimeId} from '../../base/ids.ts'
import type {JsonObject} from '../../base/json-member.ts'
import {own} from '../../base/json-member.ts'
import {MAX_ID_BYTES, storedText} from '../../base/stored-text.ts'
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
}

const TRACEPARENT = /^[\da-f]{2}-([\da-f]{32})-([\da-f]{16})-[\da-f]{2}$/

/** Of `_meta`, else of the HTTP headers, else of our own header, else made. */
export function traceOf(meta: JsonObject | undefined, headers: HeaderFields, now_ms: number): McpTrace {
  const {values} = ownHeaders(headers as Record<string, string>)
  const of_meta = own(meta, 'traceparent')
  const found = TRACEPARENT.exec(typeof of_meta === 'string' ? of_meta : (headerValue(headers, 'traceparent') ?? ''))
  const named = short(values['trace-id'])
  const trace_id = found?.[1] ?? named ?? newTimeId(now_ms)
  const digits = trace_id.replaceAll('-', '')
  return {
    trace_id,
    span_id: short(values['span-id']) ?? newSpanId(),
    parent_span_id: found?.[2] ?? short(values['parent-span-id']) ?? null,
    w3c_id: /^[\da-f]{32}$/.test(digits) ? digits : null,
  }
}

/** The edit of `params` that hands the trace on, with our span as its parent. */
export function traceEdits({w3c_id, span_id}: McpTrace): readonly TextEdit[] {
  if (w3c_id === null || !/^[\da-f]{16}$/.test(span_id)) return []
  return [{path: ['_meta', 'traceparent'], set: `"00-${w3c_id}-${span_id}-01"`}]
}

function short(text: string | undefined): string | undefined {
  return text ? storedText(text, MAX_ID_BYTES) : undefined
}
