/** How a client proves itself at a token endpoint (RFC 7591 §2). */
export type ClientProofMethod = 'none' | 'client_secret_basic' | 'client_secret_post'

/** The gateway as a client of an authorization server. */
export interface OauthClient {
  readonly client_id: string
  /** Null for a public client. */
  readonly client_secret: string | null
  readonly method: ClientProofMethod
  /** An administrator gave it: it is never replaced by another. */
  readonly is_configured: boolean
}

/** The parts of a request that prove who the client is. */
export interface SentProof {
  readonly headers: Readonly<Record<string, string>>
  readonly form: Readonly<Record<string, string>>
}

export function sentProof({client_id, client_secret, method}: OauthClient): SentProof {
  if (method === 'none' || client_secret === null) return {headers: {}, form: {client_id}}
  if (method === 'client_secret_post') return {headers: {}, form: {client_id, client_secret}}
  return {headers: {authorization: basicCredential(client_id, client_secret)}, form: {}}
}

/** The method for a client with a secret or without, of those that a server names; null: it names none. */
export function usualMethod(has_secret: boolean, supported: readonly string[] | null): ClientProofMethod {
  if (!has_secret) return 'none'
  const known = ['client_secret_basic', 'client_secret_post'] as const
  return known.find(each => supported?.includes(each)) ?? 'client_secret_basic'
}

/** RFC 6749 §2.3.1: a colon or a percent sign of a secret would be read as something else. */
export function basicCredential(client_id: string, client_secret: string): string {
  return `Basic ${Buffer.from(`${formEncoded(client_id)}:${formEncoded(client_secret)}`).toString('base64')}`
}

function formEncoded(text: string): string {
  return new URLSearchParams({'': text}).toString().slice(1)
}
