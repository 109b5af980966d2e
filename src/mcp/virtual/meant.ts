import {isObject, own} from '../../base/json-member.ts'
import {memberText} from '../../base/json-splice.ts'
import {CALL_TOOL} from '../../schema/mcp-virtual.ts'
import type {McpServer, VirtualTool} from '../call/server.ts'
import type {McpExchange} from '../serve/exchange.ts'
import type {McpCaller} from '../services.ts'
import {edited} from '../wire/edits.ts'
import {McpFault, printable} from '../wire/faults.ts'
import {paramsText, type RpcRequest, readMessage, requestText} from '../wire/messages.ts'

/** A request as the server that it means is to have it, and the exchange by which it is a call of that server. */
export interface MeantRequest {
  readonly message: RpcRequest
  readonly exchange: McpExchange
}

/** The tools of a virtual server at servers that are open to its caller, in their order. */
export function openTools(server: McpServer, {user_id}: McpCaller): readonly VirtualTool[] {
  return server.virtual!.tools.filter(each => each.server.admits(user_id))
}

/**
 * The call that a call at a virtual server means: of one of its tools, by its own server and name. Throws
 * `capability_unknown` (-32602) for any other tool, in the words of a tool that is off.
 */
export function meantCall(message: RpcRequest, exchange: McpExchange): MeantRequest {
  const {server, caller} = exchange
  const {params, id_text} = message
  const given = own(params, 'name')
  const is_inside = server.virtual!.is_searched && given === CALL_TOOL
  const inner = own(params, 'arguments')
  const name = is_inside ? own(inner, 'name') : given
  if (typeof name !== 'string')
    throw new McpFault('params_invalid', {reason: 'name has to be the name of a tool'}, {id_text})
  const meant = openTools(server, caller).find(each => each.name === name)
  if (!meant) throw new McpFault('capability_unknown', {kind: 'tool', name: printable(name)}, {id_text})
  const text = paramsText(message)!
  const edits = [{path: ['name'], set: JSON.stringify(meant.tool)}]
  if (is_inside) {
    const of_tool = own(inner, 'arguments')
    if (of_tool !== undefined && !isObject(of_tool))
      throw new McpFault('params_invalid', {reason: 'arguments.arguments has to be an object'}, {id_text})
    edits.push({path: ['arguments'], set: memberText(memberText(text, 'arguments')!, 'arguments') ?? '{}'})
  }
  return {
    message: readMessage(requestText(id_text, message.method, edited(text, edits))) as RpcRequest,
    exchange: meantExchange(exchange, meant.server, is_inside),
  }
}

/** The exchange of a virtual server as one of another: all rules and records are that one's own. */
export function meantExchange(exchange: McpExchange, server: McpServer, is_inside = false): McpExchange {
  return {...exchange, server, validated: undefined, via: {slug: exchange.server.slug, is_inside}}
}
