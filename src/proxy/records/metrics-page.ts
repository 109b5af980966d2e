/** All that is counted under one set of labels: plain numbers, for every call adds to them. */
export interface CallSeries {
  readonly labels: string
  requests: number
  cost_nanousd: number
  tokens: number
  unpriced: number
  readonly times: CallTimes
}

/** How long calls of one set of labels took. */
export interface CallTimes {
  readonly labels: string
  readonly total: CallDurations
  readonly upstream: CallDurations
  readonly overhead: CallDurations
}

export interface CallDurations {
  readonly buckets: number[]
  sum: number
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
}

const MS_BUCKETS = [1, 2, 5, 10, 25, 50, 100, 250, 500, 1000, 2500, 5000, 10_000, 30_000, 60_000, 120_000, 300_000]

interface PageCounter<T> {
  readonly name: string
  readonly help: string
  value(one: T): number
}

const COUNTERS: readonly PageCounter<CallSeries>[] = [
  {name: 'request_count', help: 'Calls that ended.', value: each => each.requests},
  {name: 'llm_cost_sum', help: 'US dollars spent.', value: each => each.cost_nanousd / 1e9},
  {name: 'llm_token_sum', help: 'Tokens used.', value: each => each.tokens},
  {name: 'unpriced_request_count', help: 'Calls that used something without a price.', value: each => each.unpriced},
]
const UNITS: PageCounter<UnpricedCalls> = {
  name: 'unpriced_unit_count',
  help: 'Calls by what they used without a price.',
  value: each => each.calls,
}
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

interface PageHistogram {
  readonly name: string
  readonly help: string
  /** Milliseconds of one of its unit. */
  readonly per: number
  of(one: CallTimes): CallDurations
}

const WHOLE = 'From the request to the last byte of its answer.'
const HISTOGRAMS: readonly PageHistogram[] = [
  {name: 'http_request_duration_seconds', help: WHOLE, per: 1000, of: each => each.total},
  {name: 'gateway_request_duration_milliseconds', help: WHOLE, per: 1, of: each => each.total},
  {
    name: 'llm_request_duration_milliseconds',
    help: 'From the request sent to the last byte of the provider’s answer.',
    per: 1,
    of: each => each.upstream,
  },
  {
    name: 'gateway_processing_time_excluding_last_byte_ms',
    help: 'Time spent in the gateway itself.',
    per: 1,
    of: each => each.overhead,
  },
]

/** Characters of a value, mostly: a trillion calls. */
const VALUE_CHARS = 13
/** Characters of ` {}` and the line's end, and of `_bucket` with its `le`. */
const LINE_CHARS = 4
const BUCKET_CHARS = 20

/** About how many characters the counters of one set of labels take in the page. */
export function charsOfCounters(labels: string): number {
  return COUNTERS.reduce((sum, {name}) => sum + name.length + labels.length + LINE_CHARS + VALUE_CHARS, 0)
}

/** About how many characters the durations of one set of labels take in the page. */
export function charsOfTimes(labels: string): number {
  const lines = MS_BUCKETS.length + 3
  return HISTOGRAMS.reduce(
    (sum, {name}) => sum + lines * (name.length + labels.length + LINE_CHARS + BUCKET_CHARS + VALUE_CHARS),
    0,
  )
}

export function newSeries(labels: string, times: CallTimes): CallSeries {
  return {labels, requests: 0, cost_nanousd: 0, tokens: 0, unpriced: 0, times}
}

export function newTimes(labels: string): CallTimes {
  const durations = (): CallDurations => ({buckets: new Array<number>(MS_BUCKETS.length + 1).fill(0), sum: 0})
  return {labels, total: durations(), upstream: durations(), overhead: durations()}
}

export function observe(into: CallDurations, ms: number): void {
  let bucket = 0
  while (bucket < MS_BUCKETS.length && ms > MS_BUCKETS[bucket]!) bucket++
  into.buckets[bucket]!++
  into.sum += ms
}

export function labelsIn(labels: Readonly<Record<string, string>>): string {
  return Object.entries(labels)
    .map(([name, value]) => `${name}="${value.replace(/\\/g, '\\\\').replace(/"/g, '\\"').replace(/\n/g, '\\n')}"`)
    .join(',')
}

/** The Prometheus text format (0.0.4), piece by piece: their reader may pause between any two. */
export function* piecesOf({series, times, units, modes, unknown}: CountedCalls): Generator<string> {
  for (const counter of COUNTERS) yield* counted(counter, series)
  yield* counted(UNITS, units)
  yield* counted(MODES, modes)
  yield* counted(UNKNOWN, unknown)
  for (const {name, help, per, of} of HISTOGRAMS) {
    yield headOf(name, help, 'histogram')
    for (const one of times) yield stepsOf(name, one.labels, of(one), per)
  }
}

function* counted<T extends {readonly labels: string}>(
  {name, help, value}: PageCounter<T>,
  all: readonly T[],
): Generator<string> {
  yield headOf(name, help, 'counter')
  for (const one of all) yield `${name}{${one.labels}} ${value(one)}\n`
}

function headOf(name: string, help: string, type: 'counter' | 'histogram'): string {
  return `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n`
}

function stepsOf(name: string, labels: string, {buckets, sum}: CallDurations, per: number): string {
  let count = 0
  const steps = buckets.map((here, at) => {
    count += here
    return `${name}_bucket{${labels},le="${at < MS_BUCKETS.length ? MS_BUCKETS[at]! / per : '+Inf'}"} ${count}\n`
  })
  return `${steps.join('')}${name}_sum{${labels}} ${sum / per}\n${name}_count{${labels}} ${count}\n`
}

/** Milliseconds that putting pieces together holds the event loop at a time. */
const SLICE_MS = 5

/** The pieces as one text; others have their turn between. */
export async function joined(pieces: Iterable<string>): Promise<string> {
  const all: string[] = []
  let ends_ms = performance.now() + SLICE_MS
  for (const piece of pieces) {
    all.push(piece)
    if (performance.now() < ends_ms) continue
    await new Promise(resolve => setImmediate(resolve))
    ends_ms = performance.now() + SLICE_MS
  }
  return all.join('')
}
