import {compilePolicies, type Policies, type Policy, type PolicyCondition} from '../../limits/policies.ts'
import type {Db} from '../../store/database.ts'
import {configIds, policiesForCalls, policyResets} from '../../store/policies.ts'

export interface FoundPolicies {
  /** Null stands for a workspace without policies. */
  readonly policies: Policies | null
  /** True where a condition names a config by its slug: the ids of configs are read then. */
  readonly names_configs: boolean
}

/** The policies of a workspace, ready for calls. */
export async function readPolicies(db: Db, workspace_id: string): Promise<FoundPolicies> {
  const rows = await policiesForCalls(db, workspace_id)
  if (rows.length === 0) return {policies: null, names_configs: false}
  const resets = await policyResets(db, workspace_id)
  const read = rows.map((row): Policy => {
    const {id, name, kind, terms} = row
    return {
      ...{id, name, workspace_id},
      conditions: JSON.parse(row.conditions) as PolicyCondition[],
      group_by: JSON.parse(row.group_by) as Policy['group_by'],
      usage: kind === 'usage' ? terms : null,
      rates: kind === 'rate' ? terms : null,
      resets: resets.get(id) ?? NO_RESETS,
    }
  })
  const named = read.flatMap(({conditions}) => conditions.flatMap(configsOf))
  const ids = await configIds(db, workspace_id, named)
  const policies = compilePolicies(
    read.map(policy => ({...policy, conditions: policy.conditions.map(condition => withIds(condition, ids))})),
  )
  return {policies, names_configs: named.length > 0}
}

const NO_RESETS: ReadonlyMap<string, string> = new Map()

function configsOf({key, value, excludes = []}: PolicyCondition): string[] {
  return key === 'config' ? [value, excludes].flat() : []
}

/** A config is named by its slug, and a call knows its id. */
function withIds(condition: PolicyCondition, ids: ReadonlyMap<string, string>): PolicyCondition {
  if (condition.key !== 'config') return condition
  const known = (slugs: PolicyCondition['value']) => [slugs].flat().map(name => ids.get(name) ?? name)
  const {value, excludes} = condition
  return {key: 'config', value: known(value), ...(excludes !== undefined && {excludes: known(excludes)})}
}
