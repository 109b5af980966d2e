import type {After} from '../base/after.ts'

/** One call of several that ask the same at the same time. Exactly one of its functions is called, at most once, `onDeserted` aside. */
export interface Participant<A> {
  /** The call to the provider is this one's to make now, for all. */
  onLead(): void
  /** Another's call was answered. */
  onAnswer(answer: A): void
  /** Nothing is waited for any longer: it asks the provider for itself. */
  onAlone(): void
  /** Of a leader that left and carried on: nobody waits any more, the provider's call is to be aborted. */
  onDeserted(): void
}

/** What a participant holds. After `land`, `fail`, `handOver` or `leave` a seat does nothing. */
export interface Participation<A> {
  /** At the beginning. A leader is not called by `onLead`; `alone` is neither waited for nor waiting. */
  readonly role: 'leader' | 'waiter' | 'alone'
  /**
   * Others wait for this one's call. While it is so the provider must be read at its own pace, not at that of one's own client (up to
   * what may be kept), so that a client that stalls holds up nobody.
   */
  readonly followed: boolean
  /** The call was answered with what may be kept: everybody has it. */
  land(answer: A): void
  /** There is nothing to share (an error, an answer that may not be kept): the oldest waiter leads, the others ask for themselves. */
  fail(): void
  /** This one makes no call after all, for reasons of its own: the oldest waiter leads in its place, the others go on waiting. */
  handOver(): void
  /**
   * The client is gone. True when the call has to be carried on without it, until `land`, `fail` or `onDeserted`, because others
   * wait for it; false when it may be aborted. A leader that cannot carry on says `fail` then.
   */
  leave(): boolean
}

export interface FlightOptions {
  readonly after: After
  /** A leader that did not land for so long gets a second beside it: the oldest waiter. Whoever lands first lands for all. */
  readonly most_lead_ms?: number
  /** Nobody waits longer. */
  readonly most_wait_ms?: number
  /** Of one flight; who comes when it is full asks for itself. */
  readonly most_waiters?: number
  /** Told of what a participant throws; the others have their answer all the same. */
  readonly onFault?: (fault: unknown) => void
}

export interface Coalescer<A> {
  /** Takes part in the flight of `key`; begins it where there is none. */
  join(key: string, participant: Participant<A>): Participation<A>
  /** Flights under way. */
  readonly size: number
}

/**
 * Makes one call of many that ask the same at the same time. A flight is owned by nobody (core rule 21): it goes on while anybody
 * takes part in it, whoever began it. Admission, guardrails and records are each caller's own.
 */
export function createFlights<A>(options: FlightOptions): Coalescer<A> {
  const flights = new Map<string, CoalescedCall<A>>()
  return {
    join(key, participant) {
      let flight = flights.get(key)
      if (!flight) {
        const begun: CoalescedCall<A> = new CoalescedCall(options, () => {
          if (flights.get(key) === begun) flights.delete(key)
        })
        flights.set(key, begun)
        flight = begun
      }
      return flight.join(participant)
    },
    get size() {
      return flights.size
    },
  }
}

interface Member<A> {
  readonly participant: Participant<A>
  state: 'leads' | 'carries on' | 'waits' | 'gone'
  /** It has led for longer than it should. */
  is_slow: boolean
  callOff: () => void
}

class CoalescedCall<A> {
  readonly #after: After
  readonly #most_lead_ms: number
  readonly #most_wait_ms: number
  readonly #most_waiters: number
  readonly #onFault: (fault: unknown) => void
  readonly #over: () => void
  /** Those that ask the provider: one, and others that were too slow. */
  readonly #leaders = new Set<Member<A>>()
  /** The oldest first. */
  readonly #waiters = new Set<Member<A>>()

  constructor(
    {after, most_lead_ms = 60_000, most_wait_ms = 180_000, most_waiters = 10_000, onFault = () => undefined}: FlightOptions,
    over: () => void,
  ) {
    this.#after = after
    this.#most_lead_ms = most_lead_ms
    this.#most_wait_ms = most_wait_ms
    this.#most_waiters = most_waiters
    this.#onFault = onFault
    this.#over = over
  }

  join(participant: Participant<A>): Participation<A> {
    const member: Member<A> = {participant, state: 'gone', is_slow: false, callOff: () => undefined}
    if ([...this.#leaders].every(({is_slow}) => is_slow)) this.#lead(member)
    else if (this.#waiters.size < this.#most_waiters) this.#wait(member)
    const role = member.state === 'leads' ? 'leader' : member.state === 'waits' ? 'waiter' : 'alone'
    const {isFollowed, land, fail, handOver, leave} = this.#acts(member)
    return {
      role,
      get followed() {
        return isFollowed()
      },
      land,
      fail,
      handOver,
      leave,
    }
  }

  #acts(member: Member<A>) {
    const asks = () => member.state === 'leads' || member.state === 'carries on'
    return {
      isFollowed: () => asks() && this.#waiters.size > 0,
      land: (answer: A) => {
        if (asks()) this.#land(member, answer)
      },
      fail: () => {
        if (asks()) this.#fail(member)
      },
      handOver: () => {
        if (asks()) this.#handOver(member)
      },
      leave: () => this.#leave(member),
    }
  }

  #lead(member: Member<A>) {
    member.callOff()
    member.state = 'leads'
    this.#leaders.add(member)
    member.callOff = this.#after(this.#most_lead_ms, () => {
      member.is_slow = true
      this.#promote()
    })
  }

  #wait(member: Member<A>) {
    member.state = 'waits'
    this.#waiters.add(member)
    member.callOff = this.#after(this.#most_wait_ms, () => {
      this.#drop(member)
      this.#tell(member, 'onAlone')
      this.#desert()
    })
  }

  /** The oldest waiter leads, beside those that do already. */
  #promote() {
    const [oldest] = this.#waiters
    if (!oldest) return
    this.#takeOver(oldest)
    this.#desert()
  }

  #takeOver(waiter: Member<A>) {
    this.#waiters.delete(waiter)
    this.#lead(waiter)
    try {
      waiter.participant.onLead()
    } catch (fault) {
      this.#onFault(fault)
      this.#fail(waiter)
    }
  }

  #land(member: Member<A>, answer: A) {
    const waiting = [...this.#waiters]
    const slower = [...this.#leaders].filter(other => other !== member && other.state === 'carries on')
    // Other leaders have clients of their own that they are answering already.
    for (const each of [...waiting, ...this.#leaders]) this.#drop(each)
    this.#over()
    for (const each of waiting) this.#try(() => each.participant.onAnswer(answer))
    for (const each of slower) this.#tell(each, 'onDeserted')
  }

  #fail(member: Member<A>) {
    if (!this.#leaders.has(member)) return
    this.#drop(member)
    if (this.#leaders.size > 0) return
    const [oldest, ...others] = this.#waiters
    if (!oldest) return this.#over()
    for (const each of others) this.#drop(each)
    this.#takeOver(oldest)
    for (const each of others) this.#tell(each, 'onAlone')
  }

  #handOver(member: Member<A>) {
    this.#drop(member)
    if (this.#leaders.size > 0) return
    const [oldest] = this.#waiters
    if (oldest) this.#takeOver(oldest)
    else this.#over()
  }

  #leave(member: Member<A>): boolean {
    if (member.state === 'leads' && this.#waiters.size > 0 && this.#leaders.size === 1) {
      member.state = 'carries on'
      return true
    }
    if (member.state === 'carries on') return true
    this.#drop(member)
    this.#desert()
    return false
  }

  /** Nobody waits: calls that are carried on without a client have no purpose any more. */
  #desert() {
    if (this.#waiters.size > 0) return
    for (const leader of [...this.#leaders].filter(({state}) => state === 'carries on')) {
      this.#drop(leader)
      this.#tell(leader, 'onDeserted')
    }
    if (this.#leaders.size === 0) this.#over()
  }

  #drop(member: Member<A>) {
    member.callOff()
    member.state = 'gone'
    this.#leaders.delete(member)
    this.#waiters.delete(member)
  }

  #tell({participant}: Member<A>, word: 'onAlone' | 'onDeserted') {
    this.#try(() => participant[word]())
  }

  #try(work: () => void) {
    try {
      work()
    } catch (fault) {
      this.#onFault(fault)
    }
  }
}
