import type {Log} from '../base/log.ts'
import {type AlertMark, type Crossing, thresholdCrossings} from '../limits/thresholds.ts'
import {alertName, readAlerts, writeAlert} from '../store/alerts.ts'
import type {Store} from '../store/database.ts'
import {type NoticeServices, tell} from './alert-mail.ts'
import {amountOf, type Budget, type ReadBudgets} from './budgets.ts'
import type {Job} from './schedule.ts'

export interface AlertsOptions extends NoticeServices {
  readonly store: Store
  /** Budgets of entities, of policies. */
  readonly sources: readonly ReadBudgets[]
  readonly log: Log
}

/**
 * Alerts once for each budget that passed its alert threshold or is used up, and again once `crossedThresholds` arms it
 * again. Alerts are noted in the transaction that sends them, so that neither a restart nor another process sends one
 * twice.
 */
export function alertsJob({store, sources, log, ...on}: AlertsOptions): Job {
  return {
    name: 'alerts',
    every_ms: 60_000,
    async run({now_ms, lost}) {
      const known = await readAlerts(store.db)
      const marks = new Map([...known].map(([name, state]) => [name, JSON.parse(state) as AlertMark]))
      const budgets = (await Promise.all(sources.map(read => read(now_ms)))).flat()
      const {crossings, marks: changed} = thresholdCrossings(
        budgets.map(({standing}) => standing),
        marks,
      )
      for (const budget of budgets) {
        const {scope} = budget.standing
        const mark = changed.get(scope)
        if (!mark) continue
        if (lost.aborted) return
        const own = crossings.filter(crossing => crossing.scope === scope)
        const raised = await store.write(async db => {
          const key = {entity: budget.subject.entity, entity_id: budget.subject.id, about: budget.type}
          const before = known.get(alertName(key)) ?? null
          if (!(await writeAlert(db, key, before, JSON.stringify(mark), new Date(now_ms).toISOString()))) return false
          for (const {kind} of own) await tell(db, noticeOf(budget, kind), now_ms, on)
          return true
        })
        if (raised) for (const {kind} of own) log.warn(factsOf(budget), SENTENCES[kind])
      }
    },
  }
}

const SENTENCES = {
  threshold: 'a budget has passed its alert threshold',
  exhausted: 'a budget is used up; further calls are refused',
} as const

function noticeOf(budget: Budget, kind: Crossing['kind']) {
  const {subject, type, standing, resets_at} = budget
  const {used, credit_limit, alert_threshold} = standing
  return {
    event: kind === 'threshold' ? ('usage-threshold-alert' as const) : ('usage-exhausted-alert' as const),
    subject,
    facts: {
      used: amountOf(type, used),
      limit: amountOf(type, credit_limit),
      threshold: alert_threshold === null ? undefined : amountOf(type, alert_threshold),
      resets_at: resets_at ?? undefined,
    },
  }
}

function factsOf({subject: {entity, id, workspace_id}, type, standing: {used, credit_limit}}: Budget) {
  return {entity, id, workspace_id, used: amountOf(type, used), limit: amountOf(type, credit_limit)}
}
