import type {RowOfTrace} from '../../store/rows-of-traces.ts'
import type {ReceivedSpan} from './received.ts'
import {reportedWork} from './reported.ts'

/** A parent chain is followed this far: clients put spans of HTTP between a model's work and the request. */
const MAX_STEPS = 16

interface Above {
  readonly parent: string | null
  /** The work of a model, which may be priced; something else that the conventions name; a step between. */
  readonly is: 'work' | 'other' | 'step'
}

/**
 * The spans that are an application's own view of a call that went through this gateway, with the id of that call: the
 * parent of our row, or the nearest above it that is a model's work. Keys are those of `spanKey`.
 */
export function ownCalls(spans: readonly ReceivedSpan[], rows: readonly RowOfTrace[]): ReadonlyMap<string, string> {
  const above = new Map<string, Above>()
  for (const row of rows) if (row.span) above.set(spanKey(row), {parent: parentKey(row), is: kindOf(row.span)})
  for (const span of spans) {
    if (span.is_record) continue
    const key = spanKey(span)
    // of one id the first counts
    if (!above.has(key)) above.set(key, {parent: parentKey(span), is: kindOf(reportedWork(span.attributes))})
  }
  const found = new Map<string, string>()
  for (const row of rows) {
    if (row.span) continue
    let key = parentKey(row)
    for (let step = 0; key !== null && step < MAX_STEPS; step++) {
      const at = above.get(key)
      if (at?.is === 'work') found.set(key, row.call_id)
      key = at?.is === 'step' ? at.parent : null
    }
  }
  return found
}

export const spanKey = ({trace_id, span_id}: {readonly trace_id: string; readonly span_id: string}): string =>
  `${trace_id} ${span_id}`

function parentKey({trace_id, parent_span_id}: Pick<ReceivedSpan, 'trace_id' | 'parent_span_id'>): string | null {
  return parent_span_id ? `${trace_id} ${parent_span_id}` : null
}

function kindOf({operation, is_charged}: {readonly operation: string | null; readonly is_charged: boolean}) {
  return is_charged ? 'work' : operation === null ? 'step' : 'other'
}
