import type {After} from '../../base/delay.ts'
import {newId} from '../../base/ids.ts'
import type {SignInAtServer} from '../pool/source.ts'

/** A call of a modern client that waits at its upstream for the answer to a question. */
export interface HeldCall {
  readonly id: string
  readonly principal: string
  /** The round whose answer is waited for. */
  readonly round: number
  /** The sign-in of its person at the server; null where it needs none. */
  readonly sign_in: SignInAtServer | null
  readonly end: (why: EndOfHeld) => void
}

/**
 * `abandoned` where nothing came in time, `displaced` where its principal holds too many, `disconnected` where the
 * sign-in at the server ended.
 */
export type EndOfHeld = 'abandoned' | 'displaced' | 'disconnected'

const HELD_MS = 10 * 60_000
const MOST_OF_PRINCIPAL = 16
const MOST = 1_000

/** The calls that this process holds: each ten minutes at most, few of one principal. */
export class HeldCalls<C extends HeldCall> {
  readonly #after: After
  readonly #held = new Map<string, {readonly call: C; callOff: () => void}>()

  constructor(after: After) {
    this.#after = after
  }

  get size(): number {
    return this.#held.size
  }

  get calls(): C[] {
    return [...this.#held.values()].map(({call}) => call)
  }

  newId(): string {
    return newId()
  }

  /** Holds a call; the oldest of its principal makes room for a seventeenth, the oldest of all for one too many. */
  hold(call: C): void {
    const own = [...this.#held.values()].filter(({call: {principal}}) => principal === call.principal)
    if (own.length >= MOST_OF_PRINCIPAL) this.end(own[0]!.call, 'displaced')
    else if (this.#held.size >= MOST) this.end([...this.#held.values()][0]!.call, 'displaced')
    const callOff = this.#after(HELD_MS, () => this.end(call, 'abandoned'))
    this.#held.set(call.id, {call, callOff})
  }

  /** Takes a call out for the answer to its round; undefined where it is not held, or had that answer. */
  take(id: string, round: number): C | undefined {
    const held = this.#held.get(id)
    if (!held || held.call.round !== round) return undefined
    held.callOff()
    this.#held.delete(id)
    return held.call
  }

  close(): void {
    for (const {call} of [...this.#held.values()]) this.end(call, 'abandoned')
  }

  end(call: C, why: EndOfHeld): void {
    const held = this.#held.get(call.id)
    if (!held) return
    held.callOff()
    this.#held.delete(call.id)
    call.end(why)
  }
}
