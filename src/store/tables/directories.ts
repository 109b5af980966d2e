/** Rows of gateway.db about directories outside. Times are ISO 8601 UTC text, JSON is text, booleans 0/1. */
export interface DomainsTable {
  id: string
  organisation_id: string
  /** In lower case, of ASCII letters. */
  domain: string
  /** 1: what is below it counts as well. */
  allow_subdomains: 0 | 1
  /** Verified it is of one organisation alone. */
  status: 'pending' | 'verified'
  /** The text that a DNS record of the domain has to hold. */
  code: string
  created_at: string
  verified_at: string | null
  /** How it was proven; null while it is pending. A new row may leave this and what follows out. */
  proof?: 'operator' | 'settings' | 'dns' | 'mail' | null
  /** When its record was last looked for, with an answer. */
  looked_at?: string | null
  /** When its record is to be looked for again; null where no record proved it. */
  look_due_at?: string | null
  /** Set: the record that proved it was not there since. */
  lost_at?: string | null
  /** HMAC of the code that was sent last; null where none can be used. */
  mail_code_hash?: string | null
  mail_code_ends_at?: string | null
  /** How often a code was tried. */
  mail_tries?: number | null
}

/** A credential of a directory; it opens the SCIM protocol alone. */
export interface ScimTokensTable {
  id: string
  organisation_id: string
  name: string
  /** SHA-256 of the token, 64 hex digits. */
  token_hash: string
  masked: string
  /** 1: an owner or the operator made it, and it may make owners and change them. */
  gives_owners: 0 | 1
  created_at: string
  expires_at: string | null
  last_used_at: string | null
  revoked_at: string | null
}

/** A user as a directory described him to one organisation. */
export interface ScimUsersTable {
  organisation_id: string
  user_id: string
  external_id: string | null
  /** In lower case. */
  user_name: string
  /** Every address of the resource in lower case, each between line ends. */
  addresses: string
  /** JSON object: the attributes as they were sent, without what the service says itself. */
  resource: string
  /** How often it was written. */
  version: number
  created_at: string
  last_updated_at: string
  /** Set: the directory deleted him, and sees him no more. */
  deleted_at: string | null
}

export interface ScimGroupMembersTable {
  group_id: string
  user_id: string
  organisation_id: string
}
