import type {KnownKey} from './api-keys.ts'
import type {Authenticator} from './authenticator.ts'
import {looksLikeToken} from './jwt/read.ts'
import type {Tokens, VerifiedToken} from './jwt/tokens.ts'

/** Tokens that an identity provider signed. */
export function tokens(judge: Pick<Tokens, 'verified'>): Authenticator {
  return {
    recognises: looksLikeToken,
    authenticate: async (token, {client_ip}) => (await judge.verified(token, client_ip)).access,
  }
}

/** A token in the form in which calls know keys. */
export function knownToken({access, expires_at_ms}: VerifiedToken): KnownKey {
  const expires_at = new Date(expires_at_ms).toISOString()
  return {access, expires_at, expires_at_ms, workspace_archived: false, needs_sign_in: null}
}
