import type {SqliteOptions} from '../store/dialect/sqlite.ts'

/** What the reader's thread is started with. */
export interface ReaderSetup {
  readonly target: Omit<SqliteOptions, 'role' | 'binding'>
}

/** One statement at a time. */
export interface ReaderOrder {
  readonly sql: string
  readonly parameters: readonly unknown[]
}

/** What the thread gets: a statement, or that no more will come. */
export type ReaderTold = ReaderOrder | 'close'

export type ReaderNews =
  | {readonly rows: readonly unknown[]}
  | {readonly fault: {readonly message: string; readonly code: string}}
