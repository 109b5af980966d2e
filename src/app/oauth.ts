import {request} from 'undici'
import {linkBase, mcpBase} from '../admin/link-base.ts'
import type {Egress} from '../base/egress/pools.ts'
import type {Log} from '../base/log.ts'
import type {Seal} from '../base/seal.ts'
import {apiKeys} from '../identity/api-keys.ts'
import {cookieJar} from '../identity/cookies.ts'
import {findOAuthCaller} from '../identity/mcp-oauth/caller.ts'
import type {SignInNeeds} from '../identity/sign-in-needs.ts'
import type {DocumentReply, OAuthServices} from '../oauth/services.ts'
import type {Settings} from '../settings/index.ts'
import type {Store} from '../store/database.ts'
import type {McpServerNames} from '../store/oauth-servers.ts'
import {openEgress} from './egress.ts'
import {flat, textOf} from './reply-text.ts'

const DOCUMENT_PATIENCE_MS = 5_000
const DOCUMENT_BYTES = 64 * 1024

interface OAuthParts {
  readonly settings: Settings
  readonly store: Store
  readonly seal: Seal
  readonly log: Log
  readonly sign_in_needs: Pick<SignInNeeds, 'check'>
  readonly now: () => number
}

/** The authorization server of MCP, and the look-up by which its door knows the callers who have tokens of it. */
export function openOAuth({settings, store, seal, log, sign_in_needs, now}: OAuthParts) {
  const egress = openEgress(settings)
  const services: OAuthServices = {
    ...{store, settings, seal, log, people_url: linkBase({settings})},
    now: () => new Date(now()),
    base_url: mcpBase({settings}),
    cookies: cookieJar(settings.session_cookie_secure),
    readDocument: url => documentThrough(egress, url),
    accessByKey: (key, showing) => apiKeys(store.db, sign_in_needs).authenticate(key, showing),
  }
  return {
    services,
    findOAuthCaller: (token: string, resource: McpServerNames, now_ms: number) =>
      findOAuthCaller(store, token, {resource, now_ms}),
    close: () => egress.destroy(),
  }
}

/** A stranger wrote the address: its host is judged as that of a caller, and what it answers is bounded. */
async function documentThrough(egress: Egress, url: string): Promise<DocumentReply> {
  const {origin} = new URL(url)
  const reply = await request(url, {
    headers: {accept: 'application/json', 'accept-encoding': 'identity'},
    dispatcher: egress.pool(egress.destination(origin, {kind: 'caller'})),
    signal: AbortSignal.timeout(DOCUMENT_PATIENCE_MS),
  })
  const text = await textOf(reply.body, DOCUMENT_BYTES)
  return {status: reply.statusCode, headers: flat(reply.headers), text}
}
