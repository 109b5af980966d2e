import type {FastifyInstance, FastifyReply, FastifyRequest} from 'fastify'
import {Refusal} from '../../base/errors.ts'
import {storeRefusal} from '../../base/store-fault.ts'
import {openConnections} from '../../identity/connections.ts'
import {logoutHintOf} from '../../identity/oidc/logout-token.ts'
import {SignInFault} from '../../identity/sign-in-fault.ts'
import {attempted, clientOf, isProxied} from '../caller.ts'
import {beginTries, giveBack, MOST_OF_ADDRESS} from '../failures.ts'
import {refusedWho} from '../finish.ts'
import {type ConnectionLogout, endAtProvider} from '../provider-logout.ts'
import type {SignInServices} from '../services.ts'

const BODY_LIMIT = 64 * 1024
const RETRY_AFTER_S = 900
const FORM = /^application\/x-www-form-urlencoded\b/i

type OidcWay = ConnectionLogout['connection']

/** The route at which providers say that a sign-in is over (OpenID Connect Back-Channel Logout 1.0). */
export function backchannelRoutes(scope: FastifyInstance, services: SignInServices): void {
  scope.post(
    '/v2/auth/backchannel',
    {bodyLimit: BODY_LIMIT, errorHandler: (fault, request, reply) => refuse(fault, request, reply, services)},
    async (request, reply) => {
      await loggedOut(request, services)
      return reply.code(200).send()
    },
  )
}

async function loggedOut(request: FastifyRequest, services: SignInServices): Promise<void> {
  let named: OidcWay | null = null
  await attempted({services, request, who: () => refusedWho(named, null)}, () =>
    limited(request, services, async () => {
      const token = tokenIn(request)
      const ways = await waysOf(services, token)
      named = ways[0] ?? null
      await endAtProvider(services, await verified(services, ways, token), clientOf(request))
    }),
  )
}

function tokenIn({headers, body}: FastifyRequest): string {
  const {logout_token} = (body ?? {}) as {readonly logout_token?: unknown}
  if (FORM.test(headers['content-type'] ?? '') && typeof logout_token === 'string') return logout_token
  throw new SignInFault('request_invalid', 'The request is no form with a logout_token')
}

/** The connections that the token may be for. Several organisations may share a client of a provider. */
async function waysOf({store, connections}: SignInServices, token: string): Promise<readonly OidcWay[]> {
  if (connections.is_off) throw new SignInFault('not_configured', 'AUTH_MODE=NO_AUTH')
  const {issuer, audiences} = logoutHintOf(token)
  return (await openConnections(store.db, connections)).filter(
    (each): each is OidcWay =>
      each.type === 'oidc' && each.settings.issuer === issuer && audiences.includes(each.settings.client_id),
  )
}

/** Each connection judges the token by its own rules. Refuses as the first one does where none takes it. */
async function verified(services: SignInServices, ways: readonly OidcWay[], token: string) {
  const logouts: ConnectionLogout[] = []
  let refusal = new SignInFault('request_invalid', 'The logout token is of no provider and client of a connection here')
  for (const [at, connection] of ways.entries())
    try {
      const {settings} = connection
      logouts.push({connection, logout: await (await services.oidc(settings.issuer)).endedBy(settings, token)})
    } catch (fault) {
      if (!(fault instanceof SignInFault)) throw fault
      if (at === 0) refusal = fault
    }
  if (logouts.length === 0) throw refusal
  return logouts
}

/** Behind a proxy all come from one address: strangers would keep the provider's word from being heard. */
async function limited(request: FastifyRequest, services: SignInServices, work: () => Promise<void>): Promise<void> {
  if (isProxied(request)) return work()
  const key = `backchannel ${clientOf(request).client_ip}`
  const tries = await beginTries(services, [{key, most: MOST_OF_ADDRESS}])
  let is_refused = false
  try {
    await work()
  } catch (fault) {
    is_refused = fault instanceof SignInFault && fault.status < 500
    throw fault
  } finally {
    if (!is_refused) await giveBack(services, tries)
  }
}

/** The errors of §2.8. They tell no one which check failed: the audit log does. */
function refuse(fault: unknown, request: FastifyRequest, reply: FastifyReply, {log, connections}: SignInServices) {
  const send = (status: number, error: string, error_description: string) =>
    reply.code(status).send({error, error_description})
  if (fault instanceof SignInFault) {
    if (fault.reason === 'too_many') {
      reply.header('retry-after', RETRY_AFTER_S)
      return send(429, 'invalid_request', 'Too many logout tokens of this address were refused. Try again later.')
    }
    if (connections.is_off) return send(404, 'invalid_request', 'No sign-in is set up for this.')
    return send(400, 'invalid_request', 'The logout token was refused, and no session was ended.')
  }
  const {statusCode = 500} = fault as {readonly statusCode?: number}
  const refusal = fault instanceof Refusal ? fault : storeRefusal(fault)
  const status = refusal?.status ?? statusCode
  if (status < 500) return send(status === 413 ? 413 : 400, 'invalid_request', 'The request cannot be read.')
  log.error({fault, request_id: clientOf(request).request_id}, 'a back-channel logout failed inside the gateway')
  const retry_after_s = refusal?.retry_after_s ?? null
  if (retry_after_s !== null) reply.header('retry-after', retry_after_s)
  return send(status, 'server_error', 'The sessions could not be ended now. Try again shortly.')
}
