import {readdirSync, readFileSync, statSync} from 'node:fs'
import {join} from 'node:path'
import type {Catalogue} from './catalogue.ts'
import {PricingConfigError, readCalculate, readPricingConfig} from './config.ts'
import {lookupKeys} from './names.ts'
import type {Price} from './price.ts'

/** Where a call's price is asked. */
export interface Prices {
  lookup(provider: string, model: string): Price | undefined
  /** Every price that a model is named with, by provider and model. */
  list(): readonly Price[]
}

export interface LocalOptions {
  /** `MODEL_CONFIGS_PRICING_LOCAL_PATH`: a folder of `{provider}.json` in the reference's file format; null when there is none. */
  readonly directory: string | null
  readonly catalogue: Catalogue
  /** Called once for each bad file each time it is read: at most once an hour. */
  readonly warn: (sentence: string) => void
  readonly now_ms: () => number
}

const KEPT_MS = 60 * 60 * 1000
const MOST_BYTES = 8 * 1024 * 1024
const SLUG = /^[a-z0-9][a-z0-9-]{0,63}$/

/**
 * The catalogue with the operator's own prices over it. A model is priced by its local row; else by the catalogue; else by the file's
 * `default`, should that price anything. A file is read when its provider is first asked for and again after an hour; one that is
 * missing means nothing, one that is bad is told to `warn` and left aside whole.
 */
export function openPrices({directory, catalogue, warn, now_ms}: LocalOptions): Prices {
  if (directory === null) return catalogue
  const files = new Map<string, {readonly read_at_ms: number; readonly rows: LocalFile | undefined}>()
  let named: {readonly read_at_ms: number; readonly providers: ReadonlySet<string>} | undefined

  /** Providers are asked for by anyone: only those that have a file are remembered. */
  function providers(): ReadonlySet<string> {
    const now = now_ms()
    if (!named || now - named.read_at_ms >= KEPT_MS) named = {read_at_ms: now, providers: providersIn(directory!)}
    return named.providers
  }

  function rowsOf(provider: string): LocalFile | undefined {
    if (!providers().has(provider)) return undefined
    const now = now_ms()
    const known = files.get(provider)
    if (known && now - known.read_at_ms < KEPT_MS) return known.rows
    const rows = readFile(join(directory!, `${provider}.json`), provider, warn)
    files.set(provider, {read_at_ms: now, rows})
    return rows
  }

  function ownPrice(provider: string, model: string): Price | undefined {
    const models = rowsOf(provider)?.models
    const key = models && lookupKeys(provider, model).find(name => models.has(name))
    return key === undefined ? undefined : models?.get(key)
  }

  return {
    lookup: (provider, model) => ownPrice(provider, model) ?? catalogue.lookup(provider, model) ?? rowsOf(provider)?.fallback,
    list() {
      const own = [...providers()].flatMap(provider => [...(rowsOf(provider)?.models.values() ?? [])])
      const others = catalogue.list().filter(({provider, model}) => ownPrice(provider, model) === undefined)
      return [...others, ...own].sort((one, other) => order(one.provider, other.provider) || order(one.model, other.model))
    },
  }
}

const order = (one: string, other: string) => (one < other ? -1 : one > other ? 1 : 0)

/** The providers that have a file in `directory`, good or bad; none when it cannot be read. */
function providersIn(directory: string): ReadonlySet<string> {
  try {
    const names = readdirSync(directory).filter(name => name.endsWith('.json'))
    return new Set(names.map(name => name.slice(0, -'.json'.length)).filter(name => SLUG.test(name)))
  } catch {
    return new Set()
  }
}

/** A provider's file: its models by lower-case id, and its `default` where that is worth something. */
export interface LocalFile {
  readonly models: ReadonlyMap<string, Price>
  readonly fallback: Price | undefined
}

/** A local file's text as prices. Throws an error that leads to the field: `gpt-4o.pricing_config.pay_as_you_go.request_token.price`. */
export function readLocalFile(text: string, provider: string): LocalFile {
  const rows: unknown = JSON.parse(text)
  if (!isObject(rows)) throw new PricingConfigError('', 'expected an object of models')
  const configOf = (model: string, row: unknown) => {
    if (!isObject(row) || !isObject(row.pricing_config)) throw new PricingConfigError(model, 'expected {"pricing_config": {...}}')
    return row.pricing_config
  }
  const calculate = rows.default === undefined ? null : within('default', () => readCalculate(configOf('default', rows.default)))
  const priceOf = (model: string) =>
    within(model, () => readPricingConfig(configOf(model, rows[model]), {provider, model, source: 'local', calculate}))
  const models = new Map<string, Price>()
  for (const model of Object.keys(rows)) if (model !== 'default') models.set(model.toLowerCase(), priceOf(model))
  const fallback = rows.default === undefined ? undefined : priceOf('default')
  return {models, fallback: fallback && isWorth(fallback) ? fallback : undefined}
}

function readFile(file: string, provider: string, warn: LocalOptions['warn']): LocalFile | undefined {
  try {
    const stat = statSync(file, {throwIfNoEntry: false})
    if (!stat) return undefined
    if (stat.size > MOST_BYTES) throw new Error(`is ${stat.size} bytes long; expected at most ${MOST_BYTES}`)
    return readLocalFile(readFileSync(file, 'utf8'), provider)
  } catch (error) {
    warn(`The price file ${file} is not used, the bundled prices are: ${error instanceof Error ? error.message : String(error)}`)
    return undefined
  }
}

function within<T>(model: string, work: () => T): T {
  try {
    return work()
  } catch (error) {
    if (!(error instanceof PricingConfigError) || error.path === model) throw error
    throw new PricingConfigError(`${model}.pricing_config${error.path === '' ? '' : `.${error.path}`}`, error.reason)
  }
}

function isWorth({periods}: Price): boolean {
  return periods.some(({rates, units = {}}) => [...Object.values(rates), ...Object.values(units).flat()].some(rate => rate > 0))
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
