import {Refusal} from '../base/errors.ts'
import type {MaybePromise} from '../base/maybe-promise.ts'
import type {Reserved} from '../ports/counters/index.ts'
import {addSpent, type Spent, spent} from '../schema/spent.ts'
import type {SettlingOn} from './admission.ts'
import {fullOf, type LimitClaim, refusalFrom} from './claims.ts'
import type {ReservationRequest} from './create-reserve.ts'

export interface ReservationParts extends SettlingOn {
  readonly reserve: (request: ReservationRequest) => MaybePromise<readonly LimitClaim[]>
  readonly now: () => number
}

/** How long a hold may grow; longer than any answer takes. */
const HOLD_MS = 24 * 60 * 60 * 1000

/** A hold for one attempt: takes `first` from every strict limit or refuses. */
export function reserveCounters(
  parts: ReservationParts,
  request: Pick<ReservationRequest, 'id' | 'call_id' | 'claims'>,
  first: Spent,
): MaybePromise<CounterReservation> {
  const time_ms = parts.counters.time(parts.now())
  const claims = request.claims.map(claim => ({...claim, amount: amountOf(claim, first)}))
  const taken = parts.reserve({...request, claims, time_ms, deadline_ms: time_ms + HOLD_MS})
  const make = () => new CounterReservation(parts, request, first)
  return taken instanceof Promise ? taken.then(make) : make()
}

/**
 * The reservation of one attempt from the strict limits of tokens and cost (core rule 10): its prompt and the next of
 * its answer, more as that comes. It ends once, with the real usage; every later call does nothing. Only `reach`
 * refuses, and nothing throws.
 */
export class CounterReservation {
  readonly #parts: ReservationParts
  readonly #request: Pick<ReservationRequest, 'id' | 'call_id' | 'claims'>
  #held: Spent
  #growing: Promise<Refusal | null> | undefined
  #is_open = true

  constructor(parts: ReservationParts, request: Pick<ReservationRequest, 'id' | 'call_id' | 'claims'>, first: Spent) {
    this.#parts = parts
    this.#request = request
    this.#held = first
  }

  get keys(): readonly string[] {
    return this.#request.claims.map(({key}) => key)
  }

  /** How much is held now. */
  get held(): Spent {
    return this.#held
  }

  /** True when so much is held already. */
  covers({tokens, cost_nanousd}: Spent): boolean {
    return tokens <= this.#held.tokens && cost_nanousd <= this.#held.cost_nanousd
  }

  /** Holds at least so much. The refusal when the limits do not have it; what is held stays held until the end. */
  reach(wanted: Spent): MaybePromise<Refusal | null> {
    if (!this.#is_open || this.covers(wanted)) return null
    if (this.#growing) return this.#growing.then(refusal => refusal ?? this.reach(wanted))
    const more = spent(
      Math.max(0, wanted.tokens - this.#held.tokens),
      Math.max(0, wanted.cost_nanousd - this.#held.cost_nanousd),
    )
    const claims = this.#request.claims
      .map(claim => ({...claim, amount: amountOf(claim, more)}))
      .filter(({amount}) => amount > 0)
    const total = addSpent(this.#held, more)
    if (claims.length === 0) {
      this.#held = total
      return null
    }
    const reserved = this.#parts.counters.extend(this.#request.id, claims)
    if (!(reserved instanceof Promise)) {
      const decided = this.#decide(reserved, total)
      return decided instanceof Promise ? this.#grow(decided) : decided
    }
    return this.#grow(reserved.then(answer => this.#decide(answer, total)))
  }

  /** Puts what was really used in place of what was held. */
  settle({tokens, cost_nanousd}: Spent): void {
    if (!this.#is_open) return
    this.#is_open = false
    const actual = spent(this.#sound(tokens), this.#sound(cost_nanousd))
    // an extension in progress is part of the correction
    if (this.#growing) void this.#growing.then(() => this.#end(actual))
    else this.#end(actual)
  }

  /** Its work continues behind the call: it stays held until `Limits.recover` replaces it by the real usage. */
  keep(): void {
    this.#is_open = false
  }

  #decide(reserved: Reserved<LimitClaim>, total: Spent): MaybePromise<Refusal | null> {
    switch (reserved.outcome) {
      case 'taken':
        this.#held = total
        return null
      case 'refused':
        return refusalFrom(this.#parts.counters, reserved.claim, this.#parts.counters.time(this.#parts.now()))
      case 'full':
        return fullOf(reserved.claim)
      case 'closed':
        return new Refusal('limit.unavailable', {limit: reserved.claim.label})
      default:
        return this.#anew(total)
    }
  }

  /** The store lost what was held: all of it is taken again. */
  async #anew(total: Spent): Promise<Refusal | null> {
    try {
      await this.#parts.counters.release(this.#request.id)
      await reserveCounters(this.#parts, this.#request, total)
      this.#held = total
      return null
    } catch (fault) {
      if (fault instanceof Refusal) return fault
      this.#parts.onFault(fault)
      return new Refusal('limit.unavailable', {limit: this.#request.claims[0]!.label})
    }
  }

  #grow(work: Promise<Refusal | null>): Promise<Refusal | null> {
    const growing = work
      .catch(fault => {
        if (fault instanceof Refusal) return fault
        this.#parts.onFault(fault)
        return new Refusal('limit.unavailable', {limit: this.#request.claims[0]!.label})
      })
      .finally(() => {
        if (this.#growing === growing) this.#growing = undefined
      })
    this.#growing = growing
    return growing
  }

  #end(actual: Spent) {
    const {counters, onFault, onDoubt} = this.#parts
    const {claims, id} = this.#request
    const failed = (fault: unknown) => {
      onFault(fault)
      onDoubt(claims)
    }
    // lost since: what was used still counts where there is a counter for it
    const again = () => {
      onDoubt(claims)
      return counters.adjust(claims.map(claim => ({key: claim.key, amount: amountOf(claim, actual)})))
    }
    try {
      const known = counters.settle(id, actual)
      if (known instanceof Promise) known.then(found => (found ? undefined : again())).catch(failed)
      else if (!known) Promise.resolve(again()).catch(failed)
    } catch (fault) {
      failed(fault)
    }
  }

  #sound(amount: number): number {
    if (Number.isSafeInteger(amount) && amount >= 0) return amount
    this.#parts.onFault(new Error(`A call used ${amount}, which is no amount; nothing was counted for it.`))
    return 0
  }
}

function amountOf({type}: LimitClaim, {tokens, cost_nanousd}: Spent): number {
  return type === 'tokens' ? tokens : cost_nanousd
}
