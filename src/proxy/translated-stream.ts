import {AwsEventStream, BadFrame, readEvent} from '../base/aws-event-stream.ts'
import {Refusal} from '../base/errors.ts'
import {JsonValueFramer} from '../base/json-values.ts'
import {readFields, SseFramer} from '../base/sse.ts'
import {faultEvent} from '../providers/openai/error.ts'
import type {ClientStream, Fault, Framing, Json, StreamEvent, StreamTranslator} from '../providers/translation.ts'
import type {EndpointName} from '../schema/endpoints.ts'
import type {Usage} from '../schema/usage.ts'
import type {Stream} from './stream.ts'
import type {Translating} from './translate.ts'

/** Pictures and sound come inline. */
const MOST_EVENT_BYTES = 16 << 20
const NOTHING = Buffer.alloc(0)
const DONE = 'data: [DONE]\n\n'

/**
 * A stream in the provider's words on its way to a client of other words. What ends it for the client waits for its end at the provider,
 * since some tell their usage behind their last word.
 */
export class TranslatedStream implements Stream {
  readonly ends_on_fault = true
  readonly is_held = false
  readonly #endpoint: EndpointName
  readonly #provider: string
  readonly #translator: StreamTranslator
  readonly #writer: ClientStream | null
  readonly #framer: Framer
  #text = ''
  #has_begun = false
  #pieces = 0
  /** Why the provider's bytes cannot be read on. */
  #broken: string | null = null

  constructor(endpoint: EndpointName, {translation, client, context, asked, said}: Translating) {
    this.#endpoint = endpoint
    this.#provider = context.provider
    this.#translator = translation.stream!.open(context, asked)
    this.#writer = client?.openStream(context, said) ?? null
    this.#framer = framerOf(translation.stream!.framing, event => this.#told(event))
  }

  take(chunk: Buffer, then: (send: Buffer, hold: Buffer | null) => void): void {
    this.#guarded(() => this.#framer.push(chunk))
    then(this.#taken(), null)
  }

  end(then: (rest: Buffer) => void): void {
    this.#guarded(() => this.#framer.end())
    this.#guarded(() => this.#write(this.#translator.end()))
    if (!this.#broken && !this.#translator.failed && this.#translator.finished) this.#text += this.#writer ? this.#writer.end() : DONE
    then(this.#taken())
  }

  faultEvent(refusal: Refusal): Buffer {
    const told = this.#is_faulty ? this.#fault() : {message: refusal.message, type: refusal.said.type, param: null, code: null}
    if (this.#writer) return Buffer.from(this.#writer.fault(told))
    return faultEvent(this.#endpoint, {message: told.message, type: told.type ?? 'api_error'}, false)
  }

  close(): void {}

  get usage(): Usage | null {
    return this.#translator.usage
  }

  get model(): string | null {
    return this.#translator.model
  }

  get text_bytes(): number {
    return this.#translator.text_bytes
  }

  get pieces(): number {
    return this.#pieces
  }

  get failed(): Stream['failed'] {
    if (!this.#is_faulty) return null
    const {type, message, status} = this.#fault()
    return {type: type ?? 'api_error', message, status}
  }

  get has_begun(): boolean {
    return this.#has_begun || this.#is_faulty
  }

  get is_answering(): boolean {
    return this.has_begun
  }

  get fault(): Refusal | null {
    if (this.#is_faulty) return new Refusal('upstream.told', {message: this.#fault().message})
    return this.#translator.finished ? null : new Refusal('upstream.broken', {provider: this.#provider})
  }

  get #is_faulty(): boolean {
    return this.#translator.failed !== null || this.#broken !== null
  }

  #fault(): Fault & {readonly status: number | null} {
    if (this.#translator.failed) return this.#translator.failed
    const message = `${this.#provider} error: ${this.#broken ?? 'the stream broke off'}`
    return {message, type: 'api_error', param: null, code: null, status: 502}
  }

  /** Null: an event longer than any may be. */
  #told(event: StreamEvent | null) {
    if (event === null) this.#broken ??= 'an event is too long'
    else if (!this.#is_faulty) this.#write(this.#translator.event(event))
  }

  #write(chunks: readonly Json[]) {
    for (const chunk of chunks) {
      this.#has_begun = true
      this.#pieces++
      this.#text += this.#writer ? this.#writer.chunk(chunk) : `data: ${JSON.stringify(chunk)}\n\n`
    }
  }

  #taken(): Buffer {
    if (!this.#text) return NOTHING
    const bytes = Buffer.from(this.#text)
    this.#text = ''
    return bytes
  }

  #guarded(work: () => void) {
    if (this.#broken) return
    try {
      work()
    } catch (fault) {
      if (!(fault instanceof BadFrame) && !(fault instanceof RangeError)) throw fault
      this.#broken = fault.message
    }
  }
}

interface Framer {
  push(chunk: Buffer): void
  end(): void
}

/** `told` null: an event longer than any may be. */
function framerOf(framing: Framing, told: (event: StreamEvent | null) => void): Framer {
  if (framing === 'sse') {
    return new SseFramer(raw => {
      if (raw === null) return told(null)
      const {event, data} = readFields(raw)
      if (data.length > 0) told({name: event, data: parsed(data.join('\n'))})
    }, MOST_EVENT_BYTES)
  }
  if (framing === 'json_array') {
    const values = new JsonValueFramer(raw => told(raw && {name: null, data: parsed(raw.toString())}), MOST_EVENT_BYTES)
    return values
  }
  const messages = new AwsEventStream(message => told(readEvent(message)))
  return {push: chunk => messages.push(chunk), end: () => undefined}
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
