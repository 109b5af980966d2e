import type {UpstreamRequest} from '../upstream/build-request.ts'
import type {AttemptResult} from './attempt-result.ts'

/** The settlement of a call that was left waits so long for its engine's count. */
const WITHIN_MS = 2_000
/** So many are counted at a time; of further ones the prompt is estimated. */
const MOST_AT_ONCE = 16

let counting = 0

/**
 * The prompt of a call that its client left before its engine reported any usage, counted by the engine; null where
 * nothing is to be counted, or too many are being counted. Never rejects: without a count the prompt is estimated. When
 * the call continues elsewhere nothing waits for a count.
 */
export function leftPrompt({
  request,
  result,
}: {
  readonly request: UpstreamRequest
  readonly result: AttemptResult
}): Promise<number | null> | null {
  if (!request.countPrompt || !isLeft(result) || isReported(result) || counting >= MOST_AT_ONCE) return null
  counting++
  return request
    .countPrompt(WITHIN_MS)
    .catch(() => null)
    .finally(() => {
      counting--
    })
}

/** Its client is gone, or reads no more. */
export function isLeft({fault}: Pick<AttemptResult, 'fault'>): boolean {
  return fault?.code === 'client.gone' || fault?.code === 'client.slow'
}

/** Nothing is to be estimated: the engine reported its usage, gave an error, or was not sent the request. */
function isReported({stream, statuses, times}: AttemptResult): boolean {
  if (statuses.provider === null) return times.written_at === 0
  return statuses.provider >= 300 || (stream !== null && stream.usage !== null)
}
