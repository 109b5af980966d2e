import {createHash} from 'node:crypto'
import {after} from '../../base/delay.ts'
import type {LdapSettings} from '../../schema/connections.ts'
import {SignInFault} from '../sign-in-fault.ts'
import type {LdapConnection} from './connection.ts'

interface Opened {
  readonly connection: LdapConnection
  readonly opened_ms: number
}

interface Idle extends Opened {
  readonly since_ms: number
}

/** Connections are shared among settings of one key: the same place, authority and account. */
export function poolKey({url, start_tls, ca, bind_dn, bind_password}: LdapSettings): string {
  return createHash('sha256')
    .update(JSON.stringify([url, start_tls, ca, bind_dn, bind_password]))
    .digest('hex')
}

const MOST_CONNECTIONS = 4
const MOST_WAITING = 100
/** Directories and firewalls drop silent connections, without a word to either side. */
const IDLE_MS = 60_000
/** Then its host is judged, its certificate checked and its account bound again. */
const MAX_AGE_MS = 600_000

/** Connections of the search account of one directory: at most four; who comes later waits for one. */
export class LdapPool {
  readonly #open: () => Promise<LdapConnection>
  readonly #close: (connection: LdapConnection) => void
  readonly #now_ms: () => number
  readonly #wait_ms: number
  #idle: Idle[] = []
  #busy = 0
  #is_closed = false
  readonly #waiting: (() => void)[] = []

  constructor(
    open: () => Promise<LdapConnection>,
    close: (connection: LdapConnection) => void,
    now_ms: () => number,
    wait_ms: number,
  ) {
    this.#open = open
    this.#close = close
    this.#now_ms = now_ms
    this.#wait_ms = wait_ms
  }

  /** Ends those that were idle for long; gives how many are left. */
  prune(): number {
    const since_ms = this.#now_ms() - IDLE_MS
    const is_fresh = (each: Idle) => each.since_ms > since_ms && each.connection.is_open
    for (const each of this.#idle) if (!is_fresh(each)) this.#close(each.connection)
    this.#idle = this.#idle.filter(is_fresh)
    return this.#idle.length + this.#busy
  }

  /**
   * Runs one search. A connection that was idle may have ended unseen: then `run` is called once more, on a new one.
   * Throws SignInFault `provider_unreachable` where no connection is free in time.
   */
  async use<T>(run: (connection: LdapConnection) => Promise<T>): Promise<T> {
    await this.#turn()
    try {
      const idle = this.#takeIdle()
      if (idle) {
        try {
          return await this.#run(idle, run)
        } catch (fault) {
          if (idle.connection.is_open) throw fault
        }
      }
      const connection = await this.#open()
      return await this.#run({connection, opened_ms: this.#now_ms()}, run)
    } finally {
      const next = this.#waiting.shift()
      if (next) next()
      else this.#busy--
    }
  }

  /** Ends the idle connections, and the others after their search. */
  close(): void {
    this.#is_closed = true
    for (const {connection} of this.#idle.splice(0)) this.#close(connection)
  }

  async #run<T>({connection, opened_ms}: Opened, run: (connection: LdapConnection) => Promise<T>): Promise<T> {
    try {
      return await run(connection)
    } finally {
      const since_ms = this.#now_ms()
      if (this.#is_closed || since_ms - opened_ms >= MAX_AGE_MS) this.#close(connection)
      else if (connection.is_open) this.#idle.push({connection, opened_ms, since_ms})
    }
  }

  #takeIdle(): Idle | undefined {
    this.prune()
    return this.#idle.pop()
  }

  async #turn(): Promise<void> {
    if (this.#busy < MOST_CONNECTIONS) {
      this.#busy++
      return
    }
    if (this.#waiting.length >= MOST_WAITING) throw busy()
    const {promise, resolve, reject} = Promise.withResolvers<void>()
    this.#waiting.push(resolve)
    const cancel = after(this.#wait_ms, () => {
      const at = this.#waiting.indexOf(resolve)
      if (at < 0) return
      this.#waiting.splice(at, 1)
      reject(busy())
    })
    await promise.finally(cancel) // the one that finishes hands its turn over
  }
}

function busy(): SignInFault {
  return new SignInFault('provider_unreachable', `all ${MOST_CONNECTIONS} connections of the search account are in use`)
}
