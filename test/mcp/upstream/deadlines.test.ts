import {expect, test} from 'vitest'
import {CallDeadlines} from '../../../src/mcp/upstream/deadlines.ts'
import {Timers} from '../../support/timers.ts'

const TIMES = {total_ms: 1_000, idle_ms: 100, first_byte_ms: 300}

function begun(times: ConstructorParameters<typeof CallDeadlines>[1] = TIMES) {
  const timers = new Timers(0)
  const deadlines = new CallDeadlines({steady: timers.now, after: timers.after}, times, 'fixture')
  let ended: [number, string] | null = null
  deadlines.signal.addEventListener('abort', () => {
    const {message, facts} = deadlines.signal.reason as Error & {facts: {deadline: string}}
    expect(message).toMatch(/^The MCP server fixture did not answer within \d+ ms\.$/)
    ended = [timers.now_ms, facts.deadline]
  })
  return {deadlines, timers, pass: (ms: number) => timers.pass(ms, () => Promise.resolve()), ended: () => ended}
}

test('the head of the reply has its own time', async () => {
  const {pass, ended} = begun()
  await pass(299)
  expect(ended()).toBeNull()
  await pass(1)
  expect(ended()).toEqual([300, 'first byte'])
})

test('without one of its own it has the idle time', async () => {
  const {pass, ended} = begun({total_ms: 1_000, idle_ms: 100})
  await pass(500)
  expect(ended()).toEqual([100, 'first byte'])
})

test('a message begins the idle time again, never the total', async () => {
  const {deadlines, pass, ended} = begun()
  await pass(250)
  deadlines.begun()
  for (let messages = 0; messages < 7; messages++) {
    await pass(99)
    deadlines.touched()
  }
  expect(ended()).toBeNull()
  await pass(55)
  deadlines.touched()
  await pass(500)
  expect(ended()).toEqual([1_000, 'total'])
})

test('silence ends it', async () => {
  const {deadlines, pass, ended} = begun()
  deadlines.begun()
  await pass(60)
  deadlines.touched()
  await pass(500)
  expect(ended()).toEqual([160, 'idle'])
})

test('time of others does not count as idle, but in all', async () => {
  const {deadlines, pass, ended} = begun()
  deadlines.begun()
  const {promise, resolve} = Promise.withResolvers<void>()
  const aside = deadlines.aside(() => promise)
  await pass(700)
  expect(ended()).toBeNull()
  resolve()
  await aside
  await pass(99)
  expect(ended()).toBeNull()
  await pass(1)
  expect(ended()).toEqual([800, 'idle'])
})

test('time in which a question waits counts nowhere, for ten minutes', async () => {
  const {deadlines, pass, ended} = begun()
  deadlines.begun()
  await pass(50)
  deadlines.hold()
  deadlines.hold()
  await pass(300_000)
  deadlines.release()
  await pass(200_000)
  deadlines.release()
  deadlines.release()
  await pass(90)
  expect(ended()).toBeNull()
  deadlines.hold()
  await pass(600_000)
  expect(ended()).toBeNull()
  await pass(100)
  expect(ended()).toEqual([500_050 + 90 + 600_000 + 100, 'idle'])
})

test('what is over leaves no timer, and begins none', async () => {
  const {deadlines, timers, pass, ended} = begun()
  deadlines.begun()
  await deadlines.aside(async () => deadlines.clear())
  deadlines.hold()
  deadlines.release()
  expect(timers.waiting).toBe(0)
  await pass(5_000)
  expect(ended()).toBeNull()
})

test('it ends once, for its first reason', () => {
  const {deadlines} = begun()
  const fault = new Error('The MCP server fixture did not answer within 1 ms.')
  Object.assign(fault, {facts: {deadline: 'x'}})
  deadlines.end(fault)
  deadlines.end(new Error('another'))
  expect(deadlines.signal.reason).toBe(fault)
})
