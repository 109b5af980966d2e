import {CompiledQuery, type QueryResult} from 'kysely'
import {readRows} from '../bodies/index.ts'
import type {Db} from '../database.ts'
import {openPostgres, type PostgresOptions} from '../dialect/postgres.ts'
import type {Mark} from '../journal/index.ts'
import {deleteOlder} from '../retention.ts'
import type {LogBodiesTable} from '../tables/traffic.ts'
import {link} from './chain.ts'
import {SUM_COLUMNS, SUM_KEY, SUMMED} from './columns.ts'
import {ENTRY_COLUMNS, type FlushRecord, LOG_COLUMNS, logValues, type SqlValue} from './record.ts'
import {hourlySums} from './sums.ts'
import {type EarlierEntry, earlierAttempts, type FlushTarget, isRowFault, MarkMoved, type Slice, spentOver} from './target.ts'

const BODY_ROWS = 500
const BODY_BYTES = 4 * 1024 * 1024

/** One JSON parameter carries all rows of a statement, so that its text is always the same. */
const rowsOf = (table: string) => `json_populate_recordset(null::traffic.${table}, $1::json)`
const copy = (table: string, columns: readonly string[]) =>
  `insert into traffic.${table} (${columns}) select ${columns} from ${rowsOf(table)}`

const ENTRIES = ['writer', 'chain', ...ENTRY_COLUMNS]
const INSERT_ENTRIES = copy('ledger_entries', ENTRIES)
const INSERT_LOGS = `${copy('logs', LOG_COLUMNS)} on conflict (id) do nothing`
const ADD_SUMS = `${copy('usage_hourly', SUM_COLUMNS)}
  on conflict (${SUM_KEY}) do update set ${SUMMED.map(column => `${column} = usage_hourly.${column} + excluded.${column}`)}`
const FIND_ENTRIES = `select call_id, attempt from traffic.ledger_entries join ${rowsOf('ledger_entries')} asked using (call_id, attempt)`
const EARLIER = `select usage, cost_nanousd, unpriced from traffic.ledger_entries
  where call_id = $1 and attempt between $2 and $3 order by attempt`
const MARK = 'select segment, position, chain from traffic.journal_marks where writer = $1 and epoch = $2'
const MOVE_MARK = 'update traffic.journal_marks set segment = $1, position = $2, chain = $3 where writer = $4'

/** Flushes into PostgreSQL, a statement for all rows of a table. The mark's row is held while a slice is applied. */
export async function openPostgresTarget(options: PostgresOptions, writer: string, epoch: number): Promise<FlushTarget> {
  const {db, close} = await openPostgres({...options, pool_size: 1})
  const readMark = async (db: Db, lock = '') => (await run<Mark & {chain: string}>(db, MARK + lock, [writer, epoch])).rows[0]
  return {
    db,
    async readMark() {
      const found = await readMark(db)
      if (!found) throw new MarkMoved(writer, {segment: 0, position: 0}, undefined)
      return {segment: found.segment, position: found.position}
    },
    async apply({from, to, records}: Slice) {
      await db.transaction().execute(async transaction => {
        const found = await readMark(transaction, ' for update')
        if (found?.segment !== from.segment || found.position !== from.position) throw new MarkMoved(writer, from, found)
        const chain = await insertEntries(transaction, records, writer, found.chain)
        await insertLogs(transaction, records)
        await run(transaction, MOVE_MARK, [to.segment, to.position, chain, writer])
      })
    },
    async keepBodies({bytes, rows}, onRefused) {
      let refused = 0
      for (const slice of slices(readRows(Buffer.from(bytes), rows))) {
        try {
          const once = db.insertInto('traffic.log_bodies').values(slice)
          await once.onConflict(conflict => conflict.column('log_id').doNothing()).execute()
        } catch (fault) {
          if (!isRowFault(fault)) throw fault
          refused += slice.length
          onRefused(fault)
        }
      }
      return refused
    },
    dropBodies: before_ms => deleteOlder(db, 'bodies', before_ms),
    async checkpoint() {},
    close,
  }
}

/** Inserts the entries that are not there and adds them to the hourly sums; gives the hash of the last. */
async function insertEntries(db: Db, records: readonly FlushRecord[], writer: string, chain: string): Promise<string> {
  const left = records.filter(({entry}) => entry)
  if (left.length === 0) return chain
  const keys = left.map(({settlement: {call_id, attempt}}) => ({call_id, attempt}))
  const {rows: found} = await run<{call_id: string; attempt: number}>(db, FIND_ENTRIES, [JSON.stringify(keys)])
  const known = new Set(found.map(keyOf))
  const inserted = left.filter(({settlement}) => known.size < known.add(keyOf(settlement)).size)
  if (inserted.length === 0) return chain
  let last = chain
  const rows = inserted.map(({entry}) => {
    last = link(last, entry!)
    return row(ENTRIES, [writer, last, ...entry!])
  })
  await run(db, INSERT_ENTRIES, [JSON.stringify(rows)])
  const sums = hourlySums(inserted)
  await run(db, ADD_SUMS, [JSON.stringify(sums, (_, value) => (typeof value === 'bigint' ? String(value) : value))])
  return last
}

async function insertLogs(db: Db, records: readonly FlushRecord[]): Promise<void> {
  const rows: object[] = []
  for (const record of records) {
    const {settlement} = record
    const {log} = settlement
    if (!log) continue
    const before = earlierAttempts(settlement, log)
    const earlier = before ? (await run<EarlierEntry>(db, EARLIER, [settlement.call_id, before.first, before.last])).rows : []
    rows.push(row(LOG_COLUMNS, logValues(record, log, spentOver(record, earlier))))
  }
  if (rows.length > 0) await run(db, INSERT_LOGS, [JSON.stringify(rows)])
}

/** Statements of 500 rows or 4 MB at most. */
function* slices(bodies: readonly LogBodiesTable[]): Generator<LogBodiesTable[]> {
  let slice: LogBodiesTable[] = []
  let bytes = 0
  for (const body of bodies) {
    slice.push(body)
    bytes += (body.request_body?.length ?? 0) + (body.response_body?.length ?? 0)
    if (slice.length < BODY_ROWS && bytes < BODY_BYTES) continue
    yield slice
    slice = []
    bytes = 0
  }
  if (slice.length > 0) yield slice
}

const keyOf = ({call_id, attempt}: {readonly call_id: string; readonly attempt: number}) => `${call_id}:${attempt}`

function row(columns: readonly string[], values: readonly SqlValue[]): object {
  return Object.fromEntries(columns.map((column, at) => [column, values[at]]))
}

function run<R>(db: Db, text: string, values: readonly (string | number)[]): Promise<QueryResult<R>> {
  return db.executeQuery(CompiledQuery.raw(text, [...values]) as CompiledQuery<R>)
}
