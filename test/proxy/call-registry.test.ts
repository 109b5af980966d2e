import {expect, test, vi} from 'vitest'
import {after} from '../../src/base/delay.ts'
import {CallRegistry, type LiveCall} from '../../src/proxy/call/registry.ts'
import {VirtualClock} from '../simulation/clock.ts'

const call = (on: Partial<LiveCall>): LiveCall => ({
  kind: 'call',
  slot: -1,
  check: () => undefined,
  stop: () => undefined,
  abort: () => undefined,
  ...on,
})

test('a call that was being settled when its time was over is told again, until it ends', async () => {
  vi.useFakeTimers()
  try {
    const live = new CallRegistry({steady: () => performance.now(), after}, () => undefined)
    let response = 0
    const one = call({abort: () => void (++response === 3 && live.delete(one))})
    live.add(one)
    const drained = live.drain(1000)
    await vi.advanceTimersByTimeAsync(999)
    expect(response).toBe(0)
    await vi.advanceTimersByTimeAsync(300)
    expect([response, live.size]).toEqual([3, 0])
    await drained
  } finally {
    vi.useRealTimers()
  }
})

test('what is under way is counted by its kind', () => {
  const live = new CallRegistry({steady: () => performance.now(), after}, () => undefined)
  const session = call({kind: 'realtime_session'})
  for (const each of [call({}), session, call({})]) live.add(each)
  expect(live.kinds).toEqual({call: 2, realtime_session: 1})
  live.delete(session)
  expect(live.kinds).toEqual({call: 2})
})

test('a call that never ends keeps no process', async () => {
  vi.useFakeTimers()
  try {
    const live = new CallRegistry({steady: () => performance.now(), after}, () => undefined)
    live.add(call({}))
    let is_over = false
    void live.drain(1000).then(() => {
      is_over = true
    })
    await vi.advanceTimersByTimeAsync(1200)
    expect(is_over).toBe(false)
    await vi.advanceTimersByTimeAsync(200)
    expect(is_over).toBe(true)
  } finally {
    vi.useRealTimers()
  }
})

test('a call whose look at its deadlines throws stops the looks of no other', () => {
  const clock = new VirtualClock()
  const live = new CallRegistry(clock, () => undefined)
  let looks = 0
  live.add(call({check: () => void looks++}))
  live.add(
    call({
      check() {
        throw new Error('broke')
      },
    }),
  )
  for (let at = 0; at < 3; at++) expect(() => clock.step()).toThrow('broke')
  expect(looks).toBe(3)
})
