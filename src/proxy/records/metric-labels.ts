import {storedText} from '../../base/stored-text.ts'
import type {CallMetrics} from '../services.ts'

/** Labels that settings add to those which every call has. */
export interface MetricLabels {
  readonly model: boolean
  /** The names under which the name of the config is a label. */
  readonly config_name: readonly string[]
  /** The same of the API key. */
  readonly key_name: readonly string[]
  /** Members of a call’s metadata, each with the name of its label. */
  readonly metadata: readonly {readonly label: string; readonly key: string}[]
  /** The sender of the answer: `source`, which is `provider` or `gateway`. */
  readonly source?: boolean
  /** The size of the body, in ranges: `payloadSizeRange`. */
  readonly payload_size?: boolean
  /** Labels of one value each: those of this service. */
  readonly fixed?: readonly {readonly label: string; readonly value: string}[]
}

/** Names of rows, as far as calls have used them of late. */
export interface NamesOfRows {
  config(id: string): string | undefined
  key(id: string): string | undefined
}

export const OTHER = 'other'
/** A value longer than this is cut. */
const MOST_VALUE_BYTES = 128
/** The product’s word for a call whose config has no name: it was in a header, or there was none. */
const INLINE = 'N/A'

/** The compatible product's ranges of sizes, in MB of 1,048,576 bytes. */
const SIZES_MB = [0, 2, 5, 10, 20] as const
const SOURCE = 'source'
const SIZE = 'payloadSizeRange'

type NamedFacts = Pick<
  Parameters<CallMetrics['ended']>[0],
  'config_id' | 'key_id' | 'metadata' | 'upstream_ms' | 'request_bytes'
>

/**
 * The text of the labels that settings add, in the text format and with a comma before it; empty where there are none.
 * A key of metadata that a call lacks is an empty value: Prometheus takes it for no label.
 */
export function extraLabels(wanted: MetricLabels, names: NamesOfRows) {
  const {config_name, key_name, metadata, source, payload_size, fixed = []} = wanted
  const always = fixed.map(({label, value}) => `,${label}="${escaped(value)}"`).join('')
  if (config_name.length + key_name.length + metadata.length === 0 && !source && !payload_size) return () => always
  return (facts: NamedFacts): string => {
    let text = always
    if (source) text += `,${SOURCE}="${facts.upstream_ms === null ? 'gateway' : 'provider'}"`
    if (payload_size) text += `,${SIZE}="${sizeRange(facts.request_bytes)}"`
    if (config_name.length > 0) {
      const name = facts.config_id === null ? INLINE : (names.config(facts.config_id) ?? facts.config_id)
      for (const label of config_name) text += `,${label}="${escaped(name)}"`
    }
    if (key_name.length > 0) {
      const name = facts.key_id === null ? '' : (names.key(facts.key_id) ?? facts.key_id)
      for (const label of key_name) text += `,${label}="${escaped(name)}"`
    }
    for (const {label, key} of metadata) {
      const value = Object.hasOwn(facts.metadata, key) ? facts.metadata[key]! : ''
      text += `,${label}="${escaped(value)}"`
    }
    return text
  }
}

/** The same labels with one value, for what has labels of its own no more. */
export function extraOthers(wanted: MetricLabels, value: string): string {
  const {config_name, key_name, metadata, source, payload_size, fixed = []} = wanted
  const names = [
    ...(source ? [SOURCE] : []),
    ...(payload_size ? [SIZE] : []),
    ...config_name,
    ...key_name,
    ...metadata.map(({label}) => label),
  ]
  return [...fixed, ...names.map(label => ({label, value}))]
    .map(each => `,${each.label}="${escaped(each.value)}"`)
    .join('')
}

function sizeRange(bytes: number | null): string {
  if (bytes === null) return 'na'
  const above = SIZES_MB.findLastIndex(mb => bytes > mb * 1024 * 1024)
  const at = Math.max(0, above)
  const to_mb = SIZES_MB[at + 1]
  return to_mb === undefined ? `>${SIZES_MB[at]}MB` : `${SIZES_MB[at]}-${to_mb}MB`
}

export function labelsIn(labels: Readonly<Record<string, string>>): string {
  return Object.entries(labels)
    .map(([name, value]) => `${name}="${escaped(value)}"`)
    .join(',')
}

const PLAIN = /^[\w ./:@-]{0,42}$/

function escaped(value: string): string {
  if (PLAIN.test(value)) return value
  const short = storedText(value, MOST_VALUE_BYTES)
  return short.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')
}
