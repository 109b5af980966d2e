import type {UpstreamClient} from '../pool/source.ts'
import type {ClientSession} from '../sessions/session.ts'
import type {McpExchange} from './exchange.ts'

/** The client of a session as its upstream sees it. What a process before left of it is used once. */
export function clientOf(session: ClientSession, {server, caller, request, validated}: McpExchange): UpstreamClient {
  const {continued, client_info, client_capabilities, id} = session
  session.continued = undefined
  return {
    ...{server, caller, validated, headers: request.headers, session_id: id, client_info, client_capabilities},
    ...(continued && {continued}),
  }
}
