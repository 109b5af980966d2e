import type {FastifyInstance, FastifyRequest} from 'fastify'
import {authenticatedClient} from '../clients/authentication.ts'
import {registerClient} from '../clients/registration.ts'
import {exchangeCode} from '../grants/code.ts'
import type {TokenReply} from '../grants/issue.ts'
import {machineToken} from '../grants/machine.ts'
import type {TokenRequest} from '../grants/outcome.ts'
import {refreshTokens} from '../grants/refresh.ts'
import {introspect} from '../introspection.ts'
import {mayRequest} from '../rates.ts'
import {revokeToken} from '../revocation.ts'
import type {OAuthServices} from '../services.ts'
import {OAuthFault} from '../wire/fault.ts'
import {oauthFields} from '../wire/fields.ts'
import {answerPreflight, openToPages, visitOf} from './visits.ts'

type GiveTokens = (services: OAuthServices, request: TokenRequest) => Promise<TokenReply>

const GRANTS: Readonly<Record<string, GiveTokens>> = {
  authorization_code: exchangeCode,
  refresh_token: refreshTokens,
  client_credentials: machineToken,
}

/** The endpoints that clients call themselves, from pages of any origin but for introspection. */
export function tokenRoutes(scope: FastifyInstance, services: OAuthServices): void {
  for (const path of ['register', 'token', 'revoke'])
    scope.options(`/oauth/${path}`, (_, reply) => answerPreflight(reply, 'POST'))
  scope.post('/oauth/register', async (request, reply) => {
    openToPages(reply)
    await requireRate(request, services, 'register')
    if (!/^application\/json\b/i.test(request.headers['content-type'] ?? ''))
      throw new OAuthFault('invalid_client_metadata', 'content-type: must be application/json.')
    return reply.code(201).send(await registerClient(services, request.body))
  })
  scope.post('/oauth/token', async (request, reply) => {
    openToPages(reply)
    await requireRate(request, services, 'token')
    const fields = oauthFields(request.body)
    const grant_type = fields.required('grant_type')
    const give = Object.hasOwn(GRANTS, grant_type) ? GRANTS[grant_type] : undefined
    if (!give)
      throw new OAuthFault('unsupported_grant_type', `grant_type: must be one of ${Object.keys(GRANTS).join(', ')}.`)
    return reply.header('pragma', 'no-cache').send(await give(services, await tokenRequest(request, services)))
  })
  scope.post('/oauth/revoke', async (request, reply) => {
    openToPages(reply)
    await revokeToken(services, await tokenRequest(request, services))
    return reply.code(200).send()
  })
  scope.post('/oauth/introspect', async (request, reply) => {
    const fields = oauthFields(request.body)
    return reply.send(await introspect(services, {headers: request.headers, fields, visit: visitOf(request)}))
  })
}

async function tokenRequest(request: FastifyRequest, services: OAuthServices): Promise<TokenRequest> {
  const fields = oauthFields(request.body)
  const client = await authenticatedClient(services.store.db, services, {headers: request.headers, fields})
  return {client, fields, visit: visitOf(request)}
}

async function requireRate(request: FastifyRequest, services: OAuthServices, endpoint: 'register' | 'token') {
  if (!(await mayRequest(services, endpoint, visitOf(request).client_ip)))
    throw new OAuthFault('too_many_requests', 'This address has sent 60 requests within a minute. Try again later.')
}
