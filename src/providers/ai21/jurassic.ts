import {object} from '../../base/json-object.ts'
import {completion, type FinishReason, finishReason} from '../chat.ts'
import {
  InvalidResponseFault,
  type Json,
  type Translated,
  type TranslatedResponse,
  type TranslationContext,
  UnsupportedInputFault,
} from '../translation.ts'
import {choiceOut, messageOut} from '../unified/message.ts'
import {
  arrayIn,
  messagesIn,
  modelPath,
  mostTokens,
  objectIn,
  pick,
  stopsIn,
  stringIn,
  textIn,
  word,
} from '../unified/read.ts'

/** The Jurassic models' words, at a path of each model's own. Source: docs.ai21.com, J2 chat and complete. */

export const FINISH: Readonly<Record<string, FinishReason>> = {length: 'length', endoftext: 'stop', stop: 'stop'}

export function isJurassic({model}: TranslationContext): boolean {
  return /^j[12]-/.test(model)
}

/** OpenAI's words for what both of their endpoints take. */
export const SETTINGS =
  'temperature top_p>topP n>numResults minTokens top_k>topKReturn topKReturn presencePenalty countPenalty frequencyPenalty'

export function jurassicRequest(request: Json, context: TranslationContext): Translated {
  if (context.is_stream) throw new UnsupportedInputFault('stream', 'the model does not stream')
  const messages = messagesIn(request).map(({role, raw, field}) => {
    if (role === 'tool') throw new UnsupportedInputFault(`${field}.role`, 'the model takes no tools')
    return {role, text: textIn(raw.content, `${field}.content`)}
  })
  return {
    path: `/${modelPath(context)}/chat`,
    body: {
      messages: messages.filter(({role}) => role !== 'system'),
      system: messages
        .filter(({role}) => role === 'system')
        .map(({text}) => text)
        .join('\n'),
      ...pick(request, SETTINGS),
      maxTokens: mostTokens(request),
      stopSequences: stopsIn(request),
    },
  }
}

export function jurassicReply(response: unknown, context: TranslationContext): TranslatedResponse {
  const {id, outputs} = objectIn(response)
  const made = arrayIn(outputs, 'outputs')
  if (made.length === 0) throw new InvalidResponseFault('outputs: expected some')
  const choices = made.map((output, at) => {
    const {text, finishReason: ended} = object(output)
    const message = messageOut([{type: 'text', text: stringIn(text, 'outputs.text')}], [], context.strict)
    return choiceOut(at, message, finishReason(object(ended).reason, FINISH, context.strict))
  })
  return {body: completion(context, {id: word(id), choices, usage: null}), usage: null, model: null}
}
