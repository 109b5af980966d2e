import {randomBytes} from 'node:crypto'
import {Redis, type RedisOptions} from 'iovalkey'
import type {CounterBounds} from './bounded.ts'
import type {Claim, Counters, Reserved} from './index.ts'
import {ADJUST, CORRECT, RESERVE, RESTORE, type Script, SETTLE, STANDINGS} from './redis-scripts.ts'
import {createRemote, type RemoteOptions} from './remote.ts'
import {BOUNDS, CORRECTABLE_MS, most, most64} from './rules.ts'

export interface RedisCountersOptions extends RemoteOptions, Partial<CounterBounds> {
  /** `redis://` or `rediss://`, with user, password and database where there are any. */
  readonly url: string
  readonly tls?: RedisOptions['tls']
  /** Installations that share a server are distinguished by it. */
  readonly tag?: string
  /** A connection that carries nothing for so long while a command waits is closed. @default 5000 */
  readonly silence_ms?: number
}

/** A counter whose period never ends is forgotten when it was not claimed for so long; the ledger still knows it. */
const IDLE_MS = 35 * 24 * 60 * 60 * 1000
/** Clocks differ a little: a counter outlives its period by this. */
const LINGER_MS = 60_000
/** Redis lost its counters between two questions at most so often before the store counts as silent. */
const MAX_GENERATIONS = 3

/**
 * Counters shared through Redis 6.2 or later: every method is one script, one round trip. All names share one hash tag,
 * so that a cluster keeps them in one place. Names carry a generation that a marker holds: when the marker is gone (a
 * restart without persistence, a flush), whatever is left of the old counters is not looked at again, and budgets are
 * rebuilt from the ledger. Resolves also while the server cannot be reached: the claims then fail open or closed, until
 * it can.
 */
export async function openRedisCounters({
  url,
  tls,
  tag = 'gateway',
  silence_ms = 5_000,
  ...options
}: RedisCountersOptions): Promise<Counters> {
  const {most_counters, most_of_group} = {...BOUNDS, ...options}
  const remote = createRemote(options)
  const redis = connectTo(url, tls, silence_ms, options.timeout_ms ?? 1_000)
  redis.on('error', fault => options.onFault?.(fault))
  const marker = `{${tag}}:generation`
  let generation = ''
  await remote.within(greet()).catch(() => undefined)

  const named = (key: string) => `{${tag}}:${generation}:${key}`
  const all = () => `{${tag}}:groups:${generation}`
  const groupName = (group: string | undefined) => (group === undefined ? '' : `{${tag}}:group:${generation}:${group}`)
  const reservation = (id: string) => `{${tag}}:reservation:${id}`
  const forgottenAt = (ends_at_ms: number) =>
    Math.trunc(Math.min(ends_at_ms, remote.time(options.now()) + IDLE_MS) + LINGER_MS)

  return {
    time: remote.time,
    reserve: (id, claims, deadline_ms) => remote.claim(claims, () => take(id, claims, deadline_ms)),
    extend: (id, claims) => remote.claim(claims, () => take(id, claims, null)),
    settle: async (id, {tokens, cost_nanousd}) => (await end(id, [tokens, cost_nanousd])) === 1,
    release: async id => (await end(id, ['release'])) === 1,
    async read(keys) {
      if (keys.length === 0) return []
      generation ||= (await remote.within(redis.get(marker))) ?? ''
      const values = await remote.within(redis.mget(keys.map(named)))
      return values.map(value => (value === null ? null : BigInt(value)))
    },
    async restore(bases, under) {
      const args = bases.flatMap(({used, ends_at_ms, group}) => [
        `${most64(used)}`,
        forgottenAt(ends_at_ms),
        groupName(group),
      ])
      const keys = [marker, all(), ...bases.map(({key}) => named(key))]
      if (under === generation) await run(RESTORE, keys, [under, most_of_group, most_counters, ...args])
    },
    async adjust(changes) {
      const keys = changes.map(({key}) => named(key))
      const amounts = changes.map(({amount}) => amount)
      if (changes.length > 0) await run(ADJUST, keys, amounts)
    },
    async restored() {
      generation ||= (await remote.within(redis.get(marker))) ?? ''
      const before = `{${tag}}:beside:${generation}:`
      const found = new Set<string>()
      let cursor = '0'
      do {
        const [next, names] = await remote.within(redis.scan(cursor, 'MATCH', `${escaped(before)}*`, 'COUNT', 1_000))
        for (const name of names) if (name.startsWith(before)) found.add(name.slice(before.length))
        cursor = next
      } while (cursor !== '0')
      return [...found]
    },
    async standings(keys) {
      if (keys.length === 0) return []
      generation ||= (await remote.within(redis.get(marker))) ?? ''
      const rows = (await run(STANDINGS, keys.map(named), [])) as [string, string, string][]
      return rows.map(([used, held, revision]) =>
        used === '' || revision === ''
          ? null
          : {used: BigInt(used), held: BigInt(held), revision: `${generation}/${revision}`},
      )
    },
    async correct(key, amount, revision) {
      const [made_in, own] = revision.split('/') as [string, string]
      if (made_in !== generation) return false
      return (await run(CORRECT, [named(key)], [`${amount}`, own, randomBytes(8).toString('hex')])) === 1
    },
    async close() {
      redis.disconnect()
    },
  }

  async function take<C extends Claim>(
    id: string,
    claims: readonly C[],
    deadline_ms: number | null,
  ): Promise<Reserved<C>> {
    const deadline =
      deadline_ms === null ? ['1', 0, 0] : ['0', Math.trunc(deadline_ms), Math.trunc(deadline_ms) + CORRECTABLE_MS]
    for (let tries = 0; tries < MAX_GENERATIONS; tries++) {
      const keys = [marker, reservation(id), all(), ...claims.map(({key}) => named(key))]
      const each = claims.flatMap(claim => [
        ...[claim.type, claim.amount, `${most(claim)}`, forgottenAt(claim.ends_at_ms), kind(claim)],
        groupName(claim.group),
      ])
      const next = randomBytes(8).toString('hex')
      const answer = await ask(keys, [generation, next, ...deadline, most_of_group, most_counters, ...each])
      const {word, list} = answer
      if (word === 'taken') return {outcome: 'taken', over: list.map(place => claims[Number(place) - 1]!)}
      if (word === 'refused') return {outcome: 'refused', claim: claims[Number(list[0]) - 1]!}
      if (word === 'missing')
        return {outcome: 'missing', claims: list.map(place => claims[Number(place) - 1]!), generation}
      if (word === 'full') return {outcome: 'full', claim: claims[Number(list[0]) - 1]!}
      if (word === 'unknown') return {outcome: 'unknown'}
      generation = String(list[0])
    }
    throw new Error('Redis loses its counters again and again.')
  }

  async function ask(keys: readonly string[], args: readonly (string | number)[]) {
    const [word, store_ms, list] = (await evaluate(RESERVE, keys, args)) as [
      string,
      string,
      readonly (string | number)[],
    ]
    remote.heard(Number(store_ms))
    return {word, list}
  }

  function run(script: Script, keys: readonly string[], args: readonly (string | number)[]): Promise<unknown> {
    return remote.within(evaluate(script, keys, args))
  }

  function end(id: string, args: readonly (string | number)[]): Promise<unknown> {
    return remote.patiently(evaluate(SETTLE, [reservation(id)], args))
  }

  async function evaluate(
    {lua, sha}: Script,
    keys: readonly string[],
    args: readonly (string | number)[],
  ): Promise<unknown> {
    try {
      return await redis.evalsha(sha, keys.length, ...keys, ...args)
    } catch (fault) {
      if (!(fault instanceof Error && fault.message.startsWith('NOSCRIPT'))) throw fault
      return redis.eval(lua, keys.length, ...keys, ...args)
    }
  }

  async function greet() {
    await redis.connect()
    const [seconds, micros] = await redis.time()
    remote.heard(Number(seconds) * 1000 + Math.trunc(Number(micros) / 1000))
    generation = (await redis.get(marker)) ?? ''
  }
}

function connectTo(url: string, tls: RedisCountersOptions['tls'], silence_ms: number, connection_ms: number): Redis {
  return new Redis(url, {
    ...(tls && {tls}),
    // A command is sent once or not at all: one that was sent again after a lost answer would count twice.
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    autoResendUnfulfilledCommands: false,
    lazyConnect: true,
    connectTimeout: connection_ms,
    socketTimeout: silence_ms,
    retryStrategy: times => Math.min(times * 100, 2_000),
  })
}

/** A text as a pattern that matches itself alone. */
const escaped = (text: string) => text.replace(/[\\*?[\]^-]/g, '\\$&')

function kind({rebuilds, mode}: Claim): string {
  return [rebuilds && 'rebuilds', mode === 'shadow' && 'shadow'].filter(Boolean).join(' ')
}
