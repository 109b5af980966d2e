import {isObject, object} from '../../base/json-object.ts'
import type {Said} from '../openai/usage.ts'
import {
  type Context,
  InvalidResponse,
  type Json,
  type StreamEvent,
  type StreamTranslator,
  type Translated,
  type Translation,
} from '../translation.ts'
import {failureIn} from './errors.ts'
import {type Place, placed} from './place.ts'
import {EVENTS, isCutJson, unwrapped} from './stream.ts'
import {mergedUsage, usageOf} from './usage.ts'

/** Members of Anthropic's own service, which refuse a request elsewhere (platform.claude.com/docs, Claude on Bedrock and on Vertex AI). */
const ITS_OWN = ['container', 'inference_geo', 'mcp_servers', 'service_tier', 'speed'] as const
/** Where the deltas that the model writes have their text. */
const TEXTS = ['text', 'thinking', 'partial_json'] as const
/** Names of events, which stand on a line of their own. */
const EVENT = /^[\w.-]{1,64}$/
const NOTHING: readonly Json[] = []

/**
 * Messages at a cloud, for clients that speak them: the same words in another envelope (`placed`), and answers as they come. The events of
 * a stream are told anew, since Bedrock frames them in its own way; the last one is the writer's.
 */
export function messagesAt(place: Place, path?: (context: Context) => string): Translation {
  return {
    request(asked, context): Translated {
      const said = Object.fromEntries(Object.entries(asked).filter(([name]) => !ITS_OWN.some(own => own === name)))
      const translated = placed(said, asked, context, place)
      return path ? {...translated, path: path(context)} : translated
    },
    reply(said) {
      if (!isObject(said) || said.type !== 'message') throw new InvalidResponse('expected a message')
      return {body: said, usage: usageOf(object(said.usage)), model: typeof said.model === 'string' ? said.model : null}
    },
    stream: {framing: place === 'bedrock' ? 'aws_event_stream' : 'sse', open: context => new OwnStream(context)},
  }
}

class OwnStream implements StreamTranslator {
  readonly #context: Context
  /** `message_start`, until the provider has decided something: it may still say that it is overloaded. */
  #start: Json | null = null
  #has_start = false
  #has_begun = false
  #said: Said | null = null
  finished = false
  failed: StreamTranslator['failed'] = null
  model: string | null = null
  text_bytes = 0

  constructor(context: Context) {
    this.#context = context
  }

  event({name, data}: StreamEvent): readonly Json[] {
    if (this.finished || this.failed) return NOTHING
    if (name?.endsWith('xception')) return this.#fail(data, name)
    const said = unwrapped(data)
    if (!isObject(said)) return isCutJson(said) ? this.#fail({message: `the event ${name} is not JSON`}, null) : NOTHING
    const {type} = said
    if (typeof type !== 'string' || !EVENT.test(type)) return NOTHING
    if (type === 'error') return this.#fail(said, null)
    if (type === 'ping') return this.#has_begun ? [said] : NOTHING
    if (type === 'message_start') {
      const {model, usage} = object(said.message)
      this.model = typeof model === 'string' && model !== '' ? model : null
      this.#said = mergedUsage(this.#said, usage)
      this.#start = said
      this.#has_start = true
      return NOTHING
    }
    // Clouds tell things of their own before the answer.
    if (!this.#has_start) return EVENTS.has(type) ? this.#fail({message: `${type} came before message_start`}, null) : NOTHING
    if (type === 'message_delta') this.#said = mergedUsage(this.#said, said.usage)
    if (type === 'content_block_delta') this.#count(object(said.delta))
    this.finished = type === 'message_stop'
    const begun = this.#begun()
    return this.finished ? begun : [...begun, said]
  }

  end(): readonly Json[] {
    return NOTHING
  }

  get usage() {
    return usageOf(this.#said)
  }

  #begun(): readonly Json[] {
    this.#has_begun = true
    const start = this.#start
    this.#start = null
    return start ? [start] : NOTHING
  }

  #count(delta: Json) {
    for (const name of TEXTS) {
      const text = delta[name]
      if (typeof text === 'string') this.text_bytes += Buffer.byteLength(text)
    }
  }

  #fail(said: unknown, named: string | null): readonly Json[] {
    this.failed = failureIn(said, this.#context, named)
    return NOTHING
  }
}
