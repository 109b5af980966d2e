/** Upper bounds of the buckets of histograms: seconds of whole requests, and milliseconds of everything else. */
export interface MetricBuckets {
  readonly http_s: readonly number[]
  readonly ms: readonly number[]
}

/** Those of the compatible product, so that its dashboards fit. */
export const DEFAULT_BUCKETS: MetricBuckets = {
  http_s: [0.1, 1, 1.5, 2, 3, 5, 7, 10, 15, 20, 30, 45, 60, 90, 120, 240, 500, 1000, 3000],
  ms: [
    ...[0.1, 1, 2, 5, 10, 30, 50, 75, 100, 150, 200, 350, 500, 1000, 2500, 5000, 10_000, 50_000, 100_000],
    ...[300_000, 500_000, 10_000_000],
  ],
}

/** Counts by bucket, the last one beyond all bounds. */
export interface Durations {
  readonly counts: number[]
  sum: number
}

export function newDurations(bounds: readonly number[]): Durations {
  return {counts: new Array<number>(bounds.length + 1).fill(0), sum: 0}
}

/** Counts `value` in the first bucket whose bound is not below it. */
export function observe({counts}: Durations, bounds: readonly number[], value: number): void {
  let at = 0
  while (at < bounds.length && value > bounds[at]!) at++
  counts[at]!++
}
