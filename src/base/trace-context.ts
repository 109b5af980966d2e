/** The place of a request in a client's trace, by W3C Trace Context. */
export interface TraceContext {
  readonly trace_id: string
  readonly parent_span_id: string
  readonly is_sampled: boolean
}

/** Later versions may have more behind the flags; of version 00 there is no more. */
const TRACEPARENT = /^(?!ff)[\da-f]{2}-(?!0{32})([\da-f]{32})-(?!0{16})([\da-f]{16})-([\da-f]{2})(?:$|-)/
const SAMPLED = 1

/** Undefined for what is no `traceparent`. */
export function readTraceparent(text: unknown): TraceContext | undefined {
  const found = typeof text === 'string' ? TRACEPARENT.exec(text.trim()) : null
  if (!found) return undefined
  const [, trace_id = '', parent_span_id = '', flags = ''] = found
  return {trace_id, parent_span_id, is_sampled: (Number.parseInt(flags, 16) & SAMPLED) === SAMPLED}
}

/** The facts of a client's trace that its ids do not say. */
export interface ClientTrace {
  /** The client records its trace. */
  readonly is_sampled: boolean
  /** `tracestate`, as it may be passed on; absent where there is none. */
  readonly state?: string
}

export function clientTrace({is_sampled}: TraceContext, tracestate: unknown): ClientTrace {
  const state = tracestate === undefined ? '' : readTracestate(tracestate)
  return state === '' ? {is_sampled} : {is_sampled, state}
}

/** A `traceparent` for what leaves: below the span of this id. */
export function traceparentOf(trace_id: string, span_id: string, is_sampled: boolean): string {
  return `00-${trace_id}-${span_id}-${is_sampled ? '01' : '00'}`
}

const MAX_MEMBERS = 32
const MAX_CHARACTERS = 512
/** Of a state that is too long, longer members go first. */
const LONG_MEMBER = 128
/** A longer header is not read. */
const MAX_READ = 8192
const MEMBER = /^([a-z\d][\w*/@-]{0,255})=[\x20-\x2b\x2d-\x3c\x3e-\x7e]{0,255}[\x21-\x2b\x2d-\x3c\x3e-\x7e]$/

/**
 * A `tracestate` as it may be passed on (W3C Trace Context, section 3.3): empty where a member of it is malformed or is
 * there twice, and of one that is too long the longest and the last members are left out.
 */
export function readTracestate(text: unknown): string {
  if (typeof text !== 'string' || text.length > MAX_READ) return ''
  const members = text
    .split(',')
    .map(member => member.replace(/^[ \t]+|[ \t]+$/g, ''))
    .filter(member => member !== '')
  if (members.length > MAX_MEMBERS) return ''
  const keys = new Set<string>()
  for (const member of members) {
    const key = MEMBER.exec(member)?.[1]
    if (key === undefined || key !== key.toLowerCase() || keys.has(key)) return ''
    keys.add(key)
  }
  let kept = members
  if (lengthOf(kept) > MAX_CHARACTERS) kept = kept.filter(member => member.length <= LONG_MEMBER)
  while (lengthOf(kept) > MAX_CHARACTERS) kept = kept.slice(0, -1)
  return kept.join(',')
}

function lengthOf(members: readonly string[]): number {
  return members.reduce((sum, {length}) => sum + length, Math.max(0, members.length - 1))
}
