import {readdirSync, readFileSync, statSync} from 'node:fs'
import {join} from 'node:path'
import {parseJson} from '../base/json-object.ts'
import {type PriceFile, readPriceFile} from './file.ts'
import {lookupKeys} from './names.ts'
import type {Price} from './price.ts'
import type {PriceLayer} from './prices.ts'

export interface LocalOptions {
  /** `MODEL_CONFIGS_PRICING_LOCAL_PATH`: a folder of `{provider}.json` (docs/pricing.md, Use your own price files). */
  readonly directory: string
  /** Called once for each bad file each time it is read: at most once an hour. */
  readonly warn: (sentence: string) => void
  readonly now_ms: () => number
}

/** How long what was read from a source of prices is used before it is read again (docs/pricing.md, Price sources). */
export const KEPT_MS = 60 * 60 * 1000
export const MAX_FILE_BYTES = 8 * 1024 * 1024
/** A provider's name in a file's name or a URL. */
export const PROVIDER_SLUG = /^[a-z0-9][a-z0-9-]{0,63}$/

/**
 * The operator's own files. One is read when its provider is first needed and again after an hour; one that is missing
 * means nothing, one that is bad goes to `warn` and left aside whole.
 */
export function openLocalFiles({directory, warn, now_ms}: LocalOptions): PriceLayer {
  const files = new Map<string, {readonly read_at_ms: number; readonly rows: PriceFile | undefined}>()
  let named: {readonly read_at_ms: number; readonly providers: ReadonlySet<string>} | undefined

  /** Anyone may name any provider: only those that have a file are remembered. */
  function providers(): ReadonlySet<string> {
    const now = now_ms()
    if (!named || now - named.read_at_ms >= KEPT_MS) named = {read_at_ms: now, providers: providersIn(directory)}
    return named.providers
  }

  function rowsOf(provider: string): PriceFile | undefined {
    if (!providers().has(provider)) return undefined
    const now = now_ms()
    const known = files.get(provider)
    if (known && now - known.read_at_ms < KEPT_MS) return known.rows
    const rows = readFile(join(directory, `${provider}.json`), provider, warn)
    files.set(provider, {read_at_ms: now, rows})
    return rows
  }

  return {
    find: (provider, model) => priceIn(rowsOf(provider), provider, model),
    fallback: provider => rowsOf(provider)?.fallback,
    list: () => [...providers()].flatMap(provider => [...(rowsOf(provider)?.models.values() ?? [])]),
  }
}

/** The price of a model in a provider's file, however it is spelled. */
export function priceIn(file: PriceFile | undefined, provider: string, model: string): Price | undefined {
  const key = file && lookupKeys(provider, model).find(name => file.models.has(name))
  return key === undefined ? undefined : file?.models.get(key)
}

/** The providers that have a file in `directory`, good or bad; none when it cannot be read. */
function providersIn(directory: string): ReadonlySet<string> {
  try {
    const names = readdirSync(directory).filter(name => name.endsWith('.json'))
    return new Set(names.map(name => name.slice(0, -'.json'.length)).filter(name => PROVIDER_SLUG.test(name)))
  } catch {
    return new Set()
  }
}

function readFile(file: string, provider: string, warn: LocalOptions['warn']): PriceFile | undefined {
  try {
    const stat = statSync(file, {throwIfNoEntry: false})
    if (!stat) return undefined
    if (stat.size > MAX_FILE_BYTES) throw new Error(`is ${stat.size} bytes long; expected at most ${MAX_FILE_BYTES}`)
    return readPriceFile(parseJson(readFileSync(file, 'utf8')), provider, 'local')
  } catch (error) {
    warn(
      `The price file ${file} is not used, the bundled prices are: ${error instanceof Error ? error.message : String(error)}`,
    )
    return undefined
  }
}
