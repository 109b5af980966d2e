import {Refusal} from '../../base/errors.ts'
import {edited, topLevel} from '../../base/json.ts'
import {resultsEvent} from '../../guardrails/answer.ts'
import type {Hook} from '../../guardrails/hook.ts'
import type {CheckResult, HookResult, HookResults, StreamMode} from '../../schema/guardrails.ts'
import type {CallGuardrails} from '../call/call-guardrails.ts'

/** A cached answer with the results of this call's request. */
export function withHookResults({shown, tells_in_streams, endpoint}: CallGuardrails, bytes: Buffer, is_stream: boolean): Buffer {
  if (!is_stream) return withResults(bytes, shown)
  if (!tells_in_streams || !shown?.before_request_hooks.length) return bytes
  return Buffer.concat([Buffer.from(resultsEvent(endpoint, {before_request_hooks: shown.before_request_hooks})), bytes])
}

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

/** Results longer than this are logged without what checks say beside their verdict. */
const MAX_LOGGED_CHARS = 64 * 1024

/** What the log keeps of results: bounded, and of a stream with the mode in which each of its hooks ran. */
export function loggedResults(results: HookResults, streamed: readonly Hook[]): HookResults {
  const modes = new Map<string, StreamMode>(streamed.map(({id, stream_mode}) => [id, stream_mode]))
  const after = results.after_request_hooks.map(result => (modes.has(result.id) ? {...result, stream_mode: modes.get(result.id)!} : result))
  const kept: HookResults = {...results, after_request_hooks: after}
  if (JSON.stringify(kept).length <= MAX_LOGGED_CHARS) return kept
  return {before_request_hooks: kept.before_request_hooks.map(brief), after_request_hooks: kept.after_request_hooks.map(brief)}
}

function brief(result: HookResult): HookResult {
  if (!('checks' in result)) return result
  const checks = result.checks.map((check): CheckResult => ({...check, data: {explanation: CUT}, log: null}))
  return {...result, checks, feedback: result.feedback && {...result.feedback, metadata: {}}}
}

const CUT = 'Too long to be logged.'
