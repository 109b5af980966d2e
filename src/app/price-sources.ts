import {request} from 'undici'
import {readBaseUrl} from '../base/egress/base-url.ts'
import type {Egress} from '../base/egress/pools.ts'
import type {Log} from '../base/log.ts'
import {openPricing, type Pricing} from '../pricing/open.ts'
import type {Fetch} from '../pricing/remote.ts'
import {find as findKind} from '../providers/registry.ts'
import type {Settings} from '../settings/index.ts'
import type {Db} from '../store/database.ts'
import {integrationKinds} from '../store/prices.ts'
import {openEgress} from './egress.ts'

const PATIENCE_MS = 10_000
/** How long the start waits for what other places say of the providers that integrations name. */
const START_PATIENCE_MS = 3_000
const MAX_BYTES = 8 * 1024 * 1024

export interface SourcesParts {
  readonly settings: Settings
  readonly db: Db
  readonly log: Pick<Log, 'warn'>
  readonly now: () => number
}

export interface PriceSources {
  readonly pricing: Pricing
  /** Bring prices up to date; none where no place is to be read again. */
  readonly refreshes: readonly (() => Promise<void>)[]
  close(): Promise<void>
}

/** Prices from all sources that the settings name, read once; and the way out that they need. */
export async function openSources({settings, db, log, now}: SourcesParts): Promise<PriceSources> {
  const egress = settings.model_configs_proxy_fetch_enabled ? openEgress(settings) : undefined
  const pricing = openPricing({
    settings,
    db,
    ...(egress && {fetch: textFetch(egress)}),
    isProvider: slug => findKind(slug) !== undefined,
    warn: sentence => log.warn(sentence),
    now_ms: now,
  })
  await pricing.refresh()
  const asks = egress !== undefined || settings.model_configs_pricing_log_store_path !== undefined
  const refreshes = asks ? [() => pricing.refresh(), () => askPlaces(pricing, db)] : []
  return {pricing, refreshes, close: async () => egress?.destroy()}
}

/** Asks other places for the providers that integrations name, so that the first call is priced by what they say. */
export async function prepareSources(pricing: Pricing, db: Db): Promise<void> {
  const patience = new Promise<void>(resolve => setTimeout(resolve, START_PATIENCE_MS).unref())
  await Promise.race([patience, askPlaces(pricing, db)])
}

async function askPlaces(pricing: Pricing, db: Db): Promise<void> {
  const kinds = await integrationKinds(db)
  await Promise.all(kinds.map(kind => pricing.ready(kind)))
}

/**
 * Small files over the wall. The operator names the host in the settings, so it may be a private one; redirects are
 * replies.
 */
function textFetch(egress: Egress): Fetch {
  return async url => {
    const {origin} = new URL(url)
    const {hostname} = readBaseUrl(origin)
    const destination = egress.destination(origin, {kind: 'integration', id: 'model-configs', host: hostname})
    const signal = AbortSignal.timeout(PATIENCE_MS)
    const reply = await request(url, {
      dispatcher: egress.pool(destination),
      signal,
      headers: {accept: 'application/json'},
    })
    const parts: Buffer[] = []
    let bytes = 0
    for await (const part of reply.body) {
      bytes += (part as Buffer).length
      if (bytes > MAX_BYTES) throw new Error(`the answer is longer than ${MAX_BYTES} bytes`)
      parts.push(part as Buffer)
    }
    return {status: reply.statusCode, text: Buffer.concat(parts).toString('utf8')}
  }
}
