import {Gauge, type Registry} from 'prom-client'
import type {Circuits} from '../../routing/breaker.ts'
import type {CallMetrics} from '../services.ts'

export interface MetricsOptions {
  readonly registry: Registry
  /** Adds the model as a label; models beyond those priced are `other`. */
  readonly with_model: boolean
  readonly isKnownModel: (provider: string, model: string) => boolean
}

const MS_BUCKETS = [1, 2, 5, 10, 25, 50, 100, 250, 500, 1000, 2500, 5000, 10_000, 30_000, 60_000, 120_000, 300_000]
/** Label sets remembered at once; each costs a row in every metric. */
const MAX_SERIES = 5000
const METHODS: ReadonlySet<string> = new Set(['GET', 'POST', 'PUT', 'DELETE', 'PATCH'])

/** Tells which targets of saved configs are left out now: 1 for each. */
export function circuitMetric(registry: Registry, circuits: Circuits, now: () => number): void {
  new Gauge({
    name: 'gateway_circuit_open',
    help: 'Targets of saved configs whose circuit breaker is open.',
    labelNames: ['config_id', 'workspace_id', 'target'],
    registers: [registry],
    collect() {
      this.reset()
      for (const {config_id, workspace_id, path, state} of circuits.list(now()))
        if (state === 'open') this.set({config_id, workspace_id, target: path}, 1)
    },
  })
}

interface Durations {
  readonly buckets: number[]
  sum: number
}

/** All that is counted under one set of labels: plain numbers, for every call adds to them. */
interface Series {
  readonly labels: string
  requests: number
  cost_nanousd: number
  tokens: number
  unpriced: number
  readonly total: Durations
  readonly upstream: Durations
  readonly overhead: Durations
}

/**
 * Counts calls for /metrics, in the names of the compatible product. Labels are bounded: kinds of provider, endpoints and statuses
 * are few; unknown methods and models are `other`. `text` gives the Prometheus text format (0.0.4).
 */
export function callMetrics({registry, with_model, isKnownModel}: MetricsOptions): CallMetrics & {text(): string} {
  let live = 0
  new Gauge({
    name: 'gateway_live_calls',
    help: 'Calls under way.',
    registers: [registry],
    collect() {
      this.set(live)
    },
  })
  const series = new Map<string, Series>()
  const unpriced = {unit: new Map<string, Without>(), mode: new Map<string, Without>()}
  const without = ({provider}: {readonly provider: string}, model: string, what: 'unit' | 'mode', name: string) => {
    const known = unpriced[what]
    const key = `${provider} ${name} ${model}`
    const one = known.get(key)
    if (one) one.calls++
    else if (known.size < MAX_SERIES) known.set(key, {labels: labelsIn({provider, [what]: name, ...(with_model && {model})}), calls: 1})
  }
  return {
    ended(facts) {
      const model = !with_model ? '' : facts.model !== null && isKnownModel(facts.provider, facts.model) ? facts.model : 'other'
      const key = `${facts.method} ${facts.endpoint} ${facts.status} ${facts.provider} ${facts.is_stream} ${facts.cache_status} ${model}`
      let one = series.get(key)
      if (!one) {
        if (series.size >= MAX_SERIES) return
        one = newSeries(labelsOf(facts, with_model ? model : null))
        series.set(key, one)
      }
      one.requests++
      one.cost_nanousd += facts.cost_nanousd
      one.tokens += facts.tokens
      if (facts.unpriced) one.unpriced++
      for (const unit of facts.unpriced_units ?? []) without(facts, model, 'unit', kindOf(unit))
      if (facts.mode_unpriced) without(facts, model, 'mode', facts.mode_unpriced)
      observe(one.total, facts.total_ms)
      if (facts.upstream_ms !== null) observe(one.upstream, facts.upstream_ms)
      observe(one.overhead, facts.overhead_ms)
    },
    live(count) {
      live = count
    },
    text() {
      const all = [...series.values()]
      return [
        counter('request_count', 'Calls that ended.', all, each => each.requests),
        histogram('http_request_duration_seconds', 'From the request to the last byte of its answer.', all, each => each.total, 1000),
        histogram('gateway_request_duration_milliseconds', 'From the request to the last byte of its answer.', all, each => each.total),
        histogram(
          'llm_request_duration_milliseconds',
          'From the request sent to the last byte of the provider’s answer.',
          all,
          each => each.upstream,
        ),
        histogram('gateway_processing_time_excluding_last_byte_ms', 'Time spent in the gateway itself.', all, each => each.overhead),
        counter('llm_cost_sum', 'US dollars spent.', all, each => each.cost_nanousd / 1e9),
        counter('llm_token_sum', 'Tokens used.', all, each => each.tokens),
        counter('unpriced_request_count', 'Calls that used something without a price.', all, each => each.unpriced),
        counter('unpriced_unit_count', 'Calls by what they used without a price.', [...unpriced.unit.values()], each => each.calls),
        counter('mode_unpriced_count', 'Calls by modes charged at the standard price.', [...unpriced.mode.values()], each => each.calls),
      ].join('')
    },
  }
}

function newSeries(labels: string): Series {
  const durations = (): Durations => ({buckets: new Array<number>(MS_BUCKETS.length + 1).fill(0), sum: 0})
  return {labels, requests: 0, cost_nanousd: 0, tokens: 0, unpriced: 0, total: durations(), upstream: durations(), overhead: durations()}
}

function observe(into: Durations, ms: number) {
  let bucket = 0
  while (bucket < MS_BUCKETS.length && ms > MS_BUCKETS[bucket]!) bucket++
  into.buckets[bucket]!++
  into.sum += ms
}

function labelsOf(facts: Parameters<CallMetrics['ended']>[0], model: string | null): string {
  const labels = {
    method: METHODS.has(facts.method) ? facts.method : 'other',
    endpoint: facts.endpoint,
    code: String(facts.status),
    provider: facts.provider,
    stream: facts.is_stream ? '1' : '0',
    cacheStatus: facts.cache_status,
    ...(model === null ? {} : {model}),
  }
  return labelsIn(labels)
}

function labelsIn(labels: Readonly<Record<string, string>>): string {
  return Object.entries(labels)
    .map(([name, value]) => `${name}="${value.replace(/\\/g, '\\\\').replace(/"/g, '\\"').replace(/\n/g, '\\n')}"`)
    .join(',')
}

/** A counter of calls by what had no price. */
interface Without {
  readonly labels: string
  calls: number
}

/** Images have as many units as clients have words for quality and size. */
function kindOf(unit: string): string {
  return unit.startsWith('image:') ? 'image' : unit
}

function counter<T extends {readonly labels: string}>(name: string, help: string, all: readonly T[], value: (one: T) => number): string {
  return `# HELP ${name} ${help}\n# TYPE ${name} counter\n${all.map(one => `${name}{${one.labels}} ${value(one)}\n`).join('')}`
}

function histogram(name: string, help: string, all: readonly Series[], of: (one: Series) => Durations, per = 1): string {
  const lines = all.map(one => {
    const {buckets, sum} = of(one)
    let count = 0
    const steps = buckets.map((here, at) => {
      count += here
      return `${name}_bucket{${one.labels},le="${at < MS_BUCKETS.length ? MS_BUCKETS[at]! / per : '+Inf'}"} ${count}\n`
    })
    return `${steps.join('')}${name}_sum{${one.labels}} ${sum / per}\n${name}_count{${one.labels}} ${count}\n`
  })
  return `# HELP ${name} ${help}\n# TYPE ${name} histogram\n${lines.join('')}`
}
