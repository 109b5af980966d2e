import type {EndpointName} from '../schema/endpoints.ts'

/** The values of `x-gateway-cache-status`. */
export type CacheStatus = 'HIT' | 'SEMANTIC HIT' | 'SEMANTIC MISS' | 'MISS' | 'REFRESH' | 'DISABLED'

/** Endpoints whose answers may be kept: those that answer JSON to JSON and change nothing. */
const CACHEABLE: ReadonlySet<EndpointName> = new Set([
  'chatComplete',
  'complete',
  'embed',
  'messages',
  'messagesCountTokens',
  'createModelResponse',
  'rerank',
  'ocr',
  'imageGenerate',
  'moderate',
  'proxy',
])
/** Of these a stored answer can be replayed as a stream, and a stream be put together. */
const STREAMED = ['chatComplete', 'complete', 'messages', 'createModelResponse'] as const

/** The most members of an answer that is put together of a stream, or streamed: none that a model wrote has so many. */
export const MAX_MEMBERS = 1_000

export type StreamedEndpoint = (typeof STREAMED)[number]

export function isStreamed(endpoint: EndpointName): endpoint is StreamedEndpoint {
  return STREAMED.includes(endpoint as StreamedEndpoint)
}

export interface CacheQuestion {
  /** The target's `cache`; null where it has none. */
  readonly rule: {readonly max_age_s: number | null} | null
  readonly endpoint: EndpointName
  readonly method: string
  /** The body is one JSON object. */
  readonly has_json: boolean
  /** The client asks for a stream. */
  readonly streams: boolean
  /** The Responses API's: the answer continues something, or is made later and elsewhere. */
  readonly is_stateful: boolean
  /** `x-gateway-debug: false`. */
  readonly debug_off: boolean
  /** `x-gateway-cache-force-refresh`, as sent. */
  readonly force_refresh: string | undefined
  /** The organisation's cap, which is its default as well. */
  readonly organisation_max_age_s: number | null
}

export type CacheDecision =
  | {readonly status: 'DISABLED'}
  /**
   * `status` is reported when nothing is found: with REFRESH nothing is looked for. What comes is kept for
   * `max_age_ms`.
   */
  | {readonly status: 'MISS' | 'REFRESH'; readonly max_age_ms: number}

/** Decides whether the cache takes part in a call, and how. */
export function decideCache(question: CacheQuestion): CacheDecision {
  const {rule, endpoint, method, has_json, streams, is_stateful, debug_off} = question
  const may =
    CACHEABLE.has(endpoint) && method === 'POST' && has_json && !is_stateful && (!streams || isStreamed(endpoint))
  if (!rule || debug_off || !may) return {status: 'DISABLED'}
  const max_age_ms = maxAge(rule.max_age_s, question.organisation_max_age_s) * 1000
  return {status: question.force_refresh?.trim().toLowerCase() === 'true' ? 'REFRESH' : 'MISS', max_age_ms}
}

const MIN_S = 60
const MAX_S = 7_776_000
const DEFAULT_S = 604_800
const ORGANISATION_MOST_S = 25_923_000

/**
 * Seconds that an answer is kept: what the config says, no more than the organisation's cap; the cap where the config
 * says nothing, else 7 days. From 60 s; a config's word up to 90 days, an organisation's up to 25 923 000 s.
 */
export function maxAge(asked_s: number | null, organisation_s: number | null): number {
  const cap =
    organisation_s === null || Number.isNaN(organisation_s) ? null : Math.min(organisation_s, ORGANISATION_MOST_S)
  const requested_s = asked_s === null || Number.isNaN(asked_s) ? null : Math.min(asked_s, MAX_S)
  const wanted = requested_s === null ? (cap ?? DEFAULT_S) : Math.min(requested_s, cap ?? MAX_S)
  return Math.max(MIN_S, Math.trunc(wanted))
}

/** True when a call of the Responses API leans on what the provider keeps, or is only begun by it. */
export function isStateful(endpoint: EndpointName, body: Readonly<Record<string, unknown>>): boolean {
  if (endpoint !== 'createModelResponse') return false
  return (
    [body.previous_response_id, body.conversation].some(value => value !== undefined && value !== null) ||
    body.background === true
  )
}

/**
 * True when an answer may be kept: 200, JSON, no error that came as a 200, and with choices where it has to have some.
 * Of the Responses API only what has ended: an answer that is queued, failed or cancelled describes a moment.
 */
export function mayStore(
  endpoint: EndpointName,
  status: number,
  content_type: string | undefined,
  answer: unknown,
): boolean {
  if (status !== 200 || !/^application\/(?:[\w.-]+\+)?json\s*(?:;|$)/i.test(content_type ?? '')) return false
  if (typeof answer !== 'object' || answer === null) return false
  if (Array.isArray(answer)) return endpoint === 'proxy'
  if (tellsFailure(answer)) return false
  const {status: state, choices} = answer as Readonly<Record<string, unknown>>
  if (CHOOSING.has(endpoint) && !(Array.isArray(choices) && choices.length > 0)) return false
  return endpoint !== 'createModelResponse' || state === undefined || state === 'completed' || state === 'incomplete'
}

/** Endpoints whose answers have choices: one without any says nothing. */
const CHOOSING: ReadonlySet<EndpointName> = new Set(['chatComplete', 'complete'])

/** True of the body of a 200 that says that the provider failed. */
export function tellsFailure(answer: unknown): boolean {
  if (typeof answer !== 'object' || answer === null) return false
  const {error, type, choices, status} = answer as Readonly<Record<string, unknown>>
  if ((error !== undefined && error !== null) || type === 'error' || status === 'failed') return true
  return (
    Array.isArray(choices) &&
    choices.some((choice: {finish_reason?: unknown} | null) => isFailure(choice?.finish_reason))
  )
}

/**
 * True of a reason why an answer ended that is no end: `error`, `overloaded_error`, `TIMEOUT`,
 * `insufficient_system_resource`.
 */
export function isFailure(finish_reason: unknown): boolean {
  return typeof finish_reason === 'string' && /error|timeout|insufficient_system_resource/i.test(finish_reason)
}
