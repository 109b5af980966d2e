import type {Dispatcher} from 'undici'
import {joinPath} from '../../base/egress/path.ts'
import type {Destination} from '../../base/egress/target.ts'
import {Refusal} from '../../base/errors.ts'
import {
  baseFor,
  loginOf,
  pathFor,
  usualHeaders,
  variantOf,
  withoutDeployment,
  withoutRepeat,
} from '../../providers/base-urls/base-url.ts'
import {supports} from '../../providers/clients.ts'
import {modelListerOf} from '../../providers/models/index.ts'
import type {ProviderOperation} from '../../providers/operation.ts'
import type {EndpointRequest, OutgoingHeaders, Provider} from '../../providers/provider.ts'
import {UnsupportedInputFault} from '../../providers/translation.ts'
import type {EndpointName} from '../../schema/endpoints.ts'
import type {Call} from '../call/call.ts'
import {askedModel} from '../call/model-access.ts'
import {oneModelId, queryOf} from '../call/operation.ts'
import {strictLimitsOf} from '../call/strict-limits.ts'
import {asUntranslatable} from '../inbound/error-response.ts'
import type {InboundRequest, RequestCredentials} from '../inbound/request.ts'
import type {Uses} from '../services.ts'
import {linkedPath} from '../targets/followed-plan.ts'
import {atModel} from '../targets/model-place.ts'
import {assertOpen} from '../targets/open-target.ts'
import {resolveDestination, type Target} from '../targets/target.ts'
import {bodyOf, changesOf, withPurpose} from './body/leaving-body.ts'
import {meteringOf, NOT_METERED} from './body/metering.ts'
import {addClientHeaders, addTrace, handOn, leavingQuery, withoutOwn, withoutOwnLogin} from './client-headers.ts'
import {authenticated, authorized, checkOwnIdentity, type PendingAuth} from './credentials.ts'
import {MultiRequest, type MultiRequestServices, type OperationContext, plainId} from './multi-request.ts'
import {ownModel, ownModels} from './own-models.ts'
import {promptCounter} from './prompt-counter.ts'
import {JSON_TYPE, type RequestTranslation, translateRequest, written} from './translate.ts'

/** The services that build an upstream request. */
export type BuildServices = MultiRequestServices & Uses<'prices'>

/** The upstream request. */
export interface UpstreamRequest {
  /** The target's, as it is for this model. */
  readonly provider: Provider
  /** Null for a provider that answers in this process. */
  readonly destination: Destination | null
  readonly method: Dispatcher.HttpMethod
  readonly path: string
  readonly headers: OutgoingHeaders
  readonly body: Dispatcher.DispatchOptions['body']
  readonly model: string | null
  /** True when the gateway requested usage in the stream: its event is taken out again. */
  readonly is_metered: boolean
  readonly request_timeout_ms: number | null
  /** Null where bodies pass as they are. */
  readonly translating: RequestTranslation | null
  /**
   * The operation that answers in the provider's place by calling it, once or several times; null when one call is all.
   */
  readonly operation: MultiRequest | null
  /** Reads the output of the batches in the answer; null when it has none. */
  readonly output: MultiRequest | null
  /** Counts its prompt; null where its provider has nothing that does. */
  readonly countPrompt: ((within_ms: number) => Promise<number | null>) | null
  /** A login that is yet to be made, for these very bytes; null where the headers hold what is needed. */
  readonly login: PendingAuth | null
}

/** Dispatchers want an origin, also the one that answers in this process. */
const ORIGIN_HERE = 'http://127.0.0.1'

/** The dispatcher of the connection. */
export function dispatcherOf(
  {operation, provider, destination}: UpstreamRequest,
  {caller}: Call,
  services: Uses<'dispatcher'>,
): Pick<Dispatcher, 'dispatch'> {
  return operation ?? provider.transport?.() ?? services.dispatcher(destination!, caller.workspace_id)
}

export function dispatchOf({method, path, headers, body, destination}: UpstreamRequest): Dispatcher.DispatchOptions {
  return {method, path, headers, body, origin: destination?.origin ?? ORIGIN_HERE}
}

/** The URL of the request, or of the last call of its operation; null for a provider that answers in this process. */
export function upstreamUrl({
  operation,
  destination,
  path,
}: Pick<UpstreamRequest, 'operation' | 'destination' | 'path'>): string | null {
  if (operation?.url || !destination) return operation?.url ?? null
  const mark = path.indexOf('?')
  return destination.origin + (mark < 0 ? path : path.slice(0, mark))
}

/** Endpoints of other dialects: a provider that has neither them nor chat cannot serve them. */
const TRANSLATED: ReadonlySet<EndpointName> = new Set(['messages', 'messagesCountTokens', 'createModelResponse'])

/**
 * Builds the request to the provider: path, headers and body, each as the client sent it but for the changes of the
 * target. Refuses (400) input that the provider's format cannot express, and options of its place and login that it
 * would not take.
 */
export function buildUpstreamRequest(
  call: Call,
  target: Target,
  credentials: RequestCredentials,
  services: BuildServices,
): UpstreamRequest {
  assertOpen(target)
  try {
    return made(call, target, credentials, services)
  } catch (fault) {
    throw fault instanceof UnsupportedInputFault ? asUntranslatable(fault, target.provider.slug) : fault
  }
}

function made(call: Call, found: Target, credentials: RequestCredentials, services: BuildServices): UpstreamRequest {
  const {incoming, body, endpoint, is_passthrough} = call
  const {route} = incoming
  const model = askedModel(call, found)
  const target = atModel(found, model, services)
  const {options} = target
  const provider = variantOf(target.provider, model ?? '', options)
  const operation = is_passthrough
    ? oneModel(call, target, provider, services)
    : (provider.operations?.endpoints[endpoint] ?? listing(call, target, provider, services))
  if (operation) return operationRequest(operation, {call, target, provider, model, credentials}, services)
  const words = translateRequest(call, target, provider, model)
  const is_chat = words !== null && words.dialect === null
  const is_stream = 'stream' in body && body.stream
  const query = leavingQuery(queryOf(call), credentials, services)
  const plain = is_passthrough ? withoutDeployment(provider, route.path + query) : null
  const reach: EndpointRequest = {
    endpoint: is_chat ? 'chatComplete' : is_passthrough && plain === null ? 'proxy' : endpoint,
    path: is_chat ? '/chat/completions' : (plain ?? route.path),
    query: plain === null ? query : '',
    model: model ?? '',
    is_stream,
    ...(target.is_custom && target.destination ? {base_path: target.destination.basePath} : {}),
  }
  const destination = provider.transport
    ? null
    : (target.destination ?? resolveDestination(target, provider, reach, incoming.own.prefix, services))
  // A model of the path is in no body, for many vendors refuse one there. One that leaves in no path has to be in it.
  const named =
    call.operation?.path_model && plain === null
      ? null
      : model !== null && provider.modelIn
        ? provider.modelIn(model, options)
        : model
  const changed = words || body.kind !== 'json' ? null : changesOf(body, target, named)
  const metering = changed ? meteringOf(call, provider, changed.edits, services) : NOT_METERED
  const is_metered = metering.is_hidden
  const is_judged = call.guardrails?.reads_answers ?? false
  const is_read =
    is_metered ||
    words !== null ||
    target.cache !== null ||
    is_judged ||
    strictLimitsOf(call) !== null ||
    holdsLinks(call) ||
    call.is_shaped
  const headers = headersOf(call, target, provider, credentials, {is_read, is_translated: words !== null}, services)
  if (words) Object.assign(headers, {'content-type': JSON_TYPE}, words.request.headers)
  if (!words && !is_passthrough) checkOffer(call, provider)
  const login = authenticated(headers, call, target, provider, credentials)
  withoutOwnLogin(headers, target, credentials, services)
  const anew = words && written(words, target.cache !== null || login?.login.signs_body === true)
  if (anew) Object.assign(headers, anew.headers)
  return {
    provider,
    destination,
    method: (words?.request.method ?? incoming.method) as Dispatcher.HttpMethod,
    path: call.link
      ? linkedPath(call.link, target, destination)
      : words?.dialect
        ? joinPath(destination?.basePath ?? '', words.request.path)
        : pathOf(provider, destination?.basePath ?? '', pathFor(provider, reach, options), is_passthrough),
    headers,
    body: anew ? anew.body : withPurpose(bodyOf(call, named, changed, metering), headers, call),
    model,
    is_metered,
    request_timeout_ms: timeoutOf(incoming) ?? target.request_timeout_ms,
    translating: words,
    operation: null,
    output: outputOf({call, target, provider, model, credentials}, services),
    countPrompt: provider.prompt_counters
      ? promptCounter({call, target, provider, model, credentials}, words, services)
      : null,
    login,
  }
}

/** Members of the answer are to lead to the gateway. */
function holdsLinks({operation}: Call): boolean {
  return operation?.operation.links === 'results_url'
}

/** By a vendor's own path a client may write what the base has. */
function pathOf(provider: Provider, base_path: string, path: string, is_passthrough: boolean): string {
  if (!is_passthrough) return joinPath(base_path, path)
  return joinPath(baseFor(provider, base_path, path), withoutRepeat(base_path, path))
}

/** A list of models is read whole: what the caller may not call is not in it. */
function listing(
  call: Call,
  target: Target,
  provider: Provider,
  services: BuildServices,
): ProviderOperation | undefined {
  const lister = call.endpoint === 'listModels' ? modelListerOf(provider) : null
  return lister ? ownModels(lister, {call, target}, services) : undefined
}

/** One model in the words of a client that are not the provider's: of the same list. */
function oneModel(
  call: Call,
  target: Target,
  provider: Provider,
  services: BuildServices,
): ProviderOperation | undefined {
  const id = oneModelId(call, provider)
  const lister = id === null ? null : modelListerOf(provider)
  return lister ? ownModel(lister, {call, target, id: plainId(id!)}, services) : undefined
}

/** A provider operation chooses its own calls; this is the place that it begins at. */
function operationRequest(
  operation: ProviderOperation,
  of: OperationContext,
  services: BuildServices,
): UpstreamRequest {
  const {incoming} = of.call
  const {target, provider, model} = of
  const reach: EndpointRequest = {
    endpoint: 'proxy',
    path: incoming.route.path,
    query: '',
    model: model ?? '',
    is_stream: false,
  }
  const destination = target.destination ?? resolveDestination(target, provider, reach, incoming.own.prefix, services)
  return {
    provider,
    destination,
    method: incoming.method as Dispatcher.HttpMethod,
    path: joinPath(destination.basePath, incoming.route.path),
    headers: {},
    body: null,
    model,
    is_metered: false,
    request_timeout_ms: timeoutOf(incoming) ?? target.request_timeout_ms,
    translating: null,
    operation: new MultiRequest(operation, of, services),
    output: outputOf(of, services),
    countPrompt: null,
    login: null,
  }
}

/** Endpoints whose answers may describe ended batches. */
const TELLS_OF_BATCHES: ReadonlySet<EndpointName> = new Set([
  'retrieveBatch',
  'cancelBatch',
  'listBatches',
  'getBatchOutput',
])

function outputOf(of: OperationContext, services: BuildServices): MultiRequest | null {
  const {endpoint, is_passthrough, operation} = of.call
  const own = operation?.operation.batches
  const tells = is_passthrough ? own && own.role !== 'begins' : TELLS_OF_BATCHES.has(endpoint)
  if (!tells) return null
  const outputs = of.provider.operations?.endpoints.getBatchOutput ?? (own ? noOutput : undefined)
  return outputs ? new MultiRequest(outputs, of, services) : null
}

/** Of a provider whose batches are not those of the unified routes. */
function noOutput(): never {
  throw new UnsupportedInputFault('id', 'the provider gives no output of a batch by its id')
}

/** The same with the headers that its login makes: a token, or a signature of it all. */
export async function withCredentials(
  out: UpstreamRequest,
  {options}: Target,
  services: Uses<'logins'>,
): Promise<UpstreamRequest> {
  const {login: needed, provider, destination, method, path, headers, body} = out
  if (!needed) return out
  const bytes = Buffer.isBuffer(body) ? body : null
  if (needed.login.signs_body && body !== null && bytes === null) {
    throw new Refusal('body.untranslatable', {
      provider: provider.slug,
      reason: 'Its signature covers the whole body: send it as JSON.',
    })
  }
  const host = destination ? new URL(destination.origin).host : ''
  const made = await authorized(needed, {method, host, path, headers, body: bytes}, {provider, options}, services)
  return {...out, headers: {...headers, ...made}, login: null}
}

/** The headers of a login for a request without a body; null where the key goes as it is. */
export async function authHeaders(
  services: BuildServices,
  target: Target,
  {path, headers}: {readonly path: string; readonly headers: OutgoingHeaders},
  key: string | null,
): Promise<OutgoingHeaders | null> {
  const {provider, options, destination} = target
  const login = loginOf(provider, options)
  if (!login) return null
  checkOwnIdentity(login, target, provider)
  const host = destination ? new URL(destination.origin).host : ''
  return login.authorize({method: 'GET', host, path, headers, body: null}, key, options, services.logins)
}

/** Refuses an endpoint that the provider has in no words. */
function checkOffer({incoming: {route, method}, endpoint}: Call, provider: Provider) {
  if (!supports(provider, endpoint) && (provider.dialect === 'native' || TRANSLATED.has(endpoint)))
    throw new Refusal('endpoint.unsupported', {provider: provider.slug, endpoint: `${method} ${route.path}`})
}

/** `is_read`: the answer is to be read and rewritten, and so comes without an encoding. */
function headersOf(
  call: Call,
  target: Target,
  provider: Provider,
  credentials: RequestCredentials,
  {is_read, is_translated}: {readonly is_read: boolean; readonly is_translated: boolean},
  services: BuildServices,
): OutgoingHeaders {
  const {incoming, is_passthrough, body} = call
  const headers: OutgoingHeaders = {
    ...usualHeaders(provider, target.options),
    'user-agent': `gateway/${services.version}`,
    accept: incoming.headers.accept ?? '*/*',
    'accept-encoding': is_read ? 'identity' : String(incoming.headers['accept-encoding'] ?? 'identity'),
  }
  addClientHeaders(headers, incoming, target, provider, services.ignored, is_passthrough)
  handOn(headers, incoming, is_translated)
  addTrace(headers, call, call.attempts + 1, incoming.headers)
  Object.assign(headers, target.headers, call.guardrails?.headers)
  const type = incoming.headers['content-type']
  if (type !== undefined && body.kind !== 'none') headers['content-type'] = type
  else if (body.kind === 'json') headers['content-type'] = 'application/json'
  if (body.kind === 'stream' && incoming.headers['content-length'] !== undefined)
    headers['content-length'] = String(Number(incoming.headers['content-length']) + (body.judged?.added_bytes ?? 0))
  const encoding = incoming.headers['content-encoding']
  if (encoding !== undefined && body.kind === 'stream') headers['content-encoding'] = encoding
  else if (encoding !== undefined) delete headers['content-encoding'] // it was decoded
  for (const name of provider.hands_on ?? []) {
    const value = incoming.headers[name]
    if (typeof value === 'string') headers[name] = value
  }
  withoutOwn(headers, target.headers, credentials, services)
  return headers
}

/** A longer timer fires at once in Node. */
const MAX_TIMEOUT_MS = 2 ** 31 - 1

function timeoutOf({own}: InboundRequest): number | null {
  const header = own.values['request-timeout']
  if (header === undefined) return null
  if (!/^\d{1,10}$/.test(header) || Number(header) < 1 || Number(header) > MAX_TIMEOUT_MS) {
    throw new Refusal('header.invalid', {
      header: `${own.prefix}-request-timeout`,
      reason: `expected whole milliseconds, from 1 to ${MAX_TIMEOUT_MS}`,
    })
  }
  return Number(header)
}
