import {object} from '../../base/json-object.ts'
import {
  type Json,
  type StreamTranslator,
  type Translation,
  type TranslationContext,
  UnsupportedInputFault,
} from '../translation.ts'
import {textChoice, textPrompt} from './texts.ts'

/** Members of a text completion that a chat has no word for, and that would make another answer of it. */
const WITHOUT_WORD = ['suffix', 'echo', 'best_of'] as const

/**
 * Text completions with a provider that has chat alone: the prompt is what the user says, the answer's text the
 * completion.
 */
export function completeByChat(chat: Translation): Translation {
  const {stream} = chat
  return {
    request: (request, context) => chat.request(asChat(request), context),
    reply(response, context, request) {
      const answer = chat.reply(response, context, asChat(request))
      return {...answer, body: asText(answer.body as Json, context)}
    },
    ...(stream && {
      stream: {
        framing: stream.framing,
        open: (context, request) => new TextOfChat(stream.open(context, asChat(request)), context),
      },
    }),
  }
}

function asChat({prompt, ...rest}: Json): Json {
  const found = WITHOUT_WORD.find(
    name => rest[name] !== undefined && rest[name] !== null && rest[name] !== false && rest[name] !== 1,
  )
  if (found)
    throw new UnsupportedInputFault(found, 'this provider completes a text by way of chat, which has no word for it')
  return {...rest, logprobs: undefined, messages: [{role: 'user', content: textPrompt({prompt})}]}
}

/** A chat completion, or a chunk of one, as a text completion; they have one shape there. */
function asText(chat: Json, {call_id}: TranslationContext): Json {
  const choices = (chat.choices as readonly Json[]).map(({index, message, delta, finish_reason}) => {
    const {content} = object(message ?? delta)
    return textChoice(
      index as number,
      typeof content === 'string' ? content : '',
      (finish_reason as string | null) ?? null,
    )
  })
  const id = typeof chat.id === 'string' ? chat.id.replace(/^chatcmpl-/, 'cmpl-') : `cmpl-${call_id}`
  return {...chat, id, object: 'text_completion', choices}
}

class TextOfChat implements StreamTranslator {
  readonly #chat: StreamTranslator
  readonly #context: TranslationContext

  constructor(chat: StreamTranslator, context: TranslationContext) {
    this.#chat = chat
    this.#context = context
  }

  event(event: Parameters<StreamTranslator['event']>[0]): readonly Json[] {
    return this.#texts(this.#chat.event(event))
  }

  end(): readonly Json[] {
    return this.#texts(this.#chat.end())
  }

  get finished() {
    return this.#chat.finished
  }

  get usage() {
    return this.#chat.usage
  }

  get model() {
    return this.#chat.model
  }

  get failed() {
    return this.#chat.failed
  }

  get text_bytes() {
    return this.#chat.text_bytes
  }

  /** The chunk with the role alone says nothing here. */
  #texts(chunks: readonly Json[]): readonly Json[] {
    return chunks
      .map(chunk => asText(chunk, this.#context))
      .filter(
        ({choices, usage}) =>
          usage !== undefined ||
          (choices as readonly Json[]).some(({text, finish_reason}) => text !== '' || finish_reason !== null),
      )
  }
}
