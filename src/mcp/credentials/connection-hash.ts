import {hash} from 'node:crypto'
import type {UpstreamHeaders} from './header-rules.ts'

/** One sign-in of a person at a server; a later one may be to another account. */
export interface SignInOfPerson {
  readonly user_id: string
  /** ISO 8601, of the connection's row: renewals keep it. */
  readonly connected_at: string
}

interface Distinctions {
  readonly forwarded: UpstreamHeaders
  /** Null where no identity is sent. */
  readonly identity: string | null
  /** The sign-in whose token it is; null where the credential is the same for all. */
  readonly sign_in: SignInOfPerson | null
}

/** Tells apart callers who must not share a connection upstream. */
export function connectionHash({forwarded, identity, sign_in}: Distinctions): string {
  if (identity === null && sign_in === null && isEmpty(forwarded)) return OF_ALL
  return hashOf(forwarded, identity, sign_in)
}

/** Most servers tell no caller from another, so this is worked out once. */
const OF_ALL = hashOf({}, null, null)

function isEmpty(forwarded: UpstreamHeaders): boolean {
  for (const _ in forwarded) return false
  return true
}

function hashOf(forwarded: UpstreamHeaders, identity: string | null, sign_in: SignInOfPerson | null): string {
  const headers = Object.entries(forwarded).sort(([one], [other]) => (one < other ? -1 : 1))
  const parts = [headers, identity, sign_in && [sign_in.user_id, sign_in.connected_at]]
  return hash('sha256', JSON.stringify(parts), 'base64url')
}
