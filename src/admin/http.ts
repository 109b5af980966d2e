import type {FastifyError, FastifyInstance, FastifyReply, FastifyRequest} from 'fastify'
import type {z} from 'zod'
import {Refusal} from '../base/errors.ts'
import {newTimeId} from '../base/ids.ts'
import {clientAddress} from '../base/ingress/client-address.ts'
import {vouchFor} from '../base/ingress/govern.ts'
import {wayToNeverKey} from '../base/json-shape.ts'
import {storeRefusal} from '../base/store-fault.ts'
import {ANONYMOUS, isAllowed, placedIn, WORKSPACE_NEEDED} from '../identity/access.ts'
import {ownHeaders} from '../schema/headers.ts'
import {findNul} from '../schema/nul.ts'
import {wholeUnlessPaged} from '../schema/paging.ts'
import {explain, type InputLocation, nameOf} from '../schema/validation-message.ts'
import {FLAGS, type FlagName} from '../settings/flags.ts'
import {insertAuditLog} from '../store/audit-logs.ts'
import type {Db} from '../store/database.ts'
import {isTaken} from '../store/rows.ts'
import {isStatementTimeout} from '../store/statement-timeout.ts'
import {auditRow} from './audit.ts'
import {callerOfRequest} from './caller.ts'
import {askedOf, changesText, DryRunFault, refuseDryRun, Shown, shown, viewsOf, watched} from './changes.ts'
import {onlyJson} from './json-bodies.ts'
import {KeptReply} from './kept-reply.ts'
import {type AnyOperation, type CallOutcome, Download, type OperationCall} from './operation.ts'
import type {Actor, AdminServices} from './services.ts'
import {knows, respelled, withoutEchoes, withPage} from './spellings.ts'

export interface MountOptions {
  /**
   * The caller when no key identifies it: the operator on the data directory, who is exempt from
   * `API_ACCESS_ENABLED=OFF`.
   */
  readonly actorOf?: (request: FastifyRequest) => Actor | Promise<Actor>
  /** Checks every reply by its schema, and fails on a difference; for tests. */
  readonly checks_replies?: boolean
}

/**
 * Serves the operations under `/v1` (those with `at_root` at the root too). In this order: flags, key, scope, and only
 * then the body is read and anything is looked up; input by its schema; a write, its revision and its audit row in one
 * transaction. Refusals answer `{"success": false, "data": {"message", "errorCode"}}`; the id of the request is in the
 * headers `x-gateway-trace-id` and `x-request-id`.
 */
export function mountAdmin(
  server: FastifyInstance,
  operations: readonly AnyOperation[],
  services: AdminServices,
  options: MountOptions = {},
) {
  server.register(async scope => {
    onlyJson(scope)
    scope.setErrorHandler<FastifyError>((error, request, reply) => refuse(error, request, reply, services))
    const views = viewsOf(operations)
    for (const operation of operations) {
      for (const url of urlsOf(operation)) {
        scope.route({
          method: operation.method,
          url,
          exposeHeadRoute: false,
          bodyLimit: services.settings.max_json_payload_size_in_mb * 1024 * 1024,
          onRequest: (request, reply) => admit(operation, request, reply, services, options),
          handler: (request, reply) =>
            serve({operation, view: views.get(operation)}, request, reply, services, options),
        })
      }
    }
  })
}

const LAST_PARAMETER = /:(\w+)$/

function urlsOf({path, compatibility: {at_root, also_at = []} = {}, takes_rest}: AnyOperation): string[] {
  const paths = [takes_rest ? path.replace(LAST_PARAMETER, '*') : path, ...also_at]
  return paths.flatMap(each => (at_root ? [`/v1${each}`, each] : [`/v1${each}`]))
}

/** The facts of a request before its body is read. */
interface Visit {
  readonly operation: AnyOperation
  readonly request_id: string
  actor: Actor
  readonly cookies: string[]
}

const visits = new WeakMap<FastifyRequest, Visit>()

async function admit(
  operation: AnyOperation,
  request: FastifyRequest,
  reply: FastifyReply,
  services: AdminServices,
  options: MountOptions,
) {
  const now = services.now()
  const visit = {operation, request_id: newTimeId(now.getTime()), actor: ANONYMOUS, cookies: []}
  visits.set(request, visit)
  reply.headers({[`${ownHeaders(request.headers).prefix}-trace-id`]: visit.request_id, 'cache-control': 'no-store'})
  if (operation.flag === 'scim' && !services.settings.scim_enabled)
    throw new Refusal('route.unknown', {path: request.url.split('?', 1)[0]!})
  if (!options.actorOf) requireFlag('api_access', services)
  if (operation.scopes) {
    visit.actor = options.actorOf
      ? await options.actorOf(request)
      : await callerOfRequest(
          request,
          {now: now.toISOString(), client_ip: clientAddress(request.raw, services.settings.trusted_proxies)},
          services,
        )
    vouchFor(request.raw)
    requireScope(visit.actor, operation)
    place(visit, request, whereOf(request.params) ?? whereOf(request.query), {has_body: false})
  }
  if (operation.flag) requireFlag(operation.flag, services)
}

function requireScope(actor: Actor, {scopes, role_needs}: AnyOperation) {
  if (role_needs && actor.person && !actor.person.role_scopes.has(role_needs))
    throw new Refusal('scope.missing', {scope: role_needs})
  if (scopes?.length && !isAllowed(actor, scopes)) throw new Refusal('scope.missing', {scope: scopes.join(' or ')})
}

/**
 * Puts a user who is a member into the workspace that the call is about, as soon as it is known; his role there must
 * allow it.
 */
function place(visit: Visit, {method}: FastifyRequest, named: string | undefined, {has_body}: {has_body: boolean}) {
  const {actor, operation} = visit
  if (actor.reach.kind !== 'membership') return
  const there = placedIn(actor, named)
  if (there) {
    visit.actor = there
    requireScope(there, operation)
    return
  }
  const may_come = !has_body && method !== 'GET' && operation.body !== undefined
  if (!may_come && !operation.across_workspaces && operation.scopes?.length)
    throw new Refusal('body.invalid', {issues: WORKSPACE_NEEDED})
}

/** The workspace that a path, a query or a body names. */
function whereOf(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  const {workspaceId, workspace_id = workspaceId, workspace_slug = workspace_id} = value as Record<string, unknown>
  return typeof workspace_slug === 'string' && workspace_slug !== '' ? workspace_slug : undefined
}

function requireFlag(flag: FlagName, {settings}: AdminServices) {
  if (!settings[`${flag}_enabled`]) throw new Refusal('flag.off', {variable: FLAGS[flag].env})
}

/** An operation, and the one that shows what it changes where there is such. */
interface Served {
  readonly operation: AnyOperation
  readonly view: AnyOperation | undefined
}

async function serve(
  {operation, view}: Served,
  request: FastifyRequest,
  reply: FastifyReply,
  services: AdminServices,
  options: MountOptions,
) {
  await operation.ready?.()
  const result = await (operation.method === 'GET' || operation.only_reads || operation.reaches_out
    ? read(operation, request, services)
    : write({operation, view}, request, services))
  const {cookies} = visits.get(request)!
  if (cookies.length > 0) reply.header('set-cookie', cookies)
  if (result instanceof Download) {
    reply.header('content-disposition', `attachment; filename="${result.name}"`)
    return reply.code(200).type(result.content_type).send(result.stream)
  }
  if (result instanceof KeptReply) return result.send('application/json; charset=utf-8', request, reply)
  if (options.checks_replies && !(result instanceof Shown)) checkReply(operation, result)
  return reply.code(200).type('application/json; charset=utf-8').send(JSON.stringify(result))
}

async function read(operation: AnyOperation, request: FastifyRequest, services: AdminServices): Promise<unknown> {
  if (operation.reaches_out) refuseDryRun(operation, request)
  const input = inputOf(operation, request)
  place(visits.get(request)!, request, whereOf(input.body), {has_body: true})
  return operation.handle(openCall(input, request, services, services.store.db).call)
}

async function write({operation, view}: Served, request: FastifyRequest, services: AdminServices): Promise<unknown> {
  const {store, settings} = services
  if (!view) refuseDryRun(operation, request)
  const view_request = view ? askedOf(request) : {changes: false, dry_run: false}
  const input = inputOf(operation, request)
  place(visits.get(request)!, request, whereOf(input.body), {has_body: true})
  const prepared = await operation.prepare?.(input.body as never)
  try {
    const {result, after} = await store.write(async db => {
      const {call, effects} = openCall({...input, prepared}, request, services, db)
      const handle = () => operation.handle(call)
      const {result, done} = view
        ? await watched(view, call as never, handle, () => effects.resource_id)
        : {result: await handle(), done: undefined}
      if (view_request.dry_run) throw new DryRunFault(shown(done, true))
      if (operation.audit && settings.audit_logs_enabled)
        await insertAuditLog(db, record(operation, request, call, effects, services, done && changesText(done)))
      return {result: view_request.changes && done?.may_see ? shown(done, false) : result, after: effects.after}
    })
    for (const work of after) await work()
    return result
  } catch (error) {
    if (error instanceof DryRunFault) return error.shown
    if (!isTaken(error)) throw error
    throw new Refusal(
      'row.exists',
      {object: operation.audit?.resource ?? 'row', field: 'slug', value: 'given'},
      {cause: error},
    )
  }
}

/** The effects that a handler reports while it works. */
interface WriteEffects {
  resource_id?: string
  workspace_id?: string | null
  by?: Actor
  readonly after: (() => Promise<void> | void)[]
}

type AnyCall = OperationCall<z.ZodType, z.ZodType, z.ZodType>

type Input = Pick<AnyCall, 'params' | 'query' | 'body'>

/**
 * Bodies of calls, feedback and prompts keep whatever keys they have; elsewhere the keys of an object's own workings
 * (`__proto__`) are refused.
 */
const SAID_BY_OTHERS = /^\/(?:logs|feedback|prompts)\b/

/**
 * The checked input of a request; before a write takes its transaction, so that what is not valid never waits for one.
 */
function inputOf(operation: AnyOperation, request: FastifyRequest): Input {
  const {params, query, body, takes_nul, method, always_paged} = operation
  const never = operation.only_reads || SAID_BY_OTHERS.test(operation.path) ? null : wayToNeverKey(request.body, '')
  if (never) throw new Refusal('body.invalid', {issues: `${never.slice(1)}: is a key that is not taken here.`})
  const input = respelled(operation, request.body === undefined ? {} : request.body)
  const parsed = checked(query, withPage(query, withoutPlace(query, request)), {
    root: 'the query',
    before: 'query parameter ',
  })
  return {
    params: checked(params, parametersOf(operation, request), {root: 'the path', before: 'path parameter ', takes_nul}),
    query: method === 'GET' && !always_paged ? wholeUnlessPaged(parsed, request.query) : parsed,
    body: checked(body, withoutEchoes(body, input, request), {root: 'the request body', takes_nul}),
  }
}

/** A user of several workspaces names the one he means in the query of any operation; not all of them ask for it. */
function withoutPlace(schema: z.ZodType | undefined, request: FastifyRequest): unknown {
  const query = withoutEchoes(schema, request.query, request)
  if (!visits.get(request)!.actor.person?.memberships || knows(schema, 'workspace_id')) return query
  const {workspace_id: _, ...rest} = query as Record<string, unknown>
  return rest
}

function parametersOf({path, takes_rest}: AnyOperation, request: FastifyRequest): unknown {
  if (!takes_rest) return request.params
  const {'*': rest, ...named} = request.params as Record<string, string>
  return {...named, [LAST_PARAMETER.exec(path)![1]!]: rest}
}

function openCall(
  input: Input & Partial<Pick<AnyCall, 'prepared'>>,
  request: FastifyRequest,
  app: AdminServices,
  db: Db,
): {call: AnyCall; effects: WriteEffects} {
  const effects: WriteEffects = {after: []}
  const call: AnyCall = {
    prepared: undefined,
    ...input,
    actor: visits.get(request)!.actor,
    db,
    app,
    now: app.now().toISOString(),
    origin: originOf(request),
    is_own_page: request.headers['sec-fetch-site'] === 'same-origin',
    setCookie: cookie => void visits.get(request)!.cookies.push(cookie),
    async auditOutcome(db, outcome) {
      if (!app.settings.audit_logs_enabled) return
      await insertAuditLog(db, record(visits.get(request)!.operation, request, call, effects, app, null, outcome))
    },
    afterCommit: work => void effects.after.push(work),
    auditTarget(resource_id, workspace_id) {
      effects.resource_id = resource_id
      if (workspace_id !== undefined) effects.workspace_id = workspace_id
    },
    auditActor(actor) {
      effects.by = actor
    },
  }
  return {call, effects}
}

/** A proxy in front may speak TLS where we do not. */
function originOf(request: FastifyRequest): string {
  const is_secure = request.protocol === 'https' || request.headers['x-forwarded-proto'] === 'https'
  return `${is_secure ? 'https' : 'http'}://${request.host || 'localhost'}`
}

function checked(
  schema: z.ZodType | undefined,
  input: unknown,
  place: InputLocation & {readonly takes_nul?: boolean | undefined},
): unknown {
  if (!schema) return undefined
  const result = schema.safeParse(input)
  const nul = result.success && !place.takes_nul && findNul(result.data)
  if (nul) throw new Refusal('body.invalid', {issues: `${nameOf(nul, place)}: must hold no NUL character.`})
  if (result.success) return result.data
  throw new Refusal('body.invalid', {issues: explain(result.error, schema, input, place)})
}

function record(
  operation: AnyOperation,
  request: FastifyRequest,
  call: AnyCall,
  effects: WriteEffects,
  {settings}: AdminServices,
  changes: string | null | undefined,
  {status, note}: CallOutcome = {status: 200, note: {}},
) {
  const actor = effects.by ?? call.actor
  const named = Object.values(request.params as Record<string, string>).at(-1)
  return auditRow(
    {
      operation,
      actor,
      request_id: visits.get(request)!.request_id,
      method: request.method,
      path: request.url.split('?', 1)[0]!,
      query: request.query,
      headers: request.headers,
      body: Object.keys(note).length > 0 ? {...(request.body as object), ...note} : request.body,
      client_ip: actor.subject.kind === 'operator' ? null : clientAddress(request.raw, settings.trusted_proxies),
      resource_id: effects.resource_id ?? named ?? null,
      workspace_id: effects.workspace_id === undefined ? placeOf(actor) : effects.workspace_id,
      status,
      changes: changes ?? null,
      masked_headers: settings.organisation_headers_to_mask,
    },
    call.now,
  )
}

/** Null for a user of several workspaces who named none: the row is about none of them. */
function placeOf({reach}: Actor): string | null {
  return reach.kind === 'workspace' ? reach.workspace_id : null
}

function checkReply(operation: AnyOperation, reply: unknown) {
  const result = operation.reply.safeParse(reply)
  if (!result.success)
    throw new Error(
      `${operation.id} answers other than it says: ${explain(result.error, operation.reply, reply, {root: 'the reply'})}`,
    )
}

function refuse(error: FastifyError, request: FastifyRequest, reply: FastifyReply, services: AdminServices) {
  const refusal = error instanceof Refusal ? error : refusalOf(error, request, services)
  const visit = visits.get(request)
  if (visit) reply.header('x-request-id', visit.request_id)
  if (refusal.status === 401) reply.header('www-authenticate', 'Bearer')
  if (refusal.retry_after_s !== null) reply.header('retry-after', refusal.retry_after_s)
  const isBare = refusal.status === 404 && visit?.operation.compatibility?.bare_404
  const error_body = isBare
    ? {error: refusal.message}
    : {success: false, data: {message: refusal.message, errorCode: refusal.codes.admin, ...placeToGo(refusal)}}
  return reply.code(refusal.status).send(error_body)
}

/** The address of sign-in, for people who are refused for the way in which they came. */
function placeToGo({details}: Refusal) {
  return typeof details.login_url === 'string' ? {login_url: details.login_url} : {}
}

function refusalOf(error: FastifyError, request: FastifyRequest, services: AdminServices): Refusal {
  if (error.code === 'FST_ERR_CTP_BODY_TOO_LARGE')
    return new Refusal('body.too_large', {limit_mb: services.settings.max_json_payload_size_in_mb})
  if (error.code === 'FST_ERR_CTP_INVALID_MEDIA_TYPE') {
    const {'content-type': content_type = '(none)'} = request.headers
    return new Refusal('body.content_type', {content_type, expected: 'application/json'})
  }
  if (isStatementTimeout(error)) return new Refusal('read.too_long', {}, {cause: error})
  const store = storeRefusal(error)
  if (store) return store
  if (error.code?.startsWith('FST_ERR_CTP'))
    return new Refusal('body.not_json', {reason: 'it is not as long as content-length says'})
  const visit = visits.get(request)
  services.failed?.(error, {operation: visit?.operation.id ?? 'unknown', request_id: visit?.request_id ?? 'unknown'})
  return new Refusal('internal', {}, {cause: error})
}
