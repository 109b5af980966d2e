import type {Usage} from '../../schema/usage.ts'
import {envelope, type Named, usageIn} from '../chat.ts'
import type {Json, TranslationContext} from '../translation.ts'
import {UnsupportedInputFault} from '../translation.ts'

/** The prompt of a text completion: one text. */
export function textPrompt(request: Json): string {
  const {prompt} = request
  const one: unknown = Array.isArray(prompt) && prompt.length === 1 ? prompt[0] : prompt
  if (typeof one !== 'string')
    throw new UnsupportedInputFault('prompt', 'the provider takes one prompt; expected a string')
  return one
}

/** A text completion's choice. */
export function textChoice(index: number, text: string, finish_reason: string | null): Json {
  return {text, index, logprobs: null, finish_reason}
}

/** OpenAI's `text_completion`, whole or a chunk of it: they have one shape. */
export function textCompletion(
  context: TranslationContext,
  result: Named & {readonly choices: readonly Json[]; readonly usage?: Usage | null},
): Json {
  return {
    ...envelope(context, result, 'text_completion'),
    choices: result.choices,
    ...(result.usage ? {usage: usageIn(result.usage)} : {}),
  }
}
