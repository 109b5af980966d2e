import {afterEach, beforeEach, expect, test, vi} from 'vitest'
import {restAfterLoad} from '../../src/base/idle-memory.ts'

let rests = 0
let load = 0
let stop: () => void

beforeEach(() => {
  vi.useFakeTimers({toFake: ['setInterval', 'clearInterval']})
  rests = load = 0
  stop = restAfterLoad({load: () => load, rest: () => rests++})
})

afterEach(() => {
  stop()
  vi.useRealTimers()
})

/** Seconds at a load. */
function pass(seconds: number, at: number): number {
  load = at
  vi.advanceTimersByTime(seconds * 1000)
  return rests
}

test('memory is given back once, a minute after a load', () => {
  expect(pass(20, 0.8)).toBe(0)
  expect(pass(59, 0)).toBe(0)
  expect(pass(1, 0)).toBe(1)
  expect(pass(600, 0)).toBe(1)
  pass(1, 0.2)
  expect(pass(60, 0)).toBe(2)
})

test('a thread that had next to nothing to do has nothing to give back', () => {
  expect(pass(600, 0.02)).toBe(0)
  expect(pass(600, 0)).toBe(0)
})

test('loads that follow each other within a minute are one', () => {
  pass(5, 0.5)
  expect(pass(59, 0.02)).toBe(0)
  pass(1, 0.2)
  expect(pass(59, 0)).toBe(0)
  expect(pass(1, 0)).toBe(1)
})

test('nothing is given back once it is stopped', () => {
  pass(5, 0.5)
  stop()
  expect(pass(600, 0)).toBe(0)
})

test('the time that it takes itself is no load', () => {
  let busy = 0
  stop()
  stop = restAfterLoad({
    load() {
      const was = busy
      busy = 0
      return was
    },
    rest() {
      rests++
      busy = 0.1
    },
  })
  busy = 0.5
  pass(600, 0)
  expect(rests).toBe(1)
})
