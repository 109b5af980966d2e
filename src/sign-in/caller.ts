import type {FastifyReply, FastifyRequest} from 'fastify'
import {Refusal} from '../base/errors.ts'
import {clientAddress} from '../base/ingress/client-address.ts'
import {cookieIn} from '../identity/cookies.ts'
import {isSessionToken, sentKey} from '../identity/keys.ts'
import {hasNoOrigin, isSameOrigin, pageToken, requireOwnPage} from '../identity/page-proof.ts'
import {usedSession} from '../identity/sessions.ts'
import {SignInFault} from '../identity/sign-in-fault.ts'
import {type FoundSession, noteSessionUse} from '../store/sessions.ts'
import type {RefusedSignIn} from './audit.ts'
import type {SignInClient} from './client.ts'
import type {SignInServices} from './services.ts'

const PROXY_HEADERS = ['forwarded', 'x-real-ip', 'via'] as const
/** For, host, proto, port: which of them a proxy sends is its own choice. */
const FORWARDED = 'x-forwarded-'

const clients = new WeakMap<FastifyRequest, SignInClient>()

export function noteClient(request: FastifyRequest, request_id: string, {settings}: SignInServices): void {
  const {'user-agent': user_agent = null} = request.headers
  clients.set(request, {client_ip: clientAddress(request.raw, settings.trusted_proxies), user_agent, request_id})
}

export function clientOf(request: FastifyRequest): SignInClient {
  return clients.get(request)!
}

/** True where a proxy passed the request on: its address is then that of the proxy, for everybody. */
export function isProxied({headers}: FastifyRequest): boolean {
  return PROXY_HEADERS.some(name => headers[name] !== undefined) || Object.keys(headers).some(isForwarded)
}

function isForwarded(name: string): boolean {
  return name.startsWith(FORWARDED)
}

/** The token of the session that the browser keeps; undefined where it sent none. */
export function cookieToken({headers}: FastifyRequest, {cookies}: SignInServices): string | undefined {
  const value = cookieIn(headers.cookie, cookies.session)
  return value !== undefined && isSessionToken(value) ? value : undefined
}

/** The session that makes a request, and whether a browser's cookie carried it. */
export interface HeldSession {
  readonly session: FoundSession
  readonly is_cookie: boolean
  /** For pages: shown with writes, in place of what old browsers do not say. */
  readonly csrf_token: string | null
}

/** The live session of a request. Refuses with 401 where there is none, and writes that no page of ours made. */
export async function requireSession(request: FastifyRequest, services: SignInServices): Promise<HeldSession> {
  const {store, seal, base_url} = services
  const {key, prefix} = sentKey(request.headers)
  const token = key ?? cookieToken(request, services)
  if (token === undefined) throw new Refusal('key.missing', {header: `${prefix}-api-key`})
  if (!isSessionToken(token)) throw new Refusal('session.unknown')
  const is_cookie = key === undefined
  const tokenOf = (session_id: string) => pageToken(seal.derived('pages'), session_id)
  const session = await usedSession(store.db, token, services.now().toISOString(), {
    requireProof(session_id) {
      if (is_cookie) requireOwnPage(request, {base_url, token: tokenOf(session_id)})
    },
    noteUse: (id, now) => store.write(db => noteSessionUse(db, id, now)),
  })
  return {session, is_cookie, csrf_token: is_cookie ? tokenOf(session.id) : null}
}

/** The same, undefined where there is none. */
export async function heldSession(request: FastifyRequest, services: SignInServices): Promise<HeldSession | undefined> {
  try {
    return await requireSession(request, services)
  } catch (fault) {
    if (fault instanceof Refusal) return undefined
    throw fault
  }
}

/**
 * Refuses what sets a session and was sent by another site's page: its visitor would work as the user of that site's
 * choice. A client that says nothing of its origin is no browser, which sends JSON.
 */
export function requireOwnForm(request: FastifyRequest, {base_url}: SignInServices): void {
  const {origin} = new URL(base_url)
  if (isSameOrigin(request.headers, origin)) return
  const is_json = /^application\/json\b/i.test(request.headers['content-type'] ?? '')
  if (hasNoOrigin(request.headers) && is_json) return
  throw new SignInFault('not_same_origin', 'the request came of another site')
}

/** Does a part of a sign-in; its refusal is a row of the audit log. */
export async function attempted<T>(
  {
    services,
    request,
    who,
  }: {
    readonly services: SignInServices
    readonly request: FastifyRequest
    readonly who: () => RefusedSignIn
  },
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work()
  } catch (fault) {
    if (fault instanceof SignInFault) services.rows.refused(fault, who(), clientOf(request))
    throw fault
  }
}

/** Sends the browser on, or says where to a page that asked by a script. */
export function sendOn(request: FastifyRequest, reply: FastifyReply, location: string) {
  return wantsJson(request) ? reply.send({location}) : reply.redirect(location, 303)
}

/** A script or a command asks: a form and a link are navigations of a browser. */
export function wantsJson({headers}: FastifyRequest): boolean {
  if (/^application\/json\b/i.test(headers['content-type'] ?? '')) return true
  return !/\btext\/html\b/i.test(headers.accept ?? '')
}
