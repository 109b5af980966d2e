import {createServer as createHttpServer, type IncomingMessage, type RequestListener} from 'node:http'
import {createServer as createHttpsServer} from 'node:https'
import fastify, {type FastifyError, type FastifyInstance, type FastifyReply, type FastifyRequest} from 'fastify'
import {mountExplorer} from '../admin/explorer.ts'
import {mountLater} from '../admin/not-available.ts'
import type {AnyOperation} from '../admin/operation.ts'
import {Refusal} from '../base/errors.ts'
import {newTimeId} from '../base/ids.ts'
import {attachFastPath} from '../base/ingress/fast-path.ts'
import {govern} from '../base/ingress/govern.ts'
import type {Governor} from '../base/ingress/governor.ts'
import {governorMetrics} from '../base/ingress/governor-metrics.ts'
import {FastRequest} from '../base/ingress/request.ts'
import type {Log} from '../base/log.ts'
import {isOfAnthropicClient, isRootDoor, ROOT_PATTERNS} from '../proxy/inbound/doors.ts'
import {isReadWhole, isUnified, opensSession, pattern} from '../proxy/inbound/routes.ts'
import {vendorEnvelope} from '../proxy/inbound/vendor-envelope.ts'
import type {CallProxy} from '../proxy/proxy.ts'
import {refusalIdHeaders} from '../schema/headers.ts'
import type {Settings} from '../settings/index.ts'
import {openGovernor} from './connections.ts'
import type {PlainTaker} from './mcp-plain.ts'
import type {OpenAnswers} from './open-answers.ts'
import {toOriginForm, toVersionedForm} from './origin-form.ts'
import {hasSeveralHosts, MAX_HEADER_BYTES, refuseHosts, refuseRequest, refuseUnread} from './refused-requests.ts'

export interface ServerParts {
  readonly settings: Settings
  readonly log: Log
  readonly version: string
  /** Mounts the administration. */
  readonly admin: (server: FastifyInstance) => void
  /** False: the explorer and what later versions have are not here. @default true */
  readonly is_whole?: boolean
  /** The data plane; without it (the operator on the command line) nothing under `/v1` is proxied. */
  readonly proxy?: CallProxy | undefined
  /** Takes plain requests beside the data plane's. */
  readonly plain?: PlainTaker | undefined
  /** Of its connections. */
  readonly governor?: Governor | undefined
  readonly answers?: OpenAnswers | undefined
  /** The page of metrics, but for the governor's part. */
  readonly metrics?: (() => Promise<Buffer>) | undefined
  /** Why the gateway should get no calls now; null when it should. */
  readonly unready: () => Promise<string | null> | string | null
  /** The services out of reach while calls continue; null for none. */
  readonly degraded?: () => string | null
}

/**
 * A parameter of a path is as long as its request line may be: what is too long for an id is refused in our words, not
 * the library's.
 */
export const ROUTING = {maxParamLength: MAX_HEADER_BYTES, ignoreTrailingSlash: false}

/** Puts administration, data plane and health together on one HTTP server. It does not listen yet. */
export function createServer({
  settings,
  log,
  version,
  admin,
  is_whole = true,
  proxy,
  plain,
  governor = proxy && openGovernor(settings, log),
  answers,
  metrics,
  unready,
  degraded,
}: ServerParts): FastifyInstance {
  const server = fastify({
    logger: false,
    bodyLimit: settings.max_json_payload_size_in_mb * 2 ** 20,
    forceCloseConnections: 'idle',
    routerOptions: ROUTING,
    clientErrorHandler: refuseUnread,
    frameworkErrors: (fault, request, reply) => passesOn(fault, request, reply, proxy, log),
    serverFactory: answer => listener(settings, proxy ? calls(proxy, answer) : answer),
  })
  answers?.watch(server)
  if (proxy && governor) {
    server.server.on('upgrade', (request, socket, head) => proxy.handleUpgrade(request, socket, head))
    const takes = plain ? (path: string) => isReadWhole(path) || plain.takes(path) : isReadWhole
    const handle: CallProxy['handle'] = (request, response) =>
      plain && request instanceof FastRequest && !isReadWhole(request.url)
        ? plain.handle(request, response)
        : proxy.handle(request, response)
    attachFastPath(server.server, {takes, handle: plain ? handle : proxy.handle, governor})
  }
  if (governor) govern(server.server, governor)
  if (settings.enable_cors) answerPreflights(server, settings)
  server.get('/livez', (_, reply) => reply.send({status: 'ok'}))
  server.get('/readyz', async (_, reply) => {
    const why = await unready()
    if (why !== null) return reply.code(503).send({status: 'unready', reason: why})
    const lacks = degraded?.() ?? null
    return reply.send(lacks === null ? {status: 'ok'} : {status: 'ok', degraded: lacks})
  })
  server.get('/v1/health', (_, reply) =>
    reply.send({status: 'success', message: `${settings.service_name} is up`, version, service: settings.service_name}),
  )
  if (metrics && settings.enable_prometheus) {
    server.get('/metrics', async (_, reply) =>
      reply
        .type('text/plain; version=0.0.4; charset=utf-8')
        .send(Buffer.concat([await metrics(), Buffer.from(governor ? governorMetrics(governor) : '')])),
    )
  }
  admin(server)
  if (is_whole) {
    mountLater(server, settings)
    mountExplorer(server)
  }
  if (proxy) mountProxy(server, proxy)
  server.setNotFoundHandler(notFound)
  // an unknown path is refused before a body is read
  server.addHook('onRequest', async (request, reply) => (request.is404 ? notFound(request, reply) : undefined))
  server.setErrorHandler<FastifyError>((fault, request, reply) => refuseRequest(fault, request, reply, log))
  return server
}

/**
 * The server itself, with Fastify's listener or in front of it. A call may take as long as it takes: deadlines are the
 * data plane's, and the governor's for what comes before it. An offer to speak something else is passed over (RFC 9110,
 * section 7.8) unless we speak it there.
 */
export function listener(settings: Settings, answer: RequestListener) {
  const {tls_key: key, tls_cert: cert, tls_ca: ca, client_keep_alive_timeout_ms: keepAliveTimeout} = settings
  const options = {maxHeaderSize: MAX_HEADER_BYTES, keepAliveTimeout, requestTimeout: 0, shouldUpgradeCallback: opens}
  const checked: RequestListener = (request, response) =>
    hasSeveralHosts(request) ? refuseHosts(response) : answer(request, response)
  return key && cert ? createHttpsServer({...options, key, cert, ca}, checked) : createHttpServer(options, checked)
}

function opens(request: IncomingMessage): boolean {
  toOriginForm(request)
  toVersionedForm(request)
  return opensSession(request) && !hasSeveralHosts(request)
}

/**
 * Calls of unified routes go straight to the data plane: Fastify's routing and its objects would cost each a tenth of
 * its time. So do those of Anthropic's clients, some of whose operations share paths with our administration.
 */
function calls(proxy: CallProxy, answer: RequestListener): RequestListener {
  return (request: IncomingMessage, response) => {
    toOriginForm(request)
    toVersionedForm(request)
    if (isUnified(request.method, request.url) || isOfAnthropicClient(request)) proxy.handle(request, response)
    else answer(request, response)
  }
}

/** The methods of the operations at a path (after `/v1`). */
export function administeredBy(operations: readonly AnyOperation[]): (path: string) => readonly string[] {
  const places = operations.flatMap(({method, path, compatibility: {also_at = []} = {}, takes_rest}) =>
    [takes_rest ? path.replace(/:[^/]+$/, '*') : path, ...also_at].map(each => ({method, path: each})),
  )
  const patterns = [...Map.groupBy(places, ({path}) => path)].map(([path, of]) => ({
    pattern: pattern(path),
    methods: of.map(each => each.method),
  }))
  return path => [...new Set(patterns.flatMap(each => (each.pattern.test(path) ? each.methods : [])))]
}

/** The headers that let a browser of `origin` read an answer; none for an origin that the settings do not name. */
export function corsHeaders(settings: Settings): (origin: string | undefined) => readonly string[] {
  if (!settings.enable_cors) return () => []
  const {cors_allowed_origins: origins, cors_allowed_expose_headers: exposed} = settings
  return origin => {
    if (!origin || !(origins.includes('*') || origins.includes(origin))) return []
    return [
      'access-control-allow-origin',
      origins.includes('*') ? '*' : origin,
      'access-control-expose-headers',
      exposed.join(', '),
      'vary',
      'origin',
    ]
  }
}

/** The envelope of the administration, and beside it what a vendor's client reads at its own path. */
export function notFound({url, headers}: FastifyRequest, reply: FastifyReply) {
  const path = url.split('?', 1)[0]!
  const refusal = new Refusal('route.unknown', {path})
  const {message, codes} = refusal
  const of_vendor = vendorEnvelope(refusal, {path, headers})?.body
  return reply
    .code(404)
    .headers(refusalIdHeaders(headers, newTimeId(Date.now())))
    .send({success: false, ok: false, message, data: {message, errorCode: codes.admin}, ...of_vendor})
}

/** A URI that Fastify's router cannot decode may be a valid one of a provider's all the same. */
function passesOn(
  fault: FastifyError,
  request: FastifyRequest,
  reply: FastifyReply,
  proxy: CallProxy | undefined,
  log: Log,
) {
  const path = request.raw.url?.split('?', 1)[0] ?? ''
  if (!proxy || !(path.startsWith('/v1/') || isRootDoor(path))) return refuseRequest(fault, request, reply, log)
  reply.hijack()
  proxy.handle(request.raw, reply.raw)
}

/** Pages of sign-in are for this origin alone. */
const OWN_PAGES = /^\/v[12]\/auth\//
/** OAuth of MCP says itself which of its endpoints pages of other origins may read. */
const OAUTH = /^\/(?:oauth|\.well-known)\//

export function answerPreflights(server: FastifyInstance, settings: Settings) {
  const allowed = corsHeaders(settings)
  const {cors_allowed_methods: methods, cors_allowed_headers: headers} = settings
  server.addHook('onRequest', async (request, reply) => {
    if (OAUTH.test(request.url)) return
    const values = allowed(request.headers.origin)
    if (!OWN_PAGES.test(request.url))
      for (let at = 0; at < values.length; at += 2) reply.header(values[at]!, values[at + 1])
    if (request.method !== 'OPTIONS' || request.headers['access-control-request-method'] === undefined) return
    if (OWN_PAGES.test(request.url)) return reply.code(204).send()
    if (values.length) {
      reply.header(
        'access-control-allow-methods',
        methods.includes('*') ? 'GET, POST, PUT, DELETE, PATCH' : methods.join(', '),
      )
      reply.header(
        'access-control-allow-headers',
        headers.includes('*') ? (request.headers['access-control-request-headers'] ?? '*') : headers.join(', '),
      )
      reply.header('access-control-max-age', '600')
    }
    return reply.code(204).send()
  })
}

/**
 * Everything under `/v1` without an operation, and the vendors' own paths at the root: the raw request and response are
 * the data plane's.
 */
function mountProxy(server: FastifyInstance, proxy: CallProxy) {
  server.register(async scope => {
    // before anything reads the content type: who calls is known first, and a provider may take any
    scope.addHook('onRequest', async (request, reply) => {
      if (request.routeOptions.url !== '/v1/*' && !isRootDoor(request.url.split('?', 1)[0]!))
        return notFound(request, reply)
      // a body that came with its head is here then, so that a refusal leaves the connection open
      await null
      reply.hijack()
      proxy.handle(request.raw, reply.raw)
    })
    for (const path of ['/v1/*', ...ROOT_PATTERNS]) scope.all(path, notFound)
  })
}
