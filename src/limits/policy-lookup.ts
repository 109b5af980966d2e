import type {CallTarget} from '../schema/call-targets.ts'
import type {Db} from '../store/database.ts'
import {configIds, policiesForCalls, policyResets} from '../store/policies.ts'
import {type Remembered, RowCache} from '../store/remembered.ts'
import {compilePolicies, type Policies, type Policy, type PolicyCondition} from './policies.ts'

/** The policies for one kind of calls, by workspace, remembered until one of their rows changes. */
export interface PolicyLookup {
  /** Null stands for a workspace without such policies. At once where they are remembered. */
  find(workspace_id: string): Policies | null | Promise<Policies | null>
  readonly remembered: readonly Remembered[]
}

interface FoundPolicies {
  readonly policies: Policies | null
  /** True where a condition names a config by its slug: the ids of configs are read then. */
  readonly names_configs: boolean
}

export interface PolicyLookupOptions {
  readonly db: Db
  readonly target: CallTarget
  /** False: no policy is found. */
  readonly enabled: boolean
}

const KNOWN_WORKSPACES = 2_000
/** Stands for all configs in what an entry was made of. */
const ANY_CONFIG = 'any config'

export function createPolicyLookup({db, target, enabled}: PolicyLookupOptions): PolicyLookup {
  const known = new RowCache<FoundPolicies>({max: KNOWN_WORKSPACES})
  const loading = new Map<string, Promise<Policies | null>>()

  const load = async (workspace_id: string): Promise<Policies | null> => {
    const born = known.generation
    const found = await readPolicies(db, workspace_id, target)
    known.set(workspace_id, found, {born, rows: found.names_configs ? [ANY_CONFIG] : []})
    return found.policies
  }

  /** Read once, however many calls wait for them. */
  const loadOnce = (workspace_id: string): Promise<Policies | null> => {
    const begun = loading.get(workspace_id)
    if (begun) return begun
    const loads = load(workspace_id).finally(() => {
      if (loading.get(workspace_id) === loads) loading.delete(workspace_id)
    })
    loading.set(workspace_id, loads)
    return loads
  }

  const forget = (ids: readonly string[] | null) => {
    loading.clear() // what is read now may be old
    known.forget(ids)
  }
  return {
    find(workspace_id) {
      if (!enabled) return null
      const found = known.get(workspace_id)
      return found ? found.policies : loadOnce(workspace_id)
    },
    remembered: [
      // as a whole: a new policy may be of any workspace, and a reset has no id
      {of: new Set(['policies', 'policy_resets']), forget: () => forget(null)},
      // those for tools name none
      ...(target === 'llm' ? [{of: new Set(['configs'] as const), forget: () => forget([ANY_CONFIG])}] : []),
    ],
  }
}

async function readPolicies(db: Db, workspace_id: string, target: CallTarget): Promise<FoundPolicies> {
  const rows = await policiesForCalls(db, workspace_id, target)
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
