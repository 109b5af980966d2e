import {estimateTokens} from '../../providers/openai/observe.ts'
import {emptyUsage} from '../../schema/usage.ts'
import {answerTokens, promptOf, textTokens} from '../records/text-tokens.ts'
import {isOfOthers, speaks} from '../records/usage.ts'
import type {UsageEstimate} from '../upstream/translate.ts'
import type {AttemptParts} from './attempt-owner.ts'

/** The beginning of a longer request is estimated by its length: no call waits for it to be counted. */
const MOST_COUNTED_BYTES = 64 * 1024

/** The usage that would be written of this call without a report; null when none would. */
export function estimateOf({call}: AttemptParts): UsageEstimate | null {
  const {endpoint, operation, body, incoming} = call
  if (body.kind !== 'json' || !speaks(call)) return null
  if (isOfOthers({endpoint, operation, method: incoming.method, path: incoming.route.path})) return null
  const prompt = {request_body: body.bytes, asked_bytes: body.bytes.length}
  return {
    prompt: () =>
      prompt.asked_bytes <= MOST_COUNTED_BYTES
        ? promptOf(prompt)
        : {...emptyUsage(), input_uncached_tokens: estimateTokens(prompt.asked_bytes)},
    streamed: text => ({...promptOf(prompt), output_text_tokens: textTokens(text)}),
    whole: answer => ({...promptOf(prompt), output_text_tokens: answerTokens(answer) ?? estimateTokens(answer.length)}),
  }
}
