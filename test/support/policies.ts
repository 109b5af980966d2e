import type {PoliciesTable} from '../../src/store/tables/policies.ts'
import {ORGANISATION, stored, WORKSPACE} from './budgets.ts'

const AT = '2026-03-01T00:00:00.000Z'

/** The row of a usage policy `team` that counts each user's cost; `terms` as they are stored. */
export function policyRow(id: string, terms: object): PoliciesTable {
  return {
    id,
    kind: 'usage',
    target: 'llm',
    organisation_id: ORGANISATION,
    workspace_id: WORKSPACE,
    name: 'team',
    conditions: JSON.stringify([{key: 'metadata._user', value: '*'}]),
    group_by: JSON.stringify([{key: 'metadata._user'}]),
    type: 'cost',
    unit: null,
    terms: JSON.stringify([stored(terms)]),
    status: 'active',
    created_at: AT,
    last_updated_at: AT,
  }
}
