import {randomBytes} from 'node:crypto'
import {afterAll, beforeAll, describe, expect, test, vi} from 'vitest'
import type {Claim, Counters} from '../../src/ports/counters/index.ts'
import {startGateway, type TestGateway} from '../support/gateway.ts'
import {type FakeProvider, fakeProvider, type Heard} from '../support/provider.ts'
import {onServer} from '../support/stores.ts'

/**
 * What was asked of the counters, and when that began and was answered, counted in events of all gateways of this test.
 */
interface Recorded {
  readonly deed: 'take' | 'end'
  readonly id: string
  readonly key: string
  readonly amount: number
  readonly limit: bigint
  readonly fits: boolean
  readonly from: number
  to: number
}

const record = vi.hoisted(() => ({events: [] as unknown[], moment: 0}))
const events = record.events as Recorded[]

vi.mock('../../src/ports/counters/open.ts', async original => {
  const {openCounters} = await original<typeof import('../../src/ports/counters/open.ts')>()
  return {openCounters: async (...of: Parameters<typeof openCounters>) => recording(await openCounters(...of))}
})

function recording(counters: Counters): Counters {
  const take =
    (work: Counters['reserve'] | Counters['extend']) => (id: string, claims: readonly Claim[], deadline_ms: number) => {
      const from = ++record.moment
      const result = (reserved: Awaited<ReturnType<typeof work>>) => {
        const to = ++record.moment
        for (const {key, amount, limit, type} of claims) {
          if (type === 'cost' && (reserved.outcome === 'taken' || reserved.outcome === 'refused'))
            events.push({deed: 'take', id, key, amount, limit, fits: reserved.outcome === 'taken', from, to})
        }
        return reserved
      }
      const reserved = work(id, claims, deadline_ms)
      return reserved instanceof Promise ? reserved.then(result) : result(reserved)
    }
  const settle: Counters['settle'] = (id, actual) => {
    const event: Recorded = {
      deed: 'end',
      id,
      key: '',
      amount: actual.cost_nanousd,
      limit: 0n,
      fits: true,
      from: ++record.moment,
      to: 0,
    }
    const result = (known: boolean) => {
      event.to = ++record.moment
      events.push(event)
      return known
    }
    const known = counters.settle(id, actual)
    return known instanceof Promise ? known.then(result) : result(known)
  }
  return {
    ...counters,
    reserve: take(counters.reserve) as Counters['reserve'],
    extend: take(counters.extend) as Counters['extend'],
    settle,
  }
}

const STREAMS = 500
/** USD a token of gpt-4 (OpenAI, pricing): 60 a million of output. */
const WORD_NANOUSD = 60_000
const CHUNK_WORDS = 10
const LIMIT_NANOUSD = 1_000_000_000

/** A client's patience with a store that was silent: it is asked again a second later. */
const ASKED_AGAIN_MS = 300

const database = process.env.TEST_DATABASE_URL
const redis = process.env.TEST_REDIS_URL
const KINDS: [string, Record<string, string>, number][] = [['memory', {}, 1]]
if (database) KINDS.push(['PostgreSQL', {}, 2])
if (database && redis) KINDS.push(['PostgreSQL and Redis', {REDIS_URL: redis}, 2])

describe.each(KINDS)(`${STREAMS} parallel streams against a strict dollar, counters in %s`, (kind, env, processes) => {
  const name = `gateway_test_${randomBytes(6).toString('hex')}`
  let provider: FakeProvider
  const gateways: TestGateway[] = []

  beforeAll(async () => {
    provider = await fakeProvider(words)
    const shared: Record<string, string> =
      kind === 'memory'
        ? {}
        : {
            DATABASE_URL: Object.assign(new URL(database!), {pathname: `/${name}`}).href,
            GATEWAY_SEALING_KEY: Buffer.alloc(32, 5).toString('base64'),
          }
    if (kind !== 'memory') await onServer(`create database ${name}`)
    for (let n = 0; n < processes; n++)
      gateways.push(await startGateway({TRUSTED_CUSTOM_HOSTS: '127.0.0.1', ...shared, ...env}))
    await gateways[0]!.provider('main', 'openai', provider.url)
  }, 60_000)
  afterAll(async () => {
    for (const gateway of gateways) await gateway.close()
    await provider.close()
    if (kind !== 'memory') await onServer(`drop database ${name} with (force)`)
  })

  test('never spend more than it and a chunk each; none is refused that fits; nothing stays held', {
    timeout: 120_000,
  }, async () => {
    events.length = 0
    const [one] = gateways
    const [workspace] = (await one!.admin<{data: {id: string}[]}>('GET', '/admin/workspaces')).data
    const {key} = await one!.admin<{key: string}>('POST', '/api-keys/workspace/service', {
      name: 'a dollar',
      workspace_id: workspace!.id,
      scopes: ['completions.write'],
      usage_limits: {type: 'cost', credit_limit: 1, enforcement: 'strict'},
    })
    const ended = await Promise.all(
      Array.from({length: STREAMS}, async (_, n) => {
        const body = {
          model: 'gpt-4',
          stream: true,
          messages: [{role: 'user', content: `${100 + ((n * 37) % 500)} words`}],
        }
        const ask = () =>
          gateways[n % gateways.length]!.chat(body, {'x-gateway-api-key': key, 'x-gateway-provider': '@main'})
        let reply = await ask()
        // a store that has too much to do says nothing of the limit: the call is to be made again
        for (let again = 0; reply.status === 503 && again < 100; again++) {
          expect(await reply.text()).toContain('cannot be held now')
          await new Promise(resolve => setTimeout(resolve, ASKED_AGAIN_MS))
          reply = await ask()
        }
        const text = await reply.text()
        return {status: reply.status, words: text.match(/" one"/g)?.length ?? 0, is_whole: text.includes('[DONE]')}
      }),
    )
    const let_through = ended.filter(({status}) => status === 200)
    const cut = let_through.filter(({is_whole}) => !is_whole)
    expect(ended.filter(({status}) => status !== 200 && status !== 412)).toEqual([])
    expect(let_through.length).toBeGreaterThan(20)
    expect(ended.length - let_through.length).toBeGreaterThan(100)

    for (const gateway of gateways) await gateway.app.flushed()
    const logs = await settled(one!)
    const chunk_nanousd = CHUNK_WORDS * WORD_NANOUSD
    expect(logs).toBeLessThanOrEqual(LIMIT_NANOUSD + cut.length * chunk_nanousd)
    expect(logs).toBeGreaterThan(LIMIT_NANOUSD / 2)

    const takes = events.filter(({deed}) => deed === 'take')
    await expect.poll(() => unsettled(takes), {timeout: 30_000}).toEqual([])
    const refused = takes.filter(({fits}) => !fits)
    expect(refused.length).toBeGreaterThan(100)
    expect(refused.filter(each => usedBefore(each) + BigInt(each.amount) <= each.limit)).toEqual([])
    const left = takes.filter(({fits}) => fits).reduce((sum, {amount}) => sum + amount, 0)
    const given_back = ends().reduce((sum, {id, amount}) => sum + heldBy(id) - amount, 0)
    expect(left - given_back).toBe(logs)
  })

  const ends = () => events.filter(({deed, id}) => deed === 'end' && heldBy(id) > 0)
  const heldBy = (id: string) =>
    events.reduce((sum, each) => sum + (each.deed === 'take' && each.fits && each.id === id ? each.amount : 0), 0)
  const unsettled = (takes: readonly Recorded[]) => {
    const over = new Set(events.filter(({deed}) => deed === 'end').map(({id}) => id))
    return takes.filter(({fits, amount, id}) => fits && amount > 0 && !over.has(id)).map(({id}) => id)
  }

  /**
   * The most that can have been used and held when a claim was decided: what had begun to be taken, without what was
   * surely given back.
   */
  function usedBefore({from, to, key}: Recorded): bigint {
    let used = 0
    const held = new Map<string, number>()
    for (const each of events) {
      if (each.deed !== 'take' || !each.fits || each.key !== key || each.from >= to) continue
      used += each.amount
      held.set(each.id, (held.get(each.id) ?? 0) + each.amount)
    }
    for (const each of events) {
      const given_back = each.deed === 'end' && held.has(each.id) ? held.get(each.id)! - each.amount : 0
      // what came to more than was held counts as soon as it can have been said
      if (given_back > 0 ? each.to < from : each.from < to) used -= given_back
    }
    return BigInt(used)
  }
})

/** Nano-dollars that the ledger says were spent. */
async function settled(gateway: TestGateway): Promise<number> {
  let sum = 0
  for (let page = 0; ; page++) {
    const {data} = await gateway.admin<{data: {cost: number}[]}>('GET', `/logs?page_size=200&current_page=${page}`)
    for (const {cost} of data) sum += Math.round(cost * 10_000_000)
    if (data.length < 200) return sum
  }
}

/** Answers with as many words as it is asked for, a few at a time. */
function words({body}: Heard, response: Parameters<Parameters<FakeProvider['answer']>[0]>[1]) {
  const [, count = '0'] = /"content":"(\d+) words"/.exec(body.toString()) ?? []
  const event = (choices: unknown[], more = {}) =>
    `data: ${JSON.stringify({id: 'c', object: 'chat.completion.chunk', created: 1, model: 'gpt-4', choices, ...more})}\n\n`
  response.writeHead(200, {'content-type': 'text/event-stream'})
  let said = 0
  const more = () => {
    if (response.destroyed) return
    let text = ''
    for (let n = 0; n < CHUNK_WORDS && said < Number(count); n++, said++)
      text += event([{index: 0, delta: {content: ' one'}, finish_reason: null}])
    if (text) response.write(text)
    if (said < Number(count)) return void setTimeout(more, 5)
    response.write(event([], {usage: {prompt_tokens: 12, completion_tokens: said, total_tokens: 12 + said}}))
    response.end('data: [DONE]\n\n')
  }
  more()
}
