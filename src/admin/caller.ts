import type {IncomingHttpHeaders} from 'node:http'
import {Refusal} from '../base/errors.ts'
import {authenticate, type Showing} from '../identity/authenticator.ts'
import {authenticators} from '../identity/authenticators.ts'
import {cookieIn, cookieJar} from '../identity/cookies.ts'
import {isSessionToken, sentKey} from '../identity/keys.ts'
import {pageToken, requireOwnPage} from '../identity/page-proof.ts'
import type {SessionUse} from '../identity/sessions.ts'
import {noteSessionUse} from '../store/sessions.ts'
import {linkBase} from './link-base.ts'
import type {Actor, AdminServices} from './services.ts'

/** The facts of a request by which its caller is known. */
export interface CallerRequest {
  readonly method: string
  readonly headers: IncomingHttpHeaders
}

type CallerServices = Pick<AdminServices, 'store' | 'tokens' | 'settings' | 'seal' | 'sign_in_needs'>

/**
 * The caller whose key, session or token the headers carry, or whose session the browser keeps in a cookie. Refuses one
 * that is missing, unknown, or works no longer; and a write with a cookie that no page of this gateway made.
 */
export async function callerOfRequest(
  {method, headers}: CallerRequest,
  showing: Showing,
  {store, tokens, settings, seal, sign_in_needs}: CallerServices,
): Promise<Actor> {
  const {key, prefix} = sentKey(headers)
  const cookie =
    key === undefined ? cookieIn(headers.cookie, cookieJar(settings.session_cookie_secure).session) : undefined
  const credential = key ?? (cookie !== undefined && isSessionToken(cookie) ? cookie : undefined)
  if (credential === undefined) throw new Refusal('key.missing', {header: `${prefix}-api-key`})
  const use: SessionUse = {
    requireProof(session_id) {
      if (key !== undefined) return
      const token = pageToken(seal.derived('pages'), session_id)
      requireOwnPage({method, headers}, {base_url: linkBase({settings}), token})
    },
    noteUse: (id, now) => store.write(db => noteSessionUse(db, id, now)),
  }
  return authenticate(authenticators({db: store.db, judge: tokens, use, sign_in_needs}), credential, showing)
}
