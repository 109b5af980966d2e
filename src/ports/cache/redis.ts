import {createHash} from 'node:crypto'
import {Redis, type RedisOptions} from 'iovalkey'
import type {KeptEntry, KeptFilter} from '../../schema/cache.ts'
import {isAlive} from './age.ts'
import type {Cache, CacheKey, FoundEntry, KeptAnswers} from './index.ts'
import {isMeant, keptPage} from './kept-page.ts'
import {markedText, marksIn} from './redis-marks.ts'

export interface RedisCacheOptions {
  /** `redis://` or `rediss://`, with user, password and database where there are any. */
  readonly url: string
  readonly tls?: RedisOptions['tls']
  /** Installations that share a server are distinguished by it. */
  readonly tag?: string
  readonly now: () => number
  /** All bodies together: counters live on the same server, and must have room. */
  readonly most_bytes?: number
  /** A longer answer is not kept. */
  readonly most_entry_bytes?: number
  /** A connection that carries nothing for so long while a command waits is closed. @default 5000 */
  readonly silence_ms?: number
  readonly onFault?: (fault: unknown) => void
}

/** Answers that are looked at, or deleted, by one command. */
const AT_ONCE = 500

/** A value is: version, when it was stored, when its time is over (both as doubles), the body. */
const VERSION = 1
const HEAD_BYTES = 17
/** Counted for a key, its place in the lists and its head. */
const KEY_BYTES = 512

/**
 * Answers shared through Redis 6.2 or later. Redis drops what is past its time; a list by the end of that time keeps
 * all together within the bound, the next to end going first. Resolves also while the server cannot be reached: calls
 * fail then, until it can.
 */
export async function openRedisCache(options: RedisCacheOptions): Promise<Cache & KeptAnswers> {
  const {
    url,
    tls,
    tag = 'gateway',
    now,
    most_bytes = 256 << 20,
    most_entry_bytes = 1 << 20,
    silence_ms = 5_000,
  } = options
  const redis = new Redis(url, {
    ...(tls && {tls}),
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    autoResendUnfulfilledCommands: false,
    lazyConnect: true,
    connectTimeout: 1_000,
    socketTimeout: silence_ms,
    retryStrategy: times => Math.min(times * 100, 2_000),
  })
  redis.on('error', fault => options.onFault?.(fault))
  await redis.connect().catch(() => undefined)
  const prefix = `{${tag}}:cache:`
  const lists = [`${prefix}ends`, `${prefix}sizes`, `${prefix}bytes`, `${prefix}marks`]
  const nameOf = ({workspace_id, digest}: CacheKey) => `${workspace_id}:${digest}`

  return {
    peek: () => undefined,
    async get(key) {
      const value = await redis.getBuffer(prefix + nameOf(key))
      const found = value && unpacked(value)
      return found && isAlive(found, now()) ? found : undefined
    },
    async set(key, {body, stored_at_ms}, ttl_ms) {
      const ttl = Math.trunc(ttl_ms)
      if (body.length > most_entry_bytes || ttl <= 0) return forget([key])
      const value = packed({body, stored_at_ms, expires_at_ms: now() + ttl})
      const size = body.length + KEY_BYTES
      await run(SET, [prefix, nameOf(key), value, ttl, size, most_bytes, markedText(key.about, stored_at_ms)])
    },
    delete: key => forget([key]),
    async purge(workspace_id) {
      let cursor = '0'
      do {
        const [next, found] = await redis.hscan(lists[1]!, cursor, 'MATCH', `${escaped(workspace_id)}:*`, 'COUNT', 500)
        const names = found.filter((_, at) => at % 2 === 0)
        if (names.length > 0) await run(DELETE, [prefix, ...names])
        cursor = next
      } while (cursor !== '0')
    },
    async list(filter, page) {
      // a scan may come by an answer twice
      const live = new Map<string, KeptEntry>()
      for await (const some of matching(filter))
        for (const each of some) if (each.expires_at_ms > now()) live.set(nameOf(each), each)
      return keptPage(
        [...live.values()].toSorted((one, other) => other.stored_at_ms - one.stored_at_ms),
        page,
      )
    },
    async clear(filter) {
      const names = new Set<string>()
      for await (const some of matching(filter)) for (const each of some) names.add(nameOf(each))
      const all = [...names]
      for (let at = 0; at < all.length; at += AT_ONCE) await run(DELETE, [prefix, ...all.slice(at, at + AT_ONCE)])
      return all.length
    },
    async close() {
      redis.disconnect()
    },
  }

  /** Answers that a filter means, some at a time; one that is written meanwhile may be among them or not. */
  async function* matching(filter: KeptFilter): AsyncGenerator<KeptEntry[]> {
    let cursor = '0'
    do {
      const [next, found] = await redis.hscan(lists[1]!, cursor, 'COUNT', AT_ONCE)
      const names = found.filter((_, at) => at % 2 === 0)
      if (names.length > 0) {
        const marks = await redis.hmget(lists[3]!, ...names)
        const ends = await redis.zmscore(lists[0]!, ...names)
        const entries = names.map((name, at) => {
          const cut = name.lastIndexOf(':')
          const bytes = Math.max(0, Number(found[2 * at + 1]) - KEY_BYTES)
          const place = {workspace_id: name.slice(0, cut), digest: name.slice(cut + 1)}
          return {...place, ...marksIn(marks[at]), expires_at_ms: Number(ends[at] ?? 0), bytes, log_id: null}
        })
        yield entries.filter(each => isMeant(each, filter))
      }
      cursor = next
    } while (cursor !== '0')
  }

  async function forget(keys: readonly CacheKey[]) {
    await run(DELETE, [prefix, ...keys.map(nameOf)])
  }

  async function run({lua, sha}: typeof SET, args: readonly (string | number | Buffer)[]): Promise<void> {
    try {
      await redis.evalsha(sha, lists.length, ...lists, ...args)
    } catch (fault) {
      if (!(fault instanceof Error && fault.message.startsWith('NOSCRIPT'))) throw fault
      await redis.eval(lua, lists.length, ...lists, ...args)
    }
  }
}

function packed({body, stored_at_ms, expires_at_ms}: FoundEntry): Buffer {
  const value = Buffer.allocUnsafeSlow(HEAD_BYTES + body.length)
  value.writeUInt8(VERSION, 0)
  value.writeDoubleBE(stored_at_ms, 1)
  value.writeDoubleBE(expires_at_ms, 9)
  body.copy(value, HEAD_BYTES)
  return value
}

function unpacked(value: Buffer): FoundEntry | undefined {
  if (value.length < HEAD_BYTES || value[0] !== VERSION) return undefined
  return {stored_at_ms: value.readDoubleBE(1), expires_at_ms: value.readDoubleBE(9), body: value.subarray(HEAD_BYTES)}
}

/** A workspace's id as a pattern that matches itself alone. */
const escaped = (text: string) => text.replace(/[\\*?[\]^-]/g, '\\$&')

const script = (lua: string) => ({lua, sha: createHash('sha1').update(lua).digest('hex')})

/** Takes names out of the lists, with what they mean: `ends` by time, `sizes` and `marks` by name, `bytes` in all. */
const FORGET = `
local prefix = ARGV[1]
local function forget(name)
  local size = redis.call('HGET', KEYS[2], name)
  if size then redis.call('DECRBY', KEYS[3], size) end
  redis.call('HDEL', KEYS[2], name)
  redis.call('HDEL', KEYS[4], name)
  redis.call('ZREM', KEYS[1], name)
  redis.call('UNLINK', prefix .. name)
end`

/** Arguments: prefix, name, value, milliseconds to keep it, its size, the most that all may take, its marks. */
const SET = script(`${FORGET}
local name, value, ttl, size, most = ARGV[2], ARGV[3], tonumber(ARGV[4]), tonumber(ARGV[5]), tonumber(ARGV[6])
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
forget(name)
if size > most then return end
for _, over in ipairs(redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', now, 'LIMIT', 0, 20)) do forget(over) end
while tonumber(redis.call('GET', KEYS[3]) or '0') + size > most do
  local next = redis.call('ZRANGE', KEYS[1], 0, 0)[1]
  if next then forget(next) else redis.call('DEL', KEYS[3], KEYS[2], KEYS[4]) end
end
redis.call('SET', prefix .. name, value, 'PX', ttl)
redis.call('ZADD', KEYS[1], now + ttl, name)
redis.call('HSET', KEYS[2], name, size)
redis.call('HSET', KEYS[4], name, ARGV[7])
redis.call('INCRBY', KEYS[3], size)`)

/** Arguments: prefix, names. */
const DELETE = script(`${FORGET}
for at = 2, #ARGV do forget(ARGV[at]) end`)
