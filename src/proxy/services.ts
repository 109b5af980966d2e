import type {Dispatcher} from 'undici'
import type {After} from '../base/delay.ts'
import type {Destination} from '../base/egress/target.ts'
import type {ClientRequest} from '../base/ingress/request.ts'
import type {Log} from '../base/log.ts'
import type {Seal} from '../base/seal.ts'
import type {CacheParts} from '../cache/lookup.ts'
import type {SemanticCache} from '../cache/semantic/semantic-cache.ts'
import type {EndedCall} from '../charge/ended-call.ts'
import type {Recorder} from '../charge/ports.ts'
import type {KnownKey} from '../identity/api-keys.ts'
import type {ModelList} from '../identity/model-lists.ts'
import type {CounterReservation, LimitClaim} from '../limits/index.ts'
import type {Policies} from '../limits/policies.ts'
import type {Cost} from '../pricing/cost.ts'
import type {Price} from '../pricing/price.ts'
import type {PartialRef} from '../prompts/prompt.ts'
import type {NamedPrompt} from '../prompts/selector.ts'
import type {Logins} from '../providers/auth/login.ts'
import type {Options} from '../providers/options.ts'
import type {OutgoingHeaders, Provider} from '../providers/provider.ts'
import type {Circuits} from '../routing/breaker.ts'
import type {StickyMemory} from '../routing/choose.ts'
import type {GatewayConfig} from '../schema/configs.ts'
import type {DeferredCharges} from '../schema/deferred.ts'
import type {FileStore} from '../schema/file-store.ts'
import type {Principal} from '../schema/principal.ts'
import type {Intent} from '../schema/records.ts'
import type {Spent} from '../schema/spent.ts'
import type {Usage} from '../schema/usage.ts'
import type {FieldValues, MappedFields, MappedSecrets} from '../secrets/port.ts'
import type {Settings} from '../settings/index.ts'
import type {FoundPrompt} from '../store/prompts-for-call.ts'
import type {GuardrailServices} from './guardrail-services.ts'

/**
 * A key or token as calls know it: who shows it, what ends it, and the caller that it makes; null for a key of no
 * workspace.
 */
export interface KnownCaller extends KnownKey {
  readonly caller: Caller | null
}

/** The view of a subject that every call needs: who is charged, and what its workspace and its key say of calls. */
export interface Caller extends Principal {
  readonly organisation_id: string
  readonly workspace_id: string
  readonly workspace_slug: string
  readonly user_id: string | null
  readonly metadata: Readonly<Record<string, string>>
  readonly config_id: string | null
  readonly allow_config_override: boolean
  /** The raw limits of the caller and its workspace; read by `limits` alone. */
  readonly limits: readonly EntityLimit[]
  /** The key's list of models and its workspace's: a model has to be on both. Null where there is none. */
  readonly models: readonly ModelList[] | null
}

/** The limits of one entity, as its row holds them (column texts). */
export interface EntityLimit {
  readonly entity: 'key' | 'token' | 'workspace' | 'provider' | 'integration' | 'policy'
  readonly id: string
  readonly name: string
  readonly organisation_id: string
  readonly workspace_id: string
  readonly usage: string | null
  readonly rates: string | null
  readonly last_reset_at: string | null
  /** When the counters of a token may be forgotten; epoch milliseconds. */
  readonly ends_at_ms?: number
}

/** A managed provider, opened: ready to be called. */
export interface ManagedProvider {
  readonly id: string
  readonly slug: string
  readonly integration_id: string
  readonly kind: string
  readonly key: string | null
  readonly custom_host: string | null
  readonly trusts_host: boolean
  readonly headers: Readonly<OutgoingHeaders>
  /** The integration's options for the place and the login. */
  readonly options: Options
  /** Its fields that come from secret references: until they are filled nothing may leave for it. Null: none do. */
  readonly mapped: MappedCredentials | null
  readonly expires_at: string | null
  /** Enabled models; null when all are that are not `disabled`. */
  readonly models: ReadonlySet<string> | null
  readonly disabled: ReadonlySet<string>
  /** Prices of its own, by model. */
  readonly prices: ReadonlyMap<string, Price>
  /** Models of its own, and the models they are made of. */
  readonly base_models: ReadonlyMap<string, string>
  /** Models with a host or headers of their own; null where none has. */
  readonly model_places: ReadonlyMap<string, ModelPlace> | null
  readonly limits: readonly EntityLimit[]
}

/** The fields of a provider that are filled from secret references for a call. */
export interface MappedCredentials {
  readonly fields: MappedFields
  /** The provider with them. Refuses (`secret.unresolvable`) values that its kind does not take. */
  fill(values: FieldValues): ManagedProvider
}

/** The place of an object: ids are a provider's own, and another host might use any. */
export interface ObjectPlace {
  readonly managed: {readonly id: string} | null
  readonly provider: {readonly slug: string}
  readonly destination: {readonly origin: string; readonly basePath: string} | null
  readonly options: Readonly<Record<string, string>>
}

/** Objects at providers that were made through the gateway, and the models that they run. */
export interface ObjectModels {
  note(workspace_id: string, place: ObjectPlace, id: string, models: readonly string[]): void
  /** Undefined when its making was not seen. */
  modelsOf(workspace_id: string, place: ObjectPlace, id: string): readonly string[] | undefined
}

/** Files at providers whose rows guardrails have let pass, by the guardrails that did (`input_digest`). */
export interface JudgedFiles {
  /** At once in this process, soon in others. Never throws. */
  note(workspace_id: string, place: ObjectPlace, id: string, digest: string): void
  isJudged(workspace_id: string, place: ObjectPlace, id: string, digest: string): boolean | Promise<boolean>
}

/** A provider, for lists of models. */
export interface ProviderModels {
  readonly slug: string
  readonly kind: string
  /** Another after each change of its place or its credential. */
  readonly version: string
  readonly expires_at: string | null
  /** True where only its host knows its models: `models` are then those that the integration names. */
  readonly asks_host: boolean
  readonly models: readonly OfferedModel[]
  /** Models of the host that the integration does not name are allowed, but for those that are `disabled`. */
  readonly allow_all_models: boolean
  readonly disabled: ReadonlySet<string>
}

export interface OfferedModel {
  readonly slug: string
  /** The model that it is made of. */
  readonly base?: string
  /** The integration's own price. */
  readonly price?: Price
}

/** An integration's settings for the place of one model. */
export interface ModelPlace {
  readonly custom_host: string | null
  readonly headers: Readonly<OutgoingHeaders>
  /** True where an owner, an admin or the operator wrote the host: the integration's credentials go there. */
  readonly names_place: boolean
}

/** The claims of one call, and the way to release or settle them. */
export interface Admission {
  readonly counter_keys: readonly string[]
  /** True when tokens or cost are limited, so that a stream should say its usage. */
  readonly counts_usage: boolean
  /** The strict limits of tokens and cost among them, which each attempt holds; null when there are none. */
  readonly strict_claims: readonly LimitClaim[] | null
  /** Counts what an attempt used that is not the last. */
  spent(actual: Spent): void
  /** Counts what was used in all, and ends. */
  settle(actual: Spent): void
  release(): void
}

export interface Limits {
  /** Takes one request from every limit, or refuses and takes nothing. */
  admit(limits: readonly EntityLimit[], call_id: string, now_ms: number): Admission | null | Promise<Admission | null>
  /** Holds `first` of each strict limit for one attempt, or refuses. */
  hold(
    claims: readonly LimitClaim[],
    call_id: string,
    attempt: number,
    first: Spent,
  ): CounterReservation | Promise<CounterReservation>
  /** Adds what was used to counters that an admission named, without another request. Never rejects. */
  add(counter_keys: readonly string[], actual: Spent): Promise<void>
  /** The same, and puts it in the place of what the attempt still holds of them. */
  recover(intent: Pick<Intent, 'call_id' | 'attempt' | 'counter_keys' | 'held_keys'>, actual: Spent): Promise<void>
}

export interface Prices {
  /** The price of a model for calls admitted at `at_ms`; undefined when it is unknown. */
  find(provider: string, model: string, at_ms: number): Price | undefined
  cost(usage: Partial<Usage>, price: Price | undefined, at_ms: number): Omit<Cost, 'parts'>
  /** True for a kind of provider of which any model has a price above 0. */
  charges(provider: string): boolean
}

/** A step of a call whose time is counted by itself: the check of the key's limits, and the look into the cache. */
export type TimedStep = 'rate_limits' | 'cache'

/** The counts of the data plane for /metrics. */
export interface CallMetrics {
  ended(facts: EndedCall): void
  /** Counts the milliseconds of a step, where the call has it. */
  took(step: TimedStep, ms: number): void
  live(count: number): void
}

/** All services of the data plane; the composition root gives it. */
export interface ProxyServices {
  readonly settings: Settings
  readonly version: string
  readonly log: Log
  readonly recorder: Recorder
  /** False while calls are recorded faster than the ledger takes them: new ones are refused. */
  takesCalls(): boolean
  readonly prices: Prices
  readonly limits: Limits
  readonly metrics: CallMetrics
  /**
   * The caller whose key has this SHA-256; null when none has. Served from memory when known. Refuses one whose person
   * has to sign in first. `client` is the request that it came with.
   */
  findCaller(key_hash: string, client: ClientRequest): KnownCaller | null | Promise<KnownCaller | null>
  /**
   * The caller of what is no key, such as a token, which is refused where it does not hold; undefined for a key.
   * `client` is the request that it came with.
   */
  findCallerByCredential(credential: string, client: ClientRequest): KnownCaller | Promise<KnownCaller> | undefined
  /** The workspace's provider of this slug, opened; null when it has none. */
  findProvider(workspace_id: string, slug: string): Promise<ManagedProvider | null>
  /** The policies of a workspace; null when it has none, or policies are off. At once where they are known. */
  findPolicies(workspace_id: string): Policies | null | Promise<Policies | null>
  findConfig(
    workspace_id: string,
    slug: string,
  ): Promise<{readonly id: string; readonly version_id: string; readonly config: GatewayConfig} | null>
  /** The version that is meant of a prompt of the caller's workspace; undefined when it has none. */
  findPrompt(caller: Caller, named: string, meant: NamedPrompt['meant']): Promise<FoundPrompt | undefined>
  findPartial(caller: Caller, ref: PartialRef): Promise<string | undefined>
  /** The providers of a workspace that have what calls need, with the models of lists. */
  listedProviders(workspace_id: string): readonly ProviderModels[] | Promise<readonly ProviderModels[]>
  /** Models that the price list knows for a kind of provider. */
  pricedModels(kind: string): readonly string[]
  kind(slug: string): Provider | undefined
  destination(
    text: string,
    asker: {readonly integration_id: string; readonly host: string} | 'caller' | 'builtin',
  ): Destination
  dispatcher(destination: Destination, workspace_id: string): Dispatcher
  /** The gateway's store of a workspace's files for one kind of provider. */
  fileStore(workspace_id: string, provider: string): FileStore
  /** Seals what leaves in an address of ours, and opens it when that is called. */
  readonly seal: Pick<Seal, 'close' | 'open'>
  /** Work that calls began and that is charged when it is seen to have ended. */
  readonly deferred: DeferredCharges
  /** The state that logins at clouds share: tokens, and the gateway's own identity. */
  readonly logins: Logins
  /** Secrets of managers, for fields that are mapped to references. */
  readonly secrets: MappedSecrets
  /** Default options of places. */
  readonly option_defaults: Options
  /** True for a path after `/v1` that the administration serves, whatever the method. */
  administered(path: string): readonly string[]
  /** Headers (name, value, ...) that let a browser of `origin` read the answer; none when CORS is off. */
  cors(origin: string | undefined): readonly string[]
  /** Headers that the settings have masked in the log, and those that pass-through does not send on. */
  readonly masked: ReadonlySet<string>
  readonly ignored: ReadonlySet<string>
  /** Which targets callers were given before, and which are left out for a while; of this process. */
  readonly sticky: StickyMemory
  readonly circuits: Circuits
  /** Objects that were made at providers, and the models that they run. */
  readonly seen: ObjectModels
  readonly judged: JudgedFiles
  /** Answers that were kept, and the calls in progress for others; null when nothing is kept. */
  readonly cache: CacheParts | null
  /** Answers by the meaning of requests; opened when the first call wants it. */
  readonly semantic: () => Promise<SemanticCache>
  /** Null where guardrails are switched off. */
  readonly guardrails: GuardrailServices | null
  /** 0 to 1, without 1. */
  random(): number
  /** Runs `run` once in `ms`; the function it gives calls that off. */
  readonly after: After
  /** Runs `run` at the end of this turn of the event loop; the function it gives calls that off. */
  soon(run: () => void): () => void
  /** Milliseconds since the epoch. */
  now(): number
  /** Measures durations: milliseconds since any moment, by a clock that is never set. */
  steady(): number
}

/** The part of the services that a file uses: it can reach nothing else. */
export type Uses<Name extends keyof ProxyServices> = Pick<ProxyServices, Name>
