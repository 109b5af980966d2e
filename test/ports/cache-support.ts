import {randomBytes} from 'node:crypto'
import {mkdtempSync, rmSync} from 'node:fs'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {createDatabaseCache} from '../../src/ports/cache/database.ts'
import type {Cache, CacheKey, KeptAnswers} from '../../src/ports/cache/index.ts'
import {createMemoryCache} from '../../src/ports/cache/memory.ts'
import {openRedisCache} from '../../src/ports/cache/redis.ts'
import {cacheTable, openCacheFile} from '../../src/store/cache.ts'
import {testStore} from '../support/stores.ts'
import {wipe} from './support.ts'

export type Kind = 'memory' | 'sqlite' | 'postgres' | 'redis'

/** Memory and SQLite always; the others where `TEST_DATABASE_URL` and `TEST_REDIS_URL` name servers. */
export const KINDS: readonly Kind[] = [
  'memory',
  'sqlite',
  ...(process.env.TEST_DATABASE_URL ? (['postgres'] as const) : []),
  ...(process.env.TEST_REDIS_URL ? (['redis'] as const) : []),
]

export interface TestCache {
  readonly cache: Cache & KeptAnswers
  /** The same answers, as another process would open them; in memory and in a file there is but the one. */
  again(): Promise<Cache & KeptAnswers>
  /** Bytes of all that is kept; null where nobody can say. */
  bytes(): Promise<number | null>
  close(): Promise<void>
}

export interface Bounds {
  readonly now: () => number
  readonly most_bytes: number
  readonly most_entry_bytes: number
}

/** An empty cache of `kind`. */
export async function testCache(kind: Kind, bounds: Bounds): Promise<TestCache> {
  if (kind === 'memory') {
    const cache = createMemoryCache(bounds)
    return {cache, again: async () => cache, bytes: async () => null, close: () => cache.close()}
  }
  if (kind === 'redis') {
    const tag = `test-${randomBytes(6).toString('hex')}`
    const opened: Cache[] = []
    const again = async () => {
      const cache = await openRedisCache({url: process.env.TEST_REDIS_URL!, tag, ...bounds})
      opened.push(cache)
      return cache
    }
    const close = async () => {
      for (const each of opened) await each.close()
      await wipe(tag)
    }
    return {cache: await again(), again, bytes: async () => null, close}
  }
  const {db, close} = kind === 'sqlite' ? testFile() : await testDatabase()
  const table = cacheTable(db)
  const again = async () => createDatabaseCache({table, ...bounds})
  const cache = await again()
  return {
    cache,
    again,
    bytes: () => table.bytes(),
    async close() {
      await cache.close()
      await close()
    },
  }
}

async function testDatabase() {
  const {store, close} = await testStore('postgres')
  return {db: store.db, close}
}

function testFile() {
  const folder = mkdtempSync(join(tmpdir(), 'gateway-cache-'))
  const {db, close} = openCacheFile({folder})
  return {
    db,
    async close() {
      await close()
      rmSync(folder, {recursive: true, force: true})
    },
  }
}

/** A key of its own for every name and workspace. */
export function key(name: string, workspace_id = 'w1'): CacheKey {
  return {workspace_id, digest: Buffer.from(`${workspace_id}/${name}`).toString('hex').padEnd(64, '0')}
}
