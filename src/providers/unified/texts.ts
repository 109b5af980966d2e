import type {Usage} from '../../schema/usage.ts'
import {usageIn} from '../chat.ts'
import type {Context, Json} from '../translation.ts'
import {Untranslatable} from '../translation.ts'

/** The prompt of a text completion: one text. */
export function textPrompt(asked: Json): string {
  const {prompt} = asked
  const one: unknown = Array.isArray(prompt) && prompt.length === 1 ? prompt[0] : prompt
  if (typeof one !== 'string') throw new Untranslatable('prompt', 'the provider takes one prompt; expected a string')
  return one
}

/** A text completion's choice. */
export function textChoice(index: number, text: string, finish_reason: string | null): Json {
  return {text, index, logprobs: null, finish_reason}
}

/** OpenAI's `text_completion`, whole or a chunk of it: they have one shape (reference: stream shapes). */
export function textCompletion(
  context: Context,
  said: {readonly id?: string | null; readonly model?: string | null; readonly choices: readonly Json[]; readonly usage?: Usage | null},
): Json {
  return {
    id: said.id || `cmpl-${context.call_id}`,
    object: 'text_completion',
    created: context.created_s,
    model: said.model || context.model,
    provider: context.provider,
    choices: said.choices,
    ...(said.usage ? {usage: usageIn(said.usage)} : {}),
  }
}
