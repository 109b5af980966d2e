import {STATUS_CODES} from 'node:http'
import {LRUCache} from 'lru-cache'
import {Gauge, type Registry} from 'prom-client'
import type {Circuits} from '../../routing/breaker.ts'
import type {CallMetrics} from '../services.ts'
import {DEFAULT_BUCKETS, type MetricBuckets} from './metric-buckets.ts'
import {extraLabels, labelsIn, type MetricLabels, type NamesOfRows, OTHER} from './metric-labels.ts'
import {type OpenLabels, SeriesSets} from './metric-series.ts'
import {joined, observeAll, observeStep, piecesOf, type StepTimes, type UnpricedCalls} from './metrics-page.ts'

export interface MetricsOptions {
  readonly registry: Registry
  /** With the model, models beyond those that are known are `other`. */
  readonly labels: MetricLabels
  readonly names: NamesOfRows
  /** Of the price list, or of an integration. */
  readonly isKnownModel: (provider: string, model: string) => boolean
  readonly buckets?: MetricBuckets
  readonly has_compatible_names?: boolean
}

/** Statuses that have a meaning: those of HTTP, ours, and what proxies and vendors in front of providers made up. */
const STATUSES: ReadonlySet<number> = new Set([
  ...Object.keys(STATUS_CODES).map(Number),
  ...[246, 419, 420, 430, 444, 446, 449, 450, 460, 463, 494, 495, 496, 497, 498, 499],
  ...[509, 520, 521, 522, 523, 524, 525, 526, 527, 529, 530, 561, 598, 599],
])
/** A model that is not known is a label of its own when calls of it have succeeded so often. */
const ANSWERED_OFTEN = 3
const MOST_ANSWERED = 2000
/** Of what had no price, and of open circuits. */
const MAX_WITHOUT = 500
const MAX_CIRCUITS = 500

/** Tells which targets of saved configs are left out now: 1 for each. */
export function circuitMetric(registry: Registry, circuits: Circuits, now: () => number): void {
  new Gauge({
    name: 'gateway_circuit_open',
    help: 'Targets of saved configs whose circuit breaker is open.',
    labelNames: ['config_id', 'workspace_id', 'target'],
    registers: [registry],
    collect() {
      this.reset()
      const open = circuits.list(now()).filter(({state}) => state === 'open')
      for (const {config_id, workspace_id, path} of open.slice(0, MAX_CIRCUITS))
        this.set({config_id, workspace_id, target: path}, 1)
    },
  })
}

/**
 * Counts calls for /metrics, in the names of the compatible product. Labels are bounded before they are label sets:
 * whatever callers and providers say, a method, status or model that is not known is `other`, and the page stays below
 * 5 MB. `page` gives the Prometheus text format (0.0.4).
 */
export function callMetrics({
  registry,
  labels: wanted,
  names,
  isKnownModel,
  buckets = DEFAULT_BUCKETS,
  has_compatible_names = false,
}: MetricsOptions): CallMetrics & {page(): Promise<readonly string[]>} {
  const {model: with_model} = wanted
  const extraOf = extraLabels(wanted, names)
  let live = 0
  let dropped = 0
  new Gauge({
    name: 'gateway_live_calls',
    help: 'Calls under way.',
    registers: [registry],
    collect() {
      this.set(live)
    },
  })
  const format = {buckets, has_compatible_names}
  const sets = new SeriesSets(wanted, format)
  const answered = new LRUCache<string, number>({max: MOST_ANSWERED})
  const unpriced = {unit: new Map<string, UnpricedCalls>(), mode: new Map<string, UnpricedCalls>()}
  const unknown = new Map<string, UnpricedCalls>()
  const steps: StepTimes = {rate_limits: null, cache: null}

  const without = (provider: string, model: string, what: 'unit' | 'mode', name: string) => {
    const known = unpriced[what]
    const key = `${provider} ${name} ${model}`
    const one = known.get(key)
    if (one) one.calls++
    else if (known.size < MAX_WITHOUT || provider === OTHER)
      known.set(key, {labels: labelsIn({provider, [what]: name, ...(with_model && {model})}), calls: 1})
    else without(OTHER, OTHER, what, OTHER)
  }

  /** By kind alone: the words are the provider's. */
  const withUnknown = (provider: string) => {
    const one = unknown.get(provider)
    if (one) one.calls++
    else unknown.set(provider, {labels: labelsIn({provider}), calls: 1})
  }

  /** The label that a call has of its model: what callers and providers make up is not in it. */
  const modelOf = ({provider, model, status, upstream_ms}: Facts): OpenLabels['model'] => {
    if (!with_model) return NO_MODEL
    if (model === null) return OTHER_MODEL
    if (isKnownModel(provider, model)) return {text: model, is_known: true}
    const key = `${provider} ${model}`
    const often = answered.get(key) ?? 0
    if (status >= 200 && status < 300 && upstream_ms !== null && often < ANSWERED_OFTEN) answered.set(key, often + 1)
    return often >= ANSWERED_OFTEN ? {text: model, is_known: false} : OTHER_MODEL
  }

  return {
    ended(facts) {
      const model = modelOf(facts)
      const code = STATUSES.has(facts.status) ? facts.status : OTHER
      const one = sets.of(facts, {code, model, extra: extraOf(facts)})
      if (one.labels === sets.others) dropped++
      one.cost_nanousd += facts.cost_nanousd
      one.input_tokens += facts.input_tokens
      one.output_tokens += facts.output_tokens
      if (facts.unpriced) one.unpriced++
      for (const unit of facts.unpriced_units ?? []) without(facts.provider, model.text, 'unit', kindOf(unit))
      if (facts.mode_unpriced) without(facts.provider, model.text, 'mode', facts.mode_unpriced)
      if (facts.usage_unknown && facts.usage_unknown.length > 0) withUnknown(facts.provider)
      if (facts.is_part) return
      one.requests++
      observeAll(one.times, facts, buckets)
    },
    took(step, ms) {
      observeStep(steps, step, ms, buckets)
    },
    live(count) {
      live = count
    },
    page: () =>
      joined(
        piecesOf(
          {
            series: sets.series,
            times: sets.times,
            units: [...unpriced.unit.values()],
            modes: [...unpriced.mode.values()],
            unknown: [...unknown.values()],
            dropped,
            steps,
          },
          format,
        ),
      ),
  }
}

const NO_MODEL = {text: '', is_known: true}
const OTHER_MODEL = {text: OTHER, is_known: true}

type Facts = Parameters<CallMetrics['ended']>[0]

/** Images have as many units as clients have words for quality and size. */
function kindOf(unit: string): string {
  return unit.startsWith('image:') ? 'image' : unit
}
