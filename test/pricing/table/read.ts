import {translationFor} from '../../../src/providers/clients.ts'
import {observeStream, type ReplyFacts} from '../../../src/providers/openai/observe.ts'
import {find} from '../../../src/providers/registry.ts'
import type {TranslationContext} from '../../../src/providers/translation.ts'
import {TranslatedStream} from '../../../src/proxy/upstream/translated-stream.ts'
import type {Case} from './case.ts'

type Answer = Pick<Case, 'provider' | 'model' | 'endpoint' | 'asked' | 'reply' | 'stream' | 'status'>

/** What the provider's own dialect, or the observer of OpenAI's words, finds in the answer. */
export function readBy({
  provider,
  model,
  endpoint,
  asked = {},
  reply,
  stream,
  status = 200,
}: Answer): (ReplyFacts & {text_bytes?: number; pieces?: number}) | null {
  const kind = find(provider)
  if (!kind) throw new Error(`no provider is called ${provider}`)
  const words = translationFor(kind, endpoint)
  if (status >= 300) return null
  if (!words) {
    if (stream === undefined) return null
    const observer = observeStream(endpoint)
    observer.take(Buffer.from(stream))
    observer.end()
    return observer
  }
  const context: TranslationContext = {
    provider,
    model,
    is_stream: stream !== undefined,
    strict: true,
    options: {},
    call_id: 'c',
    created_s: 1,
  }
  if (stream === undefined) return reply ? words.translation.reply(reply, context, asked as never) : null
  const translated = new TranslatedStream(endpoint, {
    ...words,
    context,
    chat_request: asked as never,
    client_request: asked as never,
    request: {path: '/', body: null},
    held: null,
  })
  translated.take(Buffer.from(stream), () => undefined)
  translated.end(() => undefined)
  return translated
}
