import {Refusal} from './errors.ts'

export type StoreName = 'PostgreSQL' | 'Redis' | 'the ledger'

/**
 * A store does not answer: it is out of reach, cut the connection, or said nothing within the deadline. Nothing is known of what it did
 * with the statement, so nobody sends that again. Any other error of a store is an answer.
 */
export class StoreSilent extends Error {
  readonly store: StoreName
  /** For people, to follow a colon: `no answer came within 5000 ms`. */
  readonly reason: string

  constructor(store: StoreName, reason: string, options?: ErrorOptions) {
    super(`${store[0]!.toUpperCase()}${store.slice(1)} does not answer: ${reason}.`, options)
    this.name = 'StoreSilent'
    this.store = store
    this.reason = reason
  }
}

/** A store answers and can write nothing now: no room, or a file system that may only be read. What was asked was not done. */
export class StoreUnwritable extends Error {
  readonly reason: string

  constructor(reason: string, options?: ErrorOptions) {
    super(`The database cannot be written now: ${reason}.`, options)
    this.name = 'StoreUnwritable'
    this.reason = reason
  }
}

/** What a client is told of a store that does not answer, or cannot be written; undefined for any other fault. */
export function storeRefusal(fault: unknown): Refusal | undefined {
  if (fault instanceof StoreSilent) {
    return new Refusal('store.silent', {store: fault.store === 'the ledger' ? 'ledger' : 'database'}, {cause: fault})
  }
  const reason = fault instanceof StoreUnwritable ? fault.reason : unwritable(fault)
  return reason === undefined ? undefined : new Refusal('store.unwritable', {reason}, {cause: fault})
}

const UNWRITABLE: Readonly<Record<string, string>> = {
  SQLITE_FULL: 'its disk is full',
  ENOSPC: 'its disk is full',
  EDQUOT: 'its disk quota is used up',
  SQLITE_READONLY: 'its file may only be read',
  EROFS: 'its file system may only be read',
  SQLITE_BUSY: 'another process holds it',
  SQLITE_IOERR: 'its disk fails',
}

/** SQLite's codes name the case behind an underscore: `SQLITE_IOERR_WRITE`. */
function unwritable(fault: unknown): string | undefined {
  const code = fault instanceof Error && 'code' in fault ? String(fault.code) : ''
  return UNWRITABLE[code] ?? UNWRITABLE[/^SQLITE_[A-Z]+/.exec(code)?.[0] ?? '']
}
