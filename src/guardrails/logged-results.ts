import type {CheckResult, HookResult, HookResults, StreamMode} from '../schema/guardrails.ts'
import type {Hook} from './hook.ts'

/** Results longer than this are logged without what checks say beside their verdict. */
const MAX_LOGGED_CHARS = 64 * 1024

/** The log's copy of results: bounded, and of a stream with the mode in which each of its hooks ran. */
export function loggedResults(results: HookResults, streamed: readonly Hook[]): HookResults {
  const modes = new Map<string, StreamMode>(streamed.map(({id, stream_mode}) => [id, stream_mode]))
  const after = results.after_request_hooks.map(result =>
    modes.has(result.id) ? {...result, stream_mode: modes.get(result.id)!} : result,
  )
  const kept: HookResults = {...results, after_request_hooks: after}
  if (JSON.stringify(kept).length <= MAX_LOGGED_CHARS) return kept
  return {
    before_request_hooks: kept.before_request_hooks.map(brief),
    after_request_hooks: kept.after_request_hooks.map(brief),
  }
}

function brief(result: HookResult): HookResult {
  if (!('checks' in result)) return result
  const checks = result.checks.map((check): CheckResult => ({...check, data: {explanation: CUT}, log: null}))
  return {...result, checks, feedback: result.feedback && {...result.feedback, metadata: {}}}
}

const CUT = 'Too long to be logged.'
