import {budgetClaim} from '../limits/budget.ts'
import {readUsageLimits} from '../schema/limits.ts'
import type {Db} from '../store/database.ts'
import {policySpenders, usagePolicies} from '../store/policies.ts'
import type {PoliciesTable} from '../store/tables/policies.ts'
import {type Budget, budgetOf, type ReadBudgets, thresholdOf} from './budgets.ts'

/** The budgets of the entities of usage policies that have something to report. */
export function policyBudgets(db: Db): ReadBudgets {
  return async now_ms => {
    const found: Budget[] = []
    // one by one: calls go first
    for (const policy of await usagePolicies(db)) found.push(...(await budgetsOf(db, policy, now_ms)))
    return found
  }
}

async function budgetsOf(db: Db, policy: PoliciesTable, now_ms: number): Promise<Budget[]> {
  const {id, organisation_id, workspace_id, terms} = policy
  const limit = readUsageLimits(terms)[0]!
  const of = {entity: 'policy' as const, workspace_id, usage: terms, rates: null}
  const {since_ms, limit: credit_limit} = budgetClaim({...of, id, name: '', last_reset_at: null}, limit, now_ms)
  const threshold = thresholdOf(limit.type, limit.alert_threshold)
  const least = threshold !== null && threshold < credit_limit ? threshold : credit_limit
  const spenders = await policySpenders(db, id, new Date(since_ms).toISOString(), least)
  return spenders.map(({value_key, used, reset_at}) => {
    const entity = {
      ...of,
      id: `${id}/${value_key}`,
      name: `${policy.name ?? id} (${value_key})`,
      last_reset_at: reset_at,
    }
    const subject = {
      entity: of.entity,
      id: entity.id,
      name: entity.name,
      organisation_id,
      workspace_id,
      alert_emails: [],
    }
    return budgetOf(subject, limit, budgetClaim(entity, limit, now_ms), used)
  })
}
