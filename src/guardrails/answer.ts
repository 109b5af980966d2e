import type {EndpointName} from '../schema/endpoints.ts'
import type {HookResult, HookResults} from '../schema/guardrails.ts'
import {isObject, type JsonValue, withKey} from './json.ts'

/** A guardrail failed that does not deny. */
export const FAILED_STATUS = 246

/** The results that a client is shown; null when no hook ran that the call waited for. */
export function shownResults(before: readonly HookResult[], after: readonly HookResult[]): HookResults | null {
  if (![...before, ...after].some(result => 'checks' in result)) return null
  return {before_request_hooks: before, after_request_hooks: after}
}

/** The status of an answer that was not denied: only a 200 becomes 246. */
export function statusOf(upstream_status: number, is_failed: boolean): number {
  return upstream_status === 200 && is_failed ? FAILED_STATUS : upstream_status
}

/**
 * The body of a 446, in the form of its route's errors; `where` follows "failed". Of an answer that was denied it shows
 * nothing: what checks quote of it is left out.
 */
export function deniedBody(endpoint: EndpointName, fields: HookResults, where = '') {
  const hook_results = {...fields, after_request_hooks: fields.after_request_hooks.map(withoutExcerpts)}
  const error = {
    message: `The guardrails of this call failed${where}; hook_results says which.`,
    type: 'hooks_failed',
    param: null,
    code: null,
  }
  return endpoint === 'messages' || endpoint === 'messagesCountTokens'
    ? {type: 'error', error, hook_results}
    : {error, hook_results}
}

/** A result that quotes nothing of what was judged. */
export function withoutExcerpts(result: HookResult): HookResult {
  if (!('checks' in result)) return result
  const checks = result.checks.map(check => {
    if (!isObject(check.data)) return check
    const {textExcerpt: _, invalidHosts: __, ...data} = check.data
    return {...check, data}
  })
  return {...result, checks}
}

/** An answer with the results beside the provider's members. What is no JSON object is left as it is. */
export function withResults(body: JsonValue, hook_results: HookResults | null): JsonValue {
  return hook_results && isObject(body) ? withKey(body, 'hook_results', hook_results as unknown as JsonValue) : body
}

/** The event of a stream that carries results: before the first chunk, and after the last. */
export function resultsEvent(endpoint: EndpointName, hook_results: Partial<HookResults>): string {
  const data = `data: ${JSON.stringify({hook_results})}\n\n`
  return endpoint === 'messages' ? `event: hook_results\n${data}` : data
}
