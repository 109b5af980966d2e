/**
 * Reasons to let no one in: the status, and the class of the reason. People read the sentence of the class; the
 * reason itself and its detail are for the audit log.
 */
// biome-ignore format: a table is read by its lines
export const SIGN_IN_REASONS = {
  // the sign-in is not ours, is over, or is of another browser
  transaction_unknown: {status: 400, kind: 'broken'},
  transaction_used: {status: 400, kind: 'used'},
  transaction_expired: {status: 400, kind: 'broken'},
  transaction_foreign: {status: 400, kind: 'broken'},
  browser_foreign: {status: 400, kind: 'broken'},
  issuer_mixed: {status: 400, kind: 'broken'},
  replayed: {status: 400, kind: 'broken'},
  unsolicited: {status: 400, kind: 'broken'},
  request_invalid: {status: 400, kind: 'broken'},
  // the provider answered with an error
  provider_denied: {status: 403, kind: 'denied'},
  provider_error: {status: 502, kind: 'provider'},
  provider_unreachable: {status: 503, kind: 'unreachable'},
  provider_invalid: {status: 502, kind: 'provider'},
  // what the provider says does not hold
  token_invalid: {status: 401, kind: 'statement'},
  token_algorithm: {status: 401, kind: 'statement'},
  token_key: {status: 401, kind: 'statement'},
  token_signature: {status: 401, kind: 'statement'},
  token_issuer: {status: 401, kind: 'statement'},
  token_audience: {status: 401, kind: 'statement'},
  token_time: {status: 401, kind: 'statement'},
  token_nonce: {status: 401, kind: 'statement'},
  token_access_hash: {status: 401, kind: 'statement'},
  token_subject: {status: 401, kind: 'statement'},
  userinfo_invalid: {status: 401, kind: 'statement'},
  document_unreadable: {status: 401, kind: 'statement'},
  document_status: {status: 401, kind: 'statement'},
  document_signature: {status: 401, kind: 'statement'},
  document_algorithm: {status: 401, kind: 'statement'},
  document_encryption: {status: 401, kind: 'statement'},
  document_issuer: {status: 401, kind: 'statement'},
  document_recipient: {status: 401, kind: 'statement'},
  document_audience: {status: 401, kind: 'statement'},
  document_time: {status: 401, kind: 'statement'},
  document_request: {status: 400, kind: 'broken'},
  document_content: {status: 401, kind: 'statement'},
  // user name and password
  credentials_wrong: {status: 401, kind: 'credentials'},
  account_locked: {status: 401, kind: 'credentials'},
  too_many: {status: 429, kind: 'too_many'},
  // who he is, here
  email_missing: {status: 403, kind: 'person'},
  email_unverified: {status: 403, kind: 'person'},
  domain_foreign: {status: 403, kind: 'person'},
  person_archived: {status: 403, kind: 'person'},
  not_invited: {status: 403, kind: 'person'},
  invite_link_needed: {status: 403, kind: 'invite'},
  owner_protected: {status: 403, kind: 'person'},
  link_conflict: {status: 409, kind: 'conflict'},
  link_needs_proof: {status: 409, kind: 'proof'},
  address_not_unique: {status: 409, kind: 'conflict'},
  not_configured: {status: 404, kind: 'absent'},
  several_organisations: {status: 400, kind: 'several'},
  not_same_origin: {status: 403, kind: 'origin'},
  insecure: {status: 403, kind: 'insecure'},
  password_elsewhere: {status: 403, kind: 'person'},
} as const satisfies Record<string, {readonly status: number; readonly kind: string}>

export type SignInReason = keyof typeof SIGN_IN_REASONS

/** A sign-in that ends without a session. Messages hold no secret and no text that a stranger chose without bound. */
export class SignInFault extends Error {
  readonly reason: SignInReason
  /** For administrators: which check failed, with both values where that helps. At most 500 characters. */
  readonly detail: string

  constructor(reason: SignInReason, detail: string, options?: ErrorOptions) {
    super(detail, options)
    this.name = 'SignInFault'
    this.reason = reason
    this.detail = detail.slice(0, 500)
  }

  get status(): number {
    return SIGN_IN_REASONS[this.reason].status
  }
}
