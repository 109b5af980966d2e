import type {CallMetrics} from '../services.ts'
import {extraOthers, labelsIn, type MetricLabels, OTHER} from './metric-labels.ts'
import {
  bytesOfCounters,
  bytesOfTimes,
  type CallSeries,
  type CallTimes,
  newSeries,
  newTimes,
  type PageFormat,
} from './metrics-page.ts'

/** The labels of a call whose values are not of a fixed set. */
export interface OpenLabels {
  readonly code: number | string
  readonly model: {readonly text: string; readonly is_known: boolean}
  /** Those that settings add, as text. */
  readonly extra: string
}

type Facts = Pick<
  Parameters<CallMetrics['ended']>[0],
  'method' | 'endpoint' | 'provider' | 'is_stream' | 'cache_status'
>

const METHODS: ReadonlySet<string> = new Set(['GET', 'POST', 'PUT', 'DELETE', 'PATCH'])
/** Statuses kept apart at one endpoint of one provider. */
const MAX_STATUSES = 16
/**
 * How much of the page label sets may take, in bytes. A set that comes when there is no more room counts under
 * labels that are all `other`. Durations take forty times what counts do, so that they have a room of their own.
 */
const COUNTERS_BYTES = 900_000
const TIMES_BYTES = 3_300_000
/** The part of it that is for labels whose values are known beforehand: misspelt names leave room for real ones. */
const KEPT_FOR_KNOWN = 0.1
/** The key of all that has no labels of its own. */
const OTHERS = ''
const ALL_OTHER = {method: OTHER, endpoint: OTHER, code: OTHER, provider: OTHER, stream: OTHER, cacheStatus: OTHER}

/** The room that label sets may take in the page, in bytes; `kept` of it is for known ones. */
interface Room {
  left: number
  readonly kept: number
}

/** The label sets of calls, as many as the page has room for. */
export class SeriesSets {
  /** The labels of what has no labels of its own. */
  readonly others: string
  readonly #wanted: MetricLabels
  readonly #format: PageFormat
  readonly #series = new Map<string, CallSeries>()
  readonly #times = new Map<string, CallTimes>()
  readonly #statuses = new Map<string, Set<number>>()
  readonly #room = {counters: roomOf(COUNTERS_BYTES), times: roomOf(TIMES_BYTES)}
  /** Most calls are counted where the last one was: their labels are compared, no key is made. */
  #last: (OpenLabels & {readonly facts: Facts; readonly one: CallSeries}) | null = null

  constructor(wanted: MetricLabels, format: PageFormat) {
    this.#wanted = wanted
    this.#format = format
    this.others = labelsIn({...ALL_OTHER, ...(wanted.model && {model: OTHER})}) + extraOthers(wanted, OTHER)
  }

  get series(): readonly CallSeries[] {
    return [...this.#series.values()]
  }

  get times(): readonly CallTimes[] {
    return [...this.#times.values()]
  }

  /** The set that a call is counted under. */
  of(facts: Facts, open: OpenLabels): CallSeries {
    const {code, model, extra} = open
    const last = this.#last
    if (
      last &&
      code === last.code &&
      model.text === last.model.text &&
      extra === last.extra &&
      hasSameLabels(facts, last.facts)
    )
      return last.one
    const one = this.#by(facts, open)
    this.#last = {...open, facts, one}
    return one
  }

  #by(facts: Facts, open: OpenLabels): CallSeries {
    const {code, model, extra} = open
    const {endpoint, provider, is_stream, cache_status} = facts
    const key = `${methodOf(facts)} ${endpoint} ${code} ${provider} ${is_stream} ${cache_status} ${model.text}\n${extra}`
    return this.#series.get(key) ?? this.#found(key, facts, open)
  }

  /** The set of calls that are counted for the first time under it. */
  #found(key: string, facts: Facts, {code, model, extra}: OpenLabels): CallSeries {
    const place = `${facts.provider} ${facts.endpoint}`
    const known = this.#statuses.get(place) ?? new Set()
    this.#statuses.set(place, known)
    if (typeof code === 'number' && !known.has(code)) {
      if (known.size >= MAX_STATUSES) return this.#by(facts, {code: OTHER, model, extra})
      known.add(code)
    }
    const labels = labelsOf(facts, code, this.#wanted.model ? model.text : null) + extra
    const is_known = model.is_known && this.#wanted.metadata.length === 0
    if (takes(this.#room.counters, bytesOfCounters(labels), is_known)) return this.#begun(key, labels, is_known)
    return this.#series.get(OTHERS) ?? this.#begun(OTHERS, this.others, true)
  }

  #begun(key: string, labels: string, is_known: boolean): CallSeries {
    const one = newSeries(labels, this.#timesOf(labels, is_known))
    this.#series.set(key, one)
    return one
  }

  #timesOf(labels: string, is_known: boolean): CallTimes {
    const fits = labels !== this.others && takes(this.#room.times, bytesOfTimes(labels, this.#format), is_known)
    const key = fits ? labels : OTHERS
    const one = this.#times.get(key) ?? newTimes(fits ? labels : this.others)
    this.#times.set(key, one)
    return one
  }
}

function roomOf(bytes: number): Room {
  return {left: bytes, kept: bytes * KEPT_FOR_KNOWN}
}

/** Takes `bytes` of the room, where there are so many for the likes of it. */
function takes(room: Room, bytes: number, is_known: boolean): boolean {
  if (room.left - (is_known ? 0 : room.kept) < bytes) return false
  room.left -= bytes
  return true
}

function methodOf({method}: Facts): string {
  return METHODS.has(method) ? method : OTHER
}

function hasSameLabels(one: Facts, other: Facts): boolean {
  return (
    one.endpoint === other.endpoint &&
    one.provider === other.provider &&
    one.method === other.method &&
    one.is_stream === other.is_stream &&
    one.cache_status === other.cache_status
  )
}

function labelsOf(facts: Facts, code: number | string, model: string | null): string {
  return labelsIn({
    method: methodOf(facts),
    endpoint: facts.endpoint,
    code: String(code),
    provider: facts.provider,
    stream: facts.is_stream ? '1' : '0',
    cacheStatus: facts.cache_status,
    ...(model === null ? {} : {model}),
  })
}
