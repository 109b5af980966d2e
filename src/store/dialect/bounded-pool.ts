import type {Duplex} from 'node:stream'
import type {PostgresPool, PostgresPoolClient} from 'kysely'
import pg from 'pg'
import {StoreSilentFault} from '../../base/store-fault.ts'
import {classified, unreachable} from './postgres-faults.ts'

export interface Deadlines {
  /** To connect, and for what takes a living server no time: the begin of a transaction. */
  readonly brief_ms: number
  /** For any other statement, and to wait for a connection that is free. */
  readonly most_ms: number
  /** The server's error for a statement that took too long is passed on: a caller that requests less gets an answer. */
  readonly for_lists?: boolean
}

export interface BoundedPoolOptions extends Deadlines {
  /** A connection broke or carried nothing. */
  readonly onLost: () => void
  /** A connection was made. */
  readonly onMade: () => void
}

export interface BoundedPool extends PostgresPool {
  /** How many waits were given up, each with its connection. */
  readonly given_up: number
  /** Uses no connection again that is there now: one like them carries nothing. */
  renew(): void
}

/** Of the time that a statement has: a living server ends it by itself before, and the connection stays. */
const SERVER_PART = 0.9

/**
 * A pool in which every wait has a deadline: for a connection, for a statement, for the end. A connection over which no
 * answer came in time is destroyed with its socket, and what it did stays unknown (`StoreSilentFault`).
 */
export function boundedPool(config: pg.PoolConfig, {onLost, onMade, ...deadlines}: BoundedPoolOptions): BoundedPool {
  const {most_ms} = deadlines
  let given_up = 0
  let oldest_ms = 0
  const renew = () => {
    oldest_ms = performance.now()
  }
  const onGivenUp = () => {
    given_up++
    renew()
  }
  const server_ms = Math.ceil(most_ms * SERVER_PART)
  const pool = new pg.Pool({
    ...config,
    Client: boundedClient({...deadlines, onLost, onGivenUp}),
    connectionTimeoutMillis: most_ms,
    statement_timeout: server_ms,
    // a transaction whose client is gone without a word holds its locks no longer
    idle_in_transaction_session_timeout: 2 * most_ms,
  })
  pool.on('error', () => undefined) // a broken idle connection is replaced by the pool
  pool.on('connect', onMade)

  return {
    options: pool.options,
    get given_up() {
      return given_up
    },
    renew,
    async connect() {
      for (;;) {
        const client = await acquire()
        if (client.made_ms >= oldest_ms) return client as PostgresPoolClient
        client.giveUp('the connection is one of several, and one of them carried nothing')
        client.release(true)
      }
    },
    end: () => pool.end(),
  }

  async function acquire(): Promise<pg.PoolClient & BoundedClient> {
    try {
      return (await pool.connect()) as pg.PoolClient & BoundedClient
    } catch (error) {
      throw noConnection(error)
    }
  }

  function noConnection(error: unknown): StoreSilentFault {
    if (error instanceof Error && error.message === ALL_BUSY)
      return new StoreSilentFault('PostgreSQL', `no connection was free within ${most_ms} ms`)
    onLost()
    return unreachable(error)
  }
}

/** The pool's words. */
const ALL_BUSY = 'timeout exceeded when trying to connect'
/** PostgreSQL's word for a statement that passed `statement_timeout`. */
const QUERY_CANCELED = '57014'

/** A connection that does not wait for ever. */
export interface BoundedClient extends pg.Client {
  /** By a clock that is never set. */
  readonly made_ms: number
  /** Destroys the socket: what waits for an answer gets this one. */
  giveUp(reason: string): void
}

interface BoundedClientOptions extends Deadlines {
  readonly onLost: () => void
  readonly onGivenUp: () => void
}

/** Statements that do no work of their own. */
const BRIEF: ReadonlySet<unknown> = new Set(['begin', 'rollback'])

/** The driver's client as it is, where its types say less, or only in many ways. */
interface DriverClient {
  /** Its socket; TLS puts another in its place. */
  readonly connection: {readonly stream: Duplex}
  on(event: 'error', listener: () => void): unknown
  once(event: 'connect' | 'end', listener: () => void): unknown
  connect(...given: unknown[]): unknown
  query(...given: unknown[]): unknown
  end(...given: unknown[]): unknown
}

type Made<Client> = new (config?: pg.ClientConfig) => Client

export function boundedClient(options: BoundedClientOptions): Made<BoundedClient> {
  const {brief_ms, most_ms, for_lists = false, onLost, onGivenUp} = options
  class Bounded extends (pg.Client as unknown as Made<DriverClient>) {
    readonly made_ms = performance.now()
    #is_lost = false
    #is_ending = false

    constructor(config?: pg.ClientConfig) {
      super(config)
      // without a listener a connection that breaks in use ends the process
      this.on('error', () => {
        if (!this.#is_lost && !this.#is_ending) onLost()
        this.#is_lost = true
      })
    }

    giveUp(reason: string) {
      this.#is_lost = true
      this.connection.stream.destroy(new StoreSilentFault('PostgreSQL', reason))
    }

    override connect(...given: unknown[]): unknown {
      const timer = setTimeout(() => {
        onGivenUp()
        this.giveUp(`no connection was made within ${brief_ms} ms`)
      }, brief_ms)
      const off = () => clearTimeout(timer)
      this.once('connect', off)
      this.once('end', off)
      return super.connect(...given)
    }

    override query(...given: unknown[]): unknown {
      const work = super.query(...given)
      return work instanceof Promise ? this.#bounded(work, BRIEF.has(given[0]) ? brief_ms : most_ms) : work
    }

    override end(...given: unknown[]): unknown {
      this.#is_ending = true
      // a server that hears nothing of the good-bye does not end the connection
      const timer = setTimeout(() => this.giveUp('it did not end the connection'), brief_ms)
      timer.unref()
      this.once('end', () => clearTimeout(timer))
      return super.end(...given)
    }

    async #bounded<T>(work: Promise<T>, limit_ms: number): Promise<T> {
      const timer = setTimeout(() => {
        onGivenUp()
        onLost()
        this.giveUp(`no answer came within ${limit_ms} ms`)
      }, limit_ms)
      try {
        return await work
      } catch (error) {
        const is_late = !for_lists && error instanceof pg.DatabaseError && error.code === QUERY_CANCELED
        const reason = `no answer came within ${limit_ms} ms`
        throw is_late ? new StoreSilentFault('PostgreSQL', reason, {cause: error}) : classified(error, this.#is_lost)
      } finally {
        clearTimeout(timer)
      }
    }
  }
  return Bounded as unknown as Made<BoundedClient>
}
