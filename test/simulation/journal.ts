import type {Recorder} from '../../src/charge/ports.ts'
import type {Intent, Settlement} from '../../src/schema/records.ts'
import type {Chance} from './chance.ts'
import type {VirtualClock} from './clock.ts'

/** An attempt as the journal knows it. */
export interface Recorded {
  readonly intent: Intent
  /** The journal said that the intent is safe. */
  is_written: boolean
  readonly settlements: Settlement[]
}

/** A journal in memory, which answers when the seed says, and now and then takes nothing. */
export class VirtualJournal implements Recorder {
  readonly attempts = new Map<string, Recorded>()
  /** Rows of the log of work that never left. */
  readonly notes: Settlement[] = []
  readonly faults: string[] = []
  readonly #clock: VirtualClock
  readonly #chance: Chance
  readonly #fails_part: number

  constructor(clock: VirtualClock, chance: Chance) {
    this.#clock = clock
    this.#chance = chance
    this.#fails_part = chance.is(0.1) ? 0.2 : 0
  }

  begin(intent: Intent, done: (fault?: Error) => void): void {
    const key = keyOf(intent)
    if (this.attempts.has(key)) this.faults.push(`the intent of ${key} was written twice`)
    const recorded: Recorded = {intent, is_written: false, settlements: []}
    this.attempts.set(key, recorded)
    const fails = this.#chance.is(this.#fails_part)
    this.#answer(() => {
      recorded.is_written = !fails
      done(fails ? new Error('the journal is full') : undefined)
    })
  }

  settle(settlement: Settlement, _bodies: unknown, done: (fault?: Error) => void, intent?: Intent): void {
    const key = keyOf(intent ?? settlement)
    const recorded = this.attempts.get(key)
    if (!recorded) this.faults.push(`${key} was settled without an intent`)
    else if (!recorded.is_written) this.faults.push(`${key} was settled before its intent was safe`)
    recorded?.settlements.push(settlement)
    const fails = this.#chance.is(this.#fails_part)
    this.#answer(() => done(fails ? new Error('the journal is full') : undefined))
  }

  note(settlement: Settlement): void {
    this.notes.push(settlement)
  }

  #answer(run: () => void) {
    this.#clock.after(this.#chance.is(0.9) ? 0 : this.#chance.between(1, 400), run)
  }
}

function keyOf({call_id, attempt}: Pick<Intent, 'call_id' | 'attempt'>): string {
  return `${call_id}/${attempt}`
}
