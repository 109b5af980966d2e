import {isObject, object, parsed} from '../../base/json-object.ts'
import {cameAs} from '../as-came.ts'
import {begunUsage, type RawObject} from '../openai/usage.ts'
import {
  InvalidResponseFault,
  type Json,
  type StreamEvent,
  type StreamTranslator,
  type Translated,
  type Translation,
  type TranslationContext,
} from '../translation.ts'
import {type AnthropicHost, placed} from './endpoint.ts'
import {failureIn} from './errors.ts'
import {type Refusals, refusalsIn} from './refusals.ts'
import {EVENTS, isCutJson, textWithin} from './stream.ts'
import {billedUsage, mergedUsage} from './usage.ts'

/**
 * Members of Anthropic's own service, which refuse a request elsewhere (platform.claude.com/docs, Claude on Bedrock and
 * on Vertex AI).
 */
const ITS_OWN = ['container', 'inference_geo', 'mcp_servers', 'service_tier', 'speed'] as const
/** Members of a delta that hold text of the model. */
const TEXTS = ['text', 'thinking', 'partial_json'] as const
/** Names of events, each on a line of its own. */
const EVENT = /^[\w.-]{1,64}$/
const NOTHING: readonly Json[] = []
/** More waiting events than this are dropped: a provider keeps a connection alive by many of them. */
const MOST_WAITING = 8

/**
 * Messages at a cloud, for clients that speak them: the same words in another envelope (`placed`), and answers as they
 * come, byte for byte. The events of a stream get new frames, since Bedrock frames them in its own way.
 */
export function messagesAt(place: AnthropicHost, path?: (context: TranslationContext) => string): Translation {
  return {
    request(request, context): Translated {
      const body = Object.fromEntries(Object.entries(request).filter(([name]) => !ITS_OWN.some(own => own === name)))
      const translated = placed(body, request, context, place)
      return path ? {...translated, path: path(context)} : translated
    },
    reply(response) {
      if (!isObject(response) || response.type !== 'message') throw new InvalidResponseFault('expected a message')
      const billed = billedUsage(object(response.usage), refusalsIn(response))
      return {body: response, ...billed, model: typeof response.model === 'string' ? response.model : null}
    },
    stream: {framing: place === 'bedrock' ? 'aws_event_stream' : 'sse', open: context => new OwnStream(context)},
  }
}

class OwnStream implements StreamTranslator {
  readonly #context: TranslationContext
  /** `message_start` and pings, until the provider has decided something: it may still say that it is overloaded. */
  #waiting: Json[] = []
  /** The last event, which goes when the stream is over. */
  #stop: Json | null = null
  #has_start = false
  #has_begun = false
  #usage_so_far: RawObject | null = null
  #refusals: Refusals | null = null
  finished = false
  failed: StreamTranslator['failed'] = null
  model: string | null = null
  text_bytes = 0

  constructor(context: TranslationContext) {
    this.#context = context
  }

  event({name, data, text}: StreamEvent): readonly Json[] {
    if (this.finished || this.failed) return NOTHING
    if (name?.endsWith('xception')) return this.#fail(data, name)
    const wrapped = textWithin(data)
    const event = wrapped === undefined ? data : parsed(wrapped)
    if (!isObject(event))
      return isCutJson(event) ? this.#fail({message: `the event ${name} is not JSON`}, null) : NOTHING
    const {type} = event
    if (typeof type !== 'string' || !EVENT.test(type)) return NOTHING
    if (type === 'error') return this.#fail(event, null)
    const came = wrapped ?? text
    if (came !== undefined) cameAs(event, came)
    if (type === 'ping') return this.#pinged(event)
    if (type === 'message_start') {
      const {model, usage} = object(event.message)
      this.model = typeof model === 'string' && model !== '' ? model : null
      this.#usage_so_far = mergedUsage(this.#usage_so_far, begunUsage(usage))
      this.#waiting = [event]
      this.#has_start = true
      return NOTHING
    }
    // Clouds tell things of their own before the answer.
    if (!this.#has_start)
      return EVENTS.has(type) ? this.#fail({message: `${type} came before message_start`}, null) : NOTHING
    if (type === 'content_block_start' || type === 'message_delta') this.#refusals = refusalsIn(event, this.#refusals)
    if (type === 'message_delta') this.#usage_so_far = mergedUsage(this.#usage_so_far, event.usage)
    if (type === 'content_block_delta') this.#count(object(event.delta))
    this.finished = type === 'message_stop'
    const begun = this.#begun()
    if (!this.finished) return begun.length === 0 ? [event] : [...begun, event]
    this.#stop = event
    return begun
  }

  end(): readonly Json[] {
    return this.#stop && !this.failed ? [this.#stop] : NOTHING
  }

  get usage() {
    return billedUsage(this.#usage_so_far, this.#refusals).usage
  }

  get hops() {
    return billedUsage(this.#usage_so_far, this.#refusals).hops
  }

  #begun(): readonly Json[] {
    this.#has_begun = true
    const waiting = this.#waiting
    this.#waiting = []
    return waiting
  }

  #pinged(event: Json): readonly Json[] {
    if (this.#has_begun) return [event]
    if (this.#has_start && this.#waiting.length < MOST_WAITING) this.#waiting.push(event)
    return NOTHING
  }

  #count(delta: Json) {
    for (const name of TEXTS) {
      const text = delta[name]
      if (typeof text === 'string') this.text_bytes += Buffer.byteLength(text)
    }
  }

  #fail(payload: unknown, named: string | null): readonly Json[] {
    this.failed = failureIn(payload, this.#context, named)
    return NOTHING
  }
}
