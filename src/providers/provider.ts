import type {Dispatcher} from 'undici'
import type {EndpointName} from '../schema/endpoints.ts'
import type {RequestAuth} from './auth/login.ts'
import type {PromptCounter} from './engines/prompt-counters.ts'
import type {OutgoingHeaders} from './headers.ts'
import type {ModelLister} from './models/listed.ts'
import type {ProviderOperations} from './operation.ts'
import type {Options} from './options.ts'
import type {Dialect} from './translation.ts'

export type {OutgoingHeaders} from './headers.ts'

/**
 * How the caller's credential is sent to a provider. Pure: what must be fetched first (a cloud token) is a `Login`'s.
 */
export interface Auth {
  /** False for engines that take calls without a key. */
  readonly required: boolean
  /** The header as people write it: `Authorization: Bearer KEY`. */
  readonly says: string
  /** Writes the provider's credential into `headers`; with no key, and none in the options, it writes nothing. */
  sign(headers: OutgoingHeaders, key: string | null, options?: Options): void
  /** True when the options hold a credential, so that no key is needed. */
  carries?(options: Options): boolean
}

/** The parts of a request that decide its address. */
export interface EndpointRequest {
  /** `proxy` for pass-through. */
  readonly endpoint: EndpointName
  /** After `/v1`, as it came, without its query. */
  readonly path: string
  /** As it came, with its `?`; empty when there is none. */
  readonly query: string
  /** Without a provider's slug; empty when none was named. */
  readonly model: string
  readonly is_stream: boolean
  /** The path of the base URL that a custom host says; undefined for the provider's own place. */
  readonly base_path?: string
}

/**
 * A provider as the catalogue knows it: a place, a way to authenticate, and what it offers (architecture: providers).
 */
export interface Provider {
  readonly slug: string
  /** As people write it. */
  readonly name: string
  /**
   * The base URL of calls, version path included, without a trailing slash; null when `place` or the caller names a
   * host.
   */
  readonly base_url: string | null
  readonly auth: Auth
  /**
   * `openai`: bodies go and come unchanged. `native`: its own words; what neither `endpoints` nor `translations` list
   * is not served.
   */
  readonly dialect: 'openai' | 'native'
  /** False for a provider that is known, but whose host or signature this version cannot make. */
  readonly available: boolean
  /** The unified endpoints it serves with bodies as they come; pass-through reaches everything else. */
  readonly endpoints: readonly EndpointName[] | 'all'
  /** Endpoints that it has in other words: these win over bytes as they come. */
  readonly translations?: Dialect
  /**
   * Endpoints that take calls of its own kind, one or several: files, batches, fine-tuning. They win over
   * `translations`.
   */
  readonly operations?: ProviderOperations
  /** Paths that differ from the unified one, by endpoint. */
  readonly paths?: Readonly<Partial<Record<EndpointName, string>>>
  /** Headers every call carries unless the client or the integration set them. */
  readonly headers?: Readonly<OutgoingHeaders>
  /** True when `stream_options.include_usage` is understood, so that streams can be metered. */
  readonly stream_usage: boolean
  /** Answers in this process instead of over the network; the same dispatcher at each call. */
  readonly transport?: () => Dispatcher

  /** The base URL that options say; wins over `base_url`. Throws `MissingOptionFault` and `WrongOptionFault`. */
  readonly baseUrlOf?: (options: Options, reach?: EndpointRequest) => string
  /** `place` as people write it: `https://{azure_resource_name}.openai.azure.com/openai`. */
  readonly base_url_template?: string
  /** The option that is a whole base URL: to be judged as a custom host is, not as a place of the catalogue. */
  readonly host_option?: 'azure_foundry_url' | 'huggingface_base_url'
  /**
   * Path and query below the base URL, for bodies that go as they are; undefined where `paths` or the unified path
   * holds. Throws as `place`.
   */
  readonly pathOf?: (reach: EndpointRequest, options: Options) => string | undefined
  /** Prefixes of its models' names behind an at sign (`@cf/…`), where others have the slug of a provider. */
  readonly model_scopes?: readonly string[]
  /** The model as the body must name it. */
  readonly modelIn?: (model: string, options: Options) => string
  /** The model that a deployment in a path is made of, where the options list it. */
  readonly modelOfDeployment?: (deployment: string, options: Options) => string | undefined
  /** Headers that options make; they win over `headers`. Throws as `place`. */
  readonly headersOf?: (options: Options) => OutgoingHeaders
  /** How its models are listed, where that is not OpenAI's `GET /models`. */
  readonly models?: ModelLister
  /** An engine of one's own: its host alone knows its models. */
  readonly is_engine?: true
  /**
   * Endpoints in other clients' words that newer versions of this engine serve: whether the one at a host does is to be
   * found out.
   */
  readonly may_serve?: readonly EndpointName[]
  /** Routes of an engine that count the tokens of a prompt. */
  readonly prompt_counters?: readonly PromptCounter[]
  /** Headers of the client that are passed through, on unified endpoints too; lower case. */
  readonly hands_on?: readonly string[]
  /**
   * The header by which this vendor's own clients are known: from them, files, models and the like mean the vendor's
   * own operations.
   */
  readonly own_clients_send?: string
  /** Another way to authenticate, chosen by options. */
  readonly login?: RequestAuth
  /** `GET /realtime` by WebSocket, at this path below the base URL. */
  readonly realtime?: {readonly path: string}
  /**
   * The provider as it is for one model and these options, where that changes its words or its paths (Vertex AI by
   * publisher): what is called instead of this row, which is its usual form.
   */
  readonly variant?: (model: string, options: Options) => Provider | undefined
}
