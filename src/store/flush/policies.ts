import {TOOL_RATE_UNITS} from '../../schema/limits.ts'
import {policyEntityId} from '../../schema/policy-entities.ts'
import {addedSum, saturated} from '../saturated.ts'
import type {FlushRecord} from './record.ts'
import {getOrAdd, inOrder} from './sums.ts'

/** The amounts that a slice adds to the usage of a policy's entity. */
export interface PolicySum {
  readonly policy_id: string
  readonly entity_id: string
  readonly since_at: string
  readonly value_key: string
  used: bigint
}

export const POLICY_COLUMNS = [
  'policy_id',
  'entity_id',
  'since_at',
  'value_key',
  'used',
] as const satisfies readonly (keyof PolicySum)[]

/** `type/period/since/policy/id/value key`, as limits write it. */
const OF_POLICY = new RegExp(
  `^(requests|tokens|cost)/(budget|${TOOL_RATE_UNITS.join('|')})/(\\d+)/policy/([^/]+)/(.+)$`,
  's',
)

/**
 * Sums of entries for the policies whose counters they claimed, added one by one: for budgets by the day of the call,
 * for rates by the window.
 */
export class PolicySums {
  readonly #usage = new Map<string, PolicySum>()
  readonly #windows = new Map<string, PolicySum>()

  add({entry, row}: FlushRecord): void {
    if (!entry.counter_keys.includes('/policy/')) return
    for (const key of JSON.parse(entry.counter_keys) as string[]) {
      const found = OF_POLICY.exec(key)
      if (!found) continue
      const [, type, period, since, policy_id = '', value_key = ''] = found
      const since_at = new Date(Number(since)).toISOString()
      const is_budget = period === 'budget'
      const day_at = `${entry.admitted_at.slice(0, 10)}T00:00:00.000Z`
      const from_at = is_budget && day_at > since_at ? day_at : since_at
      // the visits of a call are requests, its attempts there are not: the last of them has the row of the log
      const tokens = entry.prompt_tokens + entry.completion_tokens
      const used = type === 'requests' ? (row ? 1 : 0) : type === 'tokens' ? tokens : entry.cost_nanousd
      const make = () => ({
        policy_id,
        entity_id: policyEntityId(policy_id, value_key),
        since_at: from_at,
        value_key,
        used: 0n,
      })
      getOrAdd(is_budget ? this.#usage : this.#windows, `${policy_id}\n${value_key}\n${from_at}`, make).used +=
        BigInt(used)
    }
  }

  /** Each row once, in the order of their keys, so that two processes never wait in a ring. */
  get usage(): PolicySum[] {
    return inOrder(this.#usage).map(bounded)
  }

  get windows(): PolicySum[] {
    return inOrder(this.#windows).map(bounded)
  }
}

const bounded = (sum: PolicySum): PolicySum => ({...sum, used: saturated(sum.used)})

/** The end of an insert into `traffic.policy_usage`, whose rows `table` names. */
export const ADD_USAGE = (table: string) =>
  `on conflict (policy_id, entity_id, since_at) do update set used = ${addedSum(`${table}.used`, 'excluded.used')}`

/** Of `traffic.policy_windows`: a later window takes the place of the one before, an earlier one is over. */
export const ADD_WINDOW = (table: string) =>
  `on conflict (policy_id, entity_id) do update set
    used = case when excluded.since_at > ${table}.since_at then excluded.used when excluded.since_at = ${table}.since_at then ${addedSum(`${table}.used`, 'excluded.used')} else ${table}.used end,
    since_at = case when excluded.since_at > ${table}.since_at then excluded.since_at else ${table}.since_at end`
