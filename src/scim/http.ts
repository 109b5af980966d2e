import type {FastifyInstance, FastifyReply, FastifyRequest} from 'fastify'
import {Refusal} from '../base/errors.ts'
import {newTimeId} from '../base/ids.ts'
import {clientAddress} from '../base/ingress/client-address.ts'
import {vouchFor} from '../base/ingress/govern.ts'
import {checkDepth} from '../base/json-shape.ts'
import {storeRefusal} from '../base/store-fault.ts'
import {findOrganisation} from '../store/organisations.ts'
import {isTaken} from '../store/rows.ts'
import type {ScimTokensTable} from '../store/tables/directories.ts'
import {authenticate} from './authenticate.ts'
import {badRequest, faultBody, ScimFault} from './fault.ts'
import type {MutableObject} from './json.ts'
import {readListQuery, readShape, shaped} from './list.ts'
import {readPatch} from './patch/read.ts'
import {readBody, readResource} from './resource.ts'
import {KINDS, type ScimKind} from './resources.ts'
import {rulesOf} from './rules.ts'
import {resourceTypes, schemas, serviceProviderConfig} from './schemas.ts'
import type {ScimContext, ScimServices} from './services.ts'

/** The paths below which directories find the protocol. */
export const BASES = ['/v1/scim/v2', '/scim/v2', '/v1/scim'] as const
const TYPE = 'application/scim+json; charset=utf-8'
const LIST = 'urn:ietf:params:scim:api:messages:2.0:ListResponse'
const JSON_TYPES = /^(?:application\/(?:scim\+)?json|text\/json)(?:\s*;|$)/i

/** One request, with whose token it came. */
interface Visit {
  readonly token: ScimTokensTable
  readonly request_id: string
}

const visits = new WeakMap<FastifyRequest, Visit>()

/** Serves SCIM 2.0 (RFC 7643, RFC 7644) to directories, under each of `BASES`. */
export function mountScim(server: FastifyInstance, services: ScimServices): void {
  for (const base of BASES) server.register(async scope => serveBase(scope, base, services))
}

function serveBase(scope: FastifyInstance, base: string, services: ScimServices) {
  scope.removeAllContentTypeParsers()
  scope.addContentTypeParser(JSON_TYPES, {parseAs: 'string'}, async (_: FastifyRequest, text: string) =>
    parsedJson(text),
  )
  scope.addContentTypeParser('*', {parseAs: 'buffer'}, async (_: FastifyRequest, body: Buffer) => {
    if (body.length > 0)
      throw new ScimFault(415, 'The content type is none of application/scim+json and application/json.')
    return undefined
  })
  scope.setErrorHandler((fault, request, reply) => refuse(fault, request, reply, services))
  scope.addHook('onRequest', (request, reply) => admit(request, reply, services))
  const location = `${services.base_url}${base}`
  const url = (path: string) => `${base}/${path}`
  for (const kind of KINDS) serveKind(scope, url, kind, {services, location})
  serveDiscovery(scope, url, location)
  for (const path of ['Bulk', 'Me', 'Me/*'])
    scope.all(url(path), async () => {
      throw new ScimFault(501, 'This is not offered: see ServiceProviderConfig.')
    })
}

interface Place {
  readonly services: ScimServices
  readonly location: string
}

type WithId = {readonly id: string}

function serveKind(scope: FastifyInstance, url: (path: string) => string, kind: ScimKind, place: Place) {
  const {endpoint} = kind
  const of = url(endpoint)
  const one = url(`${endpoint}/:id`)
  const options = {bodyLimit: place.services.settings.max_json_payload_size_in_mb * 1024 * 1024}
  const list = async (request: FastifyRequest, reply: FastifyReply, given: Readonly<Record<string, unknown>>) => {
    const query = readListQuery(given)
    const {total, resources} = await kind.list(await readContext(request, place), query)
    return send(reply, 200, {
      schemas: [LIST],
      totalResults: total,
      startIndex: query.start_index,
      itemsPerPage: resources.length,
      Resources: resources.map(each => shaped(each, query.shape)),
    })
  }
  scope.get(of, (request, reply) => list(request, reply, request.query as Record<string, unknown>))
  scope.post(`${of}/.search`, options, (request, reply) => list(request, reply, readBody(request.body)))
  scope.get(one, async (request, reply) => {
    const {id} = request.params as WithId
    const resource = await kind.get(await readContext(request, place), id)
    if (request.headers['if-none-match'] === versionOf(resource)) return reply.code(304).send()
    return sendResource(request, reply, 200, resource)
  })
  scope.post(of, options, async (request, reply) => {
    const resource = readResource(request.body)
    const made = await written(request, place, kind, 'create', context => kind.create(context, resource))
    return sendResource(request, reply, 201, made)
  })
  scope.put(one, options, async (request, reply) => {
    const {id} = request.params as WithId
    const resource = readResource(request.body)
    const after = await written(request, place, kind, 'update', async context => {
      await requireVersion(request, kind, context, id)
      return kind.replace(context, id, resource)
    })
    return sendResource(request, reply, 200, after)
  })
  scope.patch(one, options, async (request, reply) => {
    const {id} = request.params as WithId
    const changes = readPatch(readBody(request.body))
    const after = await written(request, place, kind, 'update', async context => {
      await requireVersion(request, kind, context, id)
      return kind.patch(context, id, changes)
    })
    return sendResource(request, reply, 200, after)
  })
  scope.delete(one, async (request, reply) => {
    const {id} = request.params as WithId
    await written(request, place, kind, 'delete', async context => {
      await requireVersion(request, kind, context, id)
      await kind.remove(context, id)
      return {id}
    })
    return reply.code(204).send()
  })
}

function serveDiscovery(scope: FastifyInstance, url: (path: string) => string, location: string) {
  const lists = {Schemas: schemas(location), ResourceTypes: resourceTypes(location)}
  scope.get(url('ServiceProviderConfig'), (_, reply) => send(reply, 200, serviceProviderConfig(location)))
  for (const [name, all] of Object.entries(lists)) {
    const whole = {schemas: [LIST], totalResults: all.length, startIndex: 1, itemsPerPage: all.length, Resources: all}
    scope.get(url(name), (_, reply) => send(reply, 200, whole))
    scope.get(url(`${name}/:id`), (request, reply) => {
      const {id} = request.params as WithId
      const found = all.find(each => each.id.toLowerCase() === id.toLowerCase())
      if (!found) throw new ScimFault(404, `There is no such entry in ${name}.`)
      return send(reply, 200, found)
    })
  }
}

async function admit(request: FastifyRequest, reply: FastifyReply, services: ScimServices) {
  const request_id = newTimeId(services.now().getTime())
  reply.headers({'x-gateway-trace-id': request_id, 'cache-control': 'no-store'})
  if (!services.settings.scim_enabled) throw new ScimFault(404, 'SCIM is switched off here: SCIM_ENABLED=OFF.')
  const token = await authenticate(request.headers.authorization, services)
  vouchFor(request.raw)
  visits.set(request, {token, request_id})
}

async function readContext(request: FastifyRequest, {services, location}: Place): Promise<ScimContext> {
  return contextOf(request, services.store.db, {services, location})
}

async function contextOf(
  request: FastifyRequest,
  db: ScimContext['db'],
  {services, location}: Place,
): Promise<ScimContext> {
  const {token} = visits.get(request)!
  const {organisation_id} = token
  const organisation = await findOrganisation(db, organisation_id)
  const rules = rulesOf(organisation?.auth, services.settings)
  return {db, organisation_id, token, now: services.now().toISOString(), rules, location, services, notes: []}
}

/** Does `work` and notes it in one transaction. */
function written(
  request: FastifyRequest,
  place: Place,
  {audited}: ScimKind,
  action: 'create' | 'update' | 'delete',
  work: (context: ScimContext) => Promise<MutableObject>,
): Promise<MutableObject> {
  const {services} = place
  return services.store.write(async db => {
    const context = await contextOf(request, db, place)
    const resource = await work(context)
    const {token, request_id} = visits.get(request)!
    if (services.settings.audit_logs_enabled)
      await services.audit(
        db,
        {
          ...{organisation_id: context.organisation_id, token_id: token.id, request_id, method: request.method},
          ...{
            path: request.url.split('?', 1)[0]!,
            headers: request.headers,
            body: request.body,
            client_ip: clientAddress(request.raw, services.settings.trusted_proxies),
          },
          ...{resource: audited, resource_id: String(resource.id), action, notes: context.notes},
          status: action === 'create' ? 201 : action === 'delete' ? 204 : 200,
        },
        context.now,
      )
    return resource
  })
}

/** RFC 7644 §3.14: the write is for the version that its sender knows. */
async function requireVersion(request: FastifyRequest, kind: ScimKind, context: ScimContext, id: string) {
  const asked = request.headers['if-match']
  if (asked === undefined || asked === '*') return
  if (versionOf(await kind.get(context, id)) !== asked)
    throw new ScimFault(412, 'The resource was changed meanwhile: read it again.')
}

function versionOf({meta}: MutableObject): string {
  return String((meta as {readonly version?: string} | undefined)?.version)
}

function sendResource(request: FastifyRequest, reply: FastifyReply, status: number, resource: MutableObject) {
  const {location} = resource.meta as {readonly location: string}
  reply.headers({location, etag: versionOf(resource)})
  return send(reply, status, shaped(resource, readShape(request.query as Record<string, unknown>)))
}

function send(reply: FastifyReply, status: number, body: object) {
  return reply.code(status).type(TYPE).send(JSON.stringify(body))
}

function parsedJson(text: string): unknown {
  if (text.trim() === '') return undefined
  checkDepth(text, 'The request body')
  try {
    return JSON.parse(text)
  } catch {
    throw badRequest('invalidSyntax', 'The body is not valid JSON.')
  }
}

function refuse(fault: unknown, request: FastifyRequest, reply: FastifyReply, services: ScimServices) {
  const refusal = fault instanceof Refusal ? fault : storeRefusal(fault)
  const known = faultOf(refusal ?? fault)
  if (refusal && refusal.retry_after_s !== null) reply.header('retry-after', refusal.retry_after_s)
  if (known.status === 401) reply.header('www-authenticate', 'Bearer realm="scim"')
  if (known.status >= 500 && known.status !== 501 && known.status !== 503)
    services.failed(fault, visits.get(request)?.request_id ?? '')
  return send(reply, known.status, faultBody(known))
}

function faultOf(fault: unknown): ScimFault {
  if (fault instanceof ScimFault) return fault
  if (fault instanceof Refusal)
    return new ScimFault(fault.status, fault.message, fault.status === 400 ? 'invalidSyntax' : null)
  if (isTaken(fault)) return new ScimFault(409, 'Another resource has a value that must be its own.', 'uniqueness')
  const {statusCode = 500} = fault as {readonly statusCode?: number}
  if (statusCode === 413) return new ScimFault(413, 'The request is larger than what is taken here.')
  if (statusCode >= 400 && statusCode < 500) return new ScimFault(statusCode, 'The request cannot be read.')
  return new ScimFault(500, 'The gateway failed. Its log has the cause, by the id in x-gateway-trace-id.')
}
