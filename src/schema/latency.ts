/**
 * Latencies are counted in buckets, each a tenth wider than the one before: a value that is read of one is at most 5 %
 * off.
 */
const GROWTH = Math.log(1.1)

/** The bucket of so many whole milliseconds. */
export function latencyBucket(ms: number): number {
  return ms <= 1 ? 0 : Math.floor(Math.log(ms) / GROWTH)
}

/** The value for all latencies of a bucket, in milliseconds. */
export function bucketMs(bucket: number): number {
  return bucket === 0 ? 1 : Math.round(Math.exp((bucket + 0.5) * GROWTH))
}

/** The bucket of a natural logarithm of milliseconds, for SQL. */
export const LATENCY_GROWTH = GROWTH

/** The value that `share` (0 to 1) of all are at most; 0 where there are none. `counts` has calls by bucket. */
export function quantile(counts: ReadonlyMap<number, number>, share: number): number {
  const buckets = [...counts].sort(([one], [other]) => one - other)
  const all = buckets.reduce((sum, [, count]) => sum + count, 0)
  let left = Math.max(1, Math.ceil(all * share))
  for (const [bucket, count] of buckets) {
    left -= count
    if (left <= 0) return bucketMs(bucket)
  }
  return 0
}

/** Adds the calls of one bucket. */
export function addCount(counts: Map<number, number>, bucket: number, count: number): void {
  counts.set(bucket, (counts.get(bucket) ?? 0) + count)
}
