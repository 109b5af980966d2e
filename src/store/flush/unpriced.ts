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

/** Which classes of tokens and units of entries have no price, added one by one. Most entries have none, and cost nothing here. */
export class UnpricedSums {
  readonly #sums = new Map<string, UnpricedHourlyTable>()

  add({entry}: FlushRecord): void {
    if (entry.unpriced === 0 || !entry.usage.includes('"unpriced_units"')) return
    const {organisation_id, workspace_id, api_key_id, provider} = entry
    const {unpriced_units = []} = JSON.parse(entry.usage) as Unpriced
    const hour = hourOf(entry.admitted_at)
    const model = entry.model ?? ''
    for (const unit of new Set(unpriced_units.map(kindOf))) {
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
