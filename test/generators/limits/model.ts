import type {Enforcement, Entity, Unit} from './table.ts'

const DAY_MS = 86_400_000
const LENGTH_MS = {rpm: 60_000, rph: 3_600_000, rpd: DAY_MS} as const

/** What each call uses, and what a strict limit holds of it before. */
export const USED = {tokens: 7, cost_nanousd: 7_000} as const
export const HELD = {tokens: 10, cost_nanousd: 10_000} as const
/** What an attempt that was cut off is charged. */
export const RECOVERED = {tokens: 0, cost_nanousd: 5_000} as const

/** A limit as the test knows it. */
export interface Terms {
  readonly entity: Entity
  readonly unit: Unit
  enforcement: Enforcement
  period: 'weekly' | 'monthly' | null
  rate: 'rpm' | 'rph' | 'rpd'
  /** Tokens, nano-dollars or requests. */
  limit: number
  readonly set_ms: number
  reset_ms: number
}

interface Spent {
  readonly at_ms: number
  readonly tokens: number
  readonly cost_nanousd: number
}

interface Reservation {
  readonly call: string
  readonly key: string
  readonly amount: number
}

/** What a limit should let through and count, by the words of its page alone: no keys, no stores, no journals. */
export class Model {
  readonly terms: Terms
  readonly #spent: Spent[] = []
  #held: Reservation[] = []
  /** Of rates: what was used in each window that is known. */
  #windows = new Map<string, number>()

  constructor(terms: Terms) {
    this.terms = terms
  }

  /** The start of what a budget counts. */
  since(now_ms: number): number {
    const {period, set_ms, reset_ms, entity} = this.terms
    const now = new Date(now_ms)
    const today_ms = Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), now.getUTCDate())
    const weeks_begin = entity === 'policy' ? 1 : 0
    const starts_ms = {
      monthly: Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), 1),
      weekly: today_ms - ((now.getUTCDay() - weeks_begin + 7) % 7) * DAY_MS,
    }
    return Math.max(set_ms, reset_ms, period ? starts_ms[period] : 0)
  }

  ends(now_ms: number): number {
    const {unit, rate, period} = this.terms
    if (unit.kind === 'rate') return (Math.floor(now_ms / LENGTH_MS[rate]) + 1) * LENGTH_MS[rate]
    const now = new Date(now_ms)
    return period === 'weekly'
      ? this.since(now_ms) + 8 * DAY_MS
      : Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1, 1)
  }

  #key(now_ms: number): string {
    const {unit, rate} = this.terms
    return unit.kind === 'budget' ? `since ${this.since(now_ms)}` : `${rate} ${Math.floor(now_ms / LENGTH_MS[rate])}`
  }

  used(now_ms: number): number {
    const key = this.#key(now_ms)
    const held = this.#held.filter(each => each.key === key).reduce((sum, {amount}) => sum + amount, 0)
    if (this.terms.unit.kind === 'rate') return (this.#windows.get(key) ?? 0) + held
    return this.ledger(now_ms) + held
  }

  /** What calls that ended used of a budget. */
  ledger(now_ms: number): number {
    const since_ms = this.since(now_ms)
    return this.#spent.filter(({at_ms}) => at_ms >= since_ms).reduce((sum, spent) => sum + this.#amount(spent), 0)
  }

  /** Whether a call that comes in now is let through; takes what it holds, if so. */
  admits(call: string, now_ms: number): boolean {
    const {enforcement, unit, limit} = this.terms
    const holds = enforcement === 'strict' && unit.type !== 'requests'
    const wanted = holds ? this.#amount(HELD) : 1
    if (enforcement !== 'shadow' && this.used(now_ms) + wanted > limit) return false
    const key = this.#key(now_ms)
    if (unit.kind === 'rate') this.#windows.set(key, (this.#windows.get(key) ?? 0) + (unit.type === 'requests' ? 1 : 0))
    this.#held.push({call, key, amount: holds ? wanted : 0})
    return true
  }

  /** A call ends that came in at `at_ms`. */
  ended(call: string, at_ms: number, used: Omit<Spent, 'at_ms'>) {
    this.#spent.push({at_ms, ...used})
    const {unit} = this.terms
    const held = this.#held.find(each => each.call === call)
    this.#held = this.#held.filter(each => each.call !== call)
    if (unit.kind === 'budget' || unit.type === 'requests') return
    // a window that is not known any more is not begun by what ends in it
    const window = held && this.#windows.get(held.key)
    if (window !== undefined) this.#windows.set(held!.key, window + this.#amount(used))
  }

  /** The counters are gone: windows and holds with them. What calls under way use counts when they end. */
  lost() {
    this.#windows.clear()
    this.#held = this.#held.map(each => ({...each, amount: 0}))
  }

  #amount({tokens, cost_nanousd}: Omit<Spent, 'at_ms'>): number {
    const {type} = this.terms.unit
    return type === 'cost' ? cost_nanousd : type === 'tokens' ? tokens : 1
  }
}
