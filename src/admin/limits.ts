import {isAllowed} from '../identity/access.ts'
import type {EntityLimit, RateReading, Reading} from '../limits/index.ts'
import {LimitStatus, LimitStatusQuery} from '../schema/limit-status.ts'
import {list, listOf} from '../schema/paging.ts'
import {limitedIn} from '../store/limited-entity.ts'
import {policiesForCalls, policyEntities, policyResets} from '../store/policies.ts'
import {keysInSight} from './key-reach.ts'
import {readerOf, shownAmount} from './limit-status.ts'
import {type OperationCall, operation} from './operation.ts'
import {workspaceOf} from './tenancy.ts'

/** Entities of one policy that are shown, those that used most first. */
const MAX_ENTITIES = 50
const FROM_THE_START = '1970-01-01T00:00:00.000Z'

/** Those of a token are known where the token is, alone. */
interface ListedLimit extends EntityLimit {
  readonly entity: Exclude<EntityLimit['entity'], 'token'>
}

/** Any one of these suffices to see the limits of such; keys have rules of their own. */
const SEEN_WITH: Readonly<Record<ListedLimit['entity'], readonly string[]>> = {
  workspace: ['workspaces.read'],
  key: [],
  integration: ['organisation_integrations.list', 'workspace_integrations.list'],
  provider: ['providers.list', 'virtual_keys.list'],
  policy: ['policies.read'],
}

/** The state of a workspace's limits, as far as the caller may see their owners. */
export const limits = [
  operation({
    id: 'limits.status',
    tag: 'Limits',
    method: 'GET',
    path: '/limits',
    summary: 'Show how the limits of a workspace stand: of itself, its keys, integrations, providers and policies',
    scopes: ['workspaces.read'],
    query: LimitStatusQuery,
    reply: listOf(LimitStatus),
    handle: status,
  }),
] as const

async function status(call: OperationCall<undefined, typeof LimitStatusQuery>) {
  const {actor, app, db, query} = call
  const workspace = await workspaceOf(call, query.workspace_id)
  await app.settled?.()
  const reader = readerOf(app)
  const sees = (entity: ListedLimit['entity']) => isAllowed(actor, SEEN_WITH[entity])
  const has_policies = app.settings.policy_enabled && sees('policy')
  const all = [
    ...(await limitedIn(db, workspace.id, keysInSight(actor))).filter(({entity}) => entity === 'key' || sees(entity)),
    ...(has_policies ? await policyLimits(call, workspace.id) : []),
  ]
  const rows: LimitStatus[] = []
  for (const of of query.entity ? all.filter(({entity}) => entity === query.entity) : all) {
    for (const reading of await reader.read(of)) rows.push(view(of, 'budget', reading, reading.used))
    for (const reading of await reader.readRates(of))
      rows.push(view(of, 'rate', reading, reading.used ?? (app.limits ? 0n : null)))
  }
  return list({total: rows.length, rows}, row => row)
}

async function policyLimits({db}: Pick<OperationCall, 'db'>, workspace_id: string): Promise<ListedLimit[]> {
  const resets = await policyResets(db, workspace_id)
  const limits: ListedLimit[] = []
  for (const policy of await policiesForCalls(db, workspace_id)) {
    const filter = {since_at: FROM_THE_START, limit: 0n}
    const {rows} = await policyEntities(db, policy, filter, {current_page: 0, page_size: MAX_ENTITIES})
    const [usage, rates] = policy.kind === 'usage' ? [policy.terms, null] : [null, policy.terms]
    for (const {value_key} of rows) {
      const name = `${policy.name ?? policy.id} (${value_key})`
      const last_reset_at = resets.get(policy.id)?.get(value_key) ?? null
      limits.push({entity: 'policy', id: `${policy.id}/${value_key}`, name, workspace_id, usage, rates, last_reset_at})
    }
  }
  return limits
}

function view(
  of: ListedLimit,
  kind: 'budget' | 'rate',
  reading: Reading | RateReading,
  used: bigint | null,
): LimitStatus {
  const {type, label, limit, mode, since_ms, ends_at_ms, corrected} = reading
  const shown = (amount: bigint) => shownAmount(type, amount)
  return {
    ...{entity: of.entity, id: of.id, name: of.name, kind, type, enforcement: mode, label},
    limit: shown(limit),
    used: used === null ? null : shown(used),
    remaining: used === null ? null : shown(used >= limit ? 0n : limit - used),
    status: used !== null && used >= limit ? 'exhausted' : 'active',
    since_at: new Date(since_ms).toISOString(),
    resets_at: Number.isFinite(ends_at_ms) ? new Date(ends_at_ms).toISOString() : null,
    corrected: corrected ? {by: shown(corrected.by), at: new Date(corrected.at_ms).toISOString()} : null,
  }
}
