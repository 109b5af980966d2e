import type {EndpointName} from '../schema/endpoints.ts'
import type {Hop} from '../schema/hops.ts'
import type {Usage} from '../schema/usage.ts'

/** A JSON object as it was received: no member of it is known before it is checked. */
export type Json = Readonly<Record<string, unknown>>

/** The context of a translation besides the bodies. Pure: no clock, no randomness, no network. */
export interface TranslationContext {
  /** The provider's slug, for sentences and the `provider` member of answers. */
  readonly provider: string
  /** The requested model, without a provider's slug; empty when none was named. */
  readonly model: string
  readonly is_stream: boolean
  /**
   * `strict_openai_compliance`: OpenAI's finish reasons and members alone; otherwise the provider's own ones are shown
   * too.
   */
  readonly strict: boolean
  /** Options of the place, from the integration or the request's headers: region, project, api version ... */
  readonly options: Readonly<Record<string, string>>
  /** For answers that come without an id or a time of their own. */
  readonly call_id: string
  readonly created_s: number
  /** Takes each thing of the request that the provider gets otherwise than the client wrote it, or not at all. */
  readonly report?: (adaptation: string) => void
  /** A row of a batch: its answer comes later, without its request. */
  readonly is_row?: true
}

/** The translated body. */
export interface Translated {
  readonly method?: 'GET' | 'POST' | 'DELETE' | 'PUT'
  /** Below the provider's base URL, query included; every part that a caller chose is percent-encoded. */
  readonly path: string
  /** Headers that the body needs, lower case: `content-type` where it is not JSON, versions, betas. */
  readonly headers?: Readonly<Record<string, string>>
  /** JSON to be written out, or bytes as they are; null: no body. */
  readonly body: Json | Buffer | null
}

/** A whole answer in the client's dialect, and the facts it holds. */
export interface TranslatedResponse {
  /** JSON to be written out, or bytes with their content type (speech, pictures). */
  readonly body: Json | {readonly bytes: Buffer; readonly content_type: string}
  readonly usage: Usage | null
  readonly model: string | null
  /** The parts of it that are charged by themselves; absent or null where it is charged as a whole. */
  readonly hops?: readonly Hop[] | null
}

/** One event of a provider's stream, after its framing is taken off. */
export interface StreamEvent {
  /** The SSE event name, or `:event-type` of an AWS frame; null where there is none. */
  readonly name: string | null
  /** Its data: parsed JSON, or the text when it is none (`[DONE]`). */
  readonly data: unknown
  /** The JSON of its data as it came, where the framing has it. */
  readonly text?: string
}

/** Follows one stream. Gets each event once, in order; what it returns goes to the client in order. */
export interface StreamTranslator {
  /** The chunks (OpenAI `chat.completion.chunk` objects for chat) that this event comes to: none, one or several. */
  event(event: StreamEvent): readonly Json[]
  /** The provider's stream is over, whole or not: what is still owed to the client. */
  end(): readonly Json[]
  /** True when the provider has marked its answer as whole. A stream that ends before was cut off. */
  readonly finished: boolean
  readonly usage: Usage | null
  readonly hops?: readonly Hop[] | null
  readonly model: string | null
  /** An error inside the stream: OpenAI-shaped, with the status it stands for, where it is known (an overload: 529). */
  readonly failed: (ProviderFault & {readonly status: number | null}) | null
  /** About how many bytes of text the model wrote, for an estimate where no usage comes. */
  readonly text_bytes: number
}

/** A provider's failure in OpenAI's format. `message` begins with the provider's slug and `error: `. */
export interface ProviderFault {
  readonly message: string
  readonly type: string | null
  readonly param: string | null
  readonly code: string | null
}

/** One endpoint in a provider's words. */
export interface Translation {
  /** Throws `UnsupportedInputFault` for what the provider has no words for and that must not be dropped silently. */
  request(request: Json, context: TranslationContext): Translated
  /**
   * A 2xx answer. Throws `InvalidResponseFault` for a body of another shape than the provider's: never half an object.
   * `request` is the client's body, `header_usage` the counts in the headers: they are used when the answer has no
   * counts.
   */
  reply(response: unknown, context: TranslationContext, request: Json, header_usage?: Usage | null): TranslatedResponse
  readonly stream?: {
    readonly framing: Framing
    open(context: TranslationContext, request: Json): StreamTranslator
  }
}

/** How a stream is cut into events. `json_array`: the elements of one JSON array, or JSON values on lines. */
export type Framing = 'sse' | 'json_array' | 'aws_event_stream'

/** The words of one family of providers: for each endpoint that they have in another shape, its translation. */
export interface Dialect {
  readonly name: string
  readonly endpoints: Readonly<Partial<Record<EndpointName, Translation>>>
  /** Its chat reads Anthropic's `thinking`; others get a `reasoning_effort`. */
  readonly reads_thinking?: true
  /** The fault that a non-2xx answer tells, whatever its body is (JSON, HTML, nothing). */
  fault(status: number, body: Buffer, context: TranslationContext): ProviderFault
  /** Its errors are OpenAI's, or nearly: what else they say stays in them. */
  readonly keeps_errors?: true
}

/**
 * The words of a client that is not OpenAI chat's (Anthropic Messages, OpenAI Responses): translated to chat and back,
 * so that it may talk to any provider that has chat.
 */
export interface ClientDialect {
  /** Throws `UnsupportedInputFault`. */
  toChat(request: Json, context: TranslationContext): Json
  /** A whole chat completion in the client's format. */
  fromChat(completion: Json, context: TranslationContext, request: Json): Json
  /**
   * Chunks of a chat stream in the client's format, framed: bytes to write. `prompt`: the estimate of the request, for
   * clients that read it at the beginning, where no provider has counted yet.
   */
  openStream(context: TranslationContext, request: Json, prompt?: () => Usage | null): ClientStream
  /** An error as this client's library reads it; `fault` is OpenAI-shaped. */
  error(status: number, fault: ProviderFault): Json
  /** A whole answer that began and failed, where this client has another form for it than `error`. */
  failed?(
    fault: ProviderFault,
    context: TranslationContext,
    request: Json,
    facts: Pick<TranslatedResponse, 'usage' | 'model'>,
  ): Json
  /** Its answers repeat members of the request. */
  readonly repeats_request?: true
  /** True for an error in this client's format, which stays as it came. */
  isOwnError?(body: unknown): boolean
}

export interface ClientStream {
  chunk(chunk: Json): string
  /** The end of a whole answer. */
  end(): string
  /** The answer breaks off here. */
  fault(fault: ProviderFault): string
}

/**
 * The request holds what the provider has no counterpart for. `field` is its path in the body
 * (`messages[2].content[0].type`).
 */
export class UnsupportedInputFault extends Error {
  readonly field: string

  constructor(field: string, reason: string) {
    super(`${field}: ${reason}`)
    this.name = 'UnsupportedInputFault'
    this.field = field
  }
}

/** A 2xx answer that is not what its provider documents. */
export class InvalidResponseFault extends Error {
  constructor(reason: string) {
    super(reason)
    this.name = 'InvalidResponseFault'
  }
}
