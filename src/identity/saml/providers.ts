import {createHash, type KeyObject} from 'node:crypto'
import type {Log} from '../../base/log.ts'
import type {SamlSettings} from '../../schema/connections.ts'
import {SignInFault} from '../sign-in-fault.ts'
import {checkValid, isSecureAddress, readMetadata, type SamlProvider} from './metadata.ts'

/** The settings of a connection that say where its metadata is. */
export type MetadataSettings = Pick<SamlSettings, 'metadata_url' | 'metadata_xml' | 'entity_id'>

export interface SamlProvidersOptions {
  /** Asks once, follows no redirect, and rejects where no metadata comes within 5 seconds and 1 MiB. */
  readonly fetch: (url: string) => Promise<{readonly text: string}>
  /** A clock that is never set; milliseconds. */
  readonly steady_ms: () => number
  /** The clock of the machine; epoch milliseconds. */
  readonly now_ms: () => number
  /** JWKS_REFETCH_MIN_INTERVAL_MS. */
  readonly refetch_min_interval_ms: number
  /** From 0 to 1. */
  readonly random: () => number
  readonly log: Pick<Log, 'warn'>
}

interface KnownProvider {
  readonly name: string
  readonly settings: MetadataSettings
  /** Null: never read. */
  provider: SamlProvider | null
  /** Of the last read, where it failed. */
  refusal: SignInFault | null
  /** Of `steady_ms`: the last read that brought metadata, and the last that was tried. */
  read_ms: number
  tried_ms: number
  fresh_ms: number
  reading: Promise<void> | null
}

const FRESH_MS = 21_600_000
/** Processes that started together do not ask at one time: a share of the whole, to both sides. */
const SPREAD = 0.1
const MIN_FRESH_MS = 60_000
/** How long metadata is used whose address does not answer. */
const MAX_STALE_MS = 7 * 86_400_000
const MAX_BYTES = 1_048_576
const MAX_PROVIDERS = 1_000

/** Identity providers by their metadata: of an address, read when it is needed, or in the settings themselves. */
export class SamlProviders {
  readonly #options: SamlProvidersOptions
  /** In the order of their use. */
  readonly #known = new Map<string, KnownProvider>()

  constructor(options: SamlProvidersOptions) {
    this.#options = options
  }

  /** Throws a `SignInFault` with `provider_unreachable`, `provider_invalid` or `not_configured`. */
  async providerOf(settings: MetadataSettings): Promise<SamlProvider> {
    const known = this.#knownOf(settings)
    const is_over = known.provider?.valid_until && Date.parse(known.provider.valid_until) <= this.#options.now_ms()
    if (is_over || this.#options.steady_ms() - known.read_ms >= known.fresh_ms) await this.#readAgain(known)
    const {provider} = known
    const is_stale = this.#options.steady_ms() - known.read_ms >= MAX_STALE_MS && settings.metadata_xml === null
    if (provider === null || is_stale)
      throw known.refusal ?? new SignInFault('provider_unreachable', 'The metadata of the provider does not answer.')
    checkValid(provider, this.#options.now_ms())
    return provider
  }

  /**
   * The provider where its metadata, read again after a signature by an unknown key, has another key than `known`; else
   * undefined. However many such signatures come, the address gets one request in JWKS_REFETCH_MIN_INTERVAL_MS.
   */
  async changedProviderOf(settings: MetadataSettings, known: SamlProvider): Promise<SamlProvider | undefined> {
    if (settings.metadata_xml !== null) return undefined
    await this.#readAgain(this.#knownOf(settings))
    const provider = await this.providerOf(settings)
    return provider.certificates.some(key => !isAmong(key, known.certificates)) ? provider : undefined
  }

  /** The provider, read now; throws what went wrong. For administrators who set it up. */
  async tried(settings: MetadataSettings): Promise<SamlProvider> {
    return await this.#fetched(settings)
  }

  /** The reason why the last read of the metadata failed; null where it did not, or where none was. */
  lastRefusal(settings: MetadataSettings): SignInFault | null {
    return this.#knownOf(settings).refusal
  }

  #knownOf(settings: MetadataSettings): KnownProvider {
    const {metadata_url, metadata_xml, entity_id} = settings
    const place = metadata_xml === null ? metadata_url : createHash('sha256').update(metadata_xml).digest('base64')
    const name = JSON.stringify([metadata_xml === null ? 'url' : 'xml', place, entity_id])
    const known: KnownProvider = this.#known.get(name) ?? {
      ...{name, settings, provider: null, refusal: null, reading: null, fresh_ms: FRESH_MS},
      ...{read_ms: Number.NEGATIVE_INFINITY, tried_ms: Number.NEGATIVE_INFINITY},
    }
    this.#known.delete(name)
    this.#known.set(name, known)
    if (this.#known.size > MAX_PROVIDERS) this.#known.delete(this.#known.keys().next().value!)
    return known
  }

  /** One at a time, and none too soon after the last. Never rejects: what was read before stays. */
  #readAgain(known: KnownProvider): Promise<void> {
    if (known.reading) return known.reading
    const steady_ms = this.#options.steady_ms()
    const is_soon = steady_ms - known.tried_ms < this.#options.refetch_min_interval_ms
    if (is_soon && known.settings.metadata_xml === null) return Promise.resolve()
    known.tried_ms = steady_ms
    known.reading = this.#read(known).finally(() => {
      known.reading = null
    })
    return known.reading
  }

  async #read(known: KnownProvider): Promise<void> {
    const {steady_ms, random, log} = this.#options
    try {
      const provider = await this.#fetched(known.settings)
      if (known.provider && known.provider.entity_id !== provider.entity_id)
        throw new SignInFault('provider_invalid', 'The metadata describes another entity than before.')
      known.provider = provider
      known.refusal = null
      known.read_ms = steady_ms()
      const spread_ms = Math.round(FRESH_MS * (1 + SPREAD * (2 * random() - 1)))
      const {cache_duration_s} = provider
      const wanted_ms = cache_duration_s === null ? spread_ms : Math.min(spread_ms, cache_duration_s * 1000)
      known.fresh_ms = known.settings.metadata_xml === null ? Math.max(MIN_FRESH_MS, wanted_ms) : Infinity
    } catch (fault) {
      known.refusal = refusalOf(fault)
      const {metadata_url} = known.settings
      const at = metadata_url === null ? null : URL.parse(metadata_url)?.origin
      log.warn({fault: known.refusal, url: at}, 'the metadata of a SAML provider could not be read; that before stays')
    }
  }

  async #fetched(settings: MetadataSettings): Promise<SamlProvider> {
    const {metadata_url, metadata_xml, entity_id} = settings
    if (metadata_xml === null && metadata_url === null)
      throw new SignInFault('not_configured', 'The connection has neither metadata nor an address of it.')
    if (metadata_xml === null && !isSecureAddress(metadata_url!))
      throw new SignInFault('provider_invalid', 'The address of the metadata is no https URL.')
    try {
      const text = metadata_xml ?? (await this.#options.fetch(metadata_url!)).text
      if (Buffer.byteLength(text) > MAX_BYTES) throw new SignInFault('provider_invalid', 'It is longer than 1 MiB.')
      return await readMetadata(text, entity_id, this.#options.now_ms())
    } catch (fault) {
      throw refusalOf(fault)
    }
  }
}

function refusalOf(fault: unknown): SignInFault {
  if (fault instanceof SignInFault) return fault
  const detail = 'The metadata of the provider does not answer.'
  return new SignInFault('provider_unreachable', detail, {cause: fault})
}

function isAmong(key: KeyObject, keys: readonly KeyObject[]): boolean {
  return keys.some(each => each.equals(key))
}
