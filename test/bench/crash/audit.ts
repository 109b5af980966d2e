import {join} from 'node:path'
import Sqlite from 'better-sqlite3'

/** What clients and provider know of the calls, all servers together. */
export interface Known {
  readonly received: ReadonlyMap<string, number>
  readonly finished: ReadonlyMap<string, number>
  readonly whole: readonly string[]
}

export interface Audit {
  readonly entries: number
  readonly recovered: number
  /** Entries of calls that took more than one attempt. */
  readonly further: number
  /** Sentences; none when the ledger is right. */
  readonly faults: readonly string[]
}

interface Entry {
  readonly call_id: string
  readonly attempt: number
  readonly trace_id: string
  readonly outcome: string
  readonly usage_source: string
  readonly cost_nanousd: number
}

/**
 * Holds the ledger of a data directory against what is known. The server must have stopped. The trace id of a call is
 * its marker; it makes one attempt after the other.
 */
export function audit(data_dir: string, {received, finished, whole}: Known): Audit {
  const db = new Sqlite(join(data_dir, 'traffic.db'), {readonly: true})
  try {
    const entries = db
      .prepare('select call_id, attempt, trace_id, outcome, usage_source, cost_nanousd from ledger_entries')
      .all() as Entry[]
    const of = Map.groupBy(entries, entry => entry.trace_id)
    const isRecovered = (entry: Entry) => entry.outcome === 'recovered' || entry.usage_source === 'recovered'
    const faults: string[] = []
    for (const [marker, attempts] of finished) {
      const found = of.get(marker)?.length ?? 0
      if (found < attempts)
        faults.push(`${marker}: the provider finished ${attempts} attempts, the ledger has ${found} entries`)
    }
    for (const entry of entries) {
      if (!received.has(entry.trace_id) && !isRecovered(entry))
        faults.push(`${entry.trace_id}: an entry (${entry.outcome}) of an attempt that the provider never received`)
    }
    for (const [key, same] of Map.groupBy(entries, entry => `${entry.call_id}:${entry.attempt}`)) {
      if (same.length > 1) faults.push(`${key}: ${same.length} entries of one id`)
    }
    for (const [marker, same] of of) {
      const most = received.get(marker) ?? 0
      const known = same.filter(entry => !isRecovered(entry)).length
      // what was cut off may not have reached the provider, and one attempt is under way at a time
      if (known > most || same.length > most + (same.length - known > 0 ? 1 : 0))
        faults.push(`${marker}: ${same.length} entries, ${known} of them not recovered, of ${most} attempts`)
    }
    for (const marker of whole) {
      const found = of.get(marker) ?? []
      const attempts = received.get(marker) ?? 0
      if (found.length !== attempts)
        faults.push(
          `${marker}: the client has the whole answer of ${attempts} attempts, the ledger has ${found.length} entries`,
        )
      else if (found.some(isRecovered))
        faults.push(`${marker}: the client has the whole answer, its entry is recovered`)
    }
    const cost = entries.reduce((sum, entry) => sum + entry.cost_nanousd, 0)
    const sums = db
      .prepare('select coalesce(sum(cost_nanousd), 0) cost, coalesce(sum(requests), 0) requests from usage_hourly')
      .get() as {
      cost: number
      requests: number
    }
    if (sums.cost !== cost || sums.requests !== entries.length)
      faults.push(
        `the hourly sums say ${sums.requests} calls for ${sums.cost} nano-dollars, the entries ${entries.length} for ${cost}`,
      )
    return {
      entries: entries.length,
      recovered: entries.filter(isRecovered).length,
      further: entries.filter(({attempt}) => attempt > 1).length,
      faults,
    }
  } finally {
    db.close()
  }
}

/**
 * Holds the log against calls of tools: one that its client has whole has one row, and no call that reached its server
 * has two that speak of it. Repetitions that were refused have rows of their own. Gives sentences.
 */
export function rowFaults(data_dir: string, {received, whole}: Omit<Known, 'finished'>): readonly string[] {
  const db = new Sqlite(join(data_dir, 'traffic.db'), {readonly: true})
  try {
    const rows = db
      .prepare(
        "select trace_id, count(distinct call_id) calls, count(*) count from logs where provider = 'mcp'" +
          ' and call_id in (select call_id from ledger_entries) group by trace_id',
      )
      .all() as {readonly trace_id: string; readonly calls: number; readonly count: number}[]
    const of = new Map(rows.map(row => [row.trace_id, row]))
    return [
      ...whole
        .filter(marker => of.get(marker)?.count !== 1)
        .map(marker => `${marker}: the client has its answer, and the log ${of.get(marker)?.count ?? 0} rows`),
      ...[...received.keys()]
        .filter(marker => (of.get(marker)?.count ?? 0) > 1)
        .map(marker => `${marker}: ${of.get(marker)!.count} rows of one call`),
    ]
  } finally {
    db.close()
  }
}
