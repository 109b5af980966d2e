import {expect, test} from 'vitest'
import {JournalPace, MOST_WAITING_BYTES} from '../../src/workers/journal-pace.ts'

const MB = 1024 * 1024
const SEGMENT_BYTES = 16 * MB

/** A journal whose writes and flushes the test makes. */
function journal() {
  const pace = new JournalPace({segment: 1, position: 0})
  const end = {segment: 1, position: 0}
  const writes = (bytes: number) => {
    for (let left = bytes; left > 0; ) {
      if (end.position === SEGMENT_BYTES) Object.assign(end, {segment: end.segment + 1, position: 0})
      const written = Math.min(left, MB, SEGMENT_BYTES - end.position)
      end.position += written
      left -= written
      pace.written({...end})
    }
  }
  /** A flush during which so much is written. */
  const flush = (bytes: number, was_hindered = false) => {
    pace.ordered()
    writes(bytes)
    return pace.flushed(was_hindered)
  }
  return {pace, writes, flush}
}

test('what waits is counted over the ends of segments', () => {
  const {pace, writes, flush} = journal()
  writes(40 * MB)
  expect(pace.waiting_bytes).toBe(40 * MB)
  flush(3 * MB)
  expect(pace.waiting_bytes).toBe(3 * MB)
})

test('calls that outrun the writer are refused while ever more waits, and taken again once it has caught up', () => {
  const {pace, flush} = journal()
  const grown = [10, 20, 40, 63].map(mb => flush(mb * MB))
  expect([grown, pace.is_outrun]).toEqual([[false, false, false, false], false])
  expect(flush(80 * MB)).toBe(true)
  expect(pace.is_outrun).toBe(true)
  expect(flush(0)).toBe(true)
  expect(pace.is_outrun).toBe(false)
})

test('a writer that is slow but catches up is no reason to refuse calls', () => {
  const {pace, flush} = journal()
  for (const mb of [60, 200, 150, 100, 70]) {
    flush(mb * MB, mb === 200)
    expect(pace.is_outrun).toBe(false)
  }
})

test('what an outage leaves behind is none, whether the database reported it or was silent', () => {
  for (const was_hindered of [true, false]) {
    const {pace, flush} = journal()
    flush(MB)
    flush(2_000 * MB, was_hindered)
    flush(90 * MB)
    flush(10 * MB)
    expect(pace.is_outrun).toBe(false)
  }
})

test('a database that takes nothing any more lets calls be taken', () => {
  const {pace, flush} = journal()
  for (const mb of [40, 80, 90]) flush(mb * MB)
  expect(pace.is_outrun).toBe(true)
  pace.hindered()
  expect(pace.is_outrun).toBe(false)
})

test('under growth of any speed no more than a few times the bound waits before calls are refused', () => {
  for (const growth of [1.1, 1.5, 2, 3]) {
    const {pace, flush} = journal()
    let bytes = MB
    while (!pace.is_outrun) {
      bytes = Math.floor(bytes * growth)
      flush(bytes)
    }
    expect(bytes).toBeLessThanOrEqual(MOST_WAITING_BYTES * Math.max(2, growth * growth))
  }
})
