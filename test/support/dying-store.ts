import type {Duplex} from 'node:stream'
import Sqlite from 'better-sqlite3'
import pg from 'pg'

/** Statements of this kind fail, each in its own way. */
export interface Death {
  readonly name: string
  fails(statement: string): boolean
  /** SQLite's code; PostgreSQL's, or null for a connection that is cut. */
  readonly sqlite: string
  readonly postgres: string | null
}

const WRITES = /^\s*(?:insert|update|delete|commit)\b/i
const ANY = /^\s*(?:insert|update|delete|select|commit)\b/i

export const DEATHS: readonly Death[] = [
  {name: 'a disk that is full', fails: text => WRITES.test(text), sqlite: 'SQLITE_FULL', postgres: '53100'},
  {name: 'a store that is gone', fails: text => ANY.test(text), sqlite: 'SQLITE_IOERR_READ', postgres: null},
  {
    name: 'a store that may only be read',
    fails: text => WRITES.test(text),
    sqlite: 'SQLITE_READONLY',
    postgres: '25006',
  },
]

/** The database of this process as a test lets it fail. */
export interface DyingStore {
  /** From now on statements fail that `death` fails, from the `at`th of them on. */
  dies(death: Death, at: number): void
  /** It works again; says how many statements it would have failed. */
  lives(): number
  restore(): void
}

/** Puts itself between this process and its databases. `names` are tables: other statements are those of other work. */
export function dyingStore(names: RegExp): DyingStore {
  let death: Death | null = null
  let left = 0
  let seen = 0
  const writers = new WeakSet<object>()
  const isDead = (owner: object, text: string): boolean => {
    if (/^\s*(?:begin|rollback)\b/i.test(text)) writers.delete(owner)
    const is_commit = /^\s*commit\b/i.test(text)
    if (death === null || !(is_commit ? writers.has(owner) : names.test(text)) || !death.fails(text)) return false
    if (WRITES.test(text)) writers.add(owner)
    seen++
    return seen >= left
  }

  const {prepare} = Sqlite.prototype
  Sqlite.prototype.prepare = function (this: Sqlite.Database, text: string) {
    if (isDead(this, text)) throw new Sqlite.SqliteError(`${death!.name} (of the test)`, death!.sqlite)
    return prepare.call(this, text)
  } as typeof prepare

  const query = pg.Client.prototype.query as (this: pg.Client, ...given: unknown[]) => unknown
  const dying = function (this: pg.Client, ...given: unknown[]): unknown {
    const [first] = given
    const text = typeof first === 'string' ? first : String((first as {text?: string} | undefined)?.text ?? '')
    if (!isDead(this, text)) return query.apply(this, given)
    if (death!.postgres !== null)
      return Promise.reject(Object.assign(new Error(`${death!.name} (of the test)`), {code: death!.postgres}))
    const {stream} = (this as unknown as {connection: {stream: Duplex}}).connection
    stream.destroy(Object.assign(new Error('cut by the test'), {code: 'ECONNRESET'}))
    return query.apply(this, given)
  }
  pg.Client.prototype.query = dying as typeof pg.Client.prototype.query

  return {
    dies(next, at) {
      death = next
      left = at
      seen = 0
    },
    lives() {
      death = null
      return seen
    },
    restore() {
      Sqlite.prototype.prepare = prepare
      pg.Client.prototype.query = query as typeof pg.Client.prototype.query
    },
  }
}
