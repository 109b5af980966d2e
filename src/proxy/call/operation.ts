import {Refusal} from '../../base/errors.ts'
import {isGoogleOperation, vendorOperation} from '../../providers/vendor-operations/find.ts'
import type {CalledOperation} from '../../providers/vendor-operations/operation.ts'
import {isGooglePath} from '../inbound/doors.ts'
import type {InboundRequest} from '../inbound/request.ts'
import type {Target} from '../targets/target.ts'
import type {Call} from './call.ts'

/** What the call means at a target: by a vendor's own path its dialect depends on whose path it is. */
export function enterTarget(call: Call, target: Pick<Target, 'provider' | 'options'>): void {
  if (!call.is_passthrough) return
  const found = operationAt(call.incoming, target)
  const {modelOfDeployment} = target.provider
  const model = found?.path_model && modelOfDeployment?.(found.path_model, target.options)
  call.operation = found && model ? {...found, path_model: model} : found
  call.endpoint = call.operation?.operation.endpoint ?? 'proxy'
}

/** The operation of the table that a path is at a target; null for one that it does not know. */
export function operationAt(
  {method, route}: Pick<InboundRequest, 'method' | 'route'>,
  {provider}: Pick<Target, 'provider'>,
): CalledOperation | null {
  return vendorOperation(provider.slug, method, route.path)
}

/** Clients of Gemini's own words are served by Google's kinds alone, until they are translated (501). */
export function checkVersion(
  {is_passthrough, operation, incoming}: Pick<Call, 'is_passthrough' | 'operation' | 'incoming'>,
  {provider}: Pick<Target, 'provider'>,
) {
  if (!is_passthrough || operation) return
  const {method, route} = incoming
  if (isGoogleOperation(method, route.path) && isGooglePath(route.path) && NAMES_PROVIDER.test(incoming.request.url ?? ''))
    throw new Refusal('endpoint.later', {provider: provider.slug, path: route.path})
}

/** A path in which a model has its provider in front. */
const NAMES_PROVIDER = /\/models\/(?:@|%40)/i

/** True where the reply shows, changes or ends what other calls paid for. */
export function isFree({operation}: Pick<Call, 'operation'>): boolean {
  return operation?.operation.money === 'free'
}
