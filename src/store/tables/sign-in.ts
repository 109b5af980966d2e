/** Rows of gateway.db about signing in. Times are ISO 8601 UTC text, JSON is text, hashes are SHA-256 in hex. */
export interface ConnectionsTable {
  id: string
  organisation_id: string
  /** Unique in the organisation. */
  name: string
  type: 'oidc' | 'saml' | 'ldap'
  is_enabled: 0 | 1
  /** JSON list: the domains whose people sign in with it; empty for every verified one of the organisation. */
  domains: string
  /** JSON object: what was set, without secrets. */
  settings: string
  /** Sealed JSON object. */
  secrets: Uint8Array | null
  /** 1: an owner or the operator wrote last what decides who comes in, and owners may come in by it. */
  lets_owners_in: 0 | 1
  /** Grows with every write: a sign-in that was begun before ends then. */
  revision: number
  position: number
  created_at: string
  last_updated_at: string
}

/** A user as a provider knows him. */
export interface IdentitiesTable {
  id: string
  organisation_id: string
  issuer: string
  subject: string
  user_id: string
  /** As the provider said it last. */
  email: string
  created_at: string
  last_seen_at: string
}

/** The last time that a person came in by an identity provider, whatever has become of the session and the link. */
export interface LastSignInsTable {
  organisation_id: string
  user_id: string
  at: string
}

/** A sign-in that was begun. */
export interface SignInsTable {
  id: string
  organisation_id: string
  connection_id: string
  connection_revision: number
  type: ConnectionsTable['type']
  state_hash: string
  /** Of the value of the cookie that was set when it began. */
  browser_hash: string
  /** Sealed JSON: what the provider must prove to know, and what we must. */
  secrets: Uint8Array | null
  /** Of a SAML request. */
  request_id: string | null
  return_to: string
  /** The user whose session the browser held. */
  user_id: string | null
  /** The invite whose link it was begun from. */
  invite_id: string | null
  client_ip: string | null
  /** Of the second step of SAML, and what its first step verified, sealed. */
  handle_hash: string | null
  result: Uint8Array | null
  created_at: string
  expires_at: string
  used_at: string | null
}

/** Assertions that were taken once. */
export interface SeenAssertionsTable {
  hash: string
  expires_at: string
}

/** Wrong passwords, by whose they were and from where. */
export interface SignInFailuresTable {
  key: string
  count: number
  expires_at: string
}

export interface UserPasswordsTable {
  user_id: string
  /** PHC text of argon2id. */
  phc: string
  created_at: string
}

/** A command line that waits for a person to let it in: by a code that he types, or by his own browser. */
export interface LoginCodesTable {
  id: string
  kind: 'device' | 'browser'
  code_hash: string
  user_code_hash: string | null
  client: string
  host: string
  client_ip: string | null
  /** SHA-256 in base64url of the verifier that exchanges the code. */
  challenge: string | null
  status: 'pending' | 'confirmed' | 'denied' | 'used'
  organisation_id: string | null
  user_id: string | null
  /** Of the session that confirmed it. */
  method: string | null
  connection_id: string | null
  /** As in `sessions`. */
  idp_session?: string | null
  idp_subject?: string | null
  session_ends_at: string | null
  interval_s: number
  polled_at: string | null
  created_at: string
  expires_at: string
}
