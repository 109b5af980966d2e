import type {JsonObject} from '../../base/json-member.ts'
import type {McpUses} from '../services.ts'
import {McpFault} from '../wire/faults.ts'
import type {McpExchange} from './exchange.ts'

/** The claims of a second token, where the integration wants one. Throws a fault for one that is not good. */
export async function secondToken(
  {server, request}: Pick<McpExchange, 'server' | 'request'>,
  {credentials}: McpUses<'credentials'>,
): Promise<JsonObject | undefined> {
  const {integration} = server
  const checked = await credentials.secondToken({integration, server, client_headers: request.headers})
  if (!checked) return undefined
  if ('refused' in checked) throw checked.refused.fault
  if (checked.ok) return checked.claims
  const {status, message: reason} = checked
  throw new McpFault(status === 401 ? 'second_token' : status === 403 ? 'forbidden' : 'unavailable', {reason})
}
