import {Refusal} from '../../base/errors.ts'
import {edited, topLevel} from '../../base/json.ts'
import {resultsEvent, withoutExcerpts} from '../../guardrails/answer.ts'
import type {HookResult, HookResults, RanHook} from '../../schema/guardrails.ts'
import type {CallGuardrails} from '../call/call-guardrails.ts'

/** A cached answer with the results of this call's request. */
export function withHookResults(guarded: CallGuardrails, bytes: Buffer, is_stream: boolean): Buffer {
  if (!is_stream) return withResults(bytes, guarded.shown)
  const first = requestResults(guarded)
  return first.length ? Buffer.concat([first, bytes]) : bytes
}

/** The results of the request that a stream sends before its first bytes; empty when it sends none. */
export function requestResults({shown, tells_in_streams, endpoint}: CallGuardrails): Buffer {
  if (!tells_in_streams || !shown?.before_request_hooks.length) return NOTHING
  return Buffer.from(resultsEvent(endpoint, {before_request_hooks: shown.before_request_hooks}))
}

/** The results that a stream sends behind its answer, once the `late` ones have come; null when it sends none. */
export function answerResults(guarded: CallGuardrails, late: Promise<void> | undefined): Promise<Buffer> | null {
  const {tells_in_streams, judges_answers, endpoint} = guarded
  if (!tells_in_streams || !judges_answers) return null
  return (late ?? Promise.resolve()).then(() => {
    const {shown} = guarded
    return shown ? Buffer.from(resultsEvent(endpoint, {after_request_hooks: shown.after_request_hooks})) : NOTHING
  })
}

const NOTHING = Buffer.alloc(0)
const NO_KEYS: ReadonlySet<string> = new Set()

/** An answer with the results in it, every other byte as it was; what is no JSON object stays. */
export function withResults(bytes: Buffer, results: HookResults | null): Buffer {
  if (!results) return bytes
  try {
    return edited(bytes, topLevel(bytes, NO_KEYS), new Map([['hook_results', JSON.stringify(results)]]))
  } catch (fault) {
    if (fault instanceof Refusal) return bytes
    throw fault
  }
}

interface RowsOfHook {
  /** Of the first row that failed, else of the first that was judged. */
  readonly result: RanHook
  readonly line: number
  readonly judged: number
  readonly failed: number
}

/** The results of hooks on the rows of a file. Nothing that a row holds is in it. */
export class RowResults {
  readonly #of = new Map<string, RowsOfHook>()
  /** A hook failed that would not deny, or would. */
  is_failed = false

  /** `line` 0: of no row, but of what came behind them. */
  add(results: readonly HookResult[], line: number): void {
    for (const each of results) {
      if (!('checks' in each)) continue
      const before = this.#of.get(each.id)
      const is_failed = !each.verdict
      if (is_failed && !each.async) this.is_failed = true
      const is_first = !before || (is_failed && (before.result.verdict || line < before.line))
      this.#of.set(each.id, {
        result: is_first
          ? (withoutExcerpts(each) as RanHook)
          : {...before.result, transformed: before.result.transformed || each.transformed},
        line: is_first ? line : before.line,
        judged: (before?.judged ?? 0) + (line > 0 ? 1 : 0),
        failed: (before?.failed ?? 0) + (is_failed ? 1 : 0),
      })
    }
  }

  /** `results` of the rest of the call, with those of the rows in their place where that is more. */
  beside(results: readonly HookResult[]): readonly HookResult[] {
    const left = new Map(this.#of)
    const merged = results.map(result => {
      const rows = 'part' in result ? undefined : left.get(result.id)
      if (!rows || ('checks' in result && !result.verdict)) return result
      left.delete(result.id)
      return withRows(rows)
    })
    const missing = [...left].filter(([id]) => !results.some(result => result.id === id && !('part' in result)))
    return [...merged, ...missing.map(([, rows]) => withRows(rows))]
  }
}

function withRows({result, line, judged, failed}: RowsOfHook): HookResult {
  return {...result, rows: {judged, failed, ...(failed > 0 && line > 0 ? {line} : {})}}
}
