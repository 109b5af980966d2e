import type {FastifyInstance, FastifyReply, FastifyRequest} from 'fastify'
import {readRedirect} from '../../identity/mcp-oauth/redirect-uris.ts'
import {readMcpPath} from '../../identity/mcp-oauth/resources.ts'
import {scopeList} from '../../identity/mcp-oauth/scopes.ts'
import type {McpServerNames, OAuthServer} from '../../store/oauth-servers.ts'
import {bindTransaction} from '../../store/oauth-transactions.ts'
import type {McpOauthTransactionsTable} from '../../store/tables/oauth.ts'
import {findClient, targetsOf} from '../clients/client.ts'
import {decidedBefore, serversFor} from '../consent/choices.ts'
import {type ConsentCase, deny} from '../consent/decide.ts'
import {consentPage} from '../consent/page.ts'
import {readAuthorization} from '../consent/request.ts'
import {beginTransaction, openTransaction} from '../consent/transactions.ts'
import {
  type ConsentPerson,
  consentProof,
  externalCookie,
  personOf,
  requireConsentForm,
  sessionOf,
  signInAt,
} from '../person.ts'
import {mayRequest} from '../rates.ts'
import type {OAuthServices} from '../services.ts'
import {OAuthFault, OAuthPageFault} from '../wire/fault.ts'
import {oauthFields} from '../wire/fields.ts'
import {afterApproval, CONNECT, connected} from './connect.ts'
import {visitOf} from './visits.ts'

const CONSENT = '/oauth/consent'
/** As long as a transaction may be decided. */
const EXTERNAL_S = 600

/** The steps that a person's browser takes: the request, the page of consent, and what the person decides there. */
export function authorizeRoutes(scope: FastifyInstance, services: OAuthServices): void {
  const begin =
    (named: (request: FastifyRequest) => McpServerNames | null) => (request: FastifyRequest, reply: FastifyReply) =>
      isNoVisit(request) ? reply.code(204).send() : begun(request, reply, services, named(request))
  scope.get(
    '/oauth/authorize',
    begin(() => null),
  )
  for (const path of ['/oauth/:server/authorize', '/oauth/:workspace/:server/authorize'])
    scope.get(path, begin(aliasNames))
  scope.get(CONSENT, (request, reply) =>
    isNoVisit(request) ? reply.code(204).send() : shown(request, reply, services),
  )
  scope.get(CONNECT, (request, reply) =>
    isNoVisit(request) ? reply.code(204).send() : connect(request, reply, services),
  )
  scope.post('/oauth/authorize', (request, reply) => decided(request, reply, services))
}

/** A browser that fetches ahead would use up what is used once. */
function isNoVisit({method, headers}: FastifyRequest): boolean {
  const purposes = [headers['sec-purpose'], headers.purpose, headers['x-moz']].join(' ')
  return method === 'HEAD' || /\b(?:prefetch|prerender|preview)\b/i.test(purposes)
}

function aliasNames({params}: FastifyRequest): McpServerNames {
  const {workspace, server} = params as {readonly workspace?: string; readonly server: string}
  const names = readMcpPath(`${workspace === undefined ? '' : `/${workspace}`}/${server}/mcp`)
  if (!names) throw new OAuthPageFault(400, 'This link is broken: its address names no server.')
  return names
}

async function begun(
  request: FastifyRequest,
  reply: FastifyReply,
  services: OAuthServices,
  named: McpServerNames | null,
) {
  if (!(await mayRequest(services, 'authorize', visitOf(request).client_ip)))
    throw new OAuthPageFault(429, 'There were too many requests from your address. Try again in a minute.')
  const authorization = await readAuthorization(services, request.query, named)
  const {handle, id} = await beginTransaction(services, authorization, visitOf(request))
  const place = `${CONSENT}?${new URLSearchParams({transaction: handle})}`
  const session = await sessionOf(request.headers, services)
  if (session) return reply.redirect(services.people_url + place, 302)
  const {names} = authorization
  const external = names && (await services.externalStart?.({transaction_id: id, handle, names}))
  if (!external) return reply.redirect(signInAt(services, place), 302)
  const {location, browser} = external
  reply.header('set-cookie', services.cookies.set(externalCookie(services, id), browser, EXTERNAL_S))
  return reply.redirect(location, 302)
}

async function shown(request: FastifyRequest, reply: FastifyReply, services: OAuthServices) {
  const handle = oauthFields(request.query).required('transaction')
  const transaction = await openTransaction(services, handle)
  const session = await personOf(request.headers, services, transaction.id)
  if (!session) {
    const place = `${CONSENT}?${new URLSearchParams({transaction: handle})}`
    return reply.redirect(signInAt(services, place), 302)
  }
  const {db} = services.store
  if (!(await services.store.write(db => bindTransaction(db, transaction.id, session)))) throw foreign()
  const of = await caseOf(request, services, {session, transaction})
  const servers = await serversFor(db, session, transaction, of.client)
  const before = await decidedBefore(db, {...of, servers}, services.now().toISOString())
  if (before) {
    const approval = {handle, server_id: before.id, remembered: true}
    return reply.redirect(await afterApproval(services, of, approval), 302)
  }
  return sendPage(reply, services, of, {handle, servers})
}

async function decided(request: FastifyRequest, reply: FastifyReply, services: OAuthServices) {
  const fields = oauthFields(request.body)
  const handle = fields.required('transaction')
  const transaction = await openTransaction(services, handle)
  const session = await personOf(request.headers, services, transaction.id)
  if (!session) throw new OAuthPageFault(403, 'You are not signed in any more. Begin again in your client.')
  if (transaction.user_id !== session.user_id || transaction.organisation_id !== session.organisation_id)
    throw foreign()
  const proof = consentProof(services, session.id, transaction.id)
  requireConsentForm(request.headers, services, {sent: fields.text('proof'), proof})
  const action = fields.required('action')
  const of = await caseOf(request, services, {session, transaction})
  if (action === 'deny') return reply.redirect(await deny(services, of), 302)
  if (action !== 'approve') throw new OAuthFault('invalid_request', 'action: must be approve or deny.')
  const approval = {handle, server_id: fields.required('server'), remembered: false}
  return reply.redirect(await afterApproval(services, of, approval), 302)
}

/** The step at the server itself, of the person who allowed it. */
async function connect(request: FastifyRequest, reply: FastifyReply, services: OAuthServices) {
  const handle = oauthFields(request.query).required('transaction')
  const transaction = await openTransaction(services, handle)
  const session = await personOf(request.headers, services, transaction.id)
  if (!session) return reply.redirect(signInAt(services, request.url), 302)
  if (transaction.user_id !== session.user_id || transaction.organisation_id !== session.organisation_id)
    throw foreign()
  const of = await caseOf(request, services, {session, transaction})
  return connected(request, reply, services, {of, handle})
}

function foreign(): OAuthPageFault {
  return new OAuthPageFault(403, 'This request is of another person. Begin again in your client.')
}

/** The client as it is now: one that is gone, or of another organisation, gets nothing. */
async function caseOf(
  request: FastifyRequest,
  {store, settings}: OAuthServices,
  {session, transaction}: {readonly session: ConsentPerson; readonly transaction: McpOauthTransactionsTable},
): Promise<ConsentCase> {
  const client = await findClient(store.db, settings, transaction.client_id)
  const is_foreign = client?.kind === 'administered' && client.organisation_id !== session.organisation_id
  if (!client || is_foreign)
    throw new OAuthPageFault(403, 'This client is not one of your organisation. Sign in to the one that it is for.')
  return {session, transaction, client, visit: visitOf(request)}
}

function sendPage(
  reply: FastifyReply,
  services: OAuthServices,
  {session, transaction, client}: ConsentCase,
  {handle, servers}: {readonly handle: string; readonly servers: readonly OAuthServer[]},
) {
  const redirect = readRedirect(transaction.redirect_uri, new Set(services.settings.mcp_redirect_schemes))
  if (!redirect) throw new OAuthPageFault(400, 'The address of the client is not allowed here any more.')
  const page = consentPage({
    ...{client: client.name, client_id: client.id, is_vouched: client.kind === 'administered', redirect},
    is_local: targetsOf(client, services.settings).every(({kind}) => kind !== 'web'),
    ...{email: session.email, servers, scopes: scopeList(transaction.scopes), handle},
    proof: consentProof(services, session.id, transaction.id),
  })
  // browsers hold the answer to a form to its policy, and the answer goes to the client
  const policy =
    `default-src 'none'; style-src 'self'; form-action 'self' ${redirect.source}; ` +
    "base-uri 'none'; frame-ancestors 'none'"
  return reply.header('content-security-policy', policy).type('text/html; charset=utf-8').send(page)
}
