import type pg from 'pg'
import {type BoundedClient, boundedClient} from './bounded-pool.ts'
import {unreachable} from './postgres-faults.ts'

interface RevisionReaderOptions {
  readonly brief_ms: number
  /** A connection that was there carried nothing: others made before may be like it. */
  readonly onSilent: () => void
}

interface Line {
  readonly client: BoundedClient
  readonly ready: Promise<unknown>
}

const SUM = 'select coalesce(sum(revision), 0) as revision from revisions'
/** With the microsecond at which the server started: another server may have the same numbers of other writes. */
const ALL = `select name, revision from revisions union all
  select 'server_started', (extract(epoch from pg_postmaster_start_time()) * 1000000)::bigint`

/**
 * Reads how often caches were emptied, over a connection of its own: a pool that is busy, or waits, does not hold up
 * the news that a key was revoked.
 */
export class RevisionReader {
  readonly #open: () => BoundedClient
  readonly #onSilent: () => void
  #line: Line | undefined
  given_up = 0

  constructor(config: pg.ClientConfig, {brief_ms, onSilent}: RevisionReaderOptions) {
    const Client = boundedClient({brief_ms, most_ms: brief_ms, onLost: () => undefined, onGivenUp: () => undefined})
    this.#open = () => new Client(config)
    this.#onSilent = onSilent
  }

  async sum(within_ms: number): Promise<number> {
    const [row] = await this.#read<{revision: number | string}>(SUM, within_ms)
    return Number(row?.revision)
  }

  async all(within_ms: number): Promise<ReadonlyMap<string, number>> {
    const rows = await this.#read<{name: string; revision: number | string}>(ALL, within_ms)
    return new Map(rows.map(({name, revision}) => [name, Number(revision)]))
  }

  async close(): Promise<void> {
    const line = this.#line
    this.#line = undefined
    await line?.ready.then(
      () => line.client.end(),
      () => undefined,
    )
  }

  async #read<R extends pg.QueryResultRow>(statement: string, within_ms: number): Promise<R[]> {
    const is_old = this.#line !== undefined
    const line = this.#line ?? lineOf(this.#open())
    this.#line = line
    const timer = setTimeout(() => {
      this.given_up++
      if (is_old) this.#onSilent()
      line.client.giveUp(`no answer came within ${within_ms} ms`)
    }, within_ms)
    try {
      await line.ready
      const {rows} = await line.client.query<R>(statement)
      return rows
    } catch (error) {
      if (this.#line === line) this.#line = undefined
      line.client.giveUp('the connection failed')
      throw unreachable(error)
    } finally {
      clearTimeout(timer)
    }
  }
}

function lineOf(client: BoundedClient): Line {
  return {client, ready: client.connect()}
}
