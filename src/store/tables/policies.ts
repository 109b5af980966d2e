import type {CallTarget} from '../../schema/call-targets.ts'
import type {RateUnit} from '../../schema/limits.ts'

/**
 * A policy of usage or of rates: which calls it covers, and how they are grouped into entities, each with a counter of
 * its own.
 */
export interface PoliciesTable {
  id: string
  kind: 'usage' | 'rate'
  target: CallTarget
  organisation_id: string
  workspace_id: string
  name: string | null
  /** JSON list of `{key, value, excludes?}`. */
  conditions: string
  /** JSON list of `{key}`; empty for one counter of all calls. */
  group_by: string
  type: 'cost' | 'tokens' | 'requests'
  /** Of rates. */
  unit: RateUnit | null
  /** JSON: the limit, as limits of entities are kept. */
  terms: string
  status: 'active' | 'archived'
  created_at: string
  last_updated_at: string
}

/** When the usage of an entity was last set to zero by hand. */
export interface PolicyResetsTable {
  policy_id: string
  value_key: string
  reset_at: string
}

/** The usage of an entity since then; of usage in tokens or nano-dollars, of rates in requests or tokens. */
export interface PolicyUsageTable {
  policy_id: string
  /** Of `value_key`, and short enough for a path (`policyEntityId`). */
  entity_id: string
  since_at: string
  value_key: string
  used: number | bigint
}
