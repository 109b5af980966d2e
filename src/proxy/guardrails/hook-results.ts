import {Refusal} from '../../base/errors.ts'
import {edited, topLevel} from '../../base/json.ts'
import {resultsEvent} from '../../guardrails/answer.ts'
import type {HookResults} from '../../schema/guardrails.ts'
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
