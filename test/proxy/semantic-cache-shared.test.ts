import type {ServerResponse} from 'node:http'
import {afterAll, beforeAll, describe, expect, test} from 'vitest'
import {startGateway, type TestGateway} from '../support/gateway.ts'
import {gatewayOn} from '../support/gateway-on.ts'
import {chatReply, type FakeProvider, fakeProvider} from '../support/provider.ts'
import {KINDS} from '../support/stores.ts'

const SOON = {timeout: 3_000, interval: 100}
let answers = 0
const answer = (_: unknown, response: ServerResponse) =>
  response.setHeader('content-type', 'application/json').end(JSON.stringify(chatReply('m', `answer ${++answers}`)))

/** Redis has the answers of a gateway on either database; the vectors are in the database. */
const REDIS_URL = process.env.TEST_REDIS_URL
const PLACES: readonly Record<string, string>[] = [{}, ...(REDIS_URL ? [{REDIS_URL}] : [])]

describe.skipIf(!KINDS.includes('postgres')).each(PLACES)('two processes on one database, %o', place => {
  let provider: FakeProvider
  let first: Awaited<ReturnType<typeof gatewayOn>>
  let second: TestGateway
  let namespaces = 0
  beforeAll(async () => {
    provider = await fakeProvider(answer)
    first = await gatewayOn('postgres', {TRUSTED_CUSTOM_HOSTS: '127.0.0.1', ...place})
    second = await startGateway(first.shared)
    await first.provider('mock', 'openai', provider.url)
  }, 60_000)
  afterAll(async () => {
    await second.close()
    await first.close()
    await provider.close()
  })

  const asker = () => {
    const namespace = `shared-${Date.now()}-${namespaces++}`
    const headers = {
      'x-gateway-config': JSON.stringify({provider: '@mock', cache: {mode: 'semantic', max_age: 3600}}),
      'x-gateway-cache-namespace': namespace,
    }
    const status = async (gateway: TestGateway, content: string) => {
      const reply = await gateway.chat({model: 'gpt-4o-mini', messages: [{role: 'user', content}]}, headers)
      expect(reply.status, await reply.text()).toBe(200)
      return reply.headers.get('x-gateway-cache-status')
    }
    return {namespace, status}
  }

  test('SC28: one serves the entries of the other within 3 s, also where it had searched before', async () => {
    const {status} = asker()
    expect(await status(second, 'What is the capital of Peru?')).toBe('SEMANTIC MISS')
    expect(await status(first, 'How tall is Mont Blanc?')).toBe('SEMANTIC MISS')
    await first.app.flushed()
    const began = performance.now()
    let words = 0
    // each time in other blanks: the same request again would be found by its own answer
    await expect.poll(() => status(second, `how tall is mont blanc?${' '.repeat(++words)}`), SOON).toBe('SEMANTIC HIT')
    expect(performance.now() - began).toBeLessThan(3_000)
  })

  test('a clearing in one is one in both, of answers in memory and of entries', async () => {
    const {namespace, status} = asker()
    await status(first, 'Who wrote Faust?')
    await first.app.flushed()
    await expect.poll(() => status(second, 'Who wrote Faust?'), SOON).toBe('HIT')
    const cleared = await second.admin<{simple: number; semantic: number}>('POST', '/cache/clear', {namespace})
    expect(cleared.simple).toBe(1)
    expect(cleared.semantic).toBe(1)
    expect((await second.admin<{total: number}>('GET', `/cache/entries?namespace=${namespace}`)).total).toBe(0)
    const before = provider.received.length
    // what the first has in memory it drops after its next look at the revisions
    await expect.poll(() => status(first, 'Who wrote Faust?'), SOON).not.toBe('HIT')
    expect(provider.received.length).toBe(before + 1)
  })

  test('entries of one are listed by the other', async () => {
    const {namespace, status} = asker()
    await status(first, 'When did Rome fall?')
    await first.app.flushed()
    const total = async () =>
      (await second.admin<{total: number}>('GET', `/cache/entries?namespace=${namespace}`)).total
    await expect.poll(total, SOON).toBe(2)
  })
})
