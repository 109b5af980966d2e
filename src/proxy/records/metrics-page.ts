import type {TimedStep} from '../services.ts'
import {type Durations, type MetricBuckets, newDurations, observe} from './metric-buckets.ts'

/** All that is counted under one set of labels: plain numbers, for every call adds to them. */
export interface CallSeries {
  readonly labels: string
  requests: number
  cost_nanousd: number
  input_tokens: number
  output_tokens: number
  unpriced: number
  readonly times: CallTimes
}

/** How long calls of one set of labels took, by `HISTOGRAMS`; null where none was measured. */
export interface CallTimes {
  readonly labels: string
  readonly durations: (Durations | null)[]
}

/** The times of a call in milliseconds; null for what it did not have. */
export interface TimesOfCall {
  readonly total_ms: number
  readonly upstream_ms: number | null
  readonly overhead_ms: number
  readonly auth_ms: number | null
  readonly plan_ms: number | null
  /** From the first byte of the provider’s answer to the last. */
  readonly last_byte_diff_ms: number | null
}

/** A counter of calls by what had no price. */
export interface UnpricedCalls {
  readonly labels: string
  calls: number
}

export interface CountedCalls {
  readonly series: readonly CallSeries[]
  readonly times: readonly CallTimes[]
  readonly units: readonly UnpricedCalls[]
  readonly modes: readonly UnpricedCalls[]
  readonly unknown: readonly UnpricedCalls[]
  /** Calls that were counted under labels that are all `other`, for want of room. */
  readonly dropped: number
  readonly steps: StepTimes
}

/** How long steps of calls took; null where none was measured. */
export type StepTimes = Record<TimedStep, Durations | null>

interface PageCounter<T> {
  readonly name: string
  readonly help: string
  /** Of this counter alone, with a comma before them. */
  readonly labels?: string
  value(one: T): number
}

const US_DOLLARS = 'US dollars spent.'
const UNPRICED_UNITS = 'Calls by what they used without a price.'
const tokensOf = ({input_tokens, output_tokens}: CallSeries) => input_tokens + output_tokens
const dollarsOf = ({cost_nanousd}: CallSeries) => cost_nanousd / 1e9

const COUNTERS: readonly (readonly PageCounter<CallSeries>[])[] = [
  [{name: 'request_count', help: 'Calls that ended.', value: each => each.requests}],
  [{name: 'llm_cost_sum', help: US_DOLLARS, value: dollarsOf}],
  [{name: 'llm_token_sum', help: 'Tokens used.', value: tokensOf}],
  [{name: 'unpriced_request_count', help: 'Calls that used something without a price.', value: each => each.unpriced}],
  [{name: 'gateway_cost_dollars_total', help: US_DOLLARS, value: dollarsOf}],
  (['input', 'output'] as const).map(direction => ({
    name: 'gateway_tokens_total',
    help: 'Tokens used, by direction.',
    labels: `,direction="${direction}"`,
    value: each => each[`${direction}_tokens`],
  })),
]
const UNITS: readonly PageCounter<UnpricedCalls>[] = ['unpriced_unit_count', 'gateway_unpriced_units_total'].map(
  name => ({name, help: UNPRICED_UNITS, value: each => each.calls}),
)
const MODES: PageCounter<UnpricedCalls> = {
  name: 'mode_unpriced_count',
  help: 'Calls by modes charged at the standard price.',
  value: each => each.calls,
}
const UNKNOWN: PageCounter<UnpricedCalls> = {
  name: 'usage_unknown_count',
  help: 'Calls whose reports of usage have numbers that nobody here knows.',
  value: each => each.calls,
}
const DROPPED = 'gateway_metric_series_dropped_total'

interface PageHistogram {
  readonly name: string
  readonly help: string
  readonly bounds: keyof MetricBuckets
  /** The name that the compatible product begins with its own (PROMETHEUS_COMPATIBLE_NAMES). */
  readonly compatible?: string
  of(times: TimesOfCall): number | null
}

const WHOLE = 'From the request to the last byte of its answer.'
const HISTOGRAMS: readonly PageHistogram[] = [
  {name: 'http_request_duration_seconds', help: WHOLE, bounds: 'http_s', of: ({total_ms}) => total_ms / 1000},
  {
    ...{name: 'gateway_request_duration_milliseconds', help: WHOLE, bounds: 'ms'},
    ...{compatible: 'portkey_request_duration_milliseconds', of: ({total_ms}) => total_ms},
  },
  {
    ...{name: 'llm_request_duration_milliseconds', bounds: 'ms', of: ({upstream_ms}) => upstream_ms},
    help: 'From the request sent to the last byte of the provider’s answer.',
  },
  {
    ...{
      name: 'gateway_processing_time_excluding_last_byte_ms',
      help: 'Time spent in the gateway itself.',
      bounds: 'ms',
    },
    ...{compatible: 'portkey_processing_time_excluding_last_byte_ms', of: ({overhead_ms}) => overhead_ms},
  },
  {
    ...{name: 'llm_last_byte_diff_duration_milliseconds', bounds: 'ms', of: each => each.last_byte_diff_ms},
    help: 'From the first byte of the provider’s answer to its last.',
  },
  {
    ...{name: 'authentication_duration_milliseconds', bounds: 'ms', of: ({auth_ms}) => auth_ms},
    help: 'Until it was known who calls.',
  },
  {
    ...{name: 'pre_request_processing_duration_milliseconds', bounds: 'ms', of: ({plan_ms}) => plan_ms},
    help: 'From there until the request left: config, guardrails, limits, cache.',
  },
  {
    ...{name: 'post_request_processing_duration_milliseconds', bounds: 'ms'},
    help: 'The rest of the time spent in the gateway itself.',
    of: ({overhead_ms, auth_ms, plan_ms}) =>
      auth_ms === null || plan_ms === null ? null : Math.max(0, overhead_ms - auth_ms - plan_ms),
  },
]

/** These have no labels but the bounds: two more histograms of every label set would leave room for fewer sets. */
const STEPS: Readonly<Record<TimedStep, {readonly name: string; readonly help: string}>> = {
  rate_limits: {
    name: 'api_key_rate_limit_check_duration_milliseconds',
    help: 'The check of the limits and budgets of the caller.',
  },
  cache: {
    name: 'llm_cache_processing_duration_milliseconds',
    help: 'The look into the cache, without the wait for a call that brings the same answer.',
  },
}

/** Characters of a value, mostly: a trillion calls. */
const VALUE_CHARS = 13
/** Characters of ` {}` and the line's end, and of `_bucket` with its `le`. */
const LINE_CHARS = 4
const BUCKET_CHARS = 20

/** About how many bytes the counters of one set of labels take in the page. */
export function bytesOfCounters(labels: string): number {
  const of_labels = Buffer.byteLength(labels)
  return COUNTERS.flat().reduce(
    (sum, {name, labels: own = ''}) => sum + name.length + own.length + of_labels + LINE_CHARS + VALUE_CHARS,
    0,
  )
}

/** About how many bytes the durations of one set of labels take in the page, if all are measured. */
export function bytesOfTimes(labels: string, {buckets, has_compatible_names}: PageFormat): number {
  const of_labels = Buffer.byteLength(labels)
  return HISTOGRAMS.reduce((sum, {name, compatible, bounds}) => {
    const times = has_compatible_names && compatible ? 2 : 1
    const of_line = name.length + of_labels + LINE_CHARS + BUCKET_CHARS + VALUE_CHARS
    return sum + times * (buckets[bounds].length + 3) * of_line
  }, 0)
}

export function newSeries(labels: string, times: CallTimes): CallSeries {
  return {labels, requests: 0, cost_nanousd: 0, input_tokens: 0, output_tokens: 0, unpriced: 0, times}
}

export function newTimes(labels: string): CallTimes {
  return {labels, durations: HISTOGRAMS.map(() => null)}
}

/** Counts the times of a call. */
export function observeAll({durations}: CallTimes, times: TimesOfCall, buckets: MetricBuckets): void {
  for (let at = 0; at < HISTOGRAMS.length; at++) {
    const {of, bounds} = HISTOGRAMS[at]!
    const value = of(times)
    if (value === null) continue
    const into = durations[at] ?? newDurations(buckets[bounds])
    durations[at] = into
    observe(into, buckets[bounds], value)
    into.sum += value
  }
}

/** Counts the time of a step. */
export function observeStep(steps: StepTimes, step: TimedStep, ms: number, buckets: MetricBuckets): void {
  const into = steps[step] ?? newDurations(buckets.ms)
  steps[step] = into
  observe(into, buckets.ms, ms)
  into.sum += ms
}

export interface PageFormat {
  readonly buckets: MetricBuckets
  /** Adds the names that begin with the product’s own. */
  readonly has_compatible_names: boolean
}

/** The Prometheus text format (0.0.4), piece by piece: their reader may pause between any two. */
export function* piecesOf(
  {series, times, units, modes, unknown, dropped, steps}: CountedCalls,
  {buckets, has_compatible_names}: PageFormat,
): Generator<string> {
  for (const of_one_name of COUNTERS) {
    yield headOf(of_one_name[0]!, 'counter')
    for (const counter of of_one_name) yield* counted(counter, series)
  }
  for (const counter of [...UNITS, MODES, UNKNOWN]) {
    yield headOf(counter, 'counter')
    yield* counted(counter, counter === MODES ? modes : counter === UNKNOWN ? unknown : units)
  }
  yield headOf({name: DROPPED, help: 'Calls that are counted as other, for want of room.'}, 'counter')
  yield `${DROPPED} ${dropped}\n`
  for (const [at, {name, compatible, help, bounds}] of HISTOGRAMS.entries())
    for (const each of has_compatible_names && compatible ? [name, compatible] : [name]) {
      yield headOf({name: each, help}, 'histogram')
      for (const {labels, durations} of times)
        if (durations[at]) yield bucketsOf(each, labels, durations[at], buckets[bounds])
    }
  for (const step of Object.keys(STEPS) as TimedStep[]) {
    yield headOf(STEPS[step], 'histogram')
    if (steps[step]) yield bucketsOf(STEPS[step].name, '', steps[step], buckets.ms)
  }
}

function* counted<T extends {readonly labels: string}>(
  {name, labels = '', value}: PageCounter<T>,
  all: readonly T[],
): Generator<string> {
  for (const one of all) yield `${name}{${one.labels}${labels}} ${value(one)}\n`
}

function headOf({name, help}: {readonly name: string; readonly help: string}, type: 'counter' | 'histogram'): string {
  return `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n`
}

function bucketsOf(name: string, labels: string, {counts, sum}: Durations, bounds: readonly number[]): string {
  let count = 0
  const before = labels && `${labels},`
  const lines = counts.map((here, at) => {
    count += here
    return `${name}_bucket{${before}le="${at < bounds.length ? bounds[at] : '+Inf'}"} ${count}\n`
  })
  const set = labels && `{${labels}}`
  return `${lines.join('')}${name}_sum${set} ${sum}\n${name}_count${set} ${count}\n`
}

/** Milliseconds that putting pieces together holds the event loop at a time. */
const SLICE_MS = 3

/** The pieces, slice by slice; others have their turn between. */
export async function joined(pieces: Iterable<string>): Promise<readonly string[]> {
  const all: string[] = []
  let slice = ''
  let ends_ms = performance.now() + SLICE_MS
  for (const piece of pieces) {
    slice += piece
    if (performance.now() < ends_ms) continue
    all.push(slice)
    slice = ''
    await new Promise(resolve => setImmediate(resolve))
    ends_ms = performance.now() + SLICE_MS
  }
  all.push(slice)
  return all
}
