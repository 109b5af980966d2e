import {z} from 'zod'
import {Refusal} from '../../base/errors.ts'
import {nanoDollars} from '../../limits/budget.ts'
import {readUsageLimits, type StoredUsageLimit} from '../../schema/limits.ts'
import {Handle} from '../../schema/names.ts'
import {Empty, listOf} from '../../schema/paging.ts'
import {type Period, periodOf} from '../../schema/periods.ts'
import {
  EntitiesQuery,
  keepUsageTerms,
  PolicyEntity,
  UsagePoliciesQuery,
  UsagePolicyCreate,
  UsagePolicyQuery,
  UsagePolicyUpdate,
  UsagePolicyView,
} from '../../schema/policies.ts'
import {policyEntityId} from '../../schema/policy-entities.ts'
import * as store from '../../store/policies.ts'
import type {PoliciesTable} from '../../store/tables/policies.ts'
import {type OperationCall, operation} from '../operation.ts'
import {type CallerScope, found, invalid} from '../tenancy.ts'
import {
  archivePolicy,
  changePolicy,
  commonView,
  enforcementView,
  makePolicy,
  pageOfEntities,
  pageOfPolicies,
  reachPolicy,
} from './reach.ts'
import {policyParts} from './resource.ts'

const params = z.strictObject({policyUsageLimitsId: Handle})
const entityParams = z.strictObject({policyUsageLimitsId: Handle, entityId: Handle})
const OBJECT = 'policy_usage_limits' as const
/** The most entities that a map of a policy shows. */
const MAX_MAPPED = 1000
const parts = policyParts('usage', {
  tag: 'Usage Limits Policies',
  of: 'usage-limits',
  param: 'policyUsageLimitsId',
  update: 'Change a usage limits policy, or set the usage of one of its entities to zero',
  entities: 'List the entities of a usage limits policy and what they used, those that used most first',
})

/** Budgets for the calls that meet conditions, one for each group of them. */
export const usagePolicies = [
  operation({
    ...parts.list,
    query: UsagePoliciesQuery,
    reply: listOf(UsagePolicyView),
    handle: call => pageOfPolicies(call, 'usage', call.query, row => view(row, call.now)),
  }),
  operation({
    ...parts.create,
    body: UsagePolicyCreate,
    reply: z.strictObject({id: z.uuid(), object: z.literal(OBJECT)}),
    handle: created,
  }),
  operation({...parts.get, params, query: UsagePolicyQuery, reply: UsagePolicyView, handle: shown}),
  operation({...parts.update, params, body: UsagePolicyUpdate, reply: Empty, handle: updated}),
  operation({
    ...parts.delete,
    params,
    reply: Empty,
    handle: call => archivePolicy(call, 'usage', call.params.policyUsageLimitsId),
  }),
  operation({
    ...parts.list_entities,
    params,
    query: EntitiesQuery,
    reply: listOf(PolicyEntity),
    handle: entitiesListed,
  }),
  operation({
    ...parts.update,
    id: 'usage_policies.reset_entity',
    path: `${parts.one}/entities/:entityId/reset`,
    summary: 'Set the usage of an entity to zero',
    params: entityParams,
    reply: Empty,
    handle: entityReset,
  }),
] as const

async function created(call: OperationCall<undefined, undefined, typeof UsagePolicyCreate>) {
  const {body, now} = call
  checkTerms(body)
  const id = await makePolicy(call, body, {
    kind: 'usage',
    type: body.type,
    unit: null,
    terms: keepUsageTerms(body, now),
  })
  return {id, object: OBJECT}
}

async function shown(call: OperationCall<typeof params, typeof UsagePolicyQuery>) {
  const row = await reachPolicy(call, 'usage', call.params.policyUsageLimitsId, call.query.status)
  const viewed = view(row, call.now)
  if (!call.query.include_usage) return viewed
  await call.app.settled?.()
  const {rows} = await store.policyEntities(call.db, row, filterOf(row, call.now), {
    current_page: 0,
    page_size: MAX_MAPPED,
  })
  return {
    ...viewed,
    value_key_usage_map: Object.fromEntries(rows.map(({value_key, used}) => [value_key, usageOf(row, used)])),
  }
}

async function updated(call: OperationCall<typeof params, undefined, typeof UsagePolicyUpdate>) {
  const {db, body, now} = call
  const before = await reachPolicy(call, 'usage', call.params.policyUsageLimitsId)
  const terms = termsOf(before)
  const after = {
    type: terms.type,
    credit_limit: body.credit_limit ?? terms.credit_limit,
    alert_threshold: body.alert_threshold === undefined ? terms.alert_threshold : body.alert_threshold,
    periodic_reset: body.periodic_reset === undefined ? terms.periodic_reset : body.periodic_reset,
    enforcement: body.enforcement ?? terms.enforcement,
  }
  checkTerms(after)
  const {reset_usage_for_value: value_key} = body
  if (value_key !== undefined) {
    const known = await entity(call, before, policyEntityId(before.id, value_key))
    if (!known)
      throw new Refusal('parent.not_found', {field: 'reset_usage_for_value', object: 'entity', value: value_key})
    await store.resetEntity(db, before.id, value_key, now)
  }
  return changePolicy(call, before, {
    ...(body.name !== undefined && {name: body.name}),
    terms: keepUsageTerms(after, terms.started_at),
  })
}

async function entitiesListed(call: OperationCall<typeof params, typeof EntitiesQuery>) {
  const row = await reachPolicy(call, 'usage', call.params.policyUsageLimitsId)
  return pageOfEntities(call, row, filterOf(row, call.now), call.query, used => usageOf(row, used))
}

async function entityReset(call: OperationCall<typeof entityParams>) {
  const row = await reachPolicy(call, 'usage', call.params.policyUsageLimitsId)
  const {value_key} = found(await entity(call, row, call.params.entityId), 'entity')
  await store.resetEntity(call.db, row.id, value_key, call.now)
  call.auditTarget(row.id, row.workspace_id)
  return {}
}

async function entity({db, now}: CallerScope & {readonly now: string}, row: PoliciesTable, id: string) {
  const {rows} = await store.policyEntities(db, row, {...filterOf(row, now), id}, {current_page: 0, page_size: 1})
  return rows[0]
}

/** Checks that the schema cannot make of fields that come one by one. */
function checkTerms({
  type,
  credit_limit,
  alert_threshold,
}: Pick<StoredUsageLimit, 'type' | 'credit_limit'> & {readonly alert_threshold?: number | null | undefined}) {
  if (type === 'tokens' && !Number.isInteger(credit_limit))
    throw invalid('credit_limit', 'must be a whole number of tokens')
  if (alert_threshold != null && alert_threshold >= credit_limit)
    throw invalid('alert_threshold', 'must be below credit_limit')
}

function termsOf({terms}: PoliciesTable): StoredUsageLimit {
  return readUsageLimits(terms)[0]!
}

/** Counted is what was used since the period began, or the policy was made. */
function filterOf(row: PoliciesTable, now: string) {
  const terms = termsOf(row)
  const limit = terms.type === 'cost' ? nanoDollars(terms.credit_limit) : BigInt(terms.credit_limit)
  return {
    since_at: new Date(Math.max(sinceOf(periodNow(terms, now)), Date.parse(terms.started_at))).toISOString(),
    limit,
  }
}

function periodNow(terms: StoredUsageLimit, now: string): Period {
  return periodOf(terms, 'monday', Date.parse(now))
}

const sinceOf = ({starts_at_ms}: Period) => (Number.isFinite(starts_at_ms) ? starts_at_ms : 0)

/** In US dollars or tokens. */
function usageOf({type}: Pick<PoliciesTable, 'type'>, used: bigint): number {
  return type === 'cost' ? Number(used) / 1e9 : Number(used)
}

function view(row: PoliciesTable, now: string): z.input<typeof UsagePolicyView> {
  const terms = termsOf(row)
  const {type, credit_limit, alert_threshold, periodic_reset, enforcement} = terms
  const {starts_at_ms, ends_at_ms} = periodNow(terms, now)
  const has_begun_again = Number.isFinite(starts_at_ms) && starts_at_ms > Date.parse(terms.started_at)
  return {
    ...commonView(row),
    ...{type, credit_limit, alert_threshold, periodic_reset},
    ...enforcementView(enforcement),
    periodic_reset_days: null,
    next_usage_reset_at: Number.isFinite(ends_at_ms) ? new Date(ends_at_ms).toISOString() : null,
    last_reset_at: has_begun_again ? new Date(starts_at_ms).toISOString() : null,
    object: OBJECT,
  }
}
