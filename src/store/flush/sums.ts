import type {FlushRecord} from './record.ts'

/** What a slice adds to one row of `traffic.usage_hourly`. */
export interface HourlySum {
  readonly hour: string
  readonly organisation_id: string
  readonly workspace_id: string
  readonly api_key_id: string
  readonly provider_slug: string
  readonly provider: string
  readonly model: string
  requests: number
  failures: number
  unpriced: number
  prompt_tokens: bigint
  completion_tokens: bigint
  cost_nanousd: bigint
}

/** The hour in which a call was admitted, as its rows name it: `2026-01-02T03:00:00.000Z`. */
export function hourOf(admitted_at: string): string {
  return `${admitted_at.slice(0, 13)}:00:00.000Z`
}

/** The hourly sums of entries, each row once, in the order of their keys: two processes that add to the same rows never wait in a ring. */
export function hourlySums(records: readonly FlushRecord[]): HourlySum[] {
  const sums = new Map<string, HourlySum>()
  for (const {entry} of records) {
    const {workspace_id, api_key_id, provider} = entry
    const hour = hourOf(entry.admitted_at)
    const provider_slug = entry.provider_slug ?? ''
    const model = entry.model ?? ''
    const key = `${hour}\0${workspace_id}\0${api_key_id}\0${provider_slug}\0${provider}\0${model}`
    let sum = sums.get(key)
    if (!sum) {
      sum = {
        hour,
        organisation_id: entry.organisation_id,
        workspace_id,
        api_key_id,
        provider_slug,
        provider,
        model,
        requests: 0,
        failures: 0,
        unpriced: 0,
        prompt_tokens: 0n,
        completion_tokens: 0n,
        cost_nanousd: 0n,
      }
      sums.set(key, sum)
    }
    sum.requests++
    if (entry.outcome !== 'ok') sum.failures++
    sum.unpriced += entry.unpriced
    sum.prompt_tokens += BigInt(entry.prompt_tokens)
    sum.completion_tokens += BigInt(entry.completion_tokens)
    sum.cost_nanousd += BigInt(entry.cost_nanousd)
  }
  return [...sums.keys()].sort().map(key => sums.get(key)!)
}
