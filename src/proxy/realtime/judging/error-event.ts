import type {Refusal} from '../../../base/errors.ts'
import {parsedObject} from '../../../base/json-object.ts'
import {textFrame} from '../../../base/websocket/index.ts'
import {GuardrailDenial} from '../../inbound/denial.ts'

/**
 * A refusal in the dialect's own error event, as a client reads it in the session. `event_id`: the client's event that
 * it is about. What guardrails deny has the status of a denied call for its code, and their results.
 */
export function errorEvent(fault: Refusal, id: string, event_id: string | null = null): Buffer {
  const {type, code} = fault.codes
  const is_denial = fault instanceof GuardrailDenial
  const error = {
    type,
    code: is_denial ? String(fault.status) : (code ?? fault.code),
    message: fault.message,
    param: null,
    event_id,
  }
  const results = is_denial ? {hook_results: parsedObject(fault.body)?.hook_results} : {}
  return textFrame('server', JSON.stringify({type: 'error', event_id: `event_${id}`, error, ...results}))
}
