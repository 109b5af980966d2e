import {Redis} from 'iovalkey'
import {createLimits, type EntityLimit, type Limits} from '../../src/limits/index.ts'
import {compilePolicies, type Policy, type PolicyFacts} from '../../src/limits/policies.ts'
import type {Counters} from '../../src/ports/counters/index.ts'
import {createMemoryCounters} from '../../src/ports/counters/memory.ts'
import {openRedisCounters} from '../../src/ports/counters/redis.ts'
import {keepRateLimits, keepUsageLimits, RateLimit, UsageLimit} from '../../src/schema/limits.ts'
import {keepRateTerms, keepUsageTerms} from '../../src/schema/policies.ts'

/**
 * Microseconds that a call may cost: what covers it of many policies, and its admission under five limits with counters
 * in memory.
 */
const MAX_US = {match: 50, admit: 15}
const POLICIES = 10_000
const ENTITIES = 100_000
/** Each has as many entities as policies cover it: three of everybody's, two of its team's. */
const USERS = ENTITIES / 5
const CALLS = 200_000
const SHARED_CALLS = 2_000
const SET_AT = '2026-01-01T00:00:00.000Z'

/** A team has ten policies in two hundred; a few cover everybody, as they do in most places. */
function policies(): Policy[] {
  const general = [{key: 'metadata._user', value: '*'}]
  return Array.from({length: POLICIES}, (_, at): Policy => {
    const team = [{key: 'metadata.team', value: `team-${at % 5000}`}]
    const conditions =
      at < 3
        ? general
        : at % 2
          ? [...team, {key: 'model', value: '@main/*'}]
          : [...team, {key: 'provider', value: ['openai', 'anthropic']}]
    const usage = at % 2 ? keepUsageTerms({type: 'cost', credit_limit: 1e6, periodic_reset: 'weekly'}, SET_AT) : null
    const rates = at % 2 ? null : keepRateTerms({type: 'requests', unit: 'rpd', value: 1e9})
    return {
      id: `p${at}`,
      name: null,
      workspace_id: 'ws',
      conditions,
      group_by: [{key: 'metadata._user'}],
      usage,
      rates,
      resets: new Map(),
    }
  })
}

function factsOf(user: number): PolicyFacts {
  const said: Record<string, readonly string[]> = {
    api_key: ['key'],
    provider: ['openai'],
    model: ['@main/gpt-4o', '@main/*', '@openai/gpt-4o', '@openai/*', 'gpt-4o'],
    'metadata._user': [`user-${user}`],
    'metadata.team': [`team-${user % 5000}`],
  }
  return {names: key => said[key] ?? null, group: key => said[key]?.[0] ?? null}
}

const budget = keepUsageLimits([UsageLimit.parse({credit_limit: 1e9, periodic_reset: 'monthly'})], null, SET_AT)
const rate = (type: 'requests' | 'tokens') => keepRateLimits([RateLimit.parse({type, unit: 'rpd', value: 1e12})])

/**
 * Five limits: a budget and a rate of the key, a rate of the workspace, a budget of the provider, a rate of a policy.
 */
const FIVE: readonly EntityLimit[] = [
  entity('key', budget, rate('requests')),
  entity('workspace', null, rate('requests')),
  entity('provider', budget, null),
  entity('policy', null, rate('tokens')),
]

function entity(kind: EntityLimit['entity'], usage: string | null, rates: string | null): EntityLimit {
  return {entity: kind, id: kind, name: kind, workspace_id: 'ws', usage, rates, last_reset_at: null}
}

function over(counters: Counters): Limits {
  return createLimits({counters, usage: async () => ({tokens: 0n, cost_nanousd: 0n}), now: Date.now, enabled: true})
}

/** Microseconds of processor time a call. */
async function cpu(calls: number, work: (n: number) => unknown): Promise<number> {
  const began = process.cpuUsage()
  for (let n = 0; n < calls; n++) {
    const done = work(n)
    if (done instanceof Promise) await done
  }
  const {user, system} = process.cpuUsage(began)
  return (user + system) / calls
}

function say(what: string, value: number, most: number | null, unit = 'us') {
  const bound = most === null ? '' : `  at most ${most} ${unit}  ${value <= most ? 'ok' : 'ABOVE'}`
  console.log(`${what.padEnd(56)} ${value.toFixed(2).padStart(8)} ${unit}${bound}`)
  if (most !== null && value > most) process.exitCode = 1
}

const compiled = compilePolicies(policies())
const users = Array.from({length: USERS}, (_, user) => factsOf(user))
const pick = (n: number) => users[(n * 7919) % USERS]!
await cpu(CALLS / 4, n => compiled.match(pick(n)))
say(`match, ${POLICIES} policies, ${ENTITIES} entities`, await cpu(CALLS, n => compiled.match(pick(n))), MAX_US.match)

const limits = over(createMemoryCounters({most_counters: 2_000_000}))
const admit = async (n: number, of: readonly EntityLimit[]) => {
  const asked = limits.admit(of, `call-${n}`, Date.now())
  const admission = asked instanceof Promise ? await asked : asked
  admission?.settle({tokens: 100, cost_nanousd: 1000})
}
await cpu(USERS, n => admit(n, compiled.match(users[n]!)))
say('the same, with admission and settlement', await cpu(CALLS, n => admit(n, compiled.match(pick(n)))), MAX_US.match)
const five = (n: number) => {
  const asked = limits.admit(FIVE, `five-${n}`, Date.now())
  if (asked instanceof Promise) return asked
  asked!.settle({tokens: 100, cost_nanousd: 1000})
}
await cpu(CALLS / 4, five)
say('admission of 5 limits and settlement, in memory', await cpu(CALLS, five), MAX_US.admit)

const redis_url = process.env.TEST_REDIS_URL
if (redis_url) {
  const counters = await openRedisCounters({url: redis_url, tag: 'bench-limits', now: Date.now})
  const shared = over(counters)
  const watcher = new Redis(redis_url)
  await shared.admit(FIVE, 'first', Date.now())
  const scripts = async () => Number(/cmdstat_evalsha:calls=(\d+)/.exec(await watcher.info('commandstats'))?.[1] ?? 0)
  const before = await scripts()
  for (let n = 0; n < SHARED_CALLS; n++) await shared.admit(FIVE, `shared-${n}`, Date.now())
  say('round trips for the same in Redis', ((await scripts()) - before) / SHARED_CALLS, 1, '')
  const names = await watcher.keys('{bench-limits}:*')
  if (names.length > 0) await watcher.del(...names)
  await counters.close()
  watcher.disconnect()
} else console.log('Redis was not asked: TEST_REDIS_URL names none.')
