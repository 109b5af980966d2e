import {createHash} from 'node:crypto'
import type {FeedbackTable} from '../tables/traffic.ts'
import type {Detail} from './lines.ts'
import type {FlushRecord} from './record.ts'

export const FEEDBACK_COLUMNS = [
  'id',
  'organisation_id',
  'workspace_id',
  'trace_id',
  'api_key_id',
  'user_id',
  'source',
  'value',
  'weight',
  'metadata',
  'created_at',
  'last_updated_at',
] as const satisfies readonly (keyof FeedbackTable)[]

/** The feedback of guardrails on a call. A row that comes again gives the same ids, so that each counts once. */
export function hookFeedback({entry, row}: FlushRecord): FeedbackTable[] {
  if (!row) return []
  const [log_id, , created_at, , , , , , , , has_hooks] = row.values
  if (!has_hooks) return []
  const results = (JSON.parse(row.detail) as Detail).hook_results!
  const hooks = [...(results.before_request_hooks ?? []), ...(results.after_request_hooks ?? [])]
  return hooks.flatMap((hook, at) => {
    if ('skipped' in hook || !hook.feedback || !Number.isInteger(hook.feedback.value)) return []
    const {value, weight, metadata} = hook.feedback
    const {organisation_id, workspace_id, trace_id, api_key_id, user_id} = entry
    const id = idFrom(`${log_id}\0${at}\0${hook.id}`)
    const fields = {value, weight: weight ?? 1, metadata: JSON.stringify(metadata ?? {})}
    const times = {created_at, last_updated_at: created_at}
    return [
      {
        id,
        organisation_id,
        workspace_id,
        trace_id,
        api_key_id,
        user_id,
        source: 'guardrail' as const,
        ...fields,
        ...times,
      },
    ]
  })
}

/** A UUID of version 8 (RFC 9562) that the same words always give. */
function idFrom(words: string): string {
  const hex = createHash('sha256').update(words).digest('hex')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20, 32)}`
}
