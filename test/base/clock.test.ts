import fc from 'fast-check'
import {describe, expect, test} from 'vitest'
import {createClock, MAX_HELD_MS} from '../../src/base/clock.ts'

const NOON = Date.UTC(2026, 4, 6, 12)
const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

/** A machine whose time passes by `pass`, and whose clock is set by `set`. */
function machine() {
  let wall_ms = NOON
  let steady_ms = 5_000
  const clock = createClock({wall: () => wall_ms, steady: () => steady_ms})
  return {
    clock,
    pass(ms: number) {
      wall_ms += ms
      steady_ms += ms
    },
    set(by_ms: number) {
      wall_ms += by_ms
    },
    wall: () => wall_ms,
  }
}

describe('time that was seen does not come again', () => {
  test.each([1, 500, HOUR_MS, DAY_MS])(
    'a clock set back by %d ms goes on from there, and is followed again once it has caught up',
    by_ms => {
      const {clock, pass, set, wall} = machine()
      pass(10_000)
      const before = clock.now()
      set(-by_ms)
      expect(clock.now()).toBe(before)
      pass(1_000)
      expect(clock.now()).toBe(Math.max(before + 900, wall()))
      pass(10 * by_ms)
      expect(clock.now()).toBe(wall())
      pass(5)
      expect(clock.now()).toBe(wall())
    },
  )

  test('what went ahead is followed, and held for no longer when it is put right', () => {
    const {clock, pass, set, wall} = machine()
    clock.now()
    set(DAY_MS)
    expect(clock.now()).toBe(wall())
    set(-DAY_MS)
    const held = clock.now()
    expect(held).toBe(NOON + DAY_MS)
    pass(60_000)
    expect(clock.now()).toBe(held + 54_000)
  })

  test('a clock that was years ahead is believed when it is put right', () => {
    const {clock, set, wall} = machine()
    set(3650 * DAY_MS)
    clock.now()
    set(-3650 * DAY_MS)
    expect(clock.now()).toBe(wall())
  })

  test('a process goes on from what the one before saw, unless that is further off than is held', () => {
    const {clock, wall} = machine()
    expect(clock.seen(NOON + HOUR_MS)).toEqual({by_ms: -HOUR_MS, ahead_ms: HOUR_MS})
    expect(clock.now()).toBe(NOON + HOUR_MS)
    expect(clock.seen(NOON - HOUR_MS)).toBe(null)
    expect(clock.now()).toBe(NOON + HOUR_MS)
    const other = machine()
    expect(other.clock.seen(NOON + MAX_HELD_MS + 1)).toBe(null)
    expect(other.clock.now()).toBe(wall())
  })

  test('a step is told once, with how far it went', () => {
    const {clock, pass, set} = machine()
    pass(1_000)
    expect(clock.look()).toBe(null)
    set(-HOUR_MS)
    pass(1_000)
    expect(clock.look()).toMatchObject({by_ms: -HOUR_MS})
    pass(1_000)
    expect(clock.look()).toBe(null)
    set(2 * HOUR_MS)
    expect(clock.look()).toEqual({by_ms: 2 * HOUR_MS, ahead_ms: 0})
    set(-300)
    expect(clock.look()).toBe(null)
  })

  test('whatever the clock does: no later than it is or was, never back, never still for long', () => {
    const step = fc.record({
      pass_ms: fc.integer({min: 0, max: 5 * HOUR_MS}),
      set_ms: fc.integer({min: -DAY_MS, max: DAY_MS}),
    })
    fc.assert(
      fc.property(fc.array(step, {maxLength: 30}), steps => {
        const {clock, pass, set, wall} = machine()
        let last_ms = clock.now()
        for (const {pass_ms, set_ms} of steps) {
          set(set_ms)
          const is_held = last_ms - wall() <= MAX_HELD_MS
          const before_ms = clock.now()
          if (is_held) expect(before_ms).toBeGreaterThanOrEqual(last_ms)
          pass(pass_ms)
          const now_ms = clock.now()
          expect(now_ms - before_ms).toBeGreaterThanOrEqual(Math.floor(pass_ms * 0.9) - 1)
          expect(now_ms).toBeGreaterThanOrEqual(wall())
          expect(now_ms - wall()).toBeLessThanOrEqual(MAX_HELD_MS)
          last_ms = now_ms
        }
      }),
    )
  })
})
