import type {FormPart} from '../base/multipart-stream.ts'
import type {EndpointName} from '../schema/endpoints.ts'
import type {FileStore} from '../schema/file-store.ts'
import type {RequestAuth} from './auth/login.ts'
import type {Options} from './options.ts'
import type {Json, ProviderFault, Translation, TranslationContext} from './translation.ts'

/**
 * An endpoint that takes calls of the provider's own kind, one or several: files, batches, fine-tuning. It gets the
 * client's request, calls the provider through a port, and returns the client's answer. A call that fails
 * (`UpstreamFault`) need not be caught: the client gets it as an error of OpenAI's format, with the provider's status.
 * Throws `UnsupportedInputFault` for input that the provider cannot take.
 */
export type ProviderOperation = (input: OperationInput, upstream: Upstream) => Promise<OperationResult>

/** The operations of one provider. */
export interface ProviderOperations {
  readonly endpoints: Readonly<Partial<Record<EndpointName, ProviderOperation>>>
  /** Places beside the provider's own, by name. */
  readonly sides?: Readonly<Record<string, SideService>>
  /** The fault that a non-2xx answer tells, whatever its body is. */
  fault(status: number, body: Buffer, context: TranslationContext): ProviderFault
}

/**
 * A place of a provider's that is not below its base URL: a cloud's store of objects. A custom host stands for it too.
 */
export interface SideService {
  /** As people write it. */
  readonly says: string
  place(options: Options): string
  /** Instead of the provider's own. */
  readonly login?: RequestAuth
}

/** The client's request. */
export interface OperationInput {
  /** The variable part of the path, percent-decoded; empty when it has none. */
  readonly id: string
  readonly query: URLSearchParams
  /** The JSON body with the config's parameters applied; empty where none came. */
  readonly body: Json
  /** The parts of the form; null where none came. Read once. */
  readonly form: AsyncIterable<FormPart> | null
  /**
   * Headers that describe a file: its purpose, its length in bytes, its name at the provider, and the rows it holds.
   */
  readonly file_headers: {
    readonly purpose?: string
    readonly bytes?: number
    readonly name?: string
    readonly rows?: string
  }
  /** `model` is the one of the body, else of the headers; empty when none was named. */
  readonly context: TranslationContext
  /** The gateway's store of the workspace's files, for a provider that wants a batch's rows with the batch itself. */
  readonly shelf: FileStore
  /** Refuses a model that may not be called. That of `context` was checked already. */
  allow(model: string): void
  /**
   * The words for one endpoint of one model; null where the provider takes OpenAI's. Throws `UnsupportedInputFault`
   * where the endpoint is not had.
   */
  words(endpoint: EndpointName, model: string): Translation | null
}

/** One call to the provider. */
export interface ProviderRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE' | 'HEAD' | 'PATCH'
  /**
   * Below the base URL, or below a side's; every part that a caller chose is percent-encoded. Or a URL, in `signed`.
   */
  readonly path: string
  /**
   * True where `path` is a whole URL that the provider gave, which is its own credential: judged as a host that a
   * caller names.
   */
  readonly signed?: true
  readonly side?: string
  /** The endpoint whose unified path is meant: the provider's own is called. */
  readonly endpoint?: EndpointName
  /** Beside `endpoint`: without its question mark. */
  readonly query?: string
  /** Lower case. */
  readonly headers?: Readonly<Record<string, string>>
  /** JSON to be written out, bytes, or a stream that is sent as it comes. */
  readonly body?: Json | Buffer | AsyncIterable<Buffer>
  /** Statuses beside 2xx that are an answer; none when left out. */
  readonly accepts?: readonly number[]
  /** Takes back what was begun: made even when the client has gone. */
  readonly tidies?: true
  /** Ends the call, its answer included, after so long; none when left out: as long as the client waits. */
  readonly within_ms?: number
}

/** The answer to it. A body that is not read is to be dropped. */
export interface UpstreamReply {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  /** As it comes, no faster than it is taken. */
  readonly body: AsyncIterable<Buffer>
  /** The whole of it, up to 8 MB; `InvalidResponseFault` for more, and for what is no JSON object. */
  bytes(): Promise<Buffer>
  json(): Promise<Json>
  drop(): void
}

/** The way to the provider: through the egress wall, with the call's credentials. */
export interface Upstream {
  /** Throws `UpstreamFault` for a status that is no answer. */
  ask(request: ProviderRequest): Promise<UpstreamReply>
}

/** The client's answer, with status 200. */
export type OperationResult =
  | {readonly json: Json}
  | {readonly content: AsyncIterable<Buffer>; readonly content_type: string}

/** The provider answered a call with a status that ends the operation. */
export class UpstreamFault extends Error {
  readonly status: number
  readonly body: Buffer

  constructor(status: number, body: Buffer) {
    super(`status ${status}`)
    this.name = 'UpstreamFault'
    this.status = status
    this.body = body
  }
}
