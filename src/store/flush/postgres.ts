import {CompiledQuery, type QueryResult} from 'kysely'
import {readRows} from '../bodies/index.ts'
import type {Db} from '../database.ts'
import {openPostgres, type PostgresOptions} from '../dialect/postgres.ts'
import type {Mark} from '../journal/index.ts'
import {deleteOlder} from '../retention.ts'
import {addedSum} from '../saturated.ts'
import type {LogBodiesTable} from '../tables/traffic.ts'
import {link} from './chain.ts'
import {SUM_COLUMNS, SUM_KEY, SUMMED} from './columns.ts'
import {FEEDBACK_COLUMNS, hookFeedback} from './feedback.ts'
import {ENTRY_COLUMNS} from './lines.ts'
import {
  LATENCY_COLUMNS,
  LATENCY_KEY,
  LOG_SUM_COLUMNS,
  LOG_SUM_KEY,
  LOG_SUMMED,
  LogRowSums,
  type NewRow,
} from './log-sums.ts'
import {ADD_USAGE, ADD_WINDOW, POLICY_COLUMNS, type PolicySum, PolicySums} from './policies.ts'
import {type FlushRecord, isEntry, isSpan, LOG_COLUMNS, logValues, type SqlValue} from './record.ts'
import {HourlySums} from './sums.ts'
import {
  ASIDE_COLUMNS,
  type EarlierEntry,
  earlierAttempts,
  type FlushTarget,
  isRowFault,
  MarkMovedFault,
  type Slice,
  spentOver,
} from './target.ts'
import {UNPRICED_COLUMNS, UNPRICED_KEY, UnpricedSums} from './unpriced.ts'

const BODY_ROWS = 500
const BODY_BYTES = 4 * 1024 * 1024

/** One JSON parameter carries all rows of a statement, so that its text is always the same. */
const rowsOf = (table: string) => `json_populate_recordset(null::traffic.${table}, $1::json)`
const copy = (table: string, columns: readonly string[]) =>
  `insert into traffic.${table} (${columns}) select ${columns} from ${rowsOf(table)}`

const ENTRIES = ['writer', 'chain', ...ENTRY_COLUMNS]
const INSERT_ENTRIES = copy('ledger_entries', ENTRIES)
/** A row that comes again tells more of the same call: results of guardrails that the call did not wait for. */
const INSERT_LOGS = `${copy('logs', LOG_COLUMNS)} on conflict (id) do update set detail = excluded.detail returning id, xmax = 0 as is_new`
/** A span that is there, by its id or by its place in a trace, changes nothing. */
const INSERT_SPANS = `${copy('logs', LOG_COLUMNS)} on conflict do nothing returning id`
const TELL_AGAIN = 'update traffic.logs set detail = $1 where id = $2'
const INSERT_FEEDBACK = `${copy('feedback', FEEDBACK_COLUMNS)} on conflict (id) do nothing`
const INSERT_ASIDE = `${copy('set_aside', ['writer', ...ASIDE_COLUMNS])} on conflict do nothing`
const add = (table: string, columns: readonly string[], key: readonly string[], summed: readonly string[]) =>
  `${copy(table, columns)} on conflict (${key}) do update set ${summed.map(column => `${column} = ${addedSum(`${table}.${column}`, `excluded.${column}`)}`)}`
const ADD_SUMS = add('usage_hourly', SUM_COLUMNS, SUM_KEY, SUMMED)
const ADD_UNPRICED = add('unpriced_hourly', UNPRICED_COLUMNS, UNPRICED_KEY, ['requests'])
const ADD_LOG_SUMS = add('log_hourly', LOG_SUM_COLUMNS, LOG_SUM_KEY, LOG_SUMMED)
const ADD_LATENCIES = add('log_latencies', LATENCY_COLUMNS, LATENCY_KEY, ['requests'])
const ADD_POLICY_USAGE = `${copy('policy_usage', POLICY_COLUMNS)} ${ADD_USAGE('policy_usage')}`
const ADD_POLICY_WINDOWS = `${copy('policy_windows', POLICY_COLUMNS)} ${ADD_WINDOW('policy_windows')}`
const FIND_ENTRIES = `select call_id, attempt from traffic.ledger_entries join ${rowsOf('ledger_entries')} asked using (call_id, attempt)`
const EARLIER = `select usage, cost_nanousd, unpriced from traffic.ledger_entries
  where call_id = $1 and attempt between $2 and $3 order by attempt`
const MARK = 'select segment, position, chain from traffic.journal_marks where writer = $1 and epoch = $2'
const MOVE_MARK = 'update traffic.journal_marks set segment = $1, position = $2, chain = $3 where writer = $4'

/** Flushes into PostgreSQL, a statement for all rows of a table. The mark's row is held while a slice is applied. */
export async function openPostgresTarget(
  options: PostgresOptions,
  writer: string,
  epoch: number,
): Promise<FlushTarget> {
  const {db, close} = await openPostgres({...options, pool_size: 1}, 'lists')
  const readMark = async (db: Db, lock = '') =>
    (await run<Mark & {chain: string}>(db, MARK + lock, [writer, epoch])).rows[0]
  return {
    db,
    async readMark() {
      const found = await readMark(db)
      if (!found) throw new MarkMovedFault(writer, {segment: 0, position: 0}, undefined)
      return {segment: found.segment, position: found.position}
    },
    async apply({from, records: each, end, asides}: Slice) {
      const records = [...each]
      const {segment, position} = end()
      const aside = asides?.() ?? []
      await db.transaction().execute(async transaction => {
        const found = await readMark(transaction, ' for update')
        if (found?.segment !== from.segment || found.position !== from.position)
          throw new MarkMovedFault(writer, from, found)
        const {chain, inserted} = await insertEntries(transaction, records, writer, found.chain)
        await insertLogs(transaction, records, inserted)
        if (aside.length > 0)
          await run(transaction, INSERT_ASIDE, [JSON.stringify(aside.map(each => ({...each, writer})))])
        await run(transaction, MOVE_MARK, [segment, position, chain, writer])
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
    sealBodies: async () => [],
    dropBodies: before_ms => deleteOlder(db, 'bodies', before_ms),
    async checkpoint() {},
    close,
  }
}

/** Inserts the entries that are not there and adds them to the hourly sums; gives these, and the hash of the last. */
async function insertEntries(db: Db, records: readonly FlushRecord[], writer: string, chain: string) {
  const left = records.filter(isEntry)
  if (left.length === 0) return {chain, inserted: new Set<FlushRecord>()}
  const keys = left.map(({entry: {call_id, attempt}}) => ({call_id, attempt}))
  const {rows: found} = await run<{call_id: string; attempt: number}>(db, FIND_ENTRIES, [JSON.stringify(keys)])
  const known = new Set(found.map(keyOf))
  const inserted = left.filter(({entry}) => known.size < known.add(keyOf(entry)).size)
  if (inserted.length === 0) return {chain, inserted: new Set<FlushRecord>()}
  let last = chain
  const rows = inserted.map(({text, values}) => {
    last = link(last, text)
    return named(ENTRIES, [writer, last, ...values])
  })
  await run(db, INSERT_ENTRIES, [JSON.stringify(rows)])
  const sums = new HourlySums()
  const unpriced = new UnpricedSums()
  const policies = new PolicySums()
  for (const record of inserted) {
    sums.add(record)
    unpriced.add(record)
    policies.add(record)
  }
  await run(db, ADD_SUMS, [exact(sums.rows)])
  const without = unpriced.rows
  if (without.length > 0) await run(db, ADD_UNPRICED, [exact(without)])
  const {usage, windows} = policies
  if (usage.length > 0) await run(db, ADD_POLICY_USAGE, [exact(usage)])
  if (windows.length > 0) await run(db, ADD_POLICY_WINDOWS, [exact(distinct(windows))])
  return {chain: last, inserted: new Set(inserted)}
}

/** Of an entity the last window, for a statement changes a row once. */
function distinct(windows: readonly PolicySum[]) {
  return [...new Map(windows.map(window => [window.entity_id, window])).values()]
}

/** JSON in which sums beyond 2^53 stay what they are. */
function exact(sums: readonly object[]): string {
  return JSON.stringify(sums, (_, value) => (typeof value === 'bigint' ? String(value) : value))
}

/** Of a row that comes twice in the records, the later tells more; it counts with what the first has spent. */
async function insertLogs(db: Db, records: readonly FlushRecord[], inserted: ReadonlySet<FlushRecord>): Promise<void> {
  const rows = new Map<string, NewRow>()
  const spans: NewRow[] = []
  for (const record of records) {
    const {entry, row} = record
    if (!row) continue
    if (isSpan(record)) {
      spans.push({entry, row, spent: entry})
      continue
    }
    const [id] = row.values
    const first = rows.get(id)
    if (first) {
      rows.set(id, {...first, row: {...first.row, detail: row.detail}})
      continue
    }
    if (isEntry(record) && !inserted.has(record)) {
      await run(db, TELL_AGAIN, [row.detail, id])
      continue
    }
    const before = earlierAttempts(entry, row)
    const earlier = before
      ? (await run<EarlierEntry>(db, EARLIER, [entry.call_id, before.first, before.last])).rows
      : []
    rows.set(id, {entry, row, spent: spentOver(entry, earlier)})
  }
  if (rows.size + spans.length === 0) return
  const sums = new LogRowSums()
  if (rows.size > 0) {
    const {rows: entries} = await run<{id: string; is_new: boolean}>(db, INSERT_LOGS, [valuesOf([...rows.values()])])
    for (const {id, is_new} of entries) if (is_new) sums.add(rows.get(id)!)
  }
  if (spans.length > 0) for (const span of await insertSpans(db, spans)) sums.add(span)
  const {hours, latencies} = sums.rows
  if (hours.length > 0) await run(db, ADD_LOG_SUMS, [exact(hours)])
  if (latencies.length > 0) await run(db, ADD_LATENCIES, [exact(latencies)])
  const feedback = records.flatMap(hookFeedback)
  if (feedback.length > 0) await run(db, INSERT_FEEDBACK, [JSON.stringify(feedback)])
}

/** Inserts spans that are not there, and gives these: in one order, so that two processes never wait in a ring. */
async function insertSpans(db: Db, spans: readonly NewRow[]): Promise<readonly NewRow[]> {
  const by_id = new Map<string, NewRow>()
  for (const span of spans) if (!by_id.has(span.row.values[0])) by_id.set(span.row.values[0], span)
  const sorted = [...by_id.values()].toSorted((one, other) => (one.row.values[0] < other.row.values[0] ? -1 : 1))
  const {rows} = await run<{id: string}>(db, INSERT_SPANS, [valuesOf(sorted)])
  return rows.map(({id}) => by_id.get(id)!)
}

function valuesOf(rows: readonly NewRow[]): string {
  return JSON.stringify(rows.map(({entry, row, spent}) => named(LOG_COLUMNS, logValues(entry, row, spent))))
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

function named(columns: readonly string[], values: readonly SqlValue[]): Record<string, SqlValue> {
  return Object.fromEntries(columns.map((column, at) => [column, values[at]!]))
}

function run<R>(db: Db, text: string, values: readonly (string | number)[]): Promise<QueryResult<R>> {
  return db.executeQuery(CompiledQuery.raw(text, [...values]) as CompiledQuery<R>)
}
