import {Refusal} from './errors.ts'

export type StoreName = 'PostgreSQL' | 'Redis' | 'the ledger'

/**
 * A store does not answer: it is out of reach, cut the connection, or sent nothing within the deadline. Nothing is
 * known of what it did with the statement, so it is not sent again. Any other error of a store is an answer.
 */
export class StoreSilentFault extends Error {
  readonly store: StoreName
  /** For people, to follow a colon: `no answer came within 5000 ms`. */
  readonly reason: string
  /** The operator's remedy, when it is known: names the setting. */
  readonly cure: string | undefined

  constructor(store: StoreName, reason: string, {cure, ...options}: ErrorOptions & {readonly cure?: string} = {}) {
    super(`${store[0]!.toUpperCase()}${store.slice(1)} does not answer: ${reason}.`, options)
    this.name = 'StoreSilentFault'
    this.store = store
    this.reason = reason
    this.cure = cure
  }
}

/**
 * A store answers and can write nothing now: no room, or a file system that may only be read. What was to be written
 * was not.
 */
export class StoreUnwritableFault extends Error {
  readonly reason: string
  /** The operator's remedy, when it is known: names the setting. */
  readonly cure: string | undefined

  constructor(reason: string, {cure, ...options}: ErrorOptions & {readonly cure?: string} = {}) {
    super(`The database cannot be written now: ${reason}.`, options)
    this.name = 'StoreUnwritableFault'
    this.reason = reason
    this.cure = cure
  }
}

/** The client's error for a store that does not answer, or cannot be written; undefined for any other fault. */
export function storeRefusal(fault: unknown): Refusal | undefined {
  if (fault instanceof StoreSilentFault) {
    if (fault.store === 'the ledger') return new Refusal('ledger.behind', {reason: fault.reason}, {cause: fault})
    return new Refusal('store.silent', {}, {cause: fault})
  }
  const reason = unwritableReason(fault)
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

/** Why a database cannot be written, where `fault` is of that kind; from another thread it is plain data. */
export function unwritableReason(fault: unknown): string | undefined {
  if (fault instanceof StoreUnwritableFault) return fault.reason
  const code = typeof fault === 'object' && fault !== null && 'code' in fault ? String(fault.code) : ''
  // SQLite's codes name the case behind an underscore: SQLITE_IOERR_WRITE
  return UNWRITABLE[code] ?? UNWRITABLE[/^SQLITE_[A-Z]+/.exec(code)?.[0] ?? '']
}
