import type {ManagerReply, ManagerServices} from '../../services.ts'

/** AWS refuses what is signed for five minutes before or after. */
const FAR_MS = 240_000
const MOST_HOSTS = 1000

/** How far the clocks of hosts are from ours: a machine with a wrong clock can sign all the same. */
export class ClockOffsets {
  readonly #on: Pick<ManagerServices, 'wall' | 'log'>
  readonly #offsets = new Map<string, number>()

  constructor(on: Pick<ManagerServices, 'wall' | 'log'>) {
    this.#on = on
  }

  /** The time there; epoch milliseconds. */
  now(host: string): number {
    return this.#on.wall() + this.offset(host)
  }

  offset(host: string): number {
    return this.#offsets.get(host) ?? 0
  }

  /** Reads the time of an answer that did not take ours. True where it is another than the one used before. */
  learn(host: string, {headers}: ManagerReply, speaks_of_time: boolean): boolean {
    const at = Date.parse(headers.date ?? '')
    if (Number.isNaN(at)) return false
    const offset = at - this.#on.wall()
    const before = this.offset(host)
    if (Math.abs(offset - before) <= (speaks_of_time ? 1000 : FAR_MS)) return false
    if (this.#offsets.size >= MOST_HOSTS) this.#offsets.clear()
    this.#offsets.set(host, offset)
    if (before === 0)
      this.#on.log.warn(
        {host, offset_s: Math.round(offset / 1000)},
        'the clock of this machine is wrong, or that of AWS',
      )
    return true
  }
}
