import {indexedText} from '../../base/stored-text.ts'
import {MOST_SUM, saturated} from '../saturated.ts'
import type {LedgerLine} from './lines.ts'
import type {FlushRecord} from './record.ts'

/** The amounts that a slice adds to one row of `traffic.usage_hourly`. */
export interface HourlySum {
  readonly hour: string
  readonly organisation_id: string
  readonly workspace_id: string
  readonly api_key_id: string
  readonly provider_slug: string
  readonly provider: string
  readonly model: string
  readonly model_key: string
  requests: number
  failures: number
  unpriced: number
  prompt_tokens: bigint
  completion_tokens: bigint
  cost_nanousd: bigint
}

const HOUR_CHARACTERS = 13

/** The hour in which a call was admitted, as its rows name it: `2026-01-02T03:00:00.000Z`. */
export function hourOf(admitted_at: string): string {
  return `${admitted_at.slice(0, HOUR_CHARACTERS)}:00:00.000Z`
}

/** The hourly sums of entries, added one by one. */
export class HourlySums {
  readonly #sums = new Map<string, HourlySum>()
  #last: HourlySum | undefined

  add({entry}: FlushRecord): void {
    if (!this.#last || !isOf(this.#last, entry)) this.#last = this.#of(entry)
    const sum = this.#last
    sum.requests++
    if (entry.outcome !== 'ok') sum.failures++
    sum.unpriced += entry.unpriced
    sum.prompt_tokens += BigInt(entry.prompt_tokens)
    sum.completion_tokens += BigInt(entry.completion_tokens)
    sum.cost_nanousd += BigInt(entry.cost_nanousd)
  }

  /** Each row once, in the order of their keys: two processes that add to the same rows never wait in a ring. */
  get rows(): HourlySum[] {
    return inOrder(this.#sums).map(withBounds)
  }

  #of(entry: LedgerLine): HourlySum {
    const {organisation_id, workspace_id, api_key_id, provider} = entry
    const hour = hourOf(entry.admitted_at)
    const provider_slug = entry.provider_slug ?? ''
    const model = entry.model ?? ''
    const key = `${hour}\0${workspace_id}\0${api_key_id}\0${provider_slug}\0${provider}\0${model}`
    const names = {
      hour,
      organisation_id,
      workspace_id,
      api_key_id,
      provider_slug,
      provider,
      model,
      model_key: indexedText(model),
    }
    const counts = {requests: 0, failures: 0, unpriced: 0, prompt_tokens: 0n, completion_tokens: 0n, cost_nanousd: 0n}
    return getOrAdd(this.#sums, key, () => ({...names, ...counts}))
  }
}

/** Most entries are summed where the one before was: to see that costs less than a key. */
function isOf(sum: HourlySum, entry: LedgerLine): boolean {
  return (
    isWithin(sum.hour, entry.admitted_at) &&
    sum.workspace_id === entry.workspace_id &&
    sum.api_key_id === entry.api_key_id &&
    sum.provider_slug === (entry.provider_slug ?? '') &&
    sum.provider === entry.provider &&
    sum.model === (entry.model ?? '')
  )
}

/** True when a time is in an hour, as `hourOf` names it. */
export function isWithin(hour: string, time: string): boolean {
  for (let at = HOUR_CHARACTERS - 1; at >= 0; at--) if (hour.charCodeAt(at) !== time.charCodeAt(at)) return false
  return true
}

/** A slice may add more than a column holds. */
export function withBounds<
  T extends {readonly prompt_tokens: bigint; readonly completion_tokens: bigint; readonly cost_nanousd: bigint},
>(sum: T): T {
  const {prompt_tokens, completion_tokens, cost_nanousd} = sum
  if (prompt_tokens <= MOST_SUM && completion_tokens <= MOST_SUM && cost_nanousd <= MOST_SUM) return sum
  return {
    ...sum,
    prompt_tokens: saturated(prompt_tokens),
    completion_tokens: saturated(completion_tokens),
    cost_nanousd: saturated(cost_nanousd),
  }
}

export function getOrAdd<T>(sums: Map<string, T>, key: string, make: () => T): T {
  const found = sums.get(key)
  if (found !== undefined) return found
  const made = make()
  sums.set(key, made)
  return made
}

export function inOrder<T>(sums: ReadonlyMap<string, T>): T[] {
  return [...sums.keys()].sort().map(key => sums.get(key)!)
}
