import {isStreamed} from '../../cache/rules.ts'
import {synthesizeStream} from '../../cache/synthesize-stream.ts'
import type {CacheEntry} from '../../ports/cache/index.ts'
import {variantOf} from '../../providers/base-urls/base-url.ts'
import {supports} from '../../providers/clients.ts'
import {countTokens} from '../../providers/messages/index.ts'
import type {ClientCall, RouteInfo} from '../call/call.ts'
import {askedModel} from '../call/model-access.ts'
import {answerHeaders} from '../call/response-headers.ts'
import {withHookResults} from '../guardrails/hook-results.ts'
import {wholeOf} from '../inbound/body.ts'
import {answerIds, clientWords} from '../inbound/error-ids.ts'
import {noteServed, type SettleServices} from '../records/settle.ts'
import type {Uses} from '../services.ts'
import type {Target} from '../targets/target.ts'

type Services = SettleServices & Uses<'cors'>

/**
 * Answers a call from the cache, as a stream where the client wants one. False when the entry has no such form: then it
 * is no hit.
 */
export function serveHit(
  call: ClientCall,
  target: Target,
  route: RouteInfo,
  {body: kept}: CacheEntry,
  services: Services,
): boolean {
  const {body, endpoint} = call
  const is_stream = body.kind === 'json' && body.stream
  const bytes = !is_stream
    ? kept
    : isStreamed(endpoint)
      ? synthesizeStream(endpoint, kept, {include_usage: body.asks_usage})
      : null
  if (bytes) serve(call, target, route, {bytes, is_stream}, services)
  return bytes !== null
}

/**
 * Counts the tokens of a Messages request for a provider that cannot: an estimate. False for one that counts itself, or
 * has no chat.
 */
export function serveCount(call: ClientCall, target: Target, route: RouteInfo, services: Services): boolean {
  const {body, endpoint} = call
  if (call.is_passthrough || endpoint !== 'messagesCountTokens' || body.kind !== 'json') return false
  const provider = variantOf(target.provider, askedModel(call, target) ?? '', target.options)
  const has = (name: 'messagesCountTokens' | 'chatComplete') =>
    provider.operations?.endpoints[name] !== undefined ||
    provider.translations?.endpoints[name] !== undefined ||
    supports(provider, name)
  if (has('messagesCountTokens') || !has('chatComplete')) return false
  serve(
    call,
    target,
    route,
    {bytes: Buffer.from(JSON.stringify(countTokens(wholeOf(body)))), is_stream: false},
    services,
  )
  return true
}

function serve(
  call: ClientCall,
  target: Target,
  route: RouteInfo,
  {bytes, is_stream}: {bytes: Buffer; is_stream: boolean},
  services: Services,
) {
  const {relay, guardrails: guarded} = call
  relay.setListener(null)
  const shown = guarded ? withHookResults(guarded, bytes, is_stream) : bytes
  const status = guarded?.statusOf(200) ?? 200
  const headers = {'content-type': is_stream ? 'text/event-stream; charset=utf-8' : 'application/json'}
  relay.head(
    status,
    answerHeaders(
      call,
      target,
      {...headers, ...answerIds(clientWords(call), headers)},
      {
        is_stream,
        rewrites: true,
        timing: null,
        route,
        retry_attempt_count: 0,
        services,
      },
    ),
    false,
  )
  noteServed(call, target, route, {status, bytes: shown, headers, is_stream}, services)
  relay.end([shown])
}
