import type {JournalRecord, Mark} from '../store/journal/index.ts'

/** Reads the journal record by record: on from its position, or again from any other mark. */
export class JournalWalk {
  readonly #open: (from: Mark) => Generator<JournalRecord>
  #reading: Generator<JournalRecord> | undefined
  #at: Mark | undefined

  /** `open` reads what is behind a mark. */
  constructor(open: (from: Mark) => Generator<JournalRecord>) {
    this.#open = open
  }

  /** The record behind `from` and where it ends; undefined when there is none. */
  next(from: Mark): {readonly record: JournalRecord; readonly end: Mark} | undefined {
    if (this.#at !== from) this.close()
    const reading = this.#reading ?? this.#open(from)
    this.#reading = undefined // stays so when reading fails
    const step = reading.next()
    if (step.done) return undefined
    this.#reading = reading
    this.#at = {segment: step.value.segment, position: step.value.end_position}
    return {record: step.value, end: this.#at}
  }

  close(): void {
    this.#reading?.return(undefined)
    this.#reading = undefined
    this.#at = undefined
  }
}
