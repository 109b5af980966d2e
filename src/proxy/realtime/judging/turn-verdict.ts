import {statusOf} from '../../../guardrails/answer.ts'
import type {HookResult, HookResults} from '../../../schema/guardrails.ts'
import type {TurnVerdict} from '../turns.ts'
import type {HeardResults} from './client-lane.ts'
import type {AnswerVerdict} from './provider-lane.ts'

/** The verdict of guardrails on a turn: on the events that led to it, and on its answer. */
export function turnVerdict(before: HeardResults | null, after: AnswerVerdict | null): TurnVerdict {
  const results = (): HookResults => ({
    before_request_hooks: before?.results() ?? [],
    after_request_hooks: after?.results() ?? [],
  })
  const {before_request_hooks, after_request_hooks} = results()
  const late = [before?.late, after?.late].filter(each => each != null)
  return {
    status: after?.fault?.status ?? statusOf(200, [...before_request_hooks, ...after_request_hooks].some(isFailed)),
    denial: after?.fault?.message ?? null,
    results,
    late: late.length ? Promise.all(late) : null,
  }
}

function isFailed(result: HookResult): boolean {
  return 'verdict' in result && !result.verdict
}
