import type {Base, Claim} from './index.ts'

export interface MemoryCounter {
  used: bigint
  /** Of one that was restored: the ledger can restore it again. */
  revision: number | null
  held: bigint
  readonly ends_at_ms: number
  readonly group: CounterGroup | null
}

/** The counters of one policy: as many as calls have names for, where those of keys are as many as there are keys. */
interface CounterGroup {
  readonly name: string
  size: number
  /** Those that can be restored, the oldest first. */
  readonly restorable: Set<string>
}

export interface CounterBounds {
  readonly most_counters: number
  readonly most_of_group: number
}

/** Counters looked at, at every reservation: more than one makes room faster than it is taken. */
const SWEPT_AT_ONCE = 2
/** Counters that are held are passed over in the search for one that may go. */
const MOST_LOOKED_AT = 64

/**
 * The counters of a process, bounded in all and for each policy. At a bound those that have ended go first, then those
 * that the ledger can restore; where neither is left, a policy gets no new counter. What limits a key, a workspace, a
 * provider or an integration always does.
 */
export class BoundedMap {
  readonly #counters = new Map<string, MemoryCounter>()
  readonly #groups = new Map<string, CounterGroup>()
  /** Of no group. */
  readonly #restorable = new Set<string>()
  readonly #bounds: CounterBounds
  #swept = this.#counters.entries()
  /** No counter ends before. */
  #ends_from_ms = Number.POSITIVE_INFINITY

  constructor(bounds: CounterBounds) {
    this.#bounds = bounds
  }

  get(key: string): MemoryCounter | undefined {
    return this.#counters.get(key)
  }

  has(key: string): boolean {
    return this.#counters.has(key)
  }

  [Symbol.iterator](): MapIterator<[string, MemoryCounter]> {
    return this.#counters.entries()
  }

  create({key, used, ends_at_ms, group: name}: Base, revision: number | null): void {
    const group = name === undefined ? null : this.#groupOf(name)
    if (group) group.size++
    if (revision !== null) (group?.restorable ?? this.#restorable).add(key)
    this.#counters.set(key, {used, held: 0n, revision, ends_at_ms, group})
    this.#ends_from_ms = Math.min(this.#ends_from_ms, ends_at_ms)
  }

  /** True when this new counter finds room, `fresh` of them being made now. Counters of `claims` stay. */
  makesRoom(
    {group: name}: Pick<Claim, 'group'>,
    fresh: number,
    claims: readonly {readonly key: string}[],
    time_ms: number,
  ): boolean {
    const group = name === undefined ? undefined : this.#groups.get(name)
    const {most_counters, most_of_group} = this.#bounds
    const isFull = () => this.#counters.size + fresh > most_counters
    const isGroupFull = () => name !== undefined && (group?.size ?? 0) + fresh > most_of_group
    if (!isFull() && !isGroupFull()) return true
    this.#forgetEnded(time_ms)
    const isKept = (key: string) => claims.some(claim => claim.key === key)
    while (isGroupFull()) if (!this.#forgetOne(group?.restorable, isKept)) return false
    while (isFull()) {
      const sets = [this.#restorable, ...[...this.#groups.values()].map(({restorable}) => restorable)]
      if (!sets.some(set => this.#forgetOne(set, isKept))) return name === undefined
    }
    return true
  }

  /** Forgets what has ended, a few at a time: no call pays for a walk over all of them. */
  sweep(time_ms: number): void {
    for (let n = 0; n < SWEPT_AT_ONCE; n++) {
      const next = this.#swept.next()
      if (next.done) {
        this.#swept = this.#counters.entries()
        return
      }
      const [key, counter] = next.value
      if (counter.ends_at_ms <= time_ms) this.#forget(key, counter)
    }
  }

  /** A walk over all of them, at most once for each end of a period. */
  #forgetEnded(time_ms: number): void {
    if (this.#ends_from_ms > time_ms) return
    let ends_from_ms = Number.POSITIVE_INFINITY
    for (const [key, counter] of this.#counters) {
      if (counter.ends_at_ms <= time_ms) this.#forget(key, counter)
      else ends_from_ms = Math.min(ends_from_ms, counter.ends_at_ms)
    }
    this.#ends_from_ms = ends_from_ms
  }

  /** The ledger does not know yet what is held: such a counter stays, and is looked at last the next time. */
  #forgetOne(restorable: Set<string> | undefined, isKept: (key: string) => boolean): boolean {
    let looked_at = 0
    for (const key of restorable ?? NONE) {
      const counter = this.#counters.get(key)!
      if (counter.held === 0n && !isKept(key)) {
        this.#forget(key, counter)
        return true
      }
      if (++looked_at >= MOST_LOOKED_AT) return false
      restorable!.delete(key)
      restorable!.add(key)
      if (looked_at >= restorable!.size) return false
    }
    return false
  }

  #forget(key: string, {group}: MemoryCounter): void {
    this.#counters.delete(key)
    if (!group) return void this.#restorable.delete(key)
    group.restorable.delete(key)
    if (--group.size === 0) this.#groups.delete(group.name)
  }

  #groupOf(name: string): CounterGroup {
    let group = this.#groups.get(name)
    if (!group) {
      group = {name, size: 0, restorable: new Set()}
      this.#groups.set(name, group)
    }
    return group
  }
}

const NONE: ReadonlySet<string> = new Set()
