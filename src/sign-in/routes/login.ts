import {randomBytes} from 'node:crypto'
import type {FastifyInstance, FastifyReply, FastifyRequest} from 'fastify'
import type {SsoConnection} from '../../identity/connections.ts'
import {hashKey} from '../../identity/keys.ts'
import {beginUrl, makeRequestId} from '../../identity/saml/request.ts'
import {SignInFault} from '../../identity/sign-in-fault.ts'
import {findInviteByToken} from '../../store/invites.ts'
import {attempted, clientOf, heldSession, requireOwnForm, sendOn} from '../caller.ts'
import {wayIn} from '../choice.ts'
import {commandWord, readCommand} from '../command-codes.ts'
import {type Fields, fieldsOf} from '../fields.ts'
import {refusedWho} from '../finish.ts'
import {entityId, redirectUri, samlConsumer, signingKey} from '../own-places.ts'
import {movedTo, requireSecure, returnPath} from '../place.ts'
import type {SignInServices} from '../services.ts'
import {beginSignIn} from '../transactions.ts'

/** The routes at which a sign-in begins. */
export function loginRoutes(scope: FastifyInstance, services: SignInServices): void {
  for (const path of ['/v2/auth/login', '/v1/auth/login'])
    scope.get(path, (request, reply) => {
      const {host, url} = {host: request.headers.host, url: request.url}
      requireSecure(host, services.base_url, services.settings.session_cookie_secure)
      const moved = movedTo({host, url}, services.base_url)
      if (moved !== null) return reply.redirect(moved, 302)
      return begun(request, reply, services, fieldsOf(request.query))
    })
  scope.post('/v2/auth/login', (request, reply) => {
    requireOwnForm(request, services)
    requireSecure(request.headers.host, services.base_url, services.settings.session_cookie_secure)
    return begun(request, reply, services, fieldsOf(request.body))
  })
  scope.get('/v2/auth/initiate', (request, reply) => initiated(request, reply, services))
}

/** Okta and others begin a sign-in here: nothing that they say is believed, and a new one begins. */
export function initiated(request: FastifyRequest, reply: FastifyReply, {base_url}: SignInServices) {
  const fields = fieldsOf(request.query)
  const params = new URLSearchParams()
  params.set('issuer', fields.required('iss'))
  const [hint, target] = [fields.text('login_hint', 255), fields.text('target_link_uri')]
  if (hint) params.set('login_hint', hint)
  if (target?.startsWith(`${base_url}/`)) params.set('return_to', returnPath(target.slice(base_url.length), base_url))
  return reply.redirect(`${base_url}/v2/auth/login?${params}`, 302)
}

async function begun(request: FastifyRequest, reply: FastifyReply, services: SignInServices, fields: Fields) {
  let connection: SsoConnection | null = null
  const who = () => refusedWho(connection, null)
  return attempted({services, request, who}, async () => {
    const command = commandPage(fields)
    if (command !== null && (await heldSession(request, services))) return sendOn(request, reply, command)
    const return_to = command ?? returnPath(fields.text('return_to', 16_384), services.base_url)
    const found = await chosen(request, services, fields, return_to)
    if (typeof found === 'string') return sendOn(request, reply, found)
    connection = found
    return sendOn(request, reply, await beginAt(request, reply, services, {connection, fields, return_to}))
  })
}

/** The connection; where a person has to choose first, the page on which he does. */
async function chosen(
  request: FastifyRequest,
  services: SignInServices,
  fields: Fields,
  return_to: string,
): Promise<SsoConnection | string> {
  const wanted = {
    connection: fields.text('connection', 255),
    organisation_id: fields.text('organisation_id', 255) ?? fields.text('sso_client_id', 255),
    email: fields.text('email', 255),
    issuer: fields.text('issuer'),
  }
  try {
    return await wayIn(services, wanted)
  } catch (fault) {
    const is_open = fault instanceof SignInFault && fault.reason === 'several_organisations'
    if (!is_open || !/\btext\/html\b/i.test(request.headers.accept ?? '')) throw fault
    const {email, organisation_id} = wanted
    const params = new URLSearchParams({
      return_to,
      ...(email && {email}),
      ...(organisation_id && {organisation_id}),
    })
    return `/v2/auth/sign-in?${params}`
  }
}

interface Beginning {
  readonly connection: SsoConnection
  readonly fields: Fields
  readonly return_to: string
}

async function beginAt(
  request: FastifyRequest,
  reply: FastifyReply,
  services: SignInServices,
  {connection, fields, return_to}: Beginning,
): Promise<string> {
  const {client_ip} = clientOf(request)
  const held = await heldSession(request, services)
  const request_id = connection.type === 'saml' ? makeRequestId(randomBytes(16).toString('hex')) : null
  const invite_id = await inviteOf(services, fields, connection)
  const ldap = new URLSearchParams({connection: connection.id, return_to})
  if (connection.type === 'ldap' && invite_id === null) return `/v2/auth/ldap?${ldap}`
  const user_id = held?.session.user_id ?? null
  const begun = await beginSignIn(services, {connection, return_to, client_ip, request_id, user_id, invite_id})
  reply.header('set-cookie', begun.set_cookie)
  if (connection.type === 'ldap') {
    ldap.set('state', begun.state)
    return `/v2/auth/ldap?${ldap}`
  }
  return connection.type === 'oidc'
    ? await (await services.oidc(connection.settings.issuer)).begin(connection.settings, {
        redirect_uri: redirectUri(services, connection),
        ...{state: begun.state, nonce: begun.nonce, code_verifier: begun.code_verifier},
        login_hint: fields.text('login_hint', 255) ?? fields.text('email', 255) ?? null,
        custom_scopes: connection.id === 'environment' ? services.settings.oidc_custom_scopes : [],
      })
    : beginUrl(await (await services.saml()).providerOf(connection.settings), connection.settings, {
        id: request_id!,
        acs_url: samlConsumer(services, connection.organisation_id),
        entity_id: entityId(services),
        relay_state: begun.state,
        issued_at: services.now().toISOString(),
        sign_with: signingKey(services),
      })
}

/** The invite whose link a person followed: he proves by it that the invite is his. */
async function inviteOf({store}: SignInServices, fields: Fields, {organisation_id}: SsoConnection) {
  const token = fields.text('invite_token', 255)
  if (token === undefined) return null
  const invite = await findInviteByToken(store.db, hashKey(token))
  return invite?.organisation_id === organisation_id && invite.status === 'pending' ? invite.id : null
}

/** The page on which a person lets the command line in that sent him; null where none did. */
function commandPage(fields: Fields): string | null {
  const port = fields.text('cli_port', 5)
  if (port === undefined) return null
  const [state, challenge] = [fields.required('cli_state', 255), fields.required('cli_challenge', 255)]
  const word = commandWord({port: Number(port), state, challenge, host: fields.text('cli_host', 200) ?? ''})
  readCommand(word)
  return `/v2/auth/cli?request=${word}`
}
