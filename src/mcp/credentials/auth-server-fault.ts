import {McpFault, printable} from '../wire/faults.ts'

/**
 * `silent`: no answer, or none of the protocol; `late`: none in time; `refused`: an error of the protocol; `unfit`: its
 * statements, or the configuration of the integration, cannot be used.
 */
export type AuthServerFaultKind = 'silent' | 'late' | 'refused' | 'unfit'

interface FaultMore {
  /** The `error` of an answer that refused (RFC 6749 §5.2). */
  readonly error?: string
  /** How long it wants no further request. */
  readonly retry_after_ms?: number | null
  readonly fault?: unknown
}

/** A server of keys, tokens or sign-ins gave nothing that can be used. The message is printable, without secrets. */
export class AuthServerFault extends Error {
  readonly kind: AuthServerFaultKind
  readonly error: string | null
  readonly retry_after_ms: number | null

  constructor(kind: AuthServerFaultKind, reason: string, {error, retry_after_ms, fault}: FaultMore = {}) {
    super(printable(reason), {cause: fault})
    this.name = 'AuthServerFault'
    this.kind = kind
    this.error = error ?? null
    this.retry_after_ms = retry_after_ms ?? null
  }

  /** True where the client itself is refused: it was forgotten, or may not do that. */
  get is_client_refused(): boolean {
    return this.error === 'invalid_client' || this.error === 'unauthorized_client'
  }

  /** The error for the caller of `server`. */
  toMcpFault(server: string, limit_ms: number): McpFault {
    const details = {cause: this}
    switch (this.kind) {
      case 'late':
        return new McpFault('sign_in_late', {server, limit_ms}, details)
      case 'silent':
        return new McpFault('sign_in_silent', {server, reason: this.message}, details)
      case 'refused':
        return new McpFault('sign_in_refused', {server, reason: this.message}, details)
      case 'unfit':
        return new McpFault('integration_unfit', {server, reason: this.message}, details)
    }
  }
}
