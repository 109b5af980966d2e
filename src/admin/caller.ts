import type {IncomingHttpHeaders} from 'node:http'
import {Refusal} from '../base/errors.ts'
import {authenticate, type Showing} from '../identity/authenticator.ts'
import {authenticators} from '../identity/authenticators.ts'
import {cookieIn, cookieJar} from '../identity/cookies.ts'
import {isSessionToken, sentKey} from '../identity/keys.ts'
import {isFromOwnPage, pageToken} from '../identity/page-proof.ts'
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
  const noteUse = (id: string, now: string) => store.write(db => noteSessionUse(db, id, now))
  const known = authenticators({db: store.db, judge: tokens, noteUse, sign_in_needs})
  const actor = await authenticate(known, credential, showing)
  if (key === undefined) requireOwnPage({method, headers}, actor, {settings, seal})
  return actor
}

function requireOwnPage(
  request: CallerRequest,
  {subject}: Actor,
  {settings, seal}: Pick<CallerServices, 'settings' | 'seal'>,
) {
  const session_id = subject.kind === 'user' ? subject.session_id : null
  const token = session_id === null ? null : pageToken(seal.derived('pages'), session_id)
  const {origin} = new URL(linkBase({settings}))
  if (!isFromOwnPage(request, {origin, token})) throw new Refusal('page.foreign')
}
