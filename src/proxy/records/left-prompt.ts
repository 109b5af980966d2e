import type {UpstreamRequest} from '../upstream/build-request.ts'
import type {AttemptResult} from './attempt-result.ts'

/** The settlement of a call that was left waits so long for its engine's count. */
const WITHIN_MS = 2_000
/** So many are counted at a time; of further ones the prompt is estimated. */
const MOST_AT_ONCE = 16

let counting = 0

/**
 * The prompt of a call that was left before its engine reported any usage, counted by the engine; null where nothing is to be counted, or too many are
 * being counted. Never rejects: without a count the prompt is estimated.
 */
export function leftPrompt(
  {request, result}: {readonly request: UpstreamRequest; readonly result: AttemptResult},
  is_unanswered: boolean,
): Promise<number | null> | null {
  if (!request.countPrompt || !(is_unanswered || isLeft(result)) || counting >= MOST_AT_ONCE) return null
  counting++
  return request
    .countPrompt(WITHIN_MS)
    .catch(() => null)
    .finally(() => {
      counting--
    })
}

/** An answer had begun, and nothing of its usage came. */
function isLeft({outcome, statuses, stream}: AttemptResult): boolean {
  return outcome !== 'ok' && stream !== null && stream.usage === null && (statuses.provider ?? 500) < 300
}
