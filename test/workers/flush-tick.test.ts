import {expect, test} from 'vitest'
import {FlushTick} from '../../src/workers/flush-tick.ts'

/** Some calls' worth of the journal. */
const CALL_BYTES = 1_500

/**
 * Steady calls, a flush of which takes so long: gives the longest time from a record to the end of its flush, once the
 * load has lasted for a while, and the records of the last flush.
 */
function underLoad({calls_per_s, flush_ms, for_ms = 5_000}: {calls_per_s: number; flush_ms: number; for_ms?: number}) {
  const tick = new FlushTick()
  let gathered: number[] = []
  let flush: {readonly records: readonly number[]; readonly ends_ms: number} | undefined
  let [longest_ms, last, left_ms] = [0, 0, undefined as number | undefined]
  for (let now_ms = 0, calls = 0; now_ms < for_ms; now_ms++) {
    for (; calls < (now_ms * calls_per_s) / 1000; calls++) {
      gathered.push(now_ms)
      tick.gathers(now_ms)
    }
    if (flush && now_ms >= flush.ends_ms) {
      if (now_ms > for_ms / 2) longest_ms = Math.max(longest_ms, now_ms - flush.records[0]!)
      last = flush.records.length
      flush = undefined
      tick.flushed(now_ms, gathered.length > 0)
    }
    if (flush || gathered.length === 0) continue
    left_ms ??= now_ms + tick.left(now_ms)
    if (now_ms < left_ms) continue
    left_ms = undefined
    flush = {records: gathered, ends_ms: now_ms + flush_ms}
    gathered = []
    tick.ordered(flush.records.length * CALL_BYTES, now_ms)
  }
  return {longest_ms, records: last}
}

test('at low load a record waits for 50 ms, and no longer than its flush behind that', () => {
  for (const calls_per_s of [1, 20, 150])
    expect(underLoad({calls_per_s, flush_ms: 5}).longest_ms).toBeLessThanOrEqual(56)
})

test('the more comes, the more of it shares a transaction', () => {
  const records = [100, 1_000, 2_000, 10_000].map(calls_per_s => underLoad({calls_per_s, flush_ms: 5}).records)
  expect(records).toEqual(records.toSorted((one, other) => one - other))
  expect(records.at(-1)).toBeGreaterThan(2_000)
})

test.each([5, 20, 60, 100, 150, 200, 240])('a record is seen in half a second where a flush takes %d ms', flush_ms => {
  for (const calls_per_s of [100, 1_000, 10_000])
    expect(underLoad({calls_per_s, flush_ms}).longest_ms).toBeLessThanOrEqual(500)
})

test('once the load is over the next record waits for 50 ms', () => {
  const tick = new FlushTick()
  tick.gathers(0)
  tick.ordered(1_000_000, 50)
  expect(tick.left(50)).toBe(250)
  tick.gathers(60)
  expect(tick.left(100)).toBe(210)
  tick.flushed(70, true)
  expect(tick.left(70)).toBe(240)
  tick.ordered(1_000_000, 310)
  tick.flushed(330, false)
  expect(tick.left(330)).toBe(50)
})

test('a clock that is set makes no record wait longer than a tick', () => {
  const tick = new FlushTick()
  tick.gathers(1_000_000)
  expect([tick.left(0), tick.left(10_000_000)]).toEqual([50, 0])
  tick.ordered(1_000_000, 0)
  tick.flushed(10_000_000, true)
  tick.gathers(10_000_000)
  tick.ordered(1_000_000, 10_000_050)
  expect(tick.left(10_000_050)).toBe(50)
})
