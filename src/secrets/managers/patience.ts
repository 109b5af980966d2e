import {ManagerFault} from '../manager-fault.ts'
import type {ManagerReply, ManagerServices} from '../services.ts'

/** Waits before the second and the third try, each with up to a quarter more. */
const WAITS_MS = [200, 800] as const
/** A manager that wants more than that is called again after it all the same. */
const MAX_BAR_MS = 600_000
const MOST_BARRED = 1000

/** Tries again what may pass by itself, and keeps away from who wants to be left alone for a while. */
export class ManagerPatience {
  readonly #on: Pick<ManagerServices, 'wall' | 'after' | 'random'>
  /** Host and credential → until when nothing is requested there. */
  readonly #barred = new Map<string, number>()

  constructor(on: Pick<ManagerServices, 'wall' | 'after' | 'random'>) {
    this.#on = on
  }

  /** The result of `ask`, at most three times. `place`: a host for one credential; `Retry-After` holds for it. */
  async run<T>(place: string, ask: () => Promise<T>): Promise<T> {
    for (let tried = 0; ; tried++) {
      this.#checkBar(place)
      try {
        return await ask()
      } catch (fault) {
        if (!(fault instanceof ManagerFault) || fault.is_definite) throw fault
        if (fault.retry_after_ms !== null) {
          this.#bar(place, fault.retry_after_ms)
          throw fault
        }
        const wait_ms = WAITS_MS[tried]
        if (wait_ms === undefined) throw fault
        await this.#pause(wait_ms * (1 + this.#on.random() / 4))
      }
    }
  }

  #checkBar(place: string) {
    const until_ms = this.#barred.get(place)
    if (until_ms === undefined) return
    const retry_after_ms = until_ms - this.#on.wall()
    if (retry_after_ms > 0)
      throw new ManagerFault('throttled', 'it wants to be called later (Retry-After)', {retry_after_ms})
    this.#barred.delete(place)
  }

  #bar(place: string, ms: number) {
    if (this.#barred.size >= MOST_BARRED) this.#barred.clear()
    this.#barred.set(place, this.#on.wall() + Math.min(ms, MAX_BAR_MS))
  }

  #pause(ms: number): Promise<void> {
    return new Promise(resolve => void this.#on.after(ms, resolve))
  }
}

/** How long an answer wants no further request; null where it does not say. */
export function retryAfterOf({headers}: ManagerReply, wall_ms: number): number | null {
  for (const name of ['retry-after-ms', 'x-ms-retry-after-ms']) {
    const text = headers[name]
    if (text !== undefined && /^\d{1,9}$/.test(text)) return Number(text)
  }
  const text = headers['retry-after']
  if (text === undefined) return null
  if (/^\d{1,7}$/.test(text)) return Number(text) * 1000
  const at = Date.parse(text)
  return Number.isNaN(at) ? null : Math.max(0, at - wall_ms)
}

/** A status that may be another soon. */
export function isPassing(status: number): boolean {
  return status === 408 || status === 429 || status >= 500
}
