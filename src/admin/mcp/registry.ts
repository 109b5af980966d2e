import type {FastifyInstance, FastifyReply, FastifyRequest} from 'fastify'
import {Refusal} from '../../base/errors.ts'
import {clientAddress} from '../../base/ingress/client-address.ts'
import {isAllowed, ownWorkspace} from '../../identity/access.ts'
import {sentKey} from '../../identity/keys.ts'
import {userOf} from '../../identity/subject.ts'
import {type RegistryPage, RegistryQuery} from '../../schema/mcp-registry.ts'
import {listRegistry, type RegistryFilter, type RegistryRow} from '../../store/mcp-registry.ts'
import {findWorkspace} from '../../store/workspaces.ts'
import {callerOfRequest} from '../caller.ts'
import type {Actor, AdminServices} from '../services.ts'
import {found} from '../tenancy.ts'
import {houseOf, registryEntry, registryName} from './registry-view.ts'

const SCOPE = 'mcp_servers.list'

export interface RegistryServices
  extends Pick<AdminServices, 'store' | 'tokens' | 'settings' | 'seal' | 'sign_in_needs' | 'now'> {
  /** The address of the MCP endpoints, without a slash at its end. */
  readonly base_url: string
}

/** Serves the registry of MCP servers, which editors read: at the root, with the key header alone. */
export function mountMcpRegistry(server: FastifyInstance, services: RegistryServices): void {
  server.register(async scope => {
    scope.setErrorHandler((fault, _, reply) => refuse(fault, reply))
    scope.get('/v0.1/servers', async request => page(request, services))
    scope.get('/v0.1/servers/:name/versions/latest', async request => one(request, services))
  })
}

async function page(request: FastifyRequest, services: RegistryServices): Promise<RegistryPage> {
  const actor = await callerOf(request, services)
  const read = RegistryQuery.safeParse(request.query)
  if (!read.success) {
    const {path, message} = read.error.issues[0]!
    throw new Refusal('body.invalid', {issues: `${path.join('.') || 'the query'}: ${message}`})
  }
  const {limit, cursor, search, updated_since, workspace_id} = read.data
  const filter: RegistryFilter = {
    ...(await reachOf(actor, workspace_id, services)),
    search,
    updated_since: updated_since && new Date(updated_since).toISOString(),
    after: cursor === undefined ? undefined : placeOf(cursor),
  }
  const rows = await listRegistry(services.store.db, filter, limit + 1)
  const shown = rows.slice(0, limit)
  const servers = shown.map(row => registryEntry(row, services.base_url))
  const nextCursor = rows.length > limit ? cursorOf(shown.at(-1)!) : undefined
  return {servers, metadata: {count: servers.length, ...(nextCursor !== undefined && {nextCursor})}}
}

async function one(request: FastifyRequest, services: RegistryServices) {
  const actor = await callerOf(request, services)
  const {name} = request.params as {readonly name: string}
  const slug = name.split('/')[1] ?? ''
  const filter = {...(await reachOf(actor, undefined, services)), slug}
  const [row] = await listRegistry(services.store.db, filter, 1)
  const house = houseOf(services.base_url)
  return registryEntry(
    found(row && registryName(house, row) === name ? row : undefined, 'MCP server'),
    services.base_url,
  )
}

/** The caller, by the key header alone: a bearer token here would be that of an MCP client. */
async function callerOf(request: FastifyRequest, services: RegistryServices): Promise<Actor> {
  const {authorization: _, cookie: __, ...headers} = request.headers
  const {key, prefix} = sentKey(headers)
  if (key === undefined) throw new Refusal('key.missing', {header: `${prefix}-api-key`})
  const showing = {
    now: services.now().toISOString(),
    client_ip: clientAddress(request.raw, services.settings.trusted_proxies),
  }
  const actor = await callerOfRequest({method: 'GET', headers}, showing, services)
  if (!isAllowed(actor, [SCOPE])) throw new Refusal('scope.missing', {scope: SCOPE})
  return actor
}

/** The rows that a caller sees: of its workspace, or of its organisation; a person's without those closed to it. */
async function reachOf(actor: Actor, named: string | undefined, {store}: RegistryServices) {
  const {organisation_id, subject} = actor
  const own = ownWorkspace(actor)
  const user_id = userOf(subject)
  if (named === undefined) return {organisation_id, user_id, workspace_id: own ?? undefined}
  const row = await findWorkspace(store.db, organisation_id, named)
  const workspace = found(row?.status === 'active' ? row : undefined, 'workspace')
  if (own !== null && workspace.id !== own) throw new Refusal('scope.missing', {scope: SCOPE})
  return {organisation_id, user_id, workspace_id: workspace.id}
}

function cursorOf({created_at, id}: RegistryRow): string {
  return Buffer.from(JSON.stringify([created_at, id])).toString('base64url')
}

const PLACE = /^\["(\d{4}-[\d:.TZ-]{1,30})","([\w-]{1,64})"\]$/

function placeOf(cursor: string): {created_at: string; id: string} {
  const [, created_at, id] = PLACE.exec(Buffer.from(cursor, 'base64url').toString()) ?? []
  if (created_at !== undefined && id !== undefined) return {created_at, id}
  throw new Refusal('body.invalid', {issues: 'cursor: is none that was given here'})
}

function refuse(fault: unknown, reply: FastifyReply) {
  const refusal = fault instanceof Refusal ? fault : new Refusal('internal', {}, {cause: fault})
  const {message, codes, status} = refusal
  return reply.code(status).send({success: false, data: {message, errorCode: codes.admin}})
}
