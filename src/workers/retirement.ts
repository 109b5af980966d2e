import type {After} from '../base/delay.ts'
import type {Log} from '../base/log.ts'
import type {Journal, JournalOwner, Mark} from '../store/journal/index.ts'

/** A second reader of the journal: segments wait for it, within its own bound. */
export interface JournalFollower {
  /** Before anything is read or removed; `mark` is that of the database. */
  begin(of: {
    readonly folder: string
    readonly owner: JournalOwner
    readonly writer: string
    readonly mark: Mark
    /** `least` has moved. */
    readonly onMoved: () => void
  }): Promise<void>
  /** The database holds everything before `mark`. Never throws. */
  committed(mark: Mark): void
  /** Segments before the one of this mark may go, of what is `committed`. */
  least(committed: Mark): Mark
  /** The disk is full: it is to pass over what it has not read, and to count that. */
  passOver(): void
}

/** How long a full disk waits for the follower, to count what it passes over. */
const PASS_OVER_MS = 1_000

export interface RetirementOptions {
  readonly follower: JournalFollower | undefined
  readonly after: After
  readonly log: Pick<Log, 'error'>
}

/**
 * Removes segments of the journal that the database holds and the follower has read. When the disk is full calls come
 * first: the follower has a moment to count what it loses, and then it is waited for no more.
 */
export class Retirement {
  readonly #options: RetirementOptions
  #journal: Pick<Journal, 'retire'> | undefined
  #last: Mark | undefined
  #retired = 0
  #is_short = false
  #is_waited_for = true

  constructor(options: RetirementOptions) {
    this.#options = options
  }

  /** Segments before the one of `mark` are gone already, but for those that a follower may need. */
  open(journal: Pick<Journal, 'retire'>, mark: Mark): void {
    this.#journal = journal
    this.#retired = this.#options.follower ? 0 : mark.segment
    this.#last = mark
  }

  /** The disk has become full, or has room again. */
  shorten(is_full: boolean): void {
    const {follower, after} = this.#options
    this.#is_short = is_full
    this.#is_waited_for = true
    if (!follower || !is_full) return
    follower.passOver()
    after(PASS_OVER_MS, () => {
      if (!this.#is_short) return
      this.#is_waited_for = false
      this.#retire()
    })
  }

  /** The follower has read on. */
  moved(): void {
    if (this.#is_short) this.#retire()
  }

  /** The database holds everything before `mark`. */
  committed(mark: Mark): void {
    this.#last = mark
    this.#retire()
  }

  #retire() {
    const {follower, log} = this.#options
    if (!this.#journal || !this.#last) return
    const least = follower && this.#is_waited_for ? follower.least(this.#last) : this.#last
    if (least.segment <= this.#retired) return
    this.#retired = least.segment
    this.#journal
      .retire(least)
      .catch(fault => log.error({fault}, 'journal segments that are no longer needed could not be removed'))
  }
}
