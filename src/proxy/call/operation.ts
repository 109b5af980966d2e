import {vendorOperation} from '../../providers/vendor-operations/find.ts'
import type {CalledOperation} from '../../providers/vendor-operations/operation.ts'
import type {InboundRequest} from '../inbound/request.ts'
import type {Target} from '../targets/target.ts'
import type {Call} from './call.ts'

/** What the call means at a target: by a vendor's own path its dialect depends on whose path it is. */
export function enterTarget(call: Call, target: Pick<Target, 'provider'>): void {
  if (!call.is_passthrough) return
  call.operation = operationAt(call.incoming, target)
  call.endpoint = call.operation?.operation.endpoint ?? 'proxy'
}

/** The operation of the table that a path is at a target; null for one that it does not know. */
export function operationAt(
  {method, route}: Pick<InboundRequest, 'method' | 'route'>,
  {provider}: Pick<Target, 'provider'>,
): CalledOperation | null {
  return vendorOperation(provider.slug, method, route.path)
}

/** True where the reply shows, changes or ends what other calls paid for. */
export function isFree({operation}: Pick<Call, 'operation'>): boolean {
  return operation?.operation.money === 'free'
}
