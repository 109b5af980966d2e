import type {Dispatcher} from 'undici'
import type {EndpointName} from '../schema/endpoints.ts'
import type {Dialect} from './translation.ts'

/** Request headers on their way to a provider: lower-case name → value. */
export type OutgoingHeaders = Record<string, string>

/** How a provider is told who calls. Pure: what must be fetched first (a cloud token) is fetched before. */
export interface Auth {
  /** False for engines that take calls without a key. */
  readonly required: boolean
  /** Writes the provider's credential into `headers`; with no key it writes nothing. */
  sign(headers: OutgoingHeaders, key: string | null): void
}

/** A provider as the catalogue knows it: a place, a way to authenticate, and what it offers (architecture: providers). */
export interface Provider {
  readonly slug: string
  /** As people write it. */
  readonly name: string
  /** Where calls go, version path included, without a trailing slash; null when the caller must name a host. */
  readonly base_url: string | null
  readonly auth: Auth
  /** `openai`: bodies go and come unchanged. `native`: its own words; a unified endpoint that `endpoints` does not list needs a dialect. */
  readonly dialect: 'openai' | 'native'
  /** False for a provider that is known, but whose host or signature this version cannot make. */
  readonly available: boolean
  /** The unified endpoints it serves with bodies as they come; pass-through reaches everything else. */
  readonly endpoints: readonly EndpointName[] | 'all'
  /** Endpoints that it has in other words: these win over bytes as they come. */
  readonly translations?: Dialect
  /** Paths that differ from the unified one, by endpoint. */
  readonly paths?: Readonly<Partial<Record<EndpointName, string>>>
  /** Headers every call carries unless the client or the integration set them. */
  readonly headers?: Readonly<OutgoingHeaders>
  /** True when `stream_options.include_usage` is understood, so that streams can be metered. */
  readonly stream_usage: boolean
  /** Answers in this process instead of over the network; the same dispatcher at each call. */
  readonly transport?: () => Dispatcher
}
