import type {After} from '../base/delay.ts'

/**
 * One call of several that ask the same at the same time. Exactly one of its functions is called, at most once,
 * `onAbandoned` aside.
 */
export interface Participant<A> {
  /** The call to the provider is this one's to make now, for all. */
  onLead(): void
  /** Another's call was answered. */
  onAnswer(answer: A): void
  /** Nothing is waited for any longer: it asks the provider for itself. */
  onProceed(): void
  /** Of a leader that left and carried on: no participant waits any more, the provider's call is to be aborted. */
  onAbandoned(): void
}

/** The handle of a participant. After `complete`, `fail`, `decline`, `passLead` or `leave` it does nothing. */
export interface Participation<A> {
  /** At the beginning. A leader is not called by `onLead`; `alone` is neither waited for nor waiting. */
  readonly role: 'leader' | 'follower' | 'alone'
  /**
   * Others wait for this one's call. While it is so the provider must be read at its own pace, not at that of one's own
   * client (up to what may be kept), so that a client that stalls delays no other.
   */
  readonly followed: boolean
  /** The call was answered with what may be kept: everybody has it. */
  complete(answer: A): void
  /** There is no answer: the oldest follower leads in its place, the others keep waiting. */
  fail(): void
  /**
   * The answer is good and not to be shared, as that of no other is: the oldest follower leads, the others ask for
   * themselves.
   */
  decline(): void
  /**
   * This one makes no call after all, for reasons of its own: the oldest follower leads in its place, the others keep
   * waiting.
   */
  passLead(): void
  /**
   * The client is gone. True when the call has to be carried on without it, until `complete`, `fail` or `onAbandoned`,
   * because others wait for it; false when it may be aborted. A leader that cannot carry on says `fail` then.
   */
  leave(): boolean
}

export interface FlightOptions {
  readonly after: After
  /**
   * A leader that did not complete for so long gets a second beside it: the oldest follower. The first to complete
   * completes for all.
   */
  readonly most_lead_ms?: number
  /** No participant waits longer. */
  readonly most_wait_ms?: number
  /** Of one flight; who comes when it is full asks for itself. */
  readonly max_followers?: number
  /** Called with what a participant throws; the others have their answer all the same. */
  readonly onFault?: (fault: unknown) => void
}

export interface Coalescer<A> {
  /** Takes part in the flight of `key`; begins it where there is none. */
  join(key: string, participant: Participant<A>): Participation<A>
  /** Flights in progress. */
  readonly size: number
}

/**
 * Makes one call of many that ask the same at the same time. A flight has no owner (core rule 21): it continues while
 * it has a participant, even without the first; where its leader fails, one follower leads, so that a provider in
 * trouble is called by one at a time. Admission, guardrails and records are each caller's own.
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
  state: 'leads' | 'detached' | 'waits' | 'gone'
  /** It has led for longer than it should. */
  is_slow: boolean
  callOff: () => void
}

class CoalescedCall<A> {
  readonly #after: After
  readonly #most_lead_ms: number
  readonly #most_wait_ms: number
  readonly #max_followers: number
  readonly #onFault: (fault: unknown) => void
  readonly #over: () => void
  /** Those that ask the provider: one, and others that were too slow. */
  readonly #leaders = new Set<Member<A>>()
  /** The oldest first. */
  readonly #followers = new Set<Member<A>>()

  constructor(
    {
      after,
      most_lead_ms = 60_000,
      most_wait_ms = 180_000,
      max_followers = 10_000,
      onFault = () => undefined,
    }: FlightOptions,
    over: () => void,
  ) {
    this.#after = after
    this.#most_lead_ms = most_lead_ms
    this.#most_wait_ms = most_wait_ms
    this.#max_followers = max_followers
    this.#onFault = onFault
    this.#over = over
  }

  join(participant: Participant<A>): Participation<A> {
    const member: Member<A> = {participant, state: 'gone', is_slow: false, callOff: () => undefined}
    if ([...this.#leaders].every(({is_slow}) => is_slow)) this.#lead(member)
    else if (this.#followers.size < this.#max_followers) this.#wait(member)
    const role = member.state === 'leads' ? 'leader' : member.state === 'waits' ? 'follower' : 'alone'
    const {isFollowed, complete, fail, decline, passLead, leave} = this.#acts(member)
    return {
      role,
      get followed() {
        return isFollowed()
      },
      complete,
      fail,
      decline,
      passLead,
      leave,
    }
  }

  #acts(member: Member<A>) {
    const asks = () => member.state === 'leads' || member.state === 'detached'
    return {
      isFollowed: () => asks() && this.#followers.size > 0,
      complete: (answer: A) => {
        if (asks()) this.#complete(member, answer)
      },
      fail: () => {
        if (asks()) this.#passLead(member)
      },
      decline: () => {
        if (asks()) this.#decline(member)
      },
      passLead: () => {
        if (asks()) this.#passLead(member)
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
    this.#followers.add(member)
    member.callOff = this.#after(this.#most_wait_ms, () => {
      this.#drop(member)
      this.#tell(member, 'onProceed')
      this.#endAbandoned()
    })
  }

  /** The oldest follower leads, beside those that do already. */
  #promote() {
    const [oldest] = this.#followers
    if (!oldest) return
    this.#takeOver(oldest)
    this.#endAbandoned()
  }

  #takeOver(follower: Member<A>) {
    this.#followers.delete(follower)
    this.#lead(follower)
    try {
      follower.participant.onLead()
    } catch (fault) {
      this.#onFault(fault)
      this.#passLead(follower)
    }
  }

  #complete(member: Member<A>, answer: A) {
    const waiting = [...this.#followers]
    const slower = [...this.#leaders].filter(other => other !== member && other.state === 'detached')
    // Other leaders have clients of their own that they are answering already.
    for (const each of [...waiting, ...this.#leaders]) this.#drop(each)
    this.#over()
    for (const each of waiting) this.#try(() => each.participant.onAnswer(answer))
    for (const each of slower) this.#tell(each, 'onAbandoned')
  }

  #decline(member: Member<A>) {
    this.#drop(member)
    if (this.#leaders.size > 0) return
    const [oldest, ...others] = this.#followers
    if (!oldest) return this.#over()
    for (const each of others) this.#drop(each)
    this.#takeOver(oldest)
    for (const each of others) this.#tell(each, 'onProceed')
  }

  #passLead(member: Member<A>) {
    this.#drop(member)
    if (this.#leaders.size > 0) return
    const [oldest] = this.#followers
    if (oldest) this.#takeOver(oldest)
    else this.#over()
  }

  #leave(member: Member<A>): boolean {
    if (member.state === 'leads' && this.#followers.size > 0 && this.#leaders.size === 1) {
      member.state = 'detached'
      return true
    }
    if (member.state === 'detached') return true
    this.#drop(member)
    this.#endAbandoned()
    return false
  }

  /** No client waits: calls that are carried on without a client have no purpose any more. */
  #endAbandoned() {
    if (this.#followers.size > 0) return
    for (const leader of [...this.#leaders].filter(({state}) => state === 'detached')) {
      this.#drop(leader)
      this.#tell(leader, 'onAbandoned')
    }
    if (this.#leaders.size === 0) this.#over()
  }

  #drop(member: Member<A>) {
    member.callOff()
    member.state = 'gone'
    this.#leaders.delete(member)
    this.#followers.delete(member)
  }

  #tell({participant}: Member<A>, word: 'onProceed' | 'onAbandoned') {
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
