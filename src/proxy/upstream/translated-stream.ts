import {FrameFault} from '../../base/aws-event-stream.ts'
import {Refusal} from '../../base/errors.ts'
import {dataLines} from '../../base/sse.ts'
import {writtenAsCame} from '../../providers/as-came.ts'
import {usageIn} from '../../providers/chat.ts'
import {withFunctionDeltas} from '../../providers/legacy-functions.ts'
import {faultEvent} from '../../providers/openai/error.ts'
import {TextCounter} from '../../providers/openai/text-counter.ts'
import type {ClientStream, Json, ProviderFault, StreamEvent, StreamTranslator} from '../../providers/translation.ts'
import type {EndpointName} from '../../schema/endpoints.ts'
import type {Hop} from '../../schema/hops.ts'
import type {Usage} from '../../schema/usage.ts'
import {type Tap, tap} from './decode.ts'
import {type Framer, framerOf} from './framer.ts'
import type {ProviderStream, Stream} from './stream.ts'
import type {RequestTranslation, UsageEstimate} from './translate.ts'

const NOTHING = Buffer.alloc(0)
const DONE = 'data: [DONE]\n\n'

interface StreamReading {
  readonly encoding?: string | null
  /** Gets what a reader threw. */
  readonly onFault?: (fault: unknown) => void
  /** Null where nothing is estimated of such a call. */
  readonly estimate?: UsageEstimate | null
}

/**
 * A stream in the provider's format, sent to a client of another format. The end for the client waits for the end at
 * the provider, since some report their usage behind their last word.
 */
export class TranslatedStream implements ProviderStream {
  readonly ends_on_fault = true
  readonly is_held = false
  readonly open_bytes = 0
  readonly #endpoint: EndpointName
  readonly #speaks_functions: boolean
  readonly #provider: string
  readonly #translator: StreamTranslator
  readonly #writer: ClientStream | null
  readonly #framer: Framer
  #text = ''
  #has_begun = false
  #pieces = 0
  #events = 0
  #counter: TextCounter | null = null
  /** Null where the provider's bytes come as they are. */
  readonly #decoder: Tap | null
  readonly #onFault: (fault: unknown) => void
  readonly #estimate: UsageEstimate | null
  /** Why the provider's bytes cannot be read on. */
  #broken: string | null = null

  constructor(
    endpoint: EndpointName,
    {translation, client, context, chat_request, client_request, speaks_functions = false}: RequestTranslation,
    {encoding = null, onFault = () => undefined, estimate = null}: StreamReading = {},
  ) {
    this.#estimate = estimate
    this.#onFault = onFault
    this.#speaks_functions = speaks_functions
    this.#endpoint = endpoint
    this.#provider = context.provider
    this.#translator = translation.stream!.open(context, chat_request)
    this.#writer = client?.openStream(context, client_request, () => estimate?.prompt() ?? null) ?? null
    this.#framer = framerOf(translation.stream!.framing, event => this.#onEvent(event))
    this.#decoder = encoding === null ? null : tap(encoding, plain => this.#guarded(() => this.#framer.push(plain)))
    if (encoding !== null && !this.#decoder) this.#broken = `the stream is encoded as ${encoding}, which cannot be read`
  }

  take(chunk: Buffer, then: (send: Buffer, hold: Buffer | null) => void): void {
    const decoder = this.#decoder
    if (!decoder) this.#guarded(() => this.#framer.push(chunk))
    else if (!this.#broken) return decoder.take(chunk, () => then(this.#decoded(decoder), null))
    then(this.#taken(), null)
  }

  end(then: (rest: Buffer) => void): void {
    if (this.#decoder && !this.#broken) this.#decoder.end(() => this.#end(then))
    else this.#end(then)
  }

  #end(then: (rest: Buffer) => void) {
    this.#guarded(() => this.#framer.end())
    this.#guarded(() => this.#write(this.#translator.end()))
    const is_whole = !this.#broken && !this.#translator.failed && this.#translator.finished
    if (is_whole) this.#tellEstimate()
    if (is_whole) this.#text += this.#writer ? this.#writer.end() : DONE
    then(this.#taken())
  }

  faultEvent(refusal: Refusal): Buffer {
    const error = this.#is_faulty
      ? this.#fault()
      : {message: refusal.message, type: refusal.codes.type, param: null, code: null}
    if (this.#writer) return Buffer.from(this.#writer.fault(error))
    return faultEvent(this.#endpoint, {message: error.message, type: error.type ?? 'api_error'}, {is_mid_event: false})
  }

  close(): void {
    this.#decoder?.close()
  }

  get usage(): Usage | null {
    return this.#translator.usage
  }

  get hops(): readonly Hop[] | null {
    return this.#translator.hops ?? null
  }

  get model(): string | null {
    return this.#translator.model
  }

  /** Counted in the text that the translator writes, from the first read on. */
  get most_tokens(): number {
    this.#counter ??= new TextCounter(this.#endpoint, this.#translator.text_bytes)
    return this.#counter.most_tokens
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

  get events(): number {
    return this.#events
  }

  get awaits_usage(): boolean {
    return !this.#is_faulty && this.#translator.finished && this.#translator.usage === null
  }

  get is_answering(): boolean {
    return this.has_begun
  }

  get fault(): Refusal | null {
    if (this.#is_faulty) return new Refusal('upstream.told', {message: this.#fault().message})
    return this.#translator.finished ? null : new Refusal('upstream.cut', {provider: this.#provider})
  }

  get #is_faulty(): boolean {
    return this.#translator.failed !== null || this.#broken !== null
  }

  #fault(): ProviderFault & {readonly status: number | null} {
    if (this.#translator.failed) return this.#translator.failed
    const message = `${this.#provider} error: ${this.#broken ?? 'the stream broke off'}`
    return {message, type: 'api_error', param: null, code: null, status: 502}
  }

  /** Text: why what came is no event. */
  #onEvent(event: StreamEvent | string) {
    if (typeof event === 'string') this.#broken ??= event
    else if (!this.#is_faulty) {
      if (event.name !== 'ping') this.#events++
      const before = this.#translator.text_bytes
      const chunks = this.#translator.event(event)
      if (this.#translator.text_bytes > before) this.#pieces++
      this.#counter?.count(chunks, this.#translator.text_bytes)
      this.#write(chunks)
    }
  }

  #decoded(decoder: Tap): Buffer {
    if (decoder.is_broken) this.#broken ??= 'the stream is not encoded as it says'
    return this.#taken()
  }

  #write(chunks: readonly Json[]) {
    for (const each of chunks) {
      const chunk = this.#speaks_functions ? withFunctionDeltas(each) : each
      this.#has_begun = true
      this.#text += this.#writer ? this.#writer.chunk(chunk) : `${dataLines(writtenAsCame(chunk))}\n`
    }
  }

  /** Without any count, the client gets the estimate that is written of the call. */
  #tellEstimate() {
    const {usage, text_bytes} = this.#translator
    if (!this.#writer || !this.#estimate || usage) return
    const estimated = usageIn(this.#estimate.streamed({text_bytes, text_pieces: this.#pieces}))
    this.#text += this.#writer.chunk({choices: [], usage: estimated})
  }

  #taken(): Buffer {
    if (!this.#text) return NOTHING
    const bytes = Buffer.from(this.#text)
    this.#text = ''
    return bytes
  }

  /** Throws nothing: in the event of a decoder it would not be caught. */
  #guarded(work: () => void) {
    if (this.#broken) return
    try {
      work()
    } catch (fault) {
      if (fault instanceof FrameFault) this.#broken = fault.message
      else {
        this.#broken = 'its stream is not what it documents'
        this.#onFault(fault)
      }
    }
  }
}
