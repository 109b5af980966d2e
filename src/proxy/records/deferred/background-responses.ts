import {type EndedResponse, endedResponse, underWay} from '../../../providers/openai/background.ts'
import {usageOfKind} from '../../../providers/service-tiers.ts'
import type {Deferred} from '../../../schema/deferred.ts'
import type {Uses} from '../../services.ts'
import {upstreamUrl} from '../../upstream/build-request.ts'
import {plainId} from '../../upstream/multi-request.ts'
import {costOf, priceOf} from '../price.ts'
import {isOfOthers} from '../usage.ts'
import type {CompletedAttempt, DeferredUsage, DeferredWork} from './types.ts'

type Services = Uses<'prices'>

/**
 * Reads a response that is made in the background from a good answer; null when there is none. By pass-through too,
 * where its content identifies it. One that ended without its usage may report it later.
 */
export function toldOfResponses(answered: CompletedAttempt, services: Services): DeferredWork | null {
  const {call, plain, result} = answered
  const {method, route} = call.incoming
  if (!call.is_passthrough && call.endpoint !== 'createModelResponse' && call.endpoint !== 'getModelResponse')
    return null
  if (!isOfOthers({endpoint: call.endpoint, method, path: route.path, operation: call.operation})) {
    const id = leftInBackground(result.source) ?? (plain && underWay(plain))
    return id === null ? null : {begun: {id, endpoint: 'createModelResponse'}, ended: new Map()}
  }
  const ended = result.stream ? endedIn(result.stream, route.path) : plain && endedResponse(plain)
  return ended && {begun: null, ended: new Map([[ended.id, async work => cameTo(answered, work, ended, services)]])}
}

/**
 * The id of the response that is still being made behind a stream that was left before it reported its usage; null for
 * all others.
 */
export function leftInBackground(source: CompletedAttempt['result']['source']): string | null {
  return source && source.usage === null ? (source.background_id ?? null) : null
}

/** A stream that came to its end holds its usage. Its response is the requested one. */
function endedIn(
  {usage, model}: NonNullable<CompletedAttempt['result']['stream']>,
  path: string,
): EndedResponse | null {
  const id = /\/responses\/+([^/]+)\/*$/.exec(path)?.[1]
  return id !== undefined && usage ? {id: plainId(id), usage, model} : null
}

function cameTo(
  {target, request, result}: CompletedAttempt,
  {charge: {intent}}: Deferred,
  {id, usage: reported, model}: EndedResponse,
  services: Services,
): DeferredUsage {
  const at_ms = Date.parse(intent.admitted_at)
  const usage = usageOfKind(target.provider.slug, reported)
  const charged = costOf(target, usage, priceOf(target, intent.model, model, at_ms, services), at_ms, services)
  const url = `/v1/responses/${encodeURIComponent(id)}`
  return {
    usage,
    charged,
    model: intent.model ?? model,
    url,
    upstream_url: upstreamUrl(request),
    bytes: result.received_bytes,
  }
}
