import {createHash} from 'node:crypto'
import type {IncomingHttpHeaders} from 'node:http'
import {Refusal} from '../base/errors.ts'
import {cookieIn} from '../identity/cookies.ts'
import {isSessionToken} from '../identity/keys.ts'
import {hasNoOrigin, isEqual, isSameOrigin, pageToken} from '../identity/page-proof.ts'
import {usedSession} from '../identity/sessions.ts'
import {findExternalPerson} from '../store/mcp-external-sign-ins.ts'
import {type FoundSession, noteSessionUse} from '../store/sessions.ts'
import type {OAuthServices} from './services.ts'
import {OAuthPageFault} from './wire/fault.ts'

/** The session of the person in front of the browser; undefined where he has to sign in first. */
export async function sessionOf(
  headers: IncomingHttpHeaders,
  {store, cookies, now}: OAuthServices,
): Promise<FoundSession | undefined> {
  const token = cookieIn(headers.cookie, cookies.session)
  if (token === undefined || !isSessionToken(token)) return undefined
  try {
    return await usedSession(store.db, token, now().toISOString(), {
      requireProof() {},
      noteUse: (id, at) => store.write(db => noteSessionUse(db, id, at)),
    })
  } catch (fault) {
    if (fault instanceof Refusal) return undefined
    throw fault
  }
}

/** A person who may decide on an authorization. */
export interface ConsentPerson extends Pick<FoundSession, 'id' | 'user_id' | 'organisation_id' | 'email' | 'role'> {
  /** He is known for the servers of this integration alone: its provider named him. */
  readonly only_integration?: string
}

/** The name of the cookie that holds a browser to a sign-in at a provider. */
export function externalCookie({cookies}: Pick<OAuthServices, 'cookies'>, transaction_id: string): string {
  return cookies.login(`mcp-${transaction_id.replace(/[^\w-]/g, '')}`)
}

/** The person of an authorization: the one that a provider named for it in this browser, else that of the session. */
export async function personOf(
  headers: IncomingHttpHeaders,
  services: OAuthServices,
  transaction_id: string,
): Promise<ConsentPerson | undefined> {
  const word = cookieIn(headers.cookie, externalCookie(services, transaction_id))
  const {store, now} = services
  const found = word === undefined ? undefined : await findExternalPerson(store.db, transaction_id, now().toISOString())
  const hash = createHash('sha256')
    .update(word ?? '')
    .digest('hex')
  if (found && isEqual(found.browser_hash, hash)) return found
  return sessionOf(headers, services)
}

/** The proof in a page of consent: of this session and this transaction, the same in every process. */
export function consentProof({seal}: OAuthServices, session_id: string, transaction_id: string): string {
  return pageToken(seal.derived('pages'), `consent ${session_id} ${transaction_id}`)
}

/** The proof in an address that this person allowed this server to the client of this transaction, in any process. */
export function approvalProof(
  {seal}: OAuthServices,
  {
    transaction_id,
    user_id,
    server_id,
    how,
  }: Readonly<Record<'transaction_id' | 'user_id' | 'server_id' | 'how', string>>,
): string {
  return pageToken(seal.derived('pages'), JSON.stringify(['approval', transaction_id, user_id, server_id, how]))
}

/** Refuses an address that this gateway did not make for this person. */
export function requireApprovalProof(sent: string | undefined, proof: string): void {
  if (sent === undefined || !isEqual(sent, proof))
    throw new OAuthPageFault(403, 'This link did not come from this gateway. Begin again in your client.')
}

/** Refuses a form that no page of ours made for this person: by what the browser says, and by the proof in any case. */
export function requireConsentForm(
  headers: IncomingHttpHeaders,
  {people_url}: OAuthServices,
  {sent, proof}: {readonly sent: string | undefined; readonly proof: string},
): void {
  const is_own = isSameOrigin(headers, new URL(people_url).origin) || hasNoOrigin(headers)
  if (!is_own || sent === undefined || !isEqual(sent, proof))
    throw new OAuthPageFault(403, 'This decision did not come from the page of this gateway. Begin again.')
}

/** The address at which a person signs in before he comes to `place`, a path with its query. */
export function signInAt({people_url}: OAuthServices, place: string): string {
  return `${people_url}/v2/auth/sign-in?${new URLSearchParams({return_to: place})}`
}
