import {Refusal} from '../../base/errors.ts'
import {variantOf} from '../../providers/base-urls/base-url.ts'
import {isCompatible, supports} from '../../providers/clients.ts'
import {shapedQuery} from '../../providers/messages/index.ts'
import type {Provider} from '../../providers/provider.ts'
import {isGoogleOperation, vendorOperation} from '../../providers/vendor-operations/find.ts'
import type {CalledOperation} from '../../providers/vendor-operations/operation.ts'
import type {EndpointName} from '../../schema/endpoints.ts'
import {isGooglePath, isOfAnthropicClient} from '../inbound/doors.ts'
import type {InboundRequest} from '../inbound/request.ts'
import type {Target} from '../targets/target.ts'
import type {Call} from './call.ts'

/** The call's operation at a target: by a vendor's own path its dialect depends on the vendor of the path. */
export function enterTarget(call: Call, target: Pick<Target, 'provider' | 'options'>): void {
  const {endpoint} = call.incoming.route
  const own = endpoint ? ownOperation(call.incoming, target) : null
  call.changes = []
  call.adaptations = []
  call.is_shaped = own === null && isShaped(call, target.provider)
  if (endpoint && !own) {
    if (call.is_passthrough) Object.assign(call, {is_passthrough: false, operation: null, endpoint: endpoint.name})
    return
  }
  const found = own ?? operationAt(call.incoming, target)
  const {modelOfDeployment} = target.provider
  const model = found?.path_model && modelOfDeployment?.(found.path_model, target.options)
  call.is_passthrough = true
  call.operation = found && model ? {...found, path_model: model} : found
  call.endpoint = call.operation?.operation.endpoint ?? 'proxy'
}

/**
 * The operation of a unified path when the vendor's own client calls it at this vendor: `/files` of Anthropic's client
 * are Anthropic's files, in its format. Null when the unified route applies, and for models, whose list is cut in any
 * format.
 */
function ownOperation(incoming: InboundRequest, target: Pick<Target, 'provider'>): CalledOperation | null {
  const {own_clients_send: header} = target.provider
  const {endpoint} = incoming.route
  if (header === undefined || endpoint!.body === 'json' || endpoint!.listed || incoming.headers[header] === undefined)
    return null
  const found = operationAt(incoming, target)
  return found && found.operation.kinds !== 'all' ? found : null
}

/**
 * Files and models for Anthropic's clients, where they are not the provider's own: replies and errors are put into
 * their words.
 */
function isShaped(call: Call, provider: Provider): boolean {
  const {route, request} = call.incoming
  if (!isOfAnthropicClient(request) || request.url?.startsWith(PROXY)) return false
  const {endpoint} = route
  return endpoint ? endpoint.listed === true || OF_FILES.has(endpoint.name) : oneModelId(call, provider) !== null
}

const PROXY = '/v1/proxy/'
const OF_FILES: ReadonlySet<EndpointName> = new Set([
  'uploadFile',
  'listFiles',
  'retrieveFile',
  'deleteFile',
  'retrieveFileContent',
])

/**
 * The id, as the path has it, of the one model that a call asks for by the gateway's own path, where its words are not
 * the provider's: those of OpenAI's clients, and of Anthropic's by their header. Null where the provider's own bytes
 * are meant.
 */
export function oneModelId({incoming, link}: Pick<Call, 'incoming' | 'link'>, provider: Provider): string | null {
  const {request, route, method, headers} = incoming
  if (method !== 'GET' || link !== null || route.endpoint || !request.url?.startsWith('/v1/models/')) return null
  if (route.path.includes('/operations/')) return null
  const {own_clients_send: header} = provider
  if (header !== undefined && headers[header] !== undefined) return null
  if (!isOfAnthropicClient(request) && isCompatible(provider)) return null
  return route.path.slice('/models/'.length)
}

/** The query as OpenAI's endpoints read it. */
export function queryOf({incoming: {route}, is_shaped}: Pick<Call, 'incoming' | 'is_shaped'>): string {
  return is_shaped && route.endpoint?.name === 'listFiles' ? shapedQuery(route.query) : route.query
}

/** The operation of the table that a path is at a target; null for one that it does not know. */
export function operationAt(
  {method, route}: Pick<InboundRequest, 'method' | 'route'>,
  {provider}: Pick<Target, 'provider'>,
): CalledOperation | null {
  return vendorOperation(provider.slug, method, route.path)
}

/**
 * Clients of Gemini's own words are served by Google's kinds alone, batches and skills of Anthropic's clients by those
 * that have Messages (501).
 */
export function checkVersion(
  {is_passthrough, operation, incoming}: Pick<Call, 'is_passthrough' | 'operation' | 'incoming'>,
  {provider, options}: Pick<Target, 'provider' | 'options'>,
) {
  if (!is_passthrough) return
  const {method, route, request} = incoming
  const is_plain = isOfAnthropicClient(request) && !request.url?.startsWith(PROXY)
  const remedy = is_plain ? remedyFor(route.path) : null
  if (remedy !== null && !supports(variantOf(provider, '', options), 'messages'))
    throw new Refusal('endpoint.of_vendor', {path: `/v1${route.path}`, provider: provider.slug, remedy})
  if (operation) return
  if (isGoogleOperation(method, route.path) && isGooglePath(route.path) && NAMES_PROVIDER.test(request.url ?? ''))
    throw new Refusal('endpoint.later', {provider: provider.slug, path: route.path})
}

/** The remedy for an operation that Anthropic alone has; null for any other. */
function remedyFor(path: string): string | null {
  if (/^\/messages\/batches(?:\/|$)/.test(path)) return `Use /v1/batches there, or ${OF_ANTHROPIC}`
  return /^\/skills(?:\/|$)/.test(path) ? OF_ANTHROPIC.replace('n', 'N') : null
}

const OF_ANTHROPIC = 'name a provider whose API is Anthropic’s.'

/** A path in which a model has its provider in front. */
const NAMES_PROVIDER = /\/models\/(?:@|%40)/i

/** True where the reply shows, changes or ends what other calls paid for. */
export function isFree({operation}: Pick<Call, 'operation'>): boolean {
  return operation?.operation.money === 'free'
}
