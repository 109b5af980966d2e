import {type Call, DIRECT_ROUTE} from '../call/call.ts'
import {answerHeaders} from '../call/response-headers.ts'
import type {Target} from '../targets/target.ts'
import type {RealtimeServices} from './connect.ts'

/** The headers of an answer to an upgrade: the provider's, and our own. */
export function ownHeaders(
  call: Call,
  target: Target | null,
  theirs: Record<string, string>,
  services: RealtimeServices,
): string[] {
  const route = target ? {...DIRECT_ROUTE, option_path: target.option_path, warning: target.warning} : DIRECT_ROUTE
  return answerHeaders(call, target, theirs, {
    route,
    retry_attempt_count: 0,
    is_stream: false,
    rewrites: false,
    timing: null,
    services,
  })
}
