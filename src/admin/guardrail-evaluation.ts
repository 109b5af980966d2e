import type {Hook} from '../guardrails/hook.ts'
import type {TriedSide} from '../guardrails/trial.ts'
import type {EvaluatedCheck, GuardrailEvaluated} from '../schema/guardrail-trials.ts'
import type {CheckResult} from '../schema/guardrails.ts'

const MAX_EXAMPLES = 3

type Sums = Pick<GuardrailEvaluated, 'judged' | 'failed' | 'denied' | 'transformed' | 'without_body' | 'checks'>

/** The results of both sides of a logged call. */
export interface JudgedCall {
  readonly log_id: string
  readonly tried: readonly TriedSide[]
  /** A body that would be judged is not kept whole. */
  readonly lacks: boolean
}

export interface Evaluation {
  add(call: JudgedCall): void
  sums(): Sums
}

/** Counts what a guardrail says of many calls. */
export function evaluation(hook: Hook): Evaluation {
  const sums = {judged: 0, failed: 0, denied: 0, transformed: 0, without_body: 0}
  const checks = new Map<string, Writable<EvaluatedCheck>>()
  return {
    add({log_id, tried, lacks}) {
      if (lacks) sums.without_body++
      if (tried.some(({outcome}) => outcome !== 'skipped')) sums.judged++
      if (tried.some(({outcome}) => outcome === 'failed' || outcome === 'denied')) sums.failed++
      if (tried.some(({outcome}) => outcome === 'denied')) sums.denied++
      if (tried.some(({is_transformed}) => is_transformed)) sums.transformed++
      for (const {side, result} of tried) {
        if (!('checks' in result)) continue
        for (const [index, check] of result.checks.entries()) {
          const key = `${side} ${index}`
          const sum = checks.get(key) ?? {side, index, id: hook.checks[index]!.id, ...NOTHING, examples: []}
          checks.set(key, sum)
          count(sum, check, log_id)
        }
      }
    },
    sums: () => ({
      ...sums,
      checks: [...checks.values()].sort((one, other) => one.side.localeCompare(other.side) || one.index - other.index),
    }),
  }
}

const NOTHING = {passed: 0, failed: 0, errored: 0, skipped: 0, transformed: 0}

type Writable<T> = {-readonly [K in keyof T]: T[K]}

function count(sum: Writable<EvaluatedCheck>, check: CheckResult, log_id: string) {
  if (check.transformed) sum.transformed++
  if (check.skipped) sum.skipped++
  else if (check.error) sum.errored++
  else if (check.verdict) sum.passed++
  else {
    sum.failed++
    if (sum.examples.length < MAX_EXAMPLES)
      sum.examples.push({log_id, explanation: dataText(check, 'explanation'), excerpt: dataText(check, 'textExcerpt')})
  }
}

function dataText({data}: CheckResult, name: 'explanation' | 'textExcerpt'): string | null {
  const value = typeof data === 'object' && data !== null ? (data as Record<string, unknown>)[name] : undefined
  return typeof value === 'string' ? value : null
}
