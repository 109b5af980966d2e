/** The errors of RFC 6749, 7591, 8707 and OpenID Connect that this server answers with. */
export type OAuthError =
  | 'access_denied'
  | 'invalid_client'
  | 'invalid_client_metadata'
  | 'invalid_grant'
  | 'invalid_redirect_uri'
  | 'invalid_request'
  | 'invalid_scope'
  | 'invalid_target'
  | 'request_not_supported'
  | 'request_uri_not_supported'
  | 'server_error'
  | 'temporarily_unavailable'
  | 'too_many_requests'
  | 'unauthorized_client'
  | 'unsupported_grant_type'
  | 'unsupported_response_type'

const STATUS: Readonly<Partial<Record<OAuthError, number>>> = {
  invalid_client: 401,
  server_error: 500,
  temporarily_unavailable: 503,
  too_many_requests: 429,
}

/** A refusal in the words of OAuth. `message` is the `error_description`: printable ASCII, no secret. */
export class OAuthFault extends Error {
  readonly error: OAuthError
  readonly status: number

  constructor(error: OAuthError, message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'OAuthFault'
    this.error = error
    this.status = STATUS[error] ?? 400
  }
}

/** A refusal that a person reads, as the client that sent him is not to be trusted with an answer. */
export class OAuthPageFault extends Error {
  readonly status: number

  constructor(status: 400 | 403 | 429 | 502, message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'OAuthPageFault'
    this.status = status
  }
}
