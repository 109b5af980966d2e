import {createHash} from 'node:crypto'
import type {UpstreamHeaders} from './header-rules.ts'

interface Distinctions {
  readonly forwarded: UpstreamHeaders
  /** Null where no identity is sent. */
  readonly identity: string | null
  /** Null where the credential is the same for all. */
  readonly user_id: string | null
}

/** Tells apart callers who must not share a connection upstream. */
export function connectionHash({forwarded, identity, user_id}: Distinctions): string {
  const headers = Object.entries(forwarded).sort(([one], [other]) => (one < other ? -1 : 1))
  return createHash('sha256')
    .update(JSON.stringify([headers, identity, user_id]))
    .digest('base64url')
}
