import {z} from 'zod'
import {Refusal} from '../../base/errors.ts'
import {newId} from '../../base/ids.ts'
import type {CallTarget} from '../../schema/call-targets.ts'
import {list, type Page} from '../../schema/paging.ts'
import {
  type EntityFilter,
  findPolicy,
  insertPolicy,
  listPolicies,
  type PolicyFilter,
  policyEntities,
  updatePolicy,
} from '../../store/policies.ts'
import type {PoliciesTable} from '../../store/tables/policies.ts'
import type {OperationCall} from '../operation.ts'
import {type CallerScope, found, namedWorkspace, workspaceOf} from '../tenancy.ts'

/** One page of the policies of a kind that the caller may see. */
export async function pageOfPolicies<View>(
  call: CallerScope,
  kind: PoliciesTable['kind'],
  {workspace_id, status, type, unit, target, ...page}: Omit<PolicyFilter, 'kind' | 'organisation_id'> & Page,
  view: (row: PoliciesTable) => View,
) {
  const workspace = await namedWorkspace(call, workspace_id)
  const of = {kind, organisation_id: call.actor.organisation_id, workspace_id: workspace?.id}
  const filter = {...of, status, type, unit, target}
  return list(await listPolicies(call.db, filter, page), view)
}

/** One page of what the groups of a policy used. `shown` says what was counted as replies do. */
export async function pageOfEntities(
  {app, db}: Pick<OperationCall, 'app' | 'db'>,
  row: PoliciesTable,
  counted: Pick<EntityFilter, 'since_at' | 'limit'>,
  {status, search, ...page}: Pick<EntityFilter, 'status' | 'search'> & Page,
  shown: (used: bigint) => number,
) {
  await app.settled?.()
  return list(await policyEntities(db, row, {...counted, status, search}, page), ({id, value_key, used}) => ({
    ...{id, value_key},
    current_usage: shown(used),
    status: used >= counted.limit ? ('exhausted' as const) : ('active' as const),
  }))
}

/** The policy that a call names, in the caller's workspace or, for admin keys, anywhere in the organisation. */
export async function reachPolicy(
  call: CallerScope,
  kind: PoliciesTable['kind'],
  id: string,
  status: PoliciesTable['status'] = 'active',
): Promise<PoliciesTable> {
  const workspace = await namedWorkspace(call, undefined)
  const reach = {kind, organisation_id: call.actor.organisation_id, workspace_id: workspace?.id}
  return found(z.uuid().safeParse(id).success ? await findPolicy(call.db, reach, id, status) : undefined, 'policy')
}

type Writing = Pick<OperationCall, 'actor' | 'db' | 'now' | 'auditTarget'>

interface Given {
  readonly name?: string | undefined
  readonly target: CallTarget
  readonly conditions: readonly object[]
  readonly group_by?: readonly object[] | undefined
  readonly workspace_id?: string | undefined
  readonly organisation_id?: string | undefined
}

/** Writes a new policy, in the workspace that is given or the caller's; a caller of none has to name it. */
export async function makePolicy(
  call: Writing,
  given: Given,
  terms: Pick<PoliciesTable, 'kind' | 'type' | 'unit' | 'terms'>,
): Promise<string> {
  const {actor, db, now} = call
  const {name = null, target, conditions, group_by = [], workspace_id, organisation_id} = given
  if (organisation_id !== undefined && organisation_id !== actor.organisation_id)
    throw new Refusal('parent.not_found', {field: 'organisation_id', object: 'organisation', value: organisation_id})
  const workspace = await workspaceOf(call, workspace_id)
  const row: PoliciesTable = {
    id: newId(),
    organisation_id: workspace.organisation_id,
    workspace_id: workspace.id,
    name,
    target,
    conditions: JSON.stringify(conditions),
    group_by: JSON.stringify(group_by),
    ...terms,
    status: 'active',
    created_at: now,
    last_updated_at: now,
  }
  await insertPolicy(db, row)
  written(call, row)
  return row.id
}

export async function changePolicy(call: Writing, before: PoliciesTable, change: Partial<PoliciesTable>) {
  await updatePolicy(call.db, before.id, {...change, last_updated_at: call.now})
  written(call, before)
  return {}
}

export async function archivePolicy(call: Writing, kind: PoliciesTable['kind'], id: string) {
  return changePolicy(call, await reachPolicy(call, kind, id), {status: 'archived'})
}

function written({auditTarget: about}: Writing, {id, workspace_id}: PoliciesTable) {
  about(id, workspace_id)
}

/** The part of a row that both kinds show. */
export function commonView(row: PoliciesTable) {
  const {id, name, target, status, workspace_id, organisation_id, created_at, last_updated_at} = row
  return {
    ...{id, name, target, status, workspace_id, organisation_id, created_at, last_updated_at},
    conditions: JSON.parse(row.conditions) as {key: string; value: string | string[]; excludes?: string | string[]}[],
    group_by: JSON.parse(row.group_by) as {key: string}[],
  }
}

export function enforcementView(enforcement: 'compatible' | 'strict' | 'shadow') {
  return enforcement === 'compatible' ? {} : {enforcement}
}
