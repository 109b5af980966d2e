import type {After} from '../../base/delay.ts'
import type {Files} from './files.ts'
import type {Segment} from './segment.ts'

export interface GroupSyncOptions {
  readonly files: Files
  readonly folder: string
  /** The longest time that written records wait for their sync to begin. */
  readonly every_ms: number
  /** Runs `run` once in `ms`; the function it gives calls that off. */
  readonly after: After
  readonly onFault: (segment: Segment | undefined, cause: unknown) => void
}

/**
 * Brings written segments to the disk: `fdatasync` off the loop, one round in flight, and only when something was
 * written. It owns the closing of segments that are no longer written, for only it knows when their last sync is over.
 */
export class GroupSync {
  readonly #options: GroupSyncOptions
  readonly #dirty = new Set<Segment>()
  readonly #over = new Set<Segment>()
  #names_dirty = false
  #round: Promise<void> | undefined
  #cancel: (() => void) | undefined

  constructor(options: GroupSyncOptions) {
    this.#options = options
  }

  /** The segment has new records. */
  touch(segment: Segment): void {
    this.#dirty.add(segment)
    this.#arm()
  }

  /** A segment got its name. */
  named(): void {
    this.#names_dirty = true
    this.#arm()
  }

  /** The segment is no longer written: it is closed after its last sync. */
  finish(segment: Segment): void {
    this.#over.add(segment)
    this.touch(segment)
  }

  /**
   * Everything written before this call is on the disk when the promise resolves; a fault goes to `onFault` and
   * rejects.
   */
  async sync(): Promise<void> {
    await this.#round?.catch(() => {})
    await (this.#round ?? this.#begin())
  }

  #arm(): void {
    if (this.#cancel || this.#round) return
    this.#cancel = this.#options.after(this.#options.every_ms, () => {
      this.#cancel = undefined
      if (!this.#round) this.#begin().catch(() => {}) // onFault has it
    })
  }

  #begin(): Promise<void> {
    this.#cancel?.()
    this.#cancel = undefined
    this.#round = this.#run().finally(() => {
      this.#round = undefined
      if (this.#dirty.size > 0 || this.#names_dirty) this.#arm()
    })
    return this.#round
  }

  async #run(): Promise<void> {
    const {files, folder, onFault} = this.#options
    const segments = [...this.#dirty]
    const names = this.#names_dirty
    this.#dirty.clear()
    this.#names_dirty = false
    let first: {cause: unknown} | undefined
    const failed = (segment: Segment | undefined, cause: unknown) => {
      first ??= {cause}
      onFault(segment, cause)
    }
    if (names) await files.syncFolder(folder).catch(cause => failed(undefined, cause))
    for (const segment of segments) {
      await files.datasync(segment.fd).catch(cause => failed(segment, cause))
      if (this.#over.has(segment) && !this.#dirty.has(segment)) {
        this.#over.delete(segment)
        files.closeSync(segment.fd)
      }
    }
    if (first) throw first.cause
  }
}
