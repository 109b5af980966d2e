import {Refusal} from '../../base/errors.ts'
import {supports} from '../../providers/clients.ts'
import {isGoogleOperation, vendorOperation} from '../../providers/vendor-operations/find.ts'
import type {CalledOperation} from '../../providers/vendor-operations/operation.ts'
import {isGooglePath, isOfAnthropicClient} from '../inbound/doors.ts'
import type {InboundRequest} from '../inbound/request.ts'
import type {Target} from '../targets/target.ts'
import type {Call} from './call.ts'

/** What the call means at a target: by a vendor's own path its dialect depends on whose path it is. */
export function enterTarget(call: Call, target: Pick<Target, 'provider' | 'options'>): void {
  const {endpoint} = call.incoming.route
  const own = endpoint ? ownOperation(call.incoming, target) : null
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
 * What a unified path means when the vendor's own client asks it of this vendor: `/files` of Anthropic's client are Anthropic's files, in its
 * words. Null where the unified route holds, and for models, whose list is cut in any words.
 */
function ownOperation(incoming: InboundRequest, target: Pick<Target, 'provider'>): CalledOperation | null {
  const {own_clients_send: header} = target.provider
  const {endpoint} = incoming.route
  if (header === undefined || endpoint!.body === 'json' || endpoint!.listed || incoming.headers[header] === undefined) return null
  const found = operationAt(incoming, target)
  return found && found.operation.kinds !== 'all' ? found : null
}

/** The operation of the table that a path is at a target; null for one that it does not know. */
export function operationAt(
  {method, route}: Pick<InboundRequest, 'method' | 'route'>,
  {provider}: Pick<Target, 'provider'>,
): CalledOperation | null {
  return vendorOperation(provider.slug, method, route.path)
}

/** Clients of Gemini's own words are served by Google's kinds alone, batches and skills of Anthropic's clients by those that have Messages (501). */
export function checkVersion(
  {is_passthrough, operation, incoming}: Pick<Call, 'is_passthrough' | 'operation' | 'incoming'>,
  {provider}: Pick<Target, 'provider'>,
) {
  if (!is_passthrough) return
  const {method, route, request} = incoming
  const is_plain = isOfAnthropicClient(request) && !request.url?.startsWith('/v1/proxy/')
  if (is_plain && ANTHROPIC_ONLY.test(route.path) && provider.variant === undefined && !supports(provider, 'messages'))
    throw new Refusal('route.later', {path: `${route.path} of Anthropic for ${provider.slug}`})
  if (operation) return
  if (isGoogleOperation(method, route.path) && isGooglePath(route.path) && NAMES_PROVIDER.test(request.url ?? ''))
    throw new Refusal('endpoint.later', {provider: provider.slug, path: route.path})
}

const ANTHROPIC_ONLY = /^\/(?:messages\/batches|skills)(?:\/|$)/
/** A path in which a model has its provider in front. */
const NAMES_PROVIDER = /\/models\/(?:@|%40)/i

/** True where the reply shows, changes or ends what other calls paid for. */
export function isFree({operation}: Pick<Call, 'operation'>): boolean {
  return operation?.operation.money === 'free'
}
