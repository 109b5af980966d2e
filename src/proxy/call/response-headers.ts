import {writtenHeader} from '../../base/header-values.ts'
import {HOP_BY_HOP, isOwn, type Prefix, setsOwnCookie} from '../../schema/headers.ts'
import type {Uses} from '../services.ts'
import type {Target} from '../targets/target.ts'
import {type Call, type RouteInfo, withWarnings} from './call.ts'

type Services = Uses<'cors' | 'settings'>

/** Headers of the provider that are not passed on: they describe its connection, or we set them ourselves. */
const KEPT_BACK: ReadonlySet<string> = new Set([...HOP_BY_HOP, 'server-timing', 'alt-svc', 'strict-transport-security'])

export interface How {
  readonly route: RouteInfo
  /** Retries at the target that answered; -1 when they were spent on failures. */
  readonly retry_attempt_count: number
  readonly is_stream: boolean
  /** True when bytes are taken out on the way, so that the provider's length no longer holds. */
  readonly rewrites: boolean
  readonly timing: {readonly connect_ms: number; readonly first_byte_ms: number} | null
  readonly services: Services
}

/**
 * The headers of an answer (name, value, ...): the provider's as they are, then ours under the prefix of the request.
 */
export function answerHeaders(
  call: Call,
  target: Target | null,
  theirs: Readonly<Record<string, string | string[] | undefined>>,
  how: How,
): string[] {
  const headers: string[] = []
  for (const name in theirs) {
    const value = theirs[name]
    if (value === undefined || KEPT_BACK.has(name) || isOwn(name)) continue
    if (name === 'set-cookie' && setsOwnCookie(String(value))) continue
    // a stream may end otherwise than its provider said
    if (name === 'content-length' && (how.rewrites || how.is_stream)) continue
    if (name.startsWith('access-control-') && how.services.settings.enable_cors) continue
    if (typeof value === 'string') headers.push(name, value)
    else for (const each of value) headers.push(name, each)
  }
  if (how.is_stream) {
    if (theirs['cache-control'] === undefined) headers.push('cache-control', 'no-cache')
    headers.push('x-accel-buffering', 'no')
  }
  const ours = OUR_NAMES[call.incoming.own.prefix]
  headers.push(ours.trace_id, writtenHeader(call.trace.trace_id))
  if (target) {
    const {route, retry_attempt_count} = how
    headers.push(ours.provider, target.provider.slug, ours.retry_attempt_count, String(retry_attempt_count))
    headers.push(ours.cache_status, route.cache_status, ours.last_used_option_index, route.option_path)
    if (route.similar?.served) headers.push(ours.cache_similarity, route.similar.similarity.toFixed(4))
    const warning = withWarnings(route.warning, call.ignored)
    if (warning) headers.push(ours.config_warning, printable(warning))
    if (call.adaptations.length > 0) headers.push(ours.adaptations, printable(call.adaptations.join('; ')))
  }
  if (how.timing) headers.push('server-timing', timing(call, how.timing))
  headers.push(...how.services.cors(call.incoming.headers.origin))
  return headers
}

/** The names of our headers under each prefix, made once: every answer has them. */
const OUR_NAMES = {'x-gateway': namesUnder('x-gateway'), 'x-portkey': namesUnder('x-portkey')}

function namesUnder(prefix: Prefix) {
  return {
    trace_id: `${prefix}-trace-id`,
    provider: `${prefix}-provider`,
    retry_attempt_count: `${prefix}-retry-attempt-count`,
    cache_status: `${prefix}-cache-status`,
    cache_similarity: `${prefix}-cache-similarity`,
    last_used_option_index: `${prefix}-last-used-option-index`,
    config_warning: `${prefix}-config-warning`,
    adaptations: `${prefix}-adaptations`,
  }
}

/** Phases in milliseconds (W3C Server Timing). */
function timing(call: Call, {connect_ms, first_byte_ms}: NonNullable<How['timing']>): string {
  const [auth, plan] = [hundredths(call.auth_ms), hundredths(call.plan_ms)]
  return `auth;dur=${auth}, plan;dur=${plan}, connect;dur=${hundredths(connect_ms)}, upstream;dur=${hundredths(first_byte_ms)}`
}

/**
 * With two digits behind the point. `toFixed` reckons exactly, which takes several times as long, and each answer has
 * four of these.
 */
function hundredths(ms: number): string {
  if (!(ms >= 0 && ms < LONGEST_MS)) return ms.toFixed(2)
  const all = Math.round(ms * 100)
  const rest = all % 100
  return `${(all - rest) / 100}.${DIGITS[rest]}`
}

const LONGEST_MS = 1e9
const DIGITS = Array.from({length: 100}, (_, rest) => String(rest).padStart(2, '0'))

function printable(text: string): string {
  return text.replace(/[^\x20-\x7e]/g, '?').slice(0, 1000)
}

/** Headers of a provider that are still true of a rewritten body. */
export function withoutBody(headers: Readonly<Record<string, string>>): Record<string, string> {
  const kept: Record<string, string> = {}
  for (const name in headers) if (!OF_THE_BODY.has(name)) kept[name] = headers[name]!
  return kept
}

const OF_THE_BODY: ReadonlySet<string> = new Set([
  'content-length',
  'content-encoding',
  'content-type',
  'content-md5',
  'etag',
  'digest',
])
