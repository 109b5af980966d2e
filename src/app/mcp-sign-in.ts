import type {FastifyInstance, FastifyReply, FastifyRequest} from 'fastify'
import {cookieIn} from '../identity/cookies.ts'
import {AuthServerFault} from '../mcp/credentials/auth-server-fault.ts'
import {externalStart} from '../mcp/credentials/external/begin.ts'
import {externalCallbackReply} from '../mcp/credentials/external/pages.ts'
import {signInLink} from '../mcp/credentials/oauth-upstream/sign-in.ts'
import type {CredentialServices} from '../mcp/credentials/services.ts'
import type {BrowserReply} from '../mcp/credentials/sign-in-page.ts'
import {type SignedInPerson, upstreamAuth, upstreamCallbackReply} from '../mcp/credentials/upstream-pages.ts'
import {McpFault} from '../mcp/wire/faults.ts'
import {externalCookie, sessionOf, signInAt} from '../oauth/person.ts'
import type {OAuthServices} from '../oauth/services.ts'
import {OAuthPageFault} from '../oauth/wire/fault.ts'
import {findMcpTarget} from '../store/mcp-connections.ts'
import {externalServer} from '../store/mcp-external-sign-ins.ts'
import type {McpPlane} from './mcp.ts'

type Page = (services: CredentialServices, query: URLSearchParams, person: SignedInPerson) => Promise<BrowserReply>

/** Pages on which a person signs in at an upstream, and the keys that prove identities to upstreams. */
export function mountUpstreamSignIn(server: FastifyInstance, mcp: McpPlane, oauth: OAuthServices): void {
  const page = (make: Page) => async (request: FastifyRequest, reply: FastifyReply) => {
    const session = await sessionOf(request.headers, oauth)
    if (!session) return reply.redirect(signInAt(oauth, request.url), 302)
    const query = new URLSearchParams(request.url.split('?')[1] ?? '')
    const {status, headers, html} = await make(mcp.credential_services, query, {user_id: session.user_id})
    return reply.code(status).headers(headers).type('text/html; charset=utf-8').send(html)
  }
  server.get('/oauth/upstream-auth', page(upstreamAuth))
  server.get('/oauth/upstream-callback', page(upstreamCallbackReply))
  server.get('/oauth/external-callback', async (request, reply) => {
    if (request.method === 'HEAD') return reply.code(204).send()
    const query = new URLSearchParams(request.url.split('?')[1] ?? '')
    const browserOf = (id: string) => cookieIn(request.headers.cookie, externalCookie(oauth, id))
    const {status, headers, html} = await externalCallbackReply(mcp.credential_services, query, browserOf)
    return reply.code(status).headers(headers).type('text/html; charset=utf-8').send(html)
  })
  server.get('/.well-known/jwks.json', async (_, reply) => {
    const keys = await mcp.credentials.keySet()
    return reply.header('cache-control', 'public, max-age=3600').send(keys)
  })
}

/** The sign-in at a server that a consent leads to, of a person who has no connection there. */
export function upstreamLinks({
  credentials,
  credential_services: services,
}: Pick<McpPlane, 'credentials' | 'credential_services'>): NonNullable<OAuthServices['upstreamLink']> {
  return async ({server, user_id, return_to}) => {
    const {id: mcp_server_id, mcp_integration_id, organisation_id} = server
    const target = await findMcpTarget(services.store.db, {mcp_server_id, mcp_integration_id, organisation_id})
    if (target?.integration.auth_type !== 'oauth_auto' || (await credentials.isConnected(target, user_id))) return null
    const {pathname, search} = new URL(await signInLink(services, target, {user_id, challenge: null, return_to}))
    return pathname + search
  }
}

/** The provider of an integration's own, at which the people of a server sign in. */
export function externalStarts({
  credential_services: services,
}: Pick<McpPlane, 'credential_services'>): NonNullable<OAuthServices['externalStart']> {
  return async ({names, ...of}) => {
    const place = await externalServer(services.store.db, names)
    const target = place && (await findMcpTarget(services.store.db, place))
    if (!target) return null
    try {
      return await externalStart(services, target, of)
    } catch (fault) {
      if (!(fault instanceof AuthServerFault || fault instanceof McpFault)) throw fault
      throw new OAuthPageFault(502, `The sign-in provider of ${target.server.slug} cannot be reached: ${fault.message}`)
    }
  }
}
