import {estimateTokens} from '../../providers/openai/observe.ts'
import {countBodyTokens} from '../../providers/openai/tokens.ts'
import {emptyUsage, type Usage} from '../../schema/usage.ts'

/** A request, as far as an estimate needs it. */
export interface AskedText {
  /** The body that was sent, where it is JSON; null for all others. */
  readonly request_body: Buffer | null
  /** Its length, where it is kept; null where it passed unread. */
  readonly asked_bytes: number | null
  /** The prompt as the engine counted it; null where none did. */
  readonly prompt_tokens?: number | null
}

/** The seen part of an answer: the length of its text, and the number of a stream's events with text. */
export interface SeenText {
  readonly text_bytes: number
  readonly text_pieces: number
}

/** The prompt, as the engine counted it or estimated from its text. */
export function promptOf({request_body, asked_bytes, prompt_tokens}: AskedText): Usage {
  const counted = prompt_tokens ?? (request_body && countedPrompt(request_body))
  return {...emptyUsage(), input_uncached_tokens: counted ?? estimateTokens(asked_bytes ?? 0)}
}

/** The tokens of a whole answer, by its text; null for what has none. */
export function answerTokens(answer: Buffer): number | null {
  return countBodyTokens(answer, {framed: false})
}

/** The tokens of a streamed text: by its length, and at least one for each event that brought some of it. */
export function textTokens({text_bytes, text_pieces}: SeenText): number {
  return Math.max(estimateTokens(text_bytes), text_pieces)
}

/** Counted once: the client of a translated stream gets the estimate that is written. */
const counted_prompts = new WeakMap<Buffer, number | null>()

function countedPrompt(body: Buffer): number | null {
  const known = counted_prompts.get(body)
  if (known !== undefined) return known
  const counted = countBodyTokens(body, {framed: true})
  counted_prompts.set(body, counted)
  return counted
}
