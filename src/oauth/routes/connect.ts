import type {FastifyReply, FastifyRequest} from 'fastify'
import {donePage} from '../../identity/plain-page.ts'
import type {OAuthServer} from '../../store/oauth-servers.ts'
import {serversFor} from '../consent/choices.ts'
import {approve, type ConsentCase} from '../consent/decide.ts'
import {approvalProof, requireApprovalProof} from '../person.ts'
import type {OAuthServices} from '../services.ts'
import {OAuthPageFault} from '../wire/fault.ts'
import {oauthFields} from '../wire/fields.ts'

/** The leg of a consent at the server itself: after the person allowed it, and before the client has its code. */
export const CONNECT = '/oauth/connect'

const POLICY = "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

export interface Approval {
  readonly handle: string
  readonly server_id: string
  /** The page was skipped. */
  readonly remembered: boolean
}

/**
 * The next address of a browser whose person allowed a server: that of the client with a code, or before that of a
 * sign-in at the server.
 */
export async function afterApproval(services: OAuthServices, of: ConsentCase, approval: Approval): Promise<string> {
  const server = await serverOf(services, of, approval.server_id)
  if (server?.auth_type !== 'oauth_auto' || !services.upstreamLink) return approve(services, of, approval)
  return services.people_url + placeOf(services, of, approval)
}

/**
 * Offers the sign-in at the server once. The person may leave it for later, and comes back from it however it ended:
 * the client gets its code in any case, and the first call asks for the sign-in again.
 */
export async function connected(
  request: FastifyRequest,
  reply: FastifyReply,
  services: OAuthServices,
  {of, handle}: {readonly of: ConsentCase; readonly handle: string},
) {
  const fields = oauthFields(request.query)
  const how = fields.required('how')
  const approval = {handle, server_id: fields.required('server'), remembered: how === 'remembered'}
  requireApprovalProof(fields.text('proof'), approvalProof(services, factsOf(of, approval)))
  if (fields.text('next') === 'code') return reply.redirect(await approve(services, of, approval), 302)
  const onward = `${placeOf(services, of, approval)}&next=code`
  const server = await serverOf(services, of, approval.server_id)
  if (!server) throw new OAuthPageFault(403, 'You may not use this server. Begin again in your client.')
  const {user_id} = of.session
  const href = await services.upstreamLink?.({server, user_id, return_to: onward})
  if (!href) return reply.redirect(await approve(services, of, approval), 302)
  const page = donePage({
    title: 'One more sign-in',
    message:
      `${server.name} (${server.slug}) wants its users to sign in there. You can do it now, or later, when your ` +
      'client first uses it.',
    next: {href, text: 'Sign in there'},
    other: {href: onward, text: 'Later'},
  })
  return reply.header('content-security-policy', POLICY).type('text/html; charset=utf-8').send(page)
}

async function serverOf(
  {store}: OAuthServices,
  {session, transaction, client}: ConsentCase,
  server_id: string,
): Promise<OAuthServer | undefined> {
  return (await serversFor(store.db, session, transaction, client)).find(({id}) => id === server_id)
}

function placeOf(services: OAuthServices, of: ConsentCase, approval: Approval): string {
  const {how, server_id} = factsOf(of, approval)
  const proof = approvalProof(services, factsOf(of, approval))
  return `${CONNECT}?${new URLSearchParams({transaction: approval.handle, server: server_id, how, proof})}`
}

function factsOf({session, transaction}: ConsentCase, {server_id, remembered}: Approval) {
  const how = remembered ? 'remembered' : 'given'
  return {transaction_id: transaction.id, user_id: session.user_id, server_id, how}
}
