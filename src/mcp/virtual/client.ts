import {createHash} from 'node:crypto'
import type {JsonObject} from '../../base/json-member.ts'
import type {McpServer} from '../call/server.ts'
import {clientCapabilitiesText} from '../content/capabilities.ts'
import type {UpstreamClient} from '../pool/source.ts'
import type {McpExchange, ServingParts} from '../serve/exchange.ts'
import {secondToken} from '../serve/second-token.ts'
import type {Era} from '../wire/versions.ts'

/** The client of a virtual server, as all servers behind it know it. */
export interface VirtualClient {
  readonly exchange: McpExchange
  readonly era: Era
  /** The session of a legacy client; null of any other. */
  readonly session_id: string | null
  /** JSON texts, and the second as it was read. */
  readonly client_info: string
  readonly client_capabilities: string
  readonly capabilities: JsonObject
}

export const NO_CLIENT_INFO = JSON.stringify({name: 'unknown', version: '0.0.0'})

/** The owner of a view of a virtual server: the client's session, or its principal. */
export function viewOf({exchange: {caller, server}, session_id}: VirtualClient): string {
  return session_id ?? `${caller.kind} ${caller.id} ${caller.user_id ?? ''} ${server.id}`
}

/** The same with all that a server's answer may differ by. */
export function readingKeyOf(client: VirtualClient, member: McpServer): string {
  const {era, client_info, client_capabilities} = client
  const digest = createHash('sha256').update(JSON.stringify([viewOf(client), era, client_info, client_capabilities]))
  return `${member.id} ${member.version} ${digest.digest('base64url')}`
}

/** The client as a server behind the virtual one knows it. Throws where that wants a second token that is not there. */
export async function memberClient(
  {exchange, era, session_id, client_info, client_capabilities, capabilities}: VirtualClient,
  server: McpServer,
  {services}: ServingParts,
): Promise<UpstreamClient> {
  const {caller, request} = exchange
  const eras = {client: era, upstream: services.eras.get(server.integration)?.era ?? 'legacy'} as const
  return {
    ...{server, caller, headers: request.headers, session_id, client_info},
    validated: await secondToken({server, request}, services),
    client_capabilities:
      era === 'modern' ? clientCapabilitiesText(client_capabilities, capabilities, eras) : client_capabilities,
  }
}
