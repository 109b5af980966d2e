import {z} from 'zod'
import {windowOf} from '../../limits/rate.ts'
import {type RateLimit, readRateLimits} from '../../schema/limits.ts'
import {Handle} from '../../schema/names.ts'
import {Empty, list, listOf} from '../../schema/paging.ts'
import {
  EntitiesQuery,
  keepRateTerms,
  PolicyEntity,
  RatePoliciesQuery,
  RatePolicyCreate,
  RatePolicyQuery,
  RatePolicyUpdate,
  RatePolicyView,
} from '../../schema/policies.ts'
import * as store from '../../store/policies.ts'
import type {PoliciesTable} from '../../store/tables/policies.ts'
import {type Call, operation} from '../operation.ts'
import {namedWorkspace} from '../tenancy.ts'
import {archivePolicy, changePolicy, commonView, enforcementView, FLAG, makePolicy, reachPolicy} from './reach.ts'

const tag = 'Rate Limits Policies'
const PATH = '/policies/rate-limits'
const params = z.strictObject({rateLimitsPolicyId: Handle})
const OBJECT = 'policy_rate_limits' as const

/** So many requests or tokens a minute, hour or day for the calls that meet conditions, counted for each group of them. */
export const ratePolicies = [
  operation({
    id: 'rate_policies.list',
    tag,
    method: 'GET',
    path: PATH,
    summary: 'List rate limits policies',
    scopes: ['policies.list'],
    flag: FLAG,
    query: RatePoliciesQuery,
    reply: listOf(RatePolicyView),
    handle: listed,
  }),
  operation({
    id: 'rate_policies.create',
    tag,
    method: 'POST',
    path: PATH,
    summary: 'Create a rate limits policy',
    scopes: ['policies.create'],
    flag: FLAG,
    audit: {resource: 'rate-limits-policy', action: 'create'},
    body: RatePolicyCreate,
    reply: z.strictObject({id: z.uuid(), object: z.literal(OBJECT)}),
    handle: created,
  }),
  operation({
    id: 'rate_policies.get',
    tag,
    method: 'GET',
    path: `${PATH}/:rateLimitsPolicyId`,
    summary: 'Show a rate limits policy',
    scopes: ['policies.read'],
    flag: FLAG,
    params,
    query: RatePolicyQuery,
    reply: RatePolicyView,
    handle: async call => view(await reachPolicy(call, 'rate', call.params.rateLimitsPolicyId, call.query.status)),
  }),
  operation({
    id: 'rate_policies.update',
    tag,
    method: 'PUT',
    path: `${PATH}/:rateLimitsPolicyId`,
    summary: 'Change a rate limits policy',
    scopes: ['policies.update'],
    flag: FLAG,
    audit: {resource: 'rate-limits-policy', action: 'update'},
    params,
    body: RatePolicyUpdate,
    reply: Empty,
    handle: updated,
  }),
  operation({
    id: 'rate_policies.delete',
    tag,
    method: 'DELETE',
    path: `${PATH}/:rateLimitsPolicyId`,
    summary: 'Archive a rate limits policy: it holds no calls any more',
    scopes: ['policies.delete'],
    flag: FLAG,
    audit: {resource: 'rate-limits-policy', action: 'delete'},
    params,
    reply: Empty,
    handle: call => archivePolicy(call, 'rate', call.params.rateLimitsPolicyId),
  }),
  operation({
    id: 'rate_policies.list_entities',
    tag,
    method: 'GET',
    path: `${PATH}/:rateLimitsPolicyId/entities`,
    summary: 'List the entities of a rate limits policy and what they used in the window that is open',
    scopes: ['policies.read'],
    flag: FLAG,
    params,
    query: EntitiesQuery,
    reply: listOf(PolicyEntity),
    handle: entitiesListed,
  }),
] as const

async function listed(call: Call<undefined, typeof RatePoliciesQuery>) {
  const workspace = await namedWorkspace(call, call.query.workspace_id)
  const {status, type, unit} = call.query
  const filter = {kind: 'rate' as const, organisation_id: call.actor.organisation_id, workspace_id: workspace?.id, status, type, unit}
  return list(await store.listPolicies(call.db, filter, call.query), view)
}

async function created(call: Call<undefined, undefined, typeof RatePolicyCreate>) {
  const {body} = call
  const id = await makePolicy(call, body, {kind: 'rate', type: body.type, unit: body.unit, terms: keepRateTerms(body)})
  return {id, object: OBJECT}
}

async function updated(call: Call<typeof params, undefined, typeof RatePolicyUpdate>) {
  const {body} = call
  const before = await reachPolicy(call, 'rate', call.params.rateLimitsPolicyId)
  const {type, unit, value, enforcement} = {...termsOf(before), ...said(body)}
  return changePolicy(call, before, {
    ...(body.name !== undefined && {name: body.name}),
    unit,
    terms: keepRateTerms({type, unit, value, enforcement}),
  })
}

/** Without what was not said. */
function said({unit, value, enforcement}: z.output<typeof RatePolicyUpdate>): Partial<RateLimit> {
  return {...(unit && {unit}), ...(value !== undefined && {value}), ...(enforcement && {enforcement})}
}

async function entitiesListed(call: Call<typeof params, typeof EntitiesQuery>) {
  const {query, now, db} = call
  const row = await reachPolicy(call, 'rate', call.params.rateLimitsPolicyId)
  await call.app.settled?.()
  const {unit, value} = termsOf(row)
  const since_at = new Date(windowOf(unit, Date.parse(now)).starts_at_ms).toISOString()
  const filter = {since_at, limit: BigInt(value), status: query.status, search: query.search}
  return list(await store.policyEntities(db, row, filter, query), ({id, value_key, used}) => ({
    ...{id, value_key},
    current_usage: Number(used),
    status: used >= filter.limit ? ('exhausted' as const) : ('active' as const),
  }))
}

function termsOf({terms}: PoliciesTable): RateLimit {
  return readRateLimits(terms)[0]!
}

function view(row: PoliciesTable): z.input<typeof RatePolicyView> {
  const {type, unit, value, enforcement} = termsOf(row)
  return {...commonView(row), ...{type, unit, value}, ...enforcementView(enforcement), object: OBJECT}
}
