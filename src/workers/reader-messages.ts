import type {SqliteOptions} from '../store/dialect/sqlite.ts'

/** The start data of the reader's thread. */
export interface ReaderSetup {
  readonly target: Omit<SqliteOptions, 'role' | 'binding'>
}

/** One statement at a time. */
export interface ReaderOrder {
  readonly sql: string
  readonly parameters: readonly unknown[]
}

/** The messages to the thread: a statement, or that no more will come. */
export type ReaderTold = ReaderOrder | 'close'

export type ReaderNews =
  | {readonly rows: readonly unknown[]}
  | {readonly fault: {readonly message: string; readonly code: string}}
