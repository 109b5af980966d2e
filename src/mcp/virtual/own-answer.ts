import {own} from '../../base/json-member.ts'
import {FIND_TOOLS} from '../../schema/mcp-virtual.ts'
import {traceOf} from '../call/trace.ts'
import {modernResult} from '../content/results.ts'
import {endOfFault, endOfOurs, faultOf, written} from '../serve/end.ts'
import {metaOf, recordOf, type ServingParts} from '../serve/exchange.ts'
import {secondToken} from '../serve/second-token.ts'
import {sessionDigest} from '../sessions/session.ts'
import {edited} from '../wire/edits.ts'
import {McpFault, printable} from '../wire/faults.ts'
import type {RpcRequest} from '../wire/messages.ts'
import type {VirtualClient} from './client.ts'
import {type Introduction, serverInfo, virtualDiscover} from './greeting.ts'
import {type MeantRequest, meantCall, meantExchange} from './meant.ts'
import {foundTools, ownTools} from './own-tools.ts'
import {pageOf, type ShownTool, shownTools} from './shown-tools.ts'
import {viewsOf} from './views.ts'

/** A request of a client of a virtual server, with the revision that it is in. */
export interface OwnRequest {
  readonly message: RpcRequest
  readonly client: VirtualClient
  readonly version: string
  readonly client_info: unknown
}

/** True for the search that the virtual server itself answers. */
function isSearch({method, params}: RpcRequest, {exchange}: VirtualClient): boolean {
  return method === 'tools/call' && exchange.server.virtual!.is_searched && own(params, 'name') === FIND_TOOLS
}

/**
 * The request of one server that a request means; null where the virtual server itself answers. Throws
 * `capability_unknown` (-32602) for what is not offered.
 */
export async function meantRequest(
  message: RpcRequest,
  client: VirtualClient,
  parts: ServingParts,
): Promise<MeantRequest | null> {
  const {exchange} = client
  if (message.method === 'tools/call') return isSearch(message, client) ? null : meantCall(message, exchange)
  if (message.method !== 'resources/read') return null
  const uri = own(message.params, 'uri')
  if (typeof uri !== 'string')
    throw new McpFault('params_invalid', {reason: 'uri has to be a string'}, {id_text: message.id_text})
  const naming = (await shownTo(client, parts, false)).filter(each => pageOf(each) === uri)
  const [only] = naming
  if (!only || naming.length > 1)
    throw new McpFault('capability_unknown', {kind: 'resource', name: printable(uri)}, {id_text: message.id_text})
  return {message, exchange: meantExchange(exchange, only.tool.server)}
}

/** Checks the second token of the server that is meant, where its integration wants one. */
export async function admitMeant({exchange}: MeantRequest, {services}: ServingParts): Promise<void> {
  exchange.validated = await secondToken(exchange, services)
}

/** Answers what the virtual server itself answers, and writes the row of it; JSON text of the result, or a fault. */
export async function ownAnswer(
  {message, client, version, client_info}: OwnRequest,
  parts: ServingParts,
): Promise<{readonly result: string} | {readonly fault: McpFault}> {
  const {exchange, era} = client
  const {services} = parts
  const {reply, request, at_ms} = exchange
  const trace = traceOf(metaOf(message.params), request.headers, at_ms)
  const session_digest = client.session_id === null ? undefined : sessionDigest(client.session_id)
  const record = recordOf(exchange, message, {trace, version, client_info, session_digest}, services)
  const ended = () => ({delivered: !reply.gone.aborted, rounds: 1, is_stream: reply.is_stream})
  try {
    const plain = await resultOf(message, client, parts)
    const info = JSON.stringify(serverInfo(exchange.server, services.version))
    const is_whole = era === 'legacy' || message.method === 'server/discover'
    const result = is_whole ? plain : edited(plain, modernResult(message.method, info, 0))
    await written(record, {...endOfOurs(ended()), answer: result}, services.log)
    return {result}
  } catch (thrown) {
    const fault = faultOf(thrown, services.log)
    await written(record, endOfFault(fault, era, ended()), services.log)
    return {fault}
  }
}

async function resultOf(message: RpcRequest, client: VirtualClient, parts: ServingParts): Promise<string> {
  const {server} = client.exchange
  switch (message.method) {
    case 'server/discover':
      return virtualDiscover(await introductionFor(client, parts))
    case 'tools/list': {
      if (server.virtual!.is_searched) return `{"tools":[${ownTools(server).join(',')}]}`
      const shown = await shownTo(client, parts, true)
      return `{"tools":[${shown.map(({text}) => text).join(',')}]}`
    }
    case 'tools/call':
      return foundTools(message, await shownTo(client, parts, false))
    case 'resources/list':
      return '{"resources":[]}'
    case 'resources/templates/list':
      return '{"resourceTemplates":[]}'
    default:
      throw new McpFault('method_unknown', {method: printable(message.method)}, {id_text: message.id_text})
  }
}

/** The introduction of a virtual server to a client. */
export async function introductionFor(client: VirtualClient, parts: ServingParts): Promise<Introduction> {
  const members = await viewsOf(parts).read(client, true)
  const has_pages = shownTools(client, members).some(each => pageOf(each) !== null)
  return {server: client.exchange.server, members, has_pages, version: parts.services.version}
}

async function shownTo(client: VirtualClient, parts: ServingParts, is_fresh: boolean): Promise<readonly ShownTool[]> {
  return shownTools(client, await viewsOf(parts).read(client, is_fresh))
}
