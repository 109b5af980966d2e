import {join} from 'node:path'
import type Sqlite from 'better-sqlite3'
import {Kysely, SqliteDialect} from 'kysely'
import {openPacks, PACKS_FOLDER} from '../bodies/index.ts'
import type {Database} from '../database.ts'
import {connect, type SqliteOptions} from '../dialect/sqlite.ts'
import type {Mark} from '../journal/index.ts'
import {addedSum} from '../saturated.ts'
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
import {ADD_USAGE, ADD_WINDOW, POLICY_COLUMNS, PolicySums} from './policies.ts'
import {type FlushRecord, isEntry, isSpan, LOG_COLUMNS, logValues} from './record.ts'
import {prepareCall} from './sqlite-call.ts'
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

/** 16 MB: pages that are written again and again are copied into the file less often. */
const CHECKPOINT_PAGES = 4096
/** Holds the pages that new rows go to, of an index in no order too. */
const CACHE_KB = 4 * 1024

/** Flushes into traffic.db with prepared statements: this runs for every call. */
export function openSqliteTarget(options: Omit<SqliteOptions, 'role'>, writer: string, epoch: number): FlushTarget {
  const raw = connect({...options, role: 'flusher'})
  try {
    return target(raw, join(options.folder, PACKS_FOLDER), writer, epoch)
  } catch (fault) {
    raw.close()
    throw fault
  }
}

function target(raw: Sqlite.Database, packs_folder: string, writer: string, epoch: number): FlushTarget {
  const packs = openPacks(packs_folder)
  raw.pragma(`traffic.wal_autocheckpoint = ${CHECKPOINT_PAGES}`)
  raw.pragma(`traffic.cache_size = -${CACHE_KB}`)
  const begin = raw.prepare('begin immediate')
  const commit = raw.prepare('commit')
  const mark = raw.prepare('select segment, position, chain from traffic.journal_marks where writer = ? and epoch = ?')
  const moveMark = raw.prepare('update traffic.journal_marks set segment = ?, position = ?, chain = ? where writer = ?')
  const insertCall = prepareCall(raw, writer)
  const insertEntry = raw.prepare(insert('ledger_entries', [...ENTRY_COLUMNS, 'writer', 'chain'], '(call_id, attempt)'))
  const insertLog = raw.prepare(insert('logs', LOG_COLUMNS, '(id)'))
  const insertSpan = raw.prepare(insert('logs', LOG_COLUMNS, ''))
  const tellAgain = raw.prepare('update traffic.logs set detail = ? where id = ?')
  const insertFeedback = raw.prepare(insert('feedback', FEEDBACK_COLUMNS, '(id)'))
  const insertAside = raw.prepare(insert('set_aside', ['writer', ...ASIDE_COLUMNS], '(writer, segment, position)'))
  const addAll = prepareSums(raw)
  const earlier = raw.prepare(
    'select usage, cost_nanousd, unpriced from traffic.ledger_entries where call_id = ? and attempt between ? and ? order by attempt',
  )
  const transaction = (work: () => void) => {
    begin.run()
    try {
      work()
      commit.run()
    } catch (fault) {
      if (raw.inTransaction) raw.exec('rollback')
      throw fault
    }
  }
  /**
   * Gives the row when the log did not have it; one that comes again tells more of the same call: results of guardrails
   * that the call did not wait for.
   */
  const insertRow = (record: FlushRecord, is_counted: boolean): NewRow | undefined => {
    const {entry, row} = record
    if (!row) return undefined
    if (isSpan(record))
      return insertSpan.run(...logValues(entry, row, entry)).changes === 1 ? {entry, row, spent: entry} : undefined
    if (!is_counted) return void tellAgain.run(row.detail, row.values[0])
    const before = earlierAttempts(entry, row)
    const entries = before ? (earlier.all(entry.call_id, before.first, before.last) as EarlierEntry[]) : []
    const spent = spentOver(entry, entries)
    const is_new = insertLog.run(...logValues(entry, row, spent)).changes === 1
    if (!is_new) tellAgain.run(row.detail, row.values[0])
    return is_new ? {entry, row, spent} : undefined
  }
  const apply = ({from, records, end, asides}: Slice, are_new: boolean) =>
    transaction(() => {
      const found = mark.get(writer, epoch) as (Mark & {chain: string}) | undefined
      if (found?.segment !== from.segment || found.position !== from.position)
        throw new MarkMovedFault(writer, from, found)
      let {chain} = found
      const sums = {
        entries: new HourlySums(),
        unpriced: new UnpricedSums(),
        policies: new PolicySums(),
        rows: new LogRowSums(),
      }
      const addEntry = (record: FlushRecord) => {
        sums.entries.add(record)
        sums.unpriced.add(record)
        sums.policies.add(record)
      }
      for (const record of records) {
        const {entry, row} = record
        const next = isEntry(record) ? link(chain, record.text) : chain
        if (are_new && isEntry(record) && row && !earlierAttempts(entry, row)) {
          insertCall(record, next)
          chain = next
          addEntry(record)
          sums.rows.add({entry, row, spent: entry})
        } else {
          const is_new = isEntry(record) && insertEntry.run(...record.values, writer, next).changes === 1
          if (is_new) {
            chain = next
            addEntry(record)
          }
          const written = insertRow(record, is_new || !isEntry(record))
          if (written) sums.rows.add(written)
        }
        for (const feedback of hookFeedback(record))
          insertFeedback.run(FEEDBACK_COLUMNS.map(column => feedback[column]))
      }
      addAll(sums)
      const {segment, position} = end()
      for (const aside of asides?.() ?? []) insertAside.run(writer, ...ASIDE_COLUMNS.map(column => aside[column]))
      moveMark.run(segment, position, chain, writer)
    })
  return {
    db: new Kysely<Database>({dialect: new SqliteDialect({database: raw})}),
    async readMark() {
      const found = mark.get(writer, epoch) as Mark | undefined
      if (!found) throw new MarkMovedFault(writer, {segment: 0, position: 0}, undefined)
      return {segment: found.segment, position: found.position}
    },
    async apply(slice) {
      try {
        apply(slice, true)
      } catch (fault) {
        if (!isRowFault(fault)) throw fault
        apply(slice, false) // what is there already, in part or whole
      }
    },
    async keepBodies(bodies, onRefused) {
      return packs.append(bodies, onRefused)
    },
    async sealBodies() {
      return packs.seal()
    },
    async dropBodies(before_ms) {
      packs.deleteOlder(before_ms)
      return false
    },
    async checkpoint() {
      raw.pragma('traffic.wal_checkpoint(TRUNCATE)')
    },
    async close() {
      packs.close()
      raw.close()
    },
  }
}

/** The amounts that a slice adds to the sums. */
interface Sums {
  readonly entries: HourlySums
  readonly unpriced: UnpricedSums
  readonly policies: PolicySums
  readonly rows: LogRowSums
}

/** The statements that add what a slice has to the sums. */
function prepareSums(raw: Sqlite.Database): (sums: Sums) => void {
  const addLogSums = raw.prepare(add('log_hourly', LOG_SUM_COLUMNS, LOG_SUM_KEY, LOG_SUMMED))
  const addLatencies = raw.prepare(add('log_latencies', LATENCY_COLUMNS, LATENCY_KEY, ['requests']))
  const addSums = raw.prepare(add('usage_hourly', SUM_COLUMNS, SUM_KEY, SUMMED))
  const addUnpriced = raw.prepare(add('unpriced_hourly', UNPRICED_COLUMNS, UNPRICED_KEY, ['requests']))
  const addPolicyUsage = raw.prepare(
    `insert into traffic.policy_usage (${POLICY_COLUMNS}) values (${POLICY_COLUMNS.map(() => '?')}) ${ADD_USAGE('policy_usage')}`,
  )
  const addPolicyWindow = raw.prepare(
    `insert into traffic.policy_windows (${POLICY_COLUMNS}) values (${POLICY_COLUMNS.map(() => '?')}) ${ADD_WINDOW('policy_windows')}`,
  )
  return ({entries, unpriced, policies, rows}) => {
    for (const sum of entries.rows) addSums.run(SUM_COLUMNS.map(column => sum[column]))
    for (const sum of unpriced.rows) addUnpriced.run(UNPRICED_COLUMNS.map(column => sum[column]))
    for (const sum of policies.usage) addPolicyUsage.run(POLICY_COLUMNS.map(column => sum[column]))
    for (const sum of policies.windows) addPolicyWindow.run(POLICY_COLUMNS.map(column => sum[column]))
    const {hours, latencies} = rows.rows
    for (const sum of hours) addLogSums.run(LOG_SUM_COLUMNS.map(column => sum[column]))
    for (const sum of latencies) addLatencies.run(LATENCY_COLUMNS.map(column => sum[column]))
  }
}

function insert(table: string, columns: readonly string[], key: string): string {
  return `insert into traffic.${table} (${columns}) values (${columns.map(() => '?')}) on conflict ${key} do nothing`
}

function add(table: string, columns: readonly string[], key: readonly string[], summed: readonly string[]): string {
  return `insert into traffic.${table} (${columns}) values (${columns.map(() => '?')})
    on conflict (${key}) do update set ${summed.map(column => `${column} = ${addedSum(column, `excluded.${column}`)}`)}`
}
