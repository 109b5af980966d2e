import type {FastifyInstance, FastifyReply, FastifyRequest} from 'fastify'
import {openConnection, type SsoConnection} from '../../identity/connections.ts'
import {SignInFault} from '../../identity/sign-in-fault.ts'
import type {Statement} from '../../identity/statement.ts'
import type {SignInsTable} from '../../store/tables/sign-in.ts'
import {letIn} from '../arrival.ts'
import {attempted} from '../caller.ts'
import {refusedWho} from '../finish.ts'
import {redirectUri} from '../own-places.ts'
import {requireSecure} from '../place.ts'
import type {SignInServices} from '../services.ts'
import {endingIfRefused, foundSignIn, openedSecrets, requireUnchanged} from '../transactions.ts'
import {initiated} from './login.ts'

const PATHS = ['/v2/auth/callback', '/v1/auth/callback', '/albus/v2/auth/callback'] as const

/** The routes to which providers of OpenID Connect send people back. */
export function oidcRoutes(scope: FastifyInstance, services: SignInServices): void {
  for (const path of PATHS) scope.get(path, (request, reply) => answered(request, reply, services))
}

async function answered(request: FastifyRequest, reply: FastifyReply, services: SignInServices) {
  const params = queryOf(request)
  const is_initiated = params.has('iss') && !params.has('code') && !params.has('error') && !params.has('state')
  if (is_initiated) return initiated(request, reply, services)
  requireSecure(request.headers.host, services.base_url, services.settings.session_cookie_secure)
  let connection: SsoConnection | null = null
  let statement: Statement | null = null
  let begun: SignInsTable | null = null
  const onFound = (row: SignInsTable) => {
    begun = row
  }
  return attempted({services, request, who: () => refusedWho(connection, statement, begun)}, async () => {
    const state = params.get('state')
    if (params.getAll('state').length > 1) throw new SignInFault('transaction_unknown', 'state came twice')
    const row = await foundSignIn(services, state, {cookie: request.headers.cookie, onFound})
    const found = await openConnection(services.store.db, services.connections, row.connection_id)
    connection = requireUnchanged(row, found)
    if (connection.type !== 'oidc') throw new SignInFault('transaction_foreign', 'the sign-in is of another kind')
    const {nonce, code_verifier} = openedSecrets(row, services)
    const redirect_uri = redirectUri(services, connection)
    const answer = {params, redirect_uri, nonce, code_verifier}
    const {return_to} = row
    return endingIfRefused(services, row, async () => {
      const {settings} = connection as SsoConnection & {readonly type: 'oidc'}
      statement = (await (await services.oidc(settings.issuer)).finish(settings, answer)).statement
      return letIn(request, reply, services, {
        connection: connection!,
        statement,
        row,
        begun_at: row.created_at,
        return_to,
        holders: null,
        notes: [],
      })
    })
  })
}

function queryOf({url}: FastifyRequest): URLSearchParams {
  const at = url.indexOf('?')
  return new URLSearchParams(at < 0 ? '' : url.slice(at + 1))
}
