import {createHash} from 'node:crypto'
import {isEqual} from '../../identity/page-proof.ts'

/** A challenge of S256, the one method: 43 characters (RFC 7636). */
export function isChallenge(text: string): boolean {
  return /^[\w-]{43}$/.test(text)
}

/** True when `verifier` is the text that `challenge` was made of. */
export function isVerifierOf(challenge: string, verifier: string): boolean {
  if (!/^[\w.~-]{43,128}$/.test(verifier)) return false
  return isEqual(createHash('sha256').update(verifier).digest('base64url'), challenge)
}
