import type {PostgresOptions} from '../dialect/postgres.ts'
import type {SqliteOptions} from '../dialect/sqlite.ts'
import {openSqliteTarget} from './sqlite.ts'
import type {FlushTarget} from './target.ts'

export {CHAIN_START, link} from './chain.ts'
export {encodeSettlement} from './encode.ts'
export {type Detail, ENTRY_COLUMNS, type LedgerLine, type RowEnding} from './lines.ts'
export {decodeRecord, type FlushRecord, isEntry, nameOf, traceLine} from './record.ts'
export {type FlushTarget, isRowFault, MarkMovedFault, type SetAsideRecord, type Slice} from './target.ts'

/** The database that a writer flushes into. But for `binding` it can be handed to another thread. */
export type TargetOptions =
  | ({readonly kind: 'sqlite'} & Omit<SqliteOptions, 'role'>)
  | ({readonly kind: 'postgres'} & PostgresOptions)

/** Opens a connection for the flusher alone. The writer's mark must be there (`openMark`). */
export async function openTarget(options: TargetOptions, writer: string, epoch: number): Promise<FlushTarget> {
  if (options.kind === 'sqlite') return openSqliteTarget(options, writer, epoch)
  const {openPostgresTarget} = await import('./postgres.ts') // its driver is memory that SQLite does not need
  return openPostgresTarget(options, writer, epoch)
}
