import {ownHeaders} from '../../schema/headers.ts'
import {McpFault} from '../wire/faults.ts'
import {type HeaderFields, headerValue} from '../wire/header-values.ts'

/** Names under which clients are known to put credentials into an address. */
const IN_QUERY: ReadonlySet<string> = new Set(['access_token', 'api_key', 'api-key', 'apikey', 'key', 'token'])

/** The credential of a request, and the place where it was. */
export interface McpCredential {
  readonly text: string
  readonly from: 'own' | 'authorization'
}

/**
 * The credential of a request: our header, else `Authorization: Bearer`. Throws `unauthenticated` (401) where there is
 * none, and `credential_in_query` (400) for one in the address, which ends up in logs of others.
 */
export function credentialOf(headers: HeaderFields, query: string): McpCredential {
  for (const name of new URLSearchParams(query).keys())
    if (IN_QUERY.has(name.toLowerCase())) throw new McpFault('credential_in_query')
  const named = ownHeaders(headers as Record<string, string>).values['api-key']
  if (named) return {text: named.replace(/^Bearer\s+/i, ''), from: 'own'}
  const bearer = /^Bearer\s+(\S+)\s*$/i.exec(headerValue(headers, 'authorization') ?? '')
  if (bearer) return {text: bearer[1]!, from: 'authorization'}
  throw new McpFault('unauthenticated', {reason: 'The request has no credential. Send x-gateway-api-key, or sign in.'})
}
