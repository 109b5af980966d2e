import {isObject, own} from '../../base/json-member.ts'
import {parsed} from '../../base/json-object.ts'
import {memberText} from '../../base/json-splice.ts'
import {traceOf} from '../call/trace.ts'
import {endOfFault, endOfOurs, faultOf, headersOfFault, written} from '../serve/end.ts'
import {type McpExchange, metaOf, recordOf, type ServingParts} from '../serve/exchange.ts'
import {type LegacyTaker, serveLegacy} from '../serve/legacy.ts'
import {answerLegacy, type LegacyAnswer, type LegacyFacts} from '../serve/legacy-request.ts'
import {noteRefused} from '../serve/refused.ts'
import {ClientSession, sessionDigest} from '../sessions/session.ts'
import type {LegacyHandshake, LegacyPost} from '../wire/client-era.ts'
import {errorObjectText, McpFault} from '../wire/faults.ts'
import {answerText, paramsText, type RpcRequest} from '../wire/messages.ts'
import {isStatelessMethod} from '../wire/methods.ts'
import {NO_CLIENT_INFO, type VirtualClient, viewOf} from './client.ts'
import {virtualInitialize} from './greeting.ts'
import {admitMeant, introductionFor, meantRequest, ownAnswer} from './own-answer.ts'
import {viewsOf} from './views.ts'

/** Serves `initialize` of a virtual server: the session is ours; those of the servers behind it are made singly. */
export async function serveVirtualHandshake(
  {message, version}: LegacyHandshake,
  exchange: McpExchange,
  parts: ServingParts,
): Promise<void> {
  const {reply, server, caller, request} = exchange
  const {services, sessions} = parts
  const trace = traceOf(metaOf(message.params), request.headers, exchange.at_ms)
  const info = own(message.params, 'clientInfo')
  const given = own(message.params, 'capabilities')
  const id = sessions.newId()
  const of_session = {trace, version, client_info: info, session_digest: sessionDigest(id)}
  const record = recordOf(exchange, message, of_session, services)
  const ended = () => ({delivered: !reply.gone.aborted, rounds: 1, is_stream: reply.is_stream})
  const params = paramsText(message)!
  const capabilities = isObject(given) ? given : {}
  const texts = {
    client_info: isObject(info) ? memberText(params, 'clientInfo')! : NO_CLIENT_INFO,
    client_capabilities: isObject(given) ? memberText(params, 'capabilities')! : '{}',
  }
  try {
    const client: VirtualClient = {exchange, era: 'legacy', session_id: id, capabilities, ...texts}
    const text = virtualInitialize(await introductionFor(client, parts), version)
    const facts = {id, version, server, capabilities, log_level: null, subscriptions: [], continued: undefined}
    await sessions.begin(new ClientSession({...facts, ...texts}), server, caller, null)
    await written(record, {...endOfOurs(ended()), answer: text}, services.log)
    reply.end(200, answerText(message.id_text, {result: text}), {'mcp-session-id': id})
  } catch (thrown) {
    const fault = faultOf(thrown, services.log)
    await written(record, endOfFault(fault, 'legacy', ended()), services.log)
    const error = answerText(message.id_text, {error: errorObjectText(fault)})
    reply.end(fault.httpFor('legacy'), error, headersOfFault(fault))
  }
}

/** Serves any other POST of a legacy client. */
export function serveVirtualLegacy(post: LegacyPost, exchange: McpExchange, parts: ServingParts): Promise<void> {
  return serveLegacy(post, exchange, parts, TAKER)
}

/** A client's notifications are about none of the servers in particular. */
const TAKER: LegacyTaker = {answer: answerVirtual, passOn: async () => undefined}

async function answerVirtual(message: RpcRequest, facts: LegacyFacts): Promise<LegacyAnswer> {
  const {session, exchange, parts, version} = facts
  if (message.method === 'ping') return answered(message, {result: '{}'})
  const client = legacyClient(session, exchange)
  let noted = {message, exchange}
  try {
    if (!session && !isStatelessMethod(message.method))
      throw new McpFault('method_unknown', {method: `${message.method} (it needs a session)`})
    const meant = await meantRequest(message, client, parts)
    if (meant) {
      noted = meant
      await admitMeant(meant, parts)
      const answer = await answerLegacy(meant.message, {...facts, exchange: meant.exchange})
      viewsOf(parts).called(viewOf(client), meant.exchange.server.id)
      return answer
    }
  } catch (thrown) {
    await noteRefused(noted.message, noted.exchange, thrown, parts)
    return refused(message, faultOf(thrown, parts.services.log))
  }
  const client_info = session ? parsed(session.client_info) : null
  const answer = await ownAnswer({message, client, version, client_info}, parts)
  return 'fault' in answer ? refused(message, answer.fault) : answered(message, answer)
}

/** The client of a session, or one of no session. */
export function legacyClient(session: ClientSession | null, exchange: McpExchange): VirtualClient {
  return {
    ...{exchange, era: 'legacy', session_id: session?.id ?? null},
    client_info: session?.client_info ?? NO_CLIENT_INFO,
    client_capabilities: session?.client_capabilities ?? '{}',
    capabilities: session?.capabilities ?? {},
  }
}

function answered({id_text}: RpcRequest, answer: {readonly result: string}): LegacyAnswer {
  return {text: answerText(id_text, answer), status: 200, headers: {}, is_error: false}
}

function refused({id_text}: RpcRequest, fault: McpFault): LegacyAnswer {
  const text = answerText(id_text, {error: errorObjectText(fault)})
  return {text, status: fault.httpFor('legacy'), headers: headersOfFault(fault), is_error: true}
}
