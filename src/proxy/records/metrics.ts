import {STATUS_CODES} from 'node:http'
import {Gauge, type Registry} from 'prom-client'
import type {Circuits} from '../../routing/breaker.ts'
import type {CallMetrics} from '../services.ts'
import {
  type CallSeries,
  type CallTimes,
  charsOfCounters,
  charsOfTimes,
  joined,
  labelsIn,
  newSeries,
  newTimes,
  observe,
  piecesOf,
  type UnpricedCalls,
} from './metrics-page.ts'

export interface MetricsOptions {
  readonly registry: Registry
  /** Adds the model as a label; models beyond those priced are `other`. */
  readonly with_model: boolean
  readonly isKnownModel: (provider: string, model: string) => boolean
}

const METHODS: ReadonlySet<string> = new Set(['GET', 'POST', 'PUT', 'DELETE', 'PATCH'])
/** Statuses that have a meaning: those of HTTP, ours, and what proxies and vendors in front of providers made up. */
const STATUSES: ReadonlySet<number> = new Set([
  ...Object.keys(STATUS_CODES).map(Number),
  ...[246, 419, 420, 430, 444, 446, 449, 450, 460, 463, 494, 495, 496, 497, 498, 499],
  ...[509, 520, 521, 522, 523, 524, 525, 526, 527, 529, 530, 561, 598, 599],
])
const OTHER = 'other'
/** Statuses kept apart at one endpoint of one provider. */
const MAX_STATUSES = 16
/**
 * How much of the page label sets may take, in characters. A set that comes when there is no more room counts under
 * labels that are all `other`. Durations take twenty times what counts do, so that they have a room of their own.
 */
const COUNTERS_CHARS = 700_000
const TIMES_CHARS = 2_900_000
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

/** The room that label sets may take in the page. */
interface Room {
  left: number
}

/**
 * Counts calls for /metrics, in the names of the compatible product. Labels are bounded before they are label sets:
 * whatever callers and providers say, a method, status or model that is not known is `other`, and the page stays below
 * 4 MB. `text` gives the Prometheus text format (0.0.4).
 */
export function callMetrics({
  registry,
  with_model,
  isKnownModel,
}: MetricsOptions): CallMetrics & {text(): Promise<string>} {
  let live = 0
  new Gauge({
    name: 'gateway_live_calls',
    help: 'Calls under way.',
    registers: [registry],
    collect() {
      this.set(live)
    },
  })
  const others = labelsIn({...ALL_OTHER, ...(with_model && {model: OTHER})})
  const series = new Map<string, CallSeries>()
  const times = new Map<string, CallTimes>()
  const statuses = new Map<string, Set<number>>()
  const room = {counters: {left: COUNTERS_CHARS}, times: {left: TIMES_CHARS}}
  const unpriced = {unit: new Map<string, UnpricedCalls>(), mode: new Map<string, UnpricedCalls>()}
  const unknown = new Map<string, UnpricedCalls>()

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

  const timesOf = (labels: string): CallTimes => {
    const fits = labels !== others && takes(room.times, charsOfTimes(labels))
    const key = fits ? labels : OTHERS
    let one = times.get(key)
    if (!one) {
      one = newTimes(fits ? labels : others)
      times.set(key, one)
    }
    return one
  }

  const begun = (key: string, labels: string): CallSeries => {
    const one = newSeries(labels, timesOf(labels))
    series.set(key, one)
    return one
  }

  /** The label set of calls that are counted for the first time under it. */
  const found = (key: string, facts: Facts, code: number | string, model: string): CallSeries => {
    const place = `${facts.provider} ${facts.endpoint}`
    const known = statuses.get(place) ?? new Set()
    statuses.set(place, known)
    if (typeof code === 'number' && !known.has(code)) {
      if (known.size >= MAX_STATUSES) return seriesBy(facts, OTHER, model)
      known.add(code)
    }
    const labels = labelsOf(facts, code, with_model ? model : null)
    if (takes(room.counters, charsOfCounters(labels))) return begun(key, labels)
    return series.get(OTHERS) ?? begun(OTHERS, others)
  }

  /** Most calls are counted where the last one was: their labels are compared, no key is made. */
  let last: {
    readonly facts: Facts
    readonly code: number | string
    readonly model: string
    readonly one: CallSeries
  } | null = null

  function seriesOf(facts: Facts, code: number | string, model: string): CallSeries {
    if (last && code === last.code && model === last.model && hasSameLabels(facts, last.facts)) return last.one
    const one = seriesBy(facts, code, model)
    last = {facts, code, model, one}
    return one
  }

  function seriesBy(facts: Facts, code: number | string, model: string): CallSeries {
    const method = METHODS.has(facts.method) ? facts.method : OTHER
    const key = `${method} ${facts.endpoint} ${code} ${facts.provider} ${facts.is_stream} ${facts.cache_status} ${model}`
    return series.get(key) ?? found(key, facts, code, model)
  }

  return {
    ended(facts) {
      const model = !with_model
        ? ''
        : facts.model !== null && isKnownModel(facts.provider, facts.model)
          ? facts.model
          : OTHER
      const one = seriesOf(facts, STATUSES.has(facts.status) ? facts.status : OTHER, model)
      one.cost_nanousd += facts.cost_nanousd
      one.tokens += facts.tokens
      if (facts.unpriced) one.unpriced++
      for (const unit of facts.unpriced_units ?? []) without(facts.provider, model, 'unit', kindOf(unit))
      if (facts.mode_unpriced) without(facts.provider, model, 'mode', facts.mode_unpriced)
      if (facts.usage_unknown && facts.usage_unknown.length > 0) withUnknown(facts.provider)
      if (facts.is_part) return
      one.requests++
      observe(one.times.total, facts.total_ms)
      if (facts.upstream_ms !== null) observe(one.times.upstream, facts.upstream_ms)
      observe(one.times.overhead, facts.overhead_ms)
    },
    live(count) {
      live = count
    },
    text: () =>
      joined(
        piecesOf({
          series: [...series.values()],
          times: [...times.values()],
          units: [...unpriced.unit.values()],
          modes: [...unpriced.mode.values()],
          unknown: [...unknown.values()],
        }),
      ),
  }
}

type Facts = Parameters<CallMetrics['ended']>[0]

function hasSameLabels(one: Facts, other: Facts): boolean {
  return (
    one.endpoint === other.endpoint &&
    one.provider === other.provider &&
    one.method === other.method &&
    one.is_stream === other.is_stream &&
    one.cache_status === other.cache_status
  )
}

/** The key of what has labels of its own no more. */
const OTHERS = ''
const ALL_OTHER = {method: OTHER, endpoint: OTHER, code: OTHER, provider: OTHER, stream: OTHER, cacheStatus: OTHER}

/** Takes `chars` of the room, where there are so many. */
function takes(room: Room, chars: number): boolean {
  if (room.left < chars) return false
  room.left -= chars
  return true
}

function labelsOf(facts: Facts, code: number | string, model: string | null): string {
  return labelsIn({
    method: METHODS.has(facts.method) ? facts.method : OTHER,
    endpoint: facts.endpoint,
    code: String(code),
    provider: facts.provider,
    stream: facts.is_stream ? '1' : '0',
    cacheStatus: facts.cache_status,
    ...(model === null ? {} : {model}),
  })
}

/** Images have as many units as clients have words for quality and size. */
function kindOf(unit: string): string {
  return unit.startsWith('image:') ? 'image' : unit
}
