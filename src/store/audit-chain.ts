import {hash} from 'node:crypto'
import type {Db} from './database.ts'
import type {AuditLogsTable} from './tables/identity.ts'

/** The hash before the first row of a chain. */
export const CHAIN_START = '0'.repeat(64)
const PAGE_ROWS = 1000

/** The columns that a row's hash is over, in this order. */
const COLUMNS = [
  'organisation_id',
  'sequence',
  'id',
  'at',
  'workspace_id',
  'actor_type',
  'actor_id',
  'method',
  'uri',
  'request_id',
  'request_headers',
  'request_body',
  'query_params',
  'status',
  'resource_type',
  'resource_id',
  'action',
  'client_ip',
] as const satisfies readonly (keyof AuditLogsTable)[]
/** Those that came later: of a row that has none of them the hash is as it was. */
const LATER_COLUMNS = ['changes'] as const satisfies readonly (keyof AuditLogsTable)[]

/** The place at which the chain breaks. */
export interface AuditBreak {
  readonly sequence: number
  /** The row that is not what was recorded; null where one is missing. */
  readonly id: string | null
  readonly text: string
}

export interface AuditReport {
  /** Rows that are linked. */
  readonly rows: number
  /** Rows from before there was a chain, which cannot be checked. */
  readonly unlinked: number
  /** The first break; what comes after it is not judged. */
  readonly breaks: readonly AuditBreak[]
}

/**
 * Adds a row at the end of its organisation's chain. All writers of an organisation share one: the end is locked until
 * the transaction is in, and so rows have the order in which they were committed.
 */
export async function insertAuditLog(db: Db, row: AuditLogsTable) {
  const {organisation_id} = row
  await db
    .insertInto('audit_chains')
    .values({organisation_id, sequence: 0, chain: CHAIN_START})
    .onConflict(conflict => conflict.column('organisation_id').doNothing())
    .execute()
  const end = await db
    .updateTable('audit_chains')
    .set(e => ({sequence: e('sequence', '+', 1)}))
    .where('organisation_id', '=', organisation_id)
    .returning(['sequence', 'chain'])
    .executeTakeFirstOrThrow()
  const linked = {...row, sequence: Number(end.sequence)}
  const chain = linkOf(end.chain, linked)
  await db
    .insertInto('audit_logs')
    .values({...linked, chain})
    .execute()
  await db.updateTable('audit_chains').set({chain}).where('organisation_id', '=', organisation_id).execute()
}

/**
 * Computes the chain of an organisation again over all its rows, a page at a time: a row altered, removed or moved
 * shows.
 */
export async function verifyAuditChain(db: Db, organisation_id: string): Promise<AuditReport> {
  const {highest} = await db
    .selectFrom('audit_logs')
    .select(e => e.fn.max<number | null>('sequence').as('highest'))
    .where('organisation_id', '=', organisation_id)
    .executeTakeFirstOrThrow()
  // rows that come from here on are beyond it, and not judged
  const end = await db
    .selectFrom('audit_chains')
    .selectAll()
    .where('organisation_id', '=', organisation_id)
    .executeTakeFirst()
  const {n} = await db
    .selectFrom('audit_logs')
    .select(e => e.fn.countAll<number>().as('n'))
    .where('organisation_id', '=', organisation_id)
    .where('sequence', 'is', null)
    .executeTakeFirstOrThrow()
  const unlinked = Number(n)
  const last = Number(end?.sequence ?? 0)
  let chain = CHAIN_START
  let rows = 0
  const broken = (sequence: number, id: string | null, text: string) => ({
    rows,
    unlinked,
    breaks: [{sequence, id, text}],
  })
  if (Number(highest ?? 0) > last)
    return broken(last + 1, null, `The chain ends with row ${last}, and there are rows up to ${highest}.`)
  for (;;) {
    const page = await db
      .selectFrom('audit_logs')
      .selectAll()
      .where('organisation_id', '=', organisation_id)
      .where('sequence', '>', rows)
      .where('sequence', '<=', last)
      .orderBy('sequence')
      .limit(PAGE_ROWS)
      .execute()
    for (const row of page) {
      const due = rows + 1
      if (Number(row.sequence) !== due) return broken(due, null, `Row ${due} is missing.`)
      if (linkOf(chain, {...row, sequence: due}) !== row.chain)
        return broken(
          due,
          row.id,
          `Row ${due} of ${row.at} (${row.id}) is not what was recorded, or is not in its place.`,
        )
      chain = row.chain!
      rows = due
    }
    if (page.length < PAGE_ROWS) break
  }
  if (rows < last) return broken(rows + 1, null, `The last rows are missing, from ${rows + 1} to ${last}.`)
  if (end && chain !== end.chain) return broken(rows, null, `Row ${rows} is not the one that the chain ends with.`)
  return {rows, unlinked, breaks: []}
}

function linkOf(previous: string, row: AuditLogsTable): string {
  const later = LATER_COLUMNS.flatMap(column => (row[column] == null ? [] : [{[column]: row[column]}]))
  return hash(
    'sha256',
    `${previous}\n${JSON.stringify([...COLUMNS.map(column => plain(row[column])), ...later])}`,
    'hex',
  )
}

/** An altered number may be beyond exactness; it must then differ, not throw. */
const plain = (value: unknown) => (typeof value === 'bigint' ? String(value) : (value ?? null))
