import {type JsonObject, own} from '../../base/json-member.ts'
import {McpFault, printable} from './faults.ts'
import {decodedHeaderValue, encodedHeaderValue, type HeaderFields, headerValue} from './header-values.ts'
import type {RpcNotification, RpcRequest} from './messages.ts'
import {nameMemberOf} from './methods.ts'

/** Headers that repeat parts of the body of a modern POST (2026-07-28, Streamable HTTP, "Standard request headers"). */

export const VERSION_HEADER = 'mcp-protocol-version'
export const METHOD_HEADER = 'mcp-method'
export const NAME_HEADER = 'mcp-name'
export const SESSION_HEADER = 'mcp-session-id'

const VISIBLE = /^[\x21-\x7e]+$/

/** The standard headers of a modern request, written from its body: never copied from a client. */
export function standardHeaders(message: {
  readonly version: string
  readonly method: string
  readonly params: JsonObject | undefined
}): Record<string, string> {
  const {version, method, params} = message
  if (!VISIBLE.test(method)) throw new McpFault('method_unknown', {method: printable(method)})
  const headers: Record<string, string> = {[VERSION_HEADER]: version, [METHOD_HEADER]: method}
  const member = nameMemberOf(method)
  const name = member && own(params, member)
  if (typeof name === 'string') headers[NAME_HEADER] = encodedHeaderValue(name)
  return headers
}

/**
 * Throws `header_mismatch` where a client's standard headers and the body of its modern message disagree, or one that a
 * request has to have is missing. Notifications may leave them out; what they have is compared.
 */
export function checkStandardHeaders(
  headers: HeaderFields,
  message: RpcRequest | RpcNotification,
  version: string,
): void {
  const id_text = message.kind === 'request' ? message.id_text : null
  const mismatch = (reason: string) => new McpFault('header_mismatch', {reason}, {id_text})
  const is_request = message.kind === 'request'
  const compare = (name: string, shown: string, expected: string) => {
    const value = headerValue(headers, name)
    if (value === expected || (value === undefined && !is_request)) return
    if (value === undefined) throw mismatch(`the header ${shown} is missing; the body says ${printable(expected)}`)
    throw mismatch(`the header ${shown} says ${printable(value)}, the body says ${printable(expected)}`)
  }
  compare(VERSION_HEADER, 'MCP-Protocol-Version', version)
  compare(METHOD_HEADER, 'Mcp-Method', message.method)
  const member = is_request ? nameMemberOf(message.method) : null
  if (!member) return
  const name = own(message.params, member)
  const value = headerValue(headers, NAME_HEADER)
  const decoded = value === undefined ? undefined : decodedHeaderValue(value)
  if (decoded === null) throw mismatch('the header Mcp-Name opens with =?base64? and is not Base64 of UTF-8')
  if (typeof name !== 'string' || decoded === name) return
  const body = `params.${member} is ${printable(name)}`
  throw mismatch(
    decoded === undefined
      ? `the header Mcp-Name is missing; ${body}`
      : `the header Mcp-Name says ${printable(decoded)}; ${body}`,
  )
}
