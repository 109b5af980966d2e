import {parseJson} from '../../base/json-object.ts'
import type {TelemetryContent} from '../../settings/index.ts'
import type {FactNames, Generation} from '../semconv.ts'

/** The settings by which spans are made of records. */
export interface SpanServices {
  readonly names: FactNames
  readonly generation: Generation
  readonly content: TelemetryContent
}

/** The fallback's place among the targets of its config: the last number of `config.targets[1]`. */
export function fallbackIndex(option_path: string): number | undefined {
  const found = /\[(\d{1,6})\]$/.exec(option_path)
  return found ? Number(found[1]) : undefined
}

/** Host and port of an address. */
export function placeOf(url: string | null): {readonly address?: string; readonly port?: number} {
  const parsed = url === null ? null : URL.parse(url)
  if (!parsed) return {}
  return {address: parsed.hostname, port: Number(parsed.port) || (parsed.protocol === 'http:' ? 80 : 443)}
}

/** Metadata of a call as it was stored. */
export function metadataOf(text: string): readonly (readonly [string, string])[] {
  return Object.entries(parseJson(text) as Record<string, string>)
}
