import type {Db} from '../database.ts'
import {retainedSince} from '../retention-start.ts'
import type {LedgerBreak, LedgerReport} from './report.ts'

const PAGE_ROWS = 500
const MAX_BREAKS = 20

interface Row {
  readonly id: string
  readonly call_id: string
  readonly created_at: string
  readonly endpoint: string
  readonly outcome: string
  readonly prompt_tokens: number
  readonly completion_tokens: number
  readonly cost_nanousd: number
  readonly cache_status: string | null
}

type Entry = Pick<Row, 'call_id' | 'prompt_tokens' | 'completion_tokens' | 'cost_nanousd'>

/**
 * Holds what the rows of the log say of money against the entries of their calls. A row sums its own attempt and the
 * retries before it, so that it must say what consecutive entries of its call come to. A call may have entries without
 * a row: rows give way when room is short.
 */
export async function verifyLogs(
  db: Db,
  onRows: (rows: number) => void,
): Promise<{report: LedgerReport['logs']; breaks: readonly LedgerBreak[]}> {
  const kept = await retainedSince(db, 'logs')
  const breaks: LedgerBreak[] = []
  let checked = 0
  let from: string | null = null
  for (let after = ''; ; ) {
    const page: Row[] = await db
      .selectFrom('traffic.logs')
      .select([
        'id',
        'call_id',
        'created_at',
        'endpoint',
        'outcome',
        'prompt_tokens',
        'completion_tokens',
        'cost_nanousd',
        'cache_status',
      ])
      .where('id', '>', after)
      .orderBy('id')
      .limit(PAGE_ROWS)
      .execute()
    const entries = page.length > 0 ? await entriesOf(db, page) : new Map<string, Entry[]>()
    for (const row of page) {
      after = row.id
      if (row.created_at < kept) continue
      from ??= row.created_at
      checked++
      if (isSound(row, entries.get(row.call_id) ?? []) || breaks.length >= MAX_BREAKS) continue
      const text = `Log row ${row.id} of ${row.created_at} says ${row.cost_nanousd} nano-dollars, which no entries of its call ${row.call_id} come to.`
      breaks.push({kind: 'log', writer: null, entry: null, text})
    }
    onRows(checked)
    if (page.length < PAGE_ROWS) break
  }
  return {report: {checked, from}, breaks}
}

async function entriesOf(db: Db, rows: readonly Row[]): Promise<Map<string, Entry[]>> {
  const entries = await db
    .selectFrom('traffic.ledger_entries')
    .select(['call_id', 'prompt_tokens', 'completion_tokens', 'cost_nanousd'])
    .where('call_id', 'in', [...new Set(rows.map(row => row.call_id))])
    .orderBy('call_id')
    .orderBy('attempt')
    .execute()
  return Map.groupBy(entries, entry => entry.call_id)
}

function isSound(row: Row, entries: readonly Entry[]): boolean {
  if (entries.some((_, first) => begins(row, entries, first))) return true
  // a row that no attempt belongs to costs nothing: refused before it left, answered from the cache, the session around
  // its turns
  const is_free = row.cost_nanousd === 0 && row.prompt_tokens === 0 && row.completion_tokens === 0
  return (
    is_free &&
    (entries.length === 0 || row.outcome !== 'ok' || row.endpoint === 'realtime' || /HIT/.test(row.cache_status ?? ''))
  )
}

/** True when the entries from `first` on, one or more, add up to the row. */
function begins(row: Row, entries: readonly Entry[], first: number): boolean {
  const sum = {prompt_tokens: 0, completion_tokens: 0, cost_nanousd: 0}
  for (let at = first; at < Math.min(entries.length, first + MAX_TRIES); at++) {
    const {prompt_tokens, completion_tokens, cost_nanousd} = entries[at]!
    sum.prompt_tokens += prompt_tokens
    sum.completion_tokens += completion_tokens
    sum.cost_nanousd = Math.min(Number.MAX_SAFE_INTEGER, sum.cost_nanousd + cost_nanousd)
    if (
      sum.cost_nanousd === row.cost_nanousd &&
      sum.prompt_tokens === row.prompt_tokens &&
      sum.completion_tokens === row.completion_tokens
    )
      return true
  }
  return false
}

/** More than a target is ever tried for one call. */
const MAX_TRIES = 64
