import type {z} from 'zod'
import {usd} from '../base/money.ts'
import type {UsageDimension} from '../schema/usage-dimensions.ts'
import {UsageQuery, type UsageSum, UsageSums} from '../schema/usage-sums.ts'
import {
  keyNames,
  type RawSum,
  SUMMED,
  type UsageSummed,
  usageSums,
  userNames,
  workspaceNames,
} from '../store/usage-sums.ts'
import {logScope} from './logs.ts'
import {type OperationCall, operation} from './operation.ts'
import {invalid} from './tenancy.ts'

/** Usage by entity and dimension: sums of the hourly sums. */
export const usage = [
  operation({
    id: 'usage.list',
    tag: 'Analytics',
    method: 'GET',
    path: '/admin/usage',
    summary: 'Sum usage by key, user, workspace, provider, kind of provider, model, hour, day or month',
    scopes: ['analytics.view'],
    query: UsageQuery,
    reply: UsageSums,
    handle: summed,
  }),
] as const

const HOUR_MS = 3_600_000

async function summed(call: OperationCall<undefined, typeof UsageQuery>): Promise<z.input<typeof UsageSums>> {
  const {app, db, query} = call
  const scope = await logScope(call, query)
  await app.settled?.()
  const from = hourOf(query.since)
  const until = query.until && hourOf(query.until)
  if (until !== undefined && until <= from)
    throw invalid('until', 'expected a time in a later hour than since: whole hours are counted')
  const raw = await usageSums(app.reads ?? db, query.by, {...scope, workspace_id: scope.workspace_id, from, until})
  const named = await namesOf(call, query.by, raw)
  const sums = new Map<string, UsageTotals>()
  for (const row of raw) {
    const parts = query.by.map(dimension => [dimension, named(dimension, row)] as const)
    const key = JSON.stringify(parts)
    const sum = sums.get(key) ?? {parts: Object.fromEntries(parts), ...NOTHING}
    for (const column of SUMMED) sum[column] += BigInt(row[column])
    sums.set(key, sum)
  }
  const data = [...sums.values()].sort(
    (one, other) => compare(other.cost_nanousd, one.cost_nanousd) || compare(other.requests, one.requests),
  )
  return {object: 'list', total: data.length, from, data: data.map(view)}
}

type UsageTotals = Record<UsageSummed, bigint> & {readonly parts: Partial<Pick<UsageSum, UsageDimension>>}

const NOTHING = {requests: 0n, failures: 0n, unpriced: 0n, prompt_tokens: 0n, completion_tokens: 0n, cost_nanousd: 0n}

/** The names of rows in each dimension. */
async function namesOf(
  {db, actor}: OperationCall<undefined, typeof UsageQuery>,
  by: readonly UsageDimension[],
  rows: readonly RawSum[],
) {
  const {organisation_id} = actor
  const asks_keys = by.includes('key') || by.includes('user')
  const keys = asks_keys
    ? await keyNames(db, organisation_id, [...new Set(rows.map(row => row.api_key_id))])
    : new Map<string, {readonly name: string; readonly user_id: string | null}>()
  const user_ids = by.includes('user') ? [...keys.values()].flatMap(({user_id}) => user_id ?? []) : []
  const users = await userNames(db, organisation_id, [...new Set(user_ids)])
  const workspaces = by.includes('workspace') ? await workspaceNames(db, organisation_id) : new Map<string, string>()
  return (dimension: UsageDimension, row: RawSum) => {
    switch (dimension) {
      case 'key':
        return {id: row.api_key_id, name: keys.get(row.api_key_id)?.name ?? null}
      case 'user': {
        const id = keys.get(row.api_key_id)?.user_id ?? null
        return {id, name: (id !== null && users.get(id)) || null}
      }
      case 'workspace':
        return {id: row.workspace_id, name: workspaces.get(row.workspace_id) ?? null}
      case 'provider':
        return row.provider_slug || null
      case 'kind':
        return row.provider
      case 'model':
        return row.model || null
      default:
        return row.time.slice(0, {hour: 24, day: 10, month: 7}[dimension])
    }
  }
}

function view({parts, ...sum}: UsageTotals): z.input<typeof UsageSum> {
  const {requests, failures, unpriced, prompt_tokens, completion_tokens} = sum
  return {
    ...parts,
    requests: Number(requests),
    failures: Number(failures),
    unpriced: Number(unpriced),
    prompt_tokens: Number(prompt_tokens),
    completion_tokens: Number(completion_tokens),
    total_tokens: Number(prompt_tokens + completion_tokens),
    cost_usd: usd(sum.cost_nanousd),
    object: 'usage-sum',
  }
}

const hourOf = (at: string) => new Date(Math.floor(Date.parse(at) / HOUR_MS) * HOUR_MS).toISOString()
const compare = (one: bigint, other: bigint) => (one < other ? -1 : one > other ? 1 : 0)
