import {readFile, stat} from 'node:fs/promises'
import {join} from 'node:path'
import {parseJson} from '../base/json-object.ts'
import {KEPT_MS, MAX_FILE_BYTES, PROVIDER_SLUG} from './local.ts'

/** A place that holds a file for each provider. The directory of a log store and the proxy service are such places. */
export interface ProviderFiles {
  /** For sentences: `the proxy https://prices.example.com`. */
  readonly place: string
  /** The text of a provider's file; null when the place has none. Throws when the place cannot be read. */
  read(provider: string): Promise<string | null>
}

/** Asks a URL; gives the status and the text. Its maker bounds it in time and length. */
export type Fetch = (url: string) => Promise<{readonly status: number; readonly text: string}>

/** `{url}/{folder}/{provider}`, else the same ending in `.json`, as hosted files are called. */
export function proxyFiles(url: string, folder: 'pricing' | 'general', fetch: Fetch): ProviderFiles {
  const root = `${url.replace(/\/+$/, '')}/${folder}`
  return {
    place: `the proxy ${root}`,
    async read(provider) {
      for (const name of [provider, `${provider}.json`]) {
        const {status, text} = await fetch(`${root}/${name}`)
        if (status === 200) return text
        if (status !== 404) throw new Error(`it answered ${status}`)
      }
      return null
    },
  }
}

/** A directory of `{provider}.json`. */
export function directoryFiles(place: string, directory: string): ProviderFiles {
  return {
    place: `${place} ${directory}`,
    async read(provider) {
      const file = join(directory, `${provider}.json`)
      try {
        const {size} = await stat(file)
        if (size > MAX_FILE_BYTES)
          throw new Error(`${provider}.json is ${size} bytes long; expected at most ${MAX_FILE_BYTES}`)
        return await readFile(file, 'utf8')
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
        throw error
      }
    },
  }
}

export interface HourlyOptions<T> {
  readonly files: ProviderFiles
  readonly parse: (value: unknown, provider: string) => T
  /** Only these providers are looked up: names that callers make up cost no question. */
  readonly isProvider: (provider: string) => boolean
  /** Called when a file cannot be fetched or read, once an hour. */
  readonly warn: (sentence: string) => void
  readonly now_ms: () => number
}

/** A place that failed is read again so soon; its failure is reported once an hour. */
const RETRY_MS = 60_000

interface Held<T> {
  ask_at_ms: number
  warned_at_ms: number
  value: T | undefined
  under_way: Promise<void> | null
}

/**
 * The prices of a place for each provider, kept in memory for an hour and then read again. No caller waits: the held
 * prices stay in use until the answer is there, also when the place fails meanwhile. Prices that were never fetched are
 * undefined, so that the next source is read.
 */
export class HourlyFiles<T> {
  readonly #options: HourlyOptions<T>
  readonly #held = new Map<string, Held<T>>()

  constructor(options: HourlyOptions<T>) {
    this.#options = options
  }

  get(provider: string): T | undefined {
    const held = this.#entry(provider)
    if (held && !held.under_way && this.#options.now_ms() >= held.ask_at_ms) this.#ask(provider, held)
    return held?.value
  }

  /** Waits until the provider's file was read, where it was not within the hour. */
  async ready(provider: string): Promise<void> {
    this.get(provider)
    await this.#held.get(provider)?.under_way
  }

  values(): readonly T[] {
    return [...this.#held.values()].flatMap(({value}) => value ?? [])
  }

  #entry(provider: string): Held<T> | undefined {
    const known = this.#held.get(provider)
    if (known || !PROVIDER_SLUG.test(provider) || !this.#options.isProvider(provider)) return known
    const held: Held<T> = {ask_at_ms: -Infinity, warned_at_ms: -Infinity, value: undefined, under_way: null}
    this.#held.set(provider, held)
    return held
  }

  #ask(provider: string, held: Held<T>) {
    const {files, parse, warn, now_ms} = this.#options
    const requested_at_ms = now_ms()
    held.ask_at_ms = requested_at_ms + KEPT_MS
    held.under_way = files
      .read(provider)
      .then(text => {
        held.value = text === null ? undefined : parse(parseJson(text), provider)
      })
      .catch((error: unknown) => {
        held.ask_at_ms = requested_at_ms + RETRY_MS
        if (requested_at_ms - held.warned_at_ms < KEPT_MS) return
        held.warned_at_ms = requested_at_ms
        const reason = error instanceof Error ? error.message : String(error)
        const used = held.value === undefined ? 'the next source is asked' : 'what it said before is used'
        warn(`What ${files.place} holds of ${provider} cannot be used, ${used}: ${reason}`)
      })
      .finally(() => {
        held.under_way = null
      })
  }
}
