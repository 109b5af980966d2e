import {countTokens, messagesClient} from '../messages/index.ts'
import type {ProviderOperation} from '../operation.ts'
import {type Json, type TranslationContext, UnsupportedInputFault} from '../translation.ts'
import {countPrompt, type PromptCounter} from './prompt-counters.ts'

/** A client waits for the count; an engine at work may be slow to give it. */
const WITHIN_MS = 10_000

/**
 * The tokens of a Messages request as its engine counts them: by a counter of Anthropic's words, else of the chat that
 * they come to, else by our own estimate.
 */
export function countTokensBy(counters: readonly PromptCounter[]): ProviderOperation {
  return async ({body, context}, upstream) => {
    const {model} = context
    const input_tokens =
      (await countPrompt(counters, {endpoint: 'messages', request: body, model, within_ms: WITHIN_MS}, upstream)) ??
      (await countChat(counters, body, context, upstream))
    return {json: input_tokens === null ? countTokens(body) : {input_tokens}}
  }

  async function countChat(
    counters: readonly PromptCounter[],
    body: Json,
    context: TranslationContext,
    upstream: Parameters<ProviderOperation>[1],
  ): Promise<number | null> {
    const request = chatOf(body, context)
    if (!request) return null
    return countPrompt(
      counters,
      {endpoint: 'chatComplete', request, model: context.model, within_ms: WITHIN_MS},
      upstream,
    )
  }
}

/** Null for what chat has no words for. */
function chatOf(body: Json, context: TranslationContext): Json | null {
  try {
    return messagesClient.toChat(body, context)
  } catch (fault) {
    if (fault instanceof UnsupportedInputFault) return null
    throw fault
  }
}
