/**
 * Work in progress that is charged: a call, an open realtime session or one turn in it, a message to an MCP server or
 * an open stream of its messages.
 */
export type CallKind = 'call' | 'realtime_session' | 'realtime_turn' | 'mcp_message' | 'mcp_stream'

/**
 * The caller that is charged: an API key, a token that an identity provider signed, a person's session, or a client
 * admitted by OAuth. `id` is unique among those of its kind.
 */
export interface Principal {
  readonly kind: PrincipalKind
  readonly id: string
}

export type PrincipalKind = 'api_key' | 'token' | 'session' | 'oauth_client'

/**
 * The API key or the token that is charged, as columns hold it: ids of tokens begin with `jwt:`. Empty for other
 * principals, for those columns identify no others.
 */
export function apiKeyIdOf({kind, id}: Principal): string {
  return kind === 'api_key' || kind === 'token' ? id : ''
}

/**
 * A stored record with its principal. Versions before principals had kinds wrote the API key alone, of calls and
 * sessions alike.
 */
export function withPrincipal<R extends Charged>(record: R): R {
  const {
    kind = 'call',
    principal = {kind: 'api_key', id: (record as {readonly api_key_id?: string}).api_key_id ?? ''},
  } = record as Partial<Charged>
  return {...record, kind, principal}
}

interface Charged {
  readonly kind: CallKind
  readonly principal: Principal
}
