import {createHash} from 'node:crypto'
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
  const headers = Object.entries(forwarded).sort(([one], [other]) => (one < other ? -1 : 1))
  return createHash('sha256')
    .update(JSON.stringify([headers, identity, sign_in && [sign_in.user_id, sign_in.connected_at]]))
    .digest('base64url')
}
