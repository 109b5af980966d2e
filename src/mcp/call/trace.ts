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
  /** `tracestate` and `baggage` of the HTTP headers, where they are those of this trace; `_meta` keeps its own. */
  readonly carried: Readonly<Record<string, string>>
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
    carried: typeof of_meta === 'string' ? NOTHING : carriedBy(headers, meta, found !== null),
  }
}

const NOTHING = {}
/** W3C Trace Context and Baggage: visible ASCII and blanks. */
const CARRIED = /^[\x20-\x7e]{1,8192}$/

/** `tracestate` means nothing without the `traceparent` that it came with; baggage stays by itself. */
function carriedBy(headers: HeaderFields, meta: JsonObject | undefined, is_traced: boolean): Record<string, string> {
  const names = is_traced ? ['tracestate', 'baggage'] : ['baggage']
  return Object.fromEntries(
    names.flatMap(name => {
      const value = own(meta, name) === undefined ? headerValue(headers, name) : undefined
      return value !== undefined && CARRIED.test(value) ? [[name, value]] : []
    }),
  )
}

/** The edit of `params` that hands the trace on, with our span as its parent. */
export function traceEdits({w3c_id, span_id, carried}: McpTrace): readonly TextEdit[] {
  const others = Object.entries(carried).map(([name, value]) => ({path: ['_meta', name], set: JSON.stringify(value)}))
  if (w3c_id === null || !/^[\da-f]{16}$/.test(span_id)) return others
  return [{path: ['_meta', 'traceparent'], set: `"00-${w3c_id}-${span_id}-01"`}, ...others]
}

function short(text: string | undefined): string | undefined {
  return text ? storedText(text, MAX_ID_BYTES) : undefined
}
