import {sql} from 'kysely'
import type {Db} from '../database.ts'
import {SUMMED} from '../flush/columns.ts'
import {retainedSince} from '../retention-start.ts'
import {MOST_SUM, saturatedTotal} from '../saturated.ts'
import type {AtOnce, LedgerBreak, LedgerReport} from './report.ts'

/** The columns that identify a sum; entries have the whole model name. */
const KEY = ['hour', 'workspace_id', 'api_key_id', 'provider_slug', 'provider', 'model'] as const

/** Numbers as text: sums may be beyond 2^53. */
type SumRow = Record<(typeof KEY)[number] | (typeof SUMMED)[number] | 'organisation_id', string>

const HOUR_MS = 3_600_000
const SPAN_MS = 7 * 24 * HOUR_MS
const MAX_BREAKS = 20

/**
 * Holds the hourly sums against the entries they are made of, workspace by workspace and week by week, from the first
 * hour kept on.
 */
export async function verifySums(
  db: Db,
  atOnce: AtOnce,
  onSpan: (done: number, total: number) => void,
): Promise<{report: LedgerReport['sums']; breaks: readonly LedgerBreak[]}> {
  const bounds = await boundsOf(db)
  if (!bounds) return {report: {checked: 0, from: null, at_bound: 0}, breaks: []}
  const breaks: LedgerBreak[] = []
  let checked = 0
  let at_bound = 0
  const workspaces = await workspacesOf(db)
  const spans = workspaces.length * Math.ceil((bounds.to_ms - bounds.from_ms) / SPAN_MS)
  let done = 0
  for (const workspace_id of workspaces) {
    for (let from_ms = bounds.from_ms; from_ms < bounds.to_ms; from_ms += SPAN_MS) {
      const span = {workspace_id, from: hourAt(from_ms), to: hourAt(Math.min(from_ms + SPAN_MS, bounds.to_ms))}
      const {kept, made} = await atOnce(async one => ({kept: await sumsOf(one, span), made: await madeOf(one, span)}))
      checked += kept.size
      for (const row of kept.values()) if (BOUNDED.some(column => row[column] === String(MOST_SUM))) at_bound++
      for (const key of [...new Set([...kept.keys(), ...made.keys()])].sort()) {
        const text = differ(kept.get(key), made.get(key))
        if (text !== undefined && breaks.length < MAX_BREAKS)
          breaks.push({kind: 'sum', writer: null, entry: null, text})
      }
      onSpan(++done, spans)
    }
  }
  return {report: {checked, from: hourAt(bounds.from_ms), at_bound}, breaks}
}

interface Span {
  readonly workspace_id: string
  readonly from: string
  readonly to: string
}

/** From the first whole hour that is kept to the end of the last that anything is known of. */
async function boundsOf(db: Db): Promise<{from_ms: number; to_ms: number} | undefined> {
  const kept_ms = Date.parse(await retainedSince(db, 'hours'))
  const hours = await db
    .selectFrom('traffic.usage_hourly')
    .select(e => [e.fn.min('hour').as('first'), e.fn.max('hour').as('last')])
    .executeTakeFirstOrThrow()
  const entries = await db
    .selectFrom('traffic.ledger_entries')
    .select(e => [e.fn.min('admitted_at').as('first'), e.fn.max('admitted_at').as('last')])
    .executeTakeFirstOrThrow()
  const known = [hours, entries].filter(({first}) => first !== null)
  if (known.length === 0) return undefined
  const first_ms = Math.min(...known.map(({first}) => Date.parse(first))) || 0
  const last_ms = Math.max(...known.map(({last}) => Date.parse(last))) || 0
  const from_ms = Math.max(Math.floor(first_ms / HOUR_MS), Math.ceil(kept_ms / HOUR_MS)) * HOUR_MS
  const to_ms = Math.floor(last_ms / HOUR_MS) * HOUR_MS + HOUR_MS
  return from_ms < to_ms ? {from_ms, to_ms} : undefined
}

async function workspacesOf(db: Db): Promise<readonly string[]> {
  const rows = await db
    .selectFrom('traffic.ledger_entries')
    .select('workspace_id')
    .distinct()
    .union(db.selectFrom('traffic.usage_hourly').select('workspace_id').distinct())
    .execute()
  return rows.map(row => row.workspace_id).sort()
}

async function sumsOf(db: Db, {workspace_id, from, to}: Span): Promise<Map<string, SumRow>> {
  const columns = SUMMED.map(column => sql<string>`cast(${sql.ref(column)} as text)`.as(column))
  const rows = await db
    .selectFrom('traffic.usage_hourly')
    .select([...KEY, 'organisation_id', ...columns])
    .where('workspace_id', '=', workspace_id)
    .where('hour', '>=', from)
    .where('hour', '<', to)
    .execute()
  return byKey(rows as SumRow[])
}

async function madeOf(db: Db, {workspace_id, from, to}: Span): Promise<Map<string, SumRow>> {
  const hour = sql<string>`substr(admitted_at, 1, 13) || ':00:00.000Z'`
  const slug = sql<string>`coalesce(provider_slug, '')`
  const model = sql<string>`coalesce(model, '')`
  const counted = {
    requests: sql`count(*)`,
    failures: sql`sum(case when outcome <> 'ok' then 1 else 0 end)`,
    unpriced: sql`sum(unpriced)`,
    prompt_tokens: saturatedTotal(sql`prompt_tokens`),
    completion_tokens: saturatedTotal(sql`completion_tokens`),
    cost_nanousd: saturatedTotal(sql`cost_nanousd`),
  } satisfies Record<(typeof SUMMED)[number], unknown>
  const rows = await db
    .selectFrom('traffic.ledger_entries')
    .select(['workspace_id', 'api_key_id', 'provider', hour.as('hour'), slug.as('provider_slug'), model.as('model')])
    .select(e => e.fn.min('organisation_id').as('organisation_id'))
    .select(SUMMED.map(column => sql<string>`cast(${counted[column]} as text)`.as(column)))
    .where('workspace_id', '=', workspace_id)
    .where('admitted_at', '>=', from)
    .where('admitted_at', '<', to)
    .groupBy(['workspace_id', 'api_key_id', 'provider', hour, slug, model])
    .execute()
  return byKey(rows as SumRow[])
}

const BOUNDED = ['prompt_tokens', 'completion_tokens', 'cost_nanousd'] as const

const byKey = (rows: readonly SumRow[]) => new Map(rows.map(row => [KEY.map(column => row[column]).join('\0'), row]))

/** A sentence of what is wrong with a sum; undefined when it is what its entries make. */
function differ(kept: SumRow | undefined, made: SumRow | undefined): string | undefined {
  const {hour, workspace_id, api_key_id, provider, model} = (kept ?? made)!
  const name = `The sum of ${hour} of key ${api_key_id} in workspace ${workspace_id} for ${provider} ${model}`
  if (!kept) return `${name} is missing; its entries make ${made!.requests} requests.`
  if (!made) return `${name} says ${kept.requests} requests, and the ledger has no entry of it.`
  const wrong = [...SUMMED, 'organisation_id' as const].filter(column => kept[column] !== made[column])
  if (wrong.length === 0) return undefined
  return `${name} says ${wrong.map(column => `${column} ${kept[column]} and its entries make ${made[column]}`).join(', ')}.`
}

const hourAt = (ms: number) => new Date(ms).toISOString()
