import {indexedText, MAX_ID_BYTES, storedText} from '../../base/stored-text.ts'
import type {UnpricedHourlyTable} from '../tables/traffic.ts'
import type {Unpriced} from './encode.ts'
import type {FlushRecord} from './record.ts'
import {getOrAdd, hourOf, inOrder} from './sums.ts'

export const UNPRICED_KEY = [
  'hour',
  'workspace_id',
  'api_key_id',
  'provider',
  'model_key',
  'unit',
] as const satisfies readonly (keyof UnpricedHourlyTable)[]

export const UNPRICED_COLUMNS = [
  ...UNPRICED_KEY,
  'model',
  'organisation_id',
  'requests',
] as const satisfies readonly (keyof UnpricedHourlyTable)[]

/**
 * Prefixes of a name that is no class of tokens and no unit: a mode, an unknown number of a report, an unmetered
 * endpoint.
 */
export const OTHER_PARTS = {mode: 'mode:', usage: 'usage:', operation: 'operation:'} as const
const FLAGS = /"(?:unpriced_units|mode_unpriced|usage_unknown)":/

/**
 * The parts of entries that have no price or no known meaning, added one by one. Most entries have none, and cost
 * nothing here.
 */
export class UnpricedSums {
  readonly #sums = new Map<string, UnpricedHourlyTable>()

  add({entry}: FlushRecord): void {
    const is_unmetered = entry.usage_source === 'unmetered'
    if (!is_unmetered && !FLAGS.test(entry.usage)) return
    const {organisation_id, workspace_id, api_key_id, provider} = entry
    const {unpriced_units = [], mode_unpriced, usage_unknown = []} = JSON.parse(entry.usage) as Unpriced
    const parts = [
      ...unpriced_units.map(kindOf),
      ...(mode_unpriced ? [`${OTHER_PARTS.mode}${mode_unpriced}`] : []),
      ...usage_unknown.map(path => `${OTHER_PARTS.usage}${path}`),
      ...(is_unmetered ? [`${OTHER_PARTS.operation}${entry.endpoint}`] : []),
    ]
    const hour = hourOf(entry.admitted_at)
    const model = entry.model ?? ''
    for (const unit of new Set(parts)) {
      const key = `${hour}\0${workspace_id}\0${api_key_id}\0${provider}\0${model}\0${unit}`
      const make = () => ({
        hour,
        organisation_id,
        workspace_id,
        api_key_id,
        provider,
        model,
        model_key: indexedText(model),
        unit,
        requests: 0,
      })
      getOrAdd(this.#sums, key, make).requests++
    }
  }

  /** Each row once, in the order of their keys: two processes that add to the same rows never wait in a ring. */
  get rows(): UnpricedHourlyTable[] {
    return inOrder(this.#sums)
  }
}

/** Images have as many units as clients have words for quality and size. */
function kindOf(unit: string): string {
  return unit.startsWith('image:') ? 'image' : storedText(unit, MAX_ID_BYTES)
}
