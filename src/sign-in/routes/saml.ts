import {createHash} from 'node:crypto'
import type {FastifyInstance, FastifyReply, FastifyRequest} from 'fastify'
import {newId} from '../../base/ids.ts'
import {openConnection, openConnections, type SsoConnection} from '../../identity/connections.ts'
import {cookieIn} from '../../identity/cookies.ts'
import {confirmPage} from '../../identity/plain-page.ts'
import {ownMetadata} from '../../identity/saml/own-metadata.ts'
import {verifiedByProvider} from '../../identity/saml/rollover.ts'
import {SignInFault} from '../../identity/sign-in-fault.ts'
import type {Statement} from '../../identity/statement.ts'
import {findOrganisation} from '../../store/organisations.ts'
import {findSignIn, insertSignIn, keepResult, noteAssertion} from '../../store/sign-ins.ts'
import type {SignInsTable} from '../../store/tables/sign-in.ts'
import {letIn} from '../arrival.ts'
import {attempted, clientOf, requireOwnForm} from '../caller.ts'
import {fieldsOf} from '../fields.ts'
import {refusedWho} from '../finish.ts'
import {entityId, samlConsumer, signingKey} from '../own-places.ts'
import {requireSecure} from '../place.ts'
import type {SignInServices} from '../services.ts'
import {
  endingIfRefused,
  hashOf,
  requireBrowser,
  requireOpen,
  requireUnchanged,
  tailOfRow,
  word,
} from '../transactions.ts'

const HANDLE_MS = 60_000
const LONGEST_DOCUMENT = 1_048_576
type SamlWay = SsoConnection & {readonly type: 'saml'}

/** The consumer of assertions, its second step, and our metadata. */
export function samlRoutes(scope: FastifyInstance, services: SignInServices): void {
  scope.post('/v2/auth/saml/callback/:organisation', (request, reply) => consumed(request, reply, services, false))
  scope.post('/albus/v2/auth/saml/callback/:organisation', (request, reply) => consumed(request, reply, services, true))
  scope.get('/v2/auth/saml/finish', (request, reply) => finished(request, reply, services))
  scope.post('/v2/auth/saml/finish', (request, reply) => {
    requireOwnForm(request, services)
    return finished(request, reply, services)
  })
  scope.get('/v2/auth/saml/metadata/:organisation', async (request, reply) => {
    const {organisation} = request.params as {readonly organisation: string}
    const found = await findOrganisation(services.store.db, organisation)
    if (!found) throw new SignInFault('not_configured', 'no such organisation')
    return reply.type('application/samlmetadata+xml; charset=utf-8').send(metadataOf(services, found.id))
  })
}

function metadataOf(services: SignInServices, organisation_id: string): string {
  return ownMetadata({
    entity_id: entityId(services),
    acs_urls: [samlConsumer(services, organisation_id)],
    certificate_pem: services.settings.saml_sp_cert ?? null,
    want_assertions_signed: true,
    authn_requests_signed: signingKey(services) !== null,
  })
}

/** The facts that the first step hands to the second. */
interface Kept {
  readonly statement: Statement
  readonly notes: readonly string[]
}

/**
 * The first step: the browser comes from the provider's page, so that it sends no cookie of a sign-in. All that holds
 * is kept under a handle, with which the browser comes again from our own page.
 */
async function consumed(request: FastifyRequest, reply: FastifyReply, services: SignInServices, alias: boolean) {
  // a provider that begins by itself comes here first
  requireSecure(request.headers.host, services.base_url, services.settings.session_cookie_secure)
  const {organisation} = request.params as {readonly organisation: string}
  let connection: SsoConnection | null = null
  let statement: Statement | null = null
  let begun: SignInsTable | null = null
  return attempted({services, request, who: () => refusedWho(connection, statement, begun)}, async () => {
    const fields = fieldsOf(request.body)
    const saml_response = fields.text('SAMLResponse', LONGEST_DOCUMENT)
    if (saml_response === undefined) throw new SignInFault('request_invalid', 'there is no SAMLResponse')
    const relay_state = fields.text('RelayState')
    const open = await begunBy(services, relay_state, organisation)
    begun = open
    if (open) requireOpen(open, services.now())
    const way = await wayOf(services, organisation, open)
    connection = way
    const saml = await services.saml()
    let answers = open
    const verified = await verifiedByProvider(saml, {
      ...{saml_response, settings: way.settings, now_ms: services.now().getTime()},
      recipients: [samlConsumer(services, way.organisation_id, alias)],
      audiences: alias ? [entityId(services), entityId(services, true)] : [entityId(services)],
      async expected_request_id(id) {
        answers ??= await openByRequest(services, id, way)
        return answers?.request_id === id
      },
      decryption_key: signingKey(services),
    })
    statement = verified.statement
    const {in_response_to, assertion_id, issuer, replay_ends_at, notes} = verified
    const row = in_response_to === null ? null : answers
    const hash = createHash('sha256').update(`${issuer}\0${assertion_id}`).digest('hex')
    const handle = await kept(services, {connection: way, row, hash, replay_ends_at, kept: {statement, notes}}, request)
    return reply.redirect(`/v2/auth/saml/finish?h=${handle}`, 303)
  })
}

/** The sign-in that RelayState names; null where none came, or one that is not ours. */
async function begunBy(services: SignInServices, relay_state: string | undefined, organisation_id: string) {
  if (relay_state === undefined || !/^[\w-]{43}$/.test(relay_state)) return null
  const row = await findSignIn(services.store.db, {state_hash: hashOf(relay_state)})
  if (row?.type !== 'saml') throw new SignInFault('transaction_unknown', 'RelayState is of no sign-in here')
  if (row.organisation_id !== organisation_id)
    throw new SignInFault('transaction_foreign', 'the sign-in is of another organisation')
  return row
}

/** Null for a request that was not made by this connection, and for one that is over. */
async function openByRequest(services: SignInServices, request_id: string, way: SamlWay) {
  const row = await findSignIn(services.store.db, {request_id})
  const is_open = row && row.used_at === null && row.expires_at > services.now().toISOString()
  return is_open && row.connection_id === way.id ? row : null
}

async function wayOf(services: SignInServices, organisation: string, row: SignInsTable | null): Promise<SamlWay> {
  const {store, connections} = services
  const ways = row
    ? [requireUnchanged(row, await openConnection(store.db, connections, row.connection_id))]
    : await openConnections(store.db, connections, organisation)
  const of_saml = ways.filter((each): each is SamlWay => each.type === 'saml')
  if (of_saml.length === 0) throw new SignInFault('not_configured', 'the organisation has no SAML connection')
  if (of_saml.length > 1) throw new SignInFault('request_invalid', 'there are several connections, and no RelayState')
  return of_saml[0]!
}

interface KeptResponse {
  readonly connection: SamlWay
  /** Null: the provider began by itself. */
  readonly row: SignInsTable | null
  readonly hash: string
  readonly replay_ends_at: string
  readonly kept: Kept
}

async function kept(
  services: SignInServices,
  {connection, row, hash, replay_ends_at, kept}: KeptResponse,
  request: FastifyRequest,
) {
  const {store, seal} = services
  const handle = word()
  const now = services.now()
  const expires_at = new Date(now.getTime() + HANDLE_MS).toISOString()
  const {organisation_id} = connection
  const id = row?.id ?? newId()
  const result = seal.close(JSON.stringify(kept), resultPlace({id, organisation_id}))
  const held = {handle_hash: hashOf(handle), result, expires_at}
  await store.write(async db => {
    if (!(await noteAssertion(db, hash, replay_ends_at)))
      throw new SignInFault('replayed', 'the assertion was used before')
    if (row && !(await keepResult(db, id, held)))
      throw new SignInFault('transaction_used', 'another answer was faster, or it came twice')
    if (!row) await insertSignIn(db, {...begunByProvider(connection, id, clientOf(request).client_ip, now), ...held})
  })
  return handle
}

/** No browser began it, so that none is bound to it: its person confirms before he is let in. */
function begunByProvider(connection: SamlWay, id: string, client_ip: string, now: Date): SignInsTable {
  const {organisation_id} = connection
  return {
    ...{id, organisation_id, connection_id: connection.id, connection_revision: connection.revision, type: 'saml'},
    ...{state_hash: hashOf(word()), browser_hash: '', secrets: null, request_id: null, return_to: '/'},
    ...{user_id: null, invite_id: null, client_ip, handle_hash: null, result: null, used_at: null},
    ...{created_at: now.toISOString(), expires_at: now.toISOString()},
  }
}

/** The second step, with the cookie of the browser that began. */
async function finished(request: FastifyRequest, reply: FastifyReply, services: SignInServices) {
  const {store, connections, cookies, seal} = services
  requireSecure(request.headers.host, services.base_url, services.settings.session_cookie_secure)
  const fields = fieldsOf(request.method === 'POST' ? request.body : request.query)
  let connection: SsoConnection | null = null
  let statement: Statement | null = null
  let begun: SignInsTable | null = null
  return attempted({services, request, who: () => refusedWho(connection, statement, begun)}, async () => {
    const handle = fields.text('h', 43)
    const row = handle && (await findSignIn(store.db, {handle_hash: hashOf(handle)}))
    if (!row) throw new SignInFault('transaction_unknown', 'the handle is of no sign-in here')
    begun = row
    requireOpen(row, services.now())
    if (row.browser_hash === '' && request.method === 'GET') return confirmation(reply, handle)
    if (row.browser_hash !== '') requireBrowser(row, cookieIn(request.headers.cookie, cookies.login(tailOfRow(row))))
    connection = requireUnchanged(row, await openConnection(store.db, connections, row.connection_id))
    const text = seal.open(row.result!, resultPlace(row))
    const {notes, ...held} = JSON.parse(text) as Kept
    statement = held.statement
    const {return_to, created_at: begun_at} = row
    const verified = {connection, statement, row, begun_at, return_to, notes, holders: null}
    return endingIfRefused(services, row, () => letIn(request, reply, services, verified))
  })
}

function confirmation(reply: FastifyReply, handle: string) {
  const page = confirmPage({
    title: 'Sign in to this gateway?',
    message: 'Your identity provider sent you here. If you did not ask for that, close this page.',
    ...{action: '/v2/auth/saml/finish', fields: {h: handle}, button: 'Sign in'},
  })
  return reply.type('text/html; charset=utf-8').send(page)
}

function resultPlace({id, organisation_id}: Pick<SignInsTable, 'id' | 'organisation_id'>) {
  return {table: 'sign_ins', column: 'result', row: id, organisation_id}
}
