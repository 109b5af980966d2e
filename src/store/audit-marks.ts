import {sql} from 'kysely'
import {CHAIN_START} from './audit-chain.ts'
import type {Db} from './database.ts'
import type {AuditLogsTable} from './tables/identity.ts'

/** A row of the audit log as a sink gets it: what happened, without what was sent. */
export interface SinkRow
  extends Omit<AuditLogsTable, 'request_headers' | 'request_body' | 'query_params' | 'changes' | 'sequence' | 'chain'> {
  /** Null where it is too long to be looked into. */
  readonly request_body: string | null
  readonly changes: string | null
  readonly sequence: number
  readonly chain: string
  /** The chain of the row before; null where that row is missing. */
  readonly previous_chain: string | null
}

/** The last row of an organisation's chain that a sink has. */
export interface AuditMark {
  readonly organisation_id: string
  readonly sequence: number
  readonly chain: string
}

/** Bodies over this are not looked into. */
const MOST_READ_CHARACTERS = 65_536

const COLUMNS = [
  'id',
  'at',
  'organisation_id',
  'workspace_id',
  'actor_type',
  'actor_id',
  'method',
  'uri',
  'request_id',
  'status',
  'resource_type',
  'resource_id',
  'action',
  'client_ip',
] as const satisfies readonly (keyof AuditLogsTable)[]

/**
 * The next rows that a sink does not have, of every organisation in the order of its chain, at most about `most`. A
 * chain is locked until its last row is committed: none comes later with a place before these. Rows from before there
 * was a chain are not among them.
 */
export async function rowsForSink(db: Db, sink: string, most: number): Promise<SinkRow[]> {
  const pending = await db
    .selectFrom('audit_chains as chains')
    .leftJoin('audit_marks as mark', join =>
      join.onRef('mark.organisation_id', '=', 'chains.organisation_id').on('mark.sink', '=', sink),
    )
    .select(['chains.organisation_id', 'mark.sequence', 'mark.chain'])
    .where(e => e.or([e('mark.sequence', 'is', null), e('chains.sequence', '>', e.ref('mark.sequence'))]))
    .orderBy('chains.organisation_id')
    .limit(most)
    .execute()
  const each = Math.max(1, Math.floor(most / Math.max(1, pending.length)))
  const rows: SinkRow[] = []
  for (const {organisation_id, sequence, chain} of pending)
    rows.push(
      ...(await rowsBehind(db, {organisation_id, sequence: Number(sequence ?? 0), chain: chain ?? CHAIN_START}, each)),
    )
  return rows
}

async function rowsBehind(db: Db, mark: AuditMark, most: number): Promise<SinkRow[]> {
  const {organisation_id} = mark
  const found = await db
    .selectFrom('audit_logs')
    .select([
      ...COLUMNS,
      'sequence',
      'chain',
      readable('request_body').as('request_body'),
      readable('changes').as('changes'),
    ])
    .where('organisation_id', '=', organisation_id)
    .where('sequence', '>', mark.sequence)
    .orderBy('sequence')
    .limit(most)
    .execute()
  let before = mark
  return found.map(row => {
    const sequence = Number(row.sequence)
    const chain = row.chain ?? ''
    const previous_chain = sequence === before.sequence + 1 ? before.chain : null
    before = {organisation_id, sequence, chain}
    return {...row, sequence, chain, previous_chain}
  })
}

function readable(column: 'request_body' | 'changes') {
  const text = sql.ref<string | null>(column)
  return sql<string | null>`case when length(${text}) <= ${sql.lit(MOST_READ_CHARACTERS)} then ${text} end`
}

/** Moves the marks of a sink, which never move back: another process may be further by now. */
export async function moveAuditMarks(db: Db, sink: string, marks: readonly AuditMark[]): Promise<void> {
  for (const {organisation_id, sequence, chain} of marks)
    await db
      .insertInto('audit_marks')
      .values({sink, organisation_id, sequence, chain})
      .onConflict(conflict =>
        conflict
          .columns(['sink', 'organisation_id'])
          .doUpdateSet({sequence, chain})
          .where('audit_marks.sequence', '<', sequence),
      )
      .execute()
}

/** How many rows a sink does not have yet. */
export async function rowsBehindSink(db: Db, sink: string): Promise<number> {
  const {behind} = await db
    .selectFrom('audit_chains as chains')
    .leftJoin('audit_marks as mark', join =>
      join.onRef('mark.organisation_id', '=', 'chains.organisation_id').on('mark.sink', '=', sink),
    )
    .select(e => e.fn.sum<number | string | null>(sql`chains.sequence - coalesce(mark.sequence, 0)`).as('behind'))
    .executeTakeFirstOrThrow()
  return Number(behind ?? 0)
}
