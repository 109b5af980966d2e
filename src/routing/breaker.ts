import {LRUCache} from 'lru-cache'
import type {BreakerRule} from './plan.ts'
import type {TryResult} from './retry.ts'

/** The owner of a circuit: only saved configs have any. */
export interface CircuitKey {
  readonly config_id: string
  readonly workspace_id: string
  /** Of the leaf: `config.targets[0]`. */
  readonly path: string
}

export interface CircuitState extends CircuitKey {
  readonly state: 'open' | 'closed'
  /** Since it last closed, as are the next two. */
  readonly failures: number
  readonly successes: number
  /** Epoch milliseconds; null when there was none. */
  readonly first_failure_ms: number | null
  /** When it closes again, epoch milliseconds; null when it is closed. */
  readonly until_ms: number | null
}

/** The circuits of this process. Times are epoch milliseconds, given by the caller. */
export interface Circuits {
  isOpen(key: CircuitKey, now_ms: number): boolean
  /** Counts the outcome of a leaf's visit, retries and all; `asked_ms` is when the visit began. */
  record(key: CircuitKey, rule: BreakerRule, result: TryResult, asked_ms: number, now_ms: number): void
  /** The ones that are known, those used longest ago first. */
  list(now_ms: number): CircuitState[]
  /** Closes all circuits of a config: it changed, and its paths may lead elsewhere. */
  forget(config_id: string): void
}

interface Counts {
  failures: number
  successes: number
  first_failure_ms: number | null
  /** Calls and failures as the rate sees them. */
  rated: number
  rated_failures: number
  is_tripped: boolean
}

interface Circuit extends Counts {
  readonly key: CircuitKey
  /** Once it is tripped: open before this, closed and counting again from then on. */
  closes_ms: number
}

const NOTHING: Counts = {
  failures: 0,
  successes: 0,
  first_failure_ms: null,
  rated: 0,
  rated_failures: 0,
  is_tripped: false,
}
/**
 * The rate is that of about so many calls, or of twice the minimum: an outage must not hide behind a million old
 * successes.
 */
const RATED_CALLS = 1000

/**
 * Circuit breakers: a leaf that fails too often is left out until its cooldown is over, and starts again then, without
 * a probe (docs/configs.md, Circuit breaker). The `most` used last are remembered; one that is forgotten is closed.
 */
export function createCircuits({most = 10_000} = {}): Circuits {
  const circuits = new LRUCache<string, Circuit>({max: most})
  /** No circuit is open from then on: on most days no call has to look further. */
  let all_close_ms = Number.NEGATIVE_INFINITY

  return {
    isOpen(key, now_ms) {
      if (now_ms >= all_close_ms) return false
      const circuit = circuits.get(nameOf(key))
      return circuit !== undefined && now_ms < circuit.closes_ms
    },
    record(key, rule, result, asked_ms, now_ms) {
      const has_failed = hasFailed(rule, result)
      if (has_failed === null) return
      const name = nameOf(key)
      let circuit = circuits.get(name)
      if (!circuit) {
        circuit = {...NOTHING, key, closes_ms: Number.NEGATIVE_INFINITY}
        circuits.set(name, circuit)
      }
      // A visit that began before the circuit closed says nothing of the time after, and must not lengthen the
      // cooldown.
      if (asked_ms < circuit.closes_ms) return
      if (circuit.is_tripped) Object.assign(circuit, NOTHING)
      count(circuit, rule, has_failed, now_ms)
      if (!isTooMuch(circuit, rule)) return
      circuit.is_tripped = true
      circuit.closes_ms = now_ms + rule.cooldown_interval_ms
      all_close_ms = Math.max(all_close_ms, circuit.closes_ms)
    },
    list: now_ms => [...circuits.rvalues()].flatMap(circuit => (circuit ? shown(circuit, now_ms) : [])),
    forget(config_id) {
      for (const [name, {key}] of [...circuits.entries()]) if (key.config_id === config_id) circuits.delete(name)
    },
  }
}

/** Ids have no spaces. */
function nameOf({config_id, workspace_id, path}: CircuitKey): string {
  return `${config_id} ${workspace_id} ${path}`
}

/** Null: says nothing of the target, which was not called or did not answer in a way that the rule counts. */
function hasFailed({failure_status_codes}: BreakerRule, {status, kind}: TryResult): boolean | null {
  if (kind === 'refusal' || kind === 'gateway') return null
  if (failure_status_codes ? failure_status_codes.has(status) : status >= 500) return true
  return kind === 'answer' ? false : null
}

function count(circuit: Circuit, {minimum_requests}: BreakerRule, has_failed: boolean, now_ms: number) {
  if (circuit.rated >= Math.max(RATED_CALLS, 2 * (minimum_requests ?? 1))) {
    circuit.rated /= 2
    circuit.rated_failures /= 2
  }
  circuit.rated++
  if (!has_failed) {
    circuit.successes++
    return
  }
  circuit.failures++
  circuit.rated_failures++
  circuit.first_failure_ms ??= now_ms
}

function isTooMuch(
  circuit: Circuit,
  {failure_threshold, failure_threshold_percentage, minimum_requests}: BreakerRule,
): boolean {
  if (circuit.failures === 0) return false
  if (failure_threshold !== null && circuit.failures >= failure_threshold) return true
  if (failure_threshold_percentage === null || circuit.rated < (minimum_requests ?? 1)) return false
  return circuit.rated_failures * 100 >= failure_threshold_percentage * circuit.rated
}

function shown({key, is_tripped, closes_ms, ...counts}: Circuit, now_ms: number): CircuitState {
  if (is_tripped && now_ms >= closes_ms)
    return {...key, state: 'closed', failures: 0, successes: 0, first_failure_ms: null, until_ms: null}
  const {failures, successes, first_failure_ms} = counts
  return {
    ...key,
    state: is_tripped ? 'open' : 'closed',
    failures,
    successes,
    first_failure_ms,
    until_ms: is_tripped ? closes_ms : null,
  }
}
