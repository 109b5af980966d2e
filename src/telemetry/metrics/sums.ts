import type {Attributes, HistogramPoint, NumberPoint, OtlpMetric} from '../otlp/model.ts'
import type {Instrument} from './instruments.ts'
import type {Measurement} from './measurements.ts'

interface Series {
  readonly attributes: Attributes
  count: number
  sum: number
  min: number
  max: number
  /** Of a histogram: one more than its bounds. */
  readonly counts: number[]
}

/** Series of one metric; what is beyond them is one series, as the specification of the SDK has it. */
const MOST_SERIES = 2_000
const OVERFLOW: Attributes = [['otel.metric.overflow', true]]

/** Values of metrics from `start_us` on, put together by their attributes. */
export class MetricSums {
  readonly #start_us: number
  readonly #most: number
  readonly #metrics = new Map<string, {readonly of: Instrument; readonly series: Map<string, Series>}>()

  constructor(start_us: number, most_series = MOST_SERIES) {
    this.#start_us = start_us
    this.#most = most_series
  }

  add({of, attributes, value}: Measurement): void {
    const metric = this.#metrics.get(of.name) ?? {of, series: new Map()}
    this.#metrics.set(of.name, metric)
    const series = this.#seriesOf(metric.series, of, attributes)
    series.count++
    series.sum += value
    series.min = Math.min(series.min, value)
    series.max = Math.max(series.max, value)
    if (of.bounds) series.counts[placeIn(of.bounds, value)]!++
  }

  /** As they are now, cumulative. */
  metrics(now_us: number): readonly OtlpMetric[] {
    const times = {start_us: this.#start_us, time_us: Math.max(now_us, this.#start_us)}
    return [...this.#metrics.values()].map(({of, series}) => {
      const {name, description, unit, bounds} = of
      const each = [...series.values()]
      if (bounds === undefined) {
        const points: NumberPoint[] = each.map(({attributes, sum}) => ({attributes, ...times, value: sum}))
        return {name, description, unit, points: {kind: 'sum', of: points}}
      }
      const points: HistogramPoint[] = each.map(({counts, ...rest}) => ({
        ...rest,
        ...times,
        bounds,
        counts: [...counts],
      }))
      return {name, description, unit, points: {kind: 'histogram', of: points}}
    })
  }

  #seriesOf(all: Map<string, Series>, {bounds}: Instrument, given: Attributes): Series {
    const own = JSON.stringify(given)
    const known = all.get(own)
    if (known) return known
    // the one beyond the bound is among them
    const is_over = all.size >= this.#most - 1
    const attributes = is_over ? OVERFLOW : given
    const key = is_over ? JSON.stringify(OVERFLOW) : own
    const series = all.get(key) ?? {
      ...{attributes, count: 0, sum: 0, min: Number.POSITIVE_INFINITY, max: Number.NEGATIVE_INFINITY},
      counts: new Array<number>((bounds?.length ?? -1) + 1).fill(0),
    }
    all.set(key, series)
    return series
  }
}

/** The first bucket whose bound is not below the value. */
function placeIn(bounds: readonly number[], value: number): number {
  const found = bounds.findIndex(bound => value <= bound)
  return found < 0 ? bounds.length : found
}
