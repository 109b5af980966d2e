import {randomBytes} from 'node:crypto'
import {Redis} from 'iovalkey'
import type {CounterBounds} from '../../src/ports/counters/bounded.ts'
import type {Claim, Counters} from '../../src/ports/counters/index.ts'
import {createMemoryCounters} from '../../src/ports/counters/memory.ts'
import {createPostgresCounters} from '../../src/ports/counters/postgres.ts'
import {openRedisCounters} from '../../src/ports/counters/redis.ts'
import {counterTable} from '../../src/store/counters.ts'
import {testStore} from '../support/stores.ts'

export type Kind = 'memory' | 'redis' | 'postgres'

const redis_url = process.env.TEST_REDIS_URL

/** Memory always; the others where `TEST_REDIS_URL` and `TEST_DATABASE_URL` name servers. */
export const KINDS: readonly Kind[] = [
  'memory',
  ...(redis_url ? (['redis'] as const) : []),
  ...(process.env.TEST_DATABASE_URL ? (['postgres'] as const) : []),
]

export interface TestCounters {
  readonly counters: Counters
  /** The same counters, as another process would open them; in memory there is but the one. */
  again(): Promise<Counters>
  close(): Promise<void>
}

/** New counters, all missing. */
export async function testCounters(kind: Kind, bounds: Partial<CounterBounds> = {}): Promise<TestCounters> {
  const opened: Counters[] = []
  const keep = (counters: Counters) => {
    opened.push(counters)
    return counters
  }
  const shared = {now: Date.now, timeout_ms: 10_000}
  if (kind === 'memory') {
    const counters = createMemoryCounters(bounds)
    counters.time(Date.now())
    return {counters, again: async () => counters, close: async () => undefined}
  }
  if (kind === 'redis') {
    const tag = `test-${randomBytes(6).toString('hex')}`
    const again = async () => keep(await openRedisCounters({url: redis_url!, tag, ...shared, ...bounds}))
    const close = async () => {
      for (const each of opened) await each.close()
      await wipe(tag)
    }
    return {counters: await again(), again, close}
  }
  const {store, close} = await testStore('postgres')
  const again = async () => createPostgresCounters({table: counterTable(store.db), ...shared, ...bounds})
  return {counters: await again(), again, close}
}

/** Takes all names of a tag out of the Redis of the tests. */
export async function wipe(tag: string) {
  const redis = new Redis(redis_url!)
  const names = await redis.keys(`{${tag}}:*`)
  if (names.length > 0) await redis.del(...names)
  redis.disconnect()
}

export const HOUR_MS = 3_600_000

/** One request of an hour's window, unless told otherwise. */
export function claim(
  key: string,
  given: Partial<Omit<Claim, 'key' | 'limit'>> & {limit?: number | bigint} = {},
): Claim {
  const {limit = 10, ...rest} = given
  return {
    key,
    label: `the limit ${key}`,
    type: 'requests',
    mode: 'compatible',
    amount: 1,
    ends_at_ms: Date.now() + HOUR_MS,
    rebuilds: false,
    ...rest,
    limit: BigInt(limit),
  }
}

export const soon = () => Date.now() + HOUR_MS
