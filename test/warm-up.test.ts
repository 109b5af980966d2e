import {expect, test, vi} from 'vitest'
import {warmUp} from '../src/app/warm-up.ts'
import type {ProxyServices} from '../src/proxy/services.ts'
import {startGateway} from './support/gateway.ts'

const known = vi.hoisted(() => ({services: undefined as unknown}))
vi.mock('../src/proxy/proxy.ts', async original => {
  const real = await original<typeof import('../src/proxy/proxy.ts')>()
  const createProxy: typeof real.createProxy = services => {
    known.services ??= services
    return real.createProxy(services)
  }
  return {...real, createProxy}
})
const turn = () => new Promise<void>(done => setImmediate(done))

test('calls that have the way compiled are answered, and reach no journal, log or metric', async () => {
  const gateway = await startGateway()
  const page = async () => (await gateway.call('/metrics')).text()
  try {
    const lines = gateway.lines.length
    const {calls, answered} = await gateway.app.warmUp!()
    expect(calls).toBeGreaterThan(1)
    expect(answered).toBe(calls)
    const text = await page()
    expect(text).toContain('gateway_journal_waiting_bytes 0\n')
    expect(text).not.toMatch(/warm-up|provider="demo"/)
    expect(await gateway.logs()).toEqual([])
    expect(gateway.lines.slice(lines).join('\n')).not.toMatch(/warm-up|chat\/completions/)
    const hi = {model: 'echo', messages: [{role: 'user', content: 'hi'}]}
    expect((await gateway.chat(hi, {'x-gateway-provider': '@demo'})).status).toBe(200)
    expect(await gateway.logs()).toHaveLength(1)
  } finally {
    await gateway.close()
  }
})

test('calls of clients go first: none is made while one is in progress, and all of it has an end', async () => {
  known.services = undefined
  const gateway = await startGateway()
  const services = known.services as ProxyServices
  try {
    let waits = 0
    const pause = async (ms: number) => {
      waits++
      // a call is waited for no longer than this, which none of them needs
      if (ms >= 1_000) return new Promise<void>(() => undefined)
      await turn()
    }
    expect(await warmUp({services, isIdle: () => false, pause})).toEqual({calls: 0, answered: 0})
    expect(waits).toBeGreaterThan(10)
    let looks = 0
    let now_ms = 0
    const isIdle = () => ++looks % 2 === 0
    // each look at the clock takes a while, so that a few calls are all the work there may be
    const steady = () => {
      now_ms += 10
      return now_ms
    }
    const {calls, answered} = await warmUp({services: {...services, steady}, isIdle, pause})
    expect(calls).toBeGreaterThan(0)
    expect(calls).toBeLessThan(20)
    expect(answered).toBe(calls)
    expect(looks).toBeGreaterThanOrEqual(2 * calls)
  } finally {
    await gateway.close()
  }
})
