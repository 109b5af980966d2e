import {isObject} from '../base/json-object.ts'
import {
  type ConfigReader,
  flag,
  listOf,
  numeric,
  oneOf,
  placeOf,
  refuse,
  requiring,
  shape,
  snake,
  text,
  warn,
  whole,
} from './config-readers.ts'

export interface RetrySaid {
  /** Retries after the first try, 0-5. */
  readonly attempts: number
  readonly on_status_codes?: readonly number[]
  readonly use_retry_after_header?: boolean
}

export interface CacheSaid {
  readonly mode: 'simple' | 'semantic'
  /** Seconds. */
  readonly max_age?: number
  /** Of `semantic`: the least cosine of two prompts; the operator's is never lowered. */
  readonly threshold?: number
}

/** A circuit breaker (docs/configs.md, Circuit breaker). */
export interface BreakerSaid {
  readonly failure_threshold?: number
  /** Of calls, 0-100. */
  readonly failure_threshold_percentage?: number
  readonly minimum_requests?: number
  /** Milliseconds. */
  readonly cooldown_interval?: number
  readonly failure_status_codes?: readonly number[]
}

export interface StickySaid {
  readonly enabled: boolean
  readonly hash_fields?: readonly string[]
  /** Seconds. */
  readonly ttl?: number
}

/** Retried where a config names no codes (docs/configs.md, Retry). */
export const RETRIED: readonly number[] = [429, 500, 502, 503, 504, 529]
export const MIN_COOLDOWN_MS = 30_000
export const STICKY_TTL_S = 3600

const DAY_S = 86_400
const codes = listOf('status codes', whole(100, 599))
export const fallbackCodes = listOf('status codes', whole(100, 599), {least: 1})

const retryShape = shape({attempts: whole(0, 5), on_status_codes: codes, use_retry_after_header: flag}, retryKey)

export const retry: ConfigReader = (value, path, found) => {
  const rule = retryShape(value, path, found) as Partial<RetrySaid> | undefined
  if (!rule || !isObject(value)) return undefined
  if (!Object.hasOwn(value, 'attempts'))
    return warn(found, path, 'has no effect without attempts, which is 0 where it is not said')
  if (rule.attempts === 0) {
    for (const key of Object.keys(rule))
      if (key !== 'attempts') warn(found, placeOf(value, path, key), 'has no effect beside attempts of 0')
    return {attempts: 0}
  }
  if (rule.use_retry_after_header && rule.on_status_codes && !rule.on_status_codes.includes(429)) {
    warn(
      found,
      placeOf(value, path, 'use_retry_after_header'),
      'has no effect: it counts for 429 alone, which on_status_codes leaves out',
    )
  }
  return rule
}

const cacheShape = shape({
  mode: oneOf(['simple', 'semantic']),
  max_age: whole(60, 90 * DAY_S, 'seconds'),
  threshold: numeric('a cosine from 0 to 1', value => value >= 0 && value <= 1),
})

/** A bare mode is taken for `{mode}`. */
export const cache: ConfigReader = (value, path, found) => {
  if (value === 'simple' || value === 'semantic') return {mode: value}
  const rule = requiring('mode', cacheShape, 'one of simple, semantic')(value, path, found) as
    | Partial<CacheSaid>
    | undefined
  if (rule?.mode === 'simple' && rule.threshold !== undefined && isObject(value))
    warn(found, placeOf(value, path, 'threshold'), 'has no effect with mode simple: texts are compared exactly')
  return rule
}

const hashField = text('metadata.KEY or params.KEY', value => /^(metadata|params)\.[^.]+$/.test(value))
const stickyShape = shape({
  enabled: flag,
  hash_fields: listOf('fields such as metadata.user', hashField, {least: 1, most: 20}),
  ttl: whole(1, 365 * DAY_S, 'seconds'),
})

export const sticky: ConfigReader = (value, path, found) => {
  const rule = requiring('enabled', stickyShape, 'true or false')(value, path, found) as Partial<StickySaid> | undefined
  if (rule?.enabled && isObject(value) && !Object.keys(value).some(key => snake(key) === 'hash_fields'))
    return refuse(found, `${path}.hash_fields`, 'is required: a list of fields such as metadata.user')
  return rule
}

const breakerShape = shape({
  failure_threshold: whole(1, 1_000_000, 'failures'),
  failure_threshold_percentage: numeric('a percentage above 0, at most 100', value => value > 0 && value <= 100),
  minimum_requests: whole(1, 1_000_000, 'requests'),
  cooldown_interval: whole(MIN_COOLDOWN_MS, DAY_S * 1000, 'milliseconds'),
  failure_status_codes: listOf('status codes', whole(100, 599), {least: 1}),
})

export const breaker: ConfigReader = (value, path, found) => {
  const before = found.issues.length
  const rule = breakerShape(value, path, found) as BreakerSaid | undefined
  if (!rule || !isObject(value) || found.issues.length > before) return undefined
  const {failure_threshold, failure_threshold_percentage, minimum_requests} = rule
  if (failure_threshold === undefined && failure_threshold_percentage === undefined)
    return refuse(found, path, 'never opens; expected failure_threshold or failure_threshold_percentage')
  if (minimum_requests !== undefined && failure_threshold_percentage === undefined)
    warn(found, placeOf(value, path, 'minimum_requests'), 'has no effect without failure_threshold_percentage')
  return rule
}

function retryKey(written: string): string {
  return snake(written).replace(/^use_retry_after_headers$/, 'use_retry_after_header')
}
