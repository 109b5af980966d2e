import {z} from 'zod'
import {windowOf} from '../../limits/rate.ts'
import {readStoredRates, type StoredRateLimit} from '../../schema/limits.ts'
import {Handle} from '../../schema/names.ts'
import {Empty, listOf} from '../../schema/paging.ts'
import {
  EntitiesQuery,
  keepRateTerms,
  PolicyEntity,
  RatePoliciesQuery,
  RatePolicyCreate,
  RatePolicyQuery,
  RatePolicyUpdate,
  RatePolicyView,
  unitFault,
} from '../../schema/policies.ts'
import type {PoliciesTable} from '../../store/tables/policies.ts'
import {type OperationCall, operation} from '../operation.ts'
import {invalid} from '../tenancy.ts'
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

const params = z.strictObject({rateLimitsPolicyId: Handle})
const OBJECT = 'policy_rate_limits' as const
const parts = policyParts('rate', {
  tag: 'Rate Limits Policies',
  of: 'rate-limits',
  param: 'rateLimitsPolicyId',
  update: 'Change a rate limits policy',
  entities: 'List the entities of a rate limits policy and what they used in the window that is open',
})

/**
 * So many requests or tokens a minute, hour or day for the calls that meet conditions, counted for each group of them.
 */
export const ratePolicies = [
  operation({
    ...parts.list,
    query: RatePoliciesQuery,
    reply: listOf(RatePolicyView),
    handle: call => pageOfPolicies(call, 'rate', call.query, view),
  }),
  operation({
    ...parts.create,
    body: RatePolicyCreate,
    reply: z.strictObject({id: z.uuid(), object: z.literal(OBJECT)}),
    handle: created,
  }),
  operation({
    ...parts.get,
    params,
    query: RatePolicyQuery,
    reply: RatePolicyView,
    handle: async call => view(await reachPolicy(call, 'rate', call.params.rateLimitsPolicyId, call.query.status)),
  }),
  operation({...parts.update, params, body: RatePolicyUpdate, reply: Empty, handle: updated}),
  operation({
    ...parts.delete,
    params,
    reply: Empty,
    handle: call => archivePolicy(call, 'rate', call.params.rateLimitsPolicyId),
  }),
  operation({
    ...parts.list_entities,
    params,
    query: EntitiesQuery,
    reply: listOf(PolicyEntity),
    handle: entitiesListed,
  }),
] as const

async function created(call: OperationCall<undefined, undefined, typeof RatePolicyCreate>) {
  const {body} = call
  const id = await makePolicy(call, body, {kind: 'rate', type: body.type, unit: body.unit, terms: keepRateTerms(body)})
  return {id, object: OBJECT}
}

async function updated(call: OperationCall<typeof params, undefined, typeof RatePolicyUpdate>) {
  const {body} = call
  const before = await reachPolicy(call, 'rate', call.params.rateLimitsPolicyId)
  const {type, unit, value, enforcement} = {...termsOf(before), ...rateFields(body)}
  const wrong = unitFault(before.target, type, unit)
  if (wrong) throw invalid('unit', wrong)
  return changePolicy(call, before, {
    ...(body.name !== undefined && {name: body.name}),
    unit,
    terms: keepRateTerms({type, unit, value, enforcement}),
  })
}

/** Without what is not set. */
function rateFields({unit, value, enforcement}: z.output<typeof RatePolicyUpdate>): Partial<StoredRateLimit> {
  return {...(unit && {unit}), ...(value !== undefined && {value}), ...(enforcement && {enforcement})}
}

async function entitiesListed(call: OperationCall<typeof params, typeof EntitiesQuery>) {
  const row = await reachPolicy(call, 'rate', call.params.rateLimitsPolicyId)
  const {unit, value} = termsOf(row)
  const since_at = new Date(windowOf(unit, Date.parse(call.now)).starts_at_ms).toISOString()
  return pageOfEntities(call, row, {since_at, limit: BigInt(value)}, call.query, Number)
}

function termsOf({terms}: PoliciesTable): StoredRateLimit {
  return readStoredRates(terms)[0]!
}

function view(row: PoliciesTable): z.input<typeof RatePolicyView> {
  const {type, unit, value, enforcement} = termsOf(row)
  return {...commonView(row), ...{type, unit, value}, ...enforcementView(enforcement), object: OBJECT}
}
