import {randomBytes} from 'node:crypto'
import {sql} from 'kysely'
import {afterAll, beforeAll, expect, test} from 'vitest'
import type {EntityLimit} from '../../src/limits/index.ts'
import {createPostgresCounters} from '../../src/ports/counters/postgres.ts'
import {openRedisCounters} from '../../src/ports/counters/redis.ts'
import {keepRateLimits, keepUsageLimits, UsageLimit} from '../../src/schema/limits.ts'
import {keepUsageTerms} from '../../src/schema/policies.ts'
import {counterTable} from '../../src/store/counters.ts'
import {KINDS, type Kind, wipe} from '../ports/support.ts'
import {ORGANISATION} from '../support/budgets.ts'
import {openFlush} from '../support/flushed.ts'
import {forRing, generated, seed} from '../support/ring.ts'
import {type TestStore, testStore} from '../support/stores.ts'
import {House, type Ledger, Machine, memoryPlace, type Open, type Place} from './limits/house.ts'
import {Model, RECOVERED, type Terms, USED} from './limits/model.ts'
import {type Case, cases, type Event, nameOf} from './limits/table.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
/** So many calls fit, or so many requests, and a few tokens more. */
const CALLS = 8
const MORE = 4

/** Early in a minute, an hour and a day, in the middle of a month, and later than the clock of any server. */
const BASE_MS = Date.UTC(new Date().getUTCFullYear(), new Date().getUTCMonth() + 2, 11) + 30_000

let ledger: Ledger
const closing: (() => Promise<void>)[] = []

beforeAll(async () => {
  const database = await testStore('sqlite')
  const flush = await openFlush(database)
  await sql`pragma foreign_keys = off`.execute(database.store.db) // providers stand alone here
  ledger = {database, flush}
  closing.push(
    () => database.close(),
    () => flush.close(),
  )
})
afterAll(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

/** A place of counters of this kind that all cases of a run use, one after another; none knows what another named. */
async function placeOf(kind: Kind): Promise<(machine: Machine) => Place> {
  if (kind === 'memory') return memoryPlace
  if (kind === 'redis') {
    const tag = `test-${randomBytes(6).toString('hex')}`
    const lose = () => wipe(tag)
    closing.push(lose)
    const open = async (now: () => number) => {
      const counters = await openRedisCounters({url: process.env.TEST_REDIS_URL!, tag, now, timeout_ms: 10_000})
      closing.push(() => counters.close())
      return counters
    }
    return () => ({is_shared: true, open, lose})
  }
  const database: TestStore = await testStore('postgres')
  closing.push(() => database.close())
  const table = counterTable(database.store.db)
  return () => ({
    is_shared: true,
    open: async now => createPostgresCounters({table, now, timeout_ms: 10_000}),
    async lose() {
      await sql`delete from traffic.counters`.execute(database.store.db)
      await sql`delete from traffic.counter_holds`.execute(database.store.db)
    },
  })
}

/** The rows that a limited entity stands on. */
async function entityOf(
  entity: Case['entity'],
): Promise<{id: string; ids: {workspace_id: string; [id: string]: string}}> {
  const name = randomBytes(6).toString('hex')
  const ids = {
    workspace_id: `w-${name}`,
    api_key_id: `k-${name}`,
    provider_id: `p-${name}`,
    provider_slug: `s-${name}`,
    integration_id: `i-${name}`,
  }
  const stamps = {created_at: '2026-01-01T00:00:00.000Z', last_updated_at: '2026-01-01T00:00:00.000Z'}
  if (entity === 'provider' || entity === 'integration') {
    const nothing = {note: null, usage_limits: null, rate_limits: null, expires_at: null, last_reset_at: null}
    const row = {
      id: ids.provider_id,
      slug: ids.provider_slug,
      name,
      organisation_id: ORGANISATION,
      workspace_id: ids.workspace_id,
    }
    await ledger.database.store.db
      .insertInto('providers')
      .values({
        ...row,
        integration_id: ids.integration_id,
        is_virtual_key: 0,
        tags: '{}',
        status: 'active',
        ...nothing,
        ...stamps,
      })
      .execute()
  }
  const id = {
    key: ids.api_key_id,
    workspace: ids.workspace_id,
    provider: ids.provider_id,
    integration: `${ids.integration_id}/${ids.workspace_id}`,
    policy: `o-${name}/metadata._user:ann`,
  }[entity]
  return {id, ids}
}

/** The limit's row, as its terms are now; what was kept before says since when it counts. */
function rowOf(
  {entity, unit, enforcement, period, rate, limit, set_ms, reset_ms}: Terms,
  before: EntityLimit | null,
  id: string,
  more: {alert: number | null; name: string},
): EntityLimit {
  const set_at = new Date(set_ms).toISOString()
  const credit_limit = unit.type === 'cost' ? limit / 1e9 : limit
  const row = {
    entity,
    id,
    name: more.name,
    workspace_id: id,
    last_reset_at: reset_ms ? new Date(reset_ms).toISOString() : null,
  }
  if (unit.kind === 'rate')
    return {...row, usage: null, rates: keepRateLimits([{type: unit.type, unit: rate, value: limit, enforcement}])}
  const given = {type: unit.type, credit_limit, alert_threshold: more.alert, periodic_reset: period, enforcement}
  const usage =
    entity === 'policy'
      ? keepUsageTerms(given, set_at)
      : keepUsageLimits([UsageLimit.parse(given)], before?.usage ?? null, set_at)
  return {...row, usage, rates: null}
}

async function run(it: Case, makePlace: (machine: Machine) => Place): Promise<void> {
  const machine = new Machine(BASE_MS)
  const place = makePlace(machine)
  const {id, ids} = await entityOf(it.entity)
  const {unit} = it
  const each = unit.type === 'cost' ? USED.cost_nanousd : unit.type === 'tokens' ? USED.tokens : 1
  const terms: Terms = {
    entity: it.entity,
    unit,
    enforcement: it.enforcement,
    period: 'monthly',
    rate: 'unit' in unit ? unit.unit : 'rpm',
    limit: CALLS * each + (unit.type === 'requests' ? 0 : each - 1),
    set_ms: BASE_MS - 2 * HOUR_MS,
    reset_ms: 0,
  }
  const model = new Model(terms)
  const said = {alert: null as number | null, name: 'blue'}
  let of = rowOf(terms, null, id, said)
  of = {...of, workspace_id: ids.workspace_id}
  const house = new House(machine, place, ledger, ids)
  const edited = () => {
    of = {...rowOf(terms, of, id, said), workspace_id: ids.workspace_id}
  }
  const now = () => house.processes[0]!.now()
  const counted = async () => {
    const [reading] =
      unit.kind === 'budget'
        ? await house.processes[0]!.limits.read(of)
        : await house.processes[0]!.limits.readRates(of)
    return Number(reading!.used ?? 0n)
  }
  const isRight = async () => (await counted()) === model.used(now())
  let turn = 0
  /** One call, by each process in turn; whether it is let through is known before. */
  const begin = async (): Promise<Open | null> => {
    const process = house.processes[turn++ % house.processes.length]!
    const open = await house.call(process, of)
    const at_ms = open?.at_ms ?? process.now()
    expect(open !== null, `call ${turn} of ${nameOf(it)}`).toBe(model.admits(open?.id ?? '', at_ms))
    return open
  }
  const end = async (open: Open | null) => {
    if (!open) return
    open.end()
    model.ended(open.id, open.at_ms, USED)
    await house.idle()
  }
  const steps: Record<Event, (across: Open | null) => Promise<void>> = {
    async restart(across) {
      await end(across)
      await right('before a restart')
      await house.flush(house.processes[0]!)
      await house.start(0, house.kill(0))
      if (!place.is_shared) model.lost()
    },
    async kill(across) {
      const at = across ? house.processes.indexOf(across.process) : 0
      const journal = house.kill(at)
      if (!place.is_shared) model.lost()
      await house.start(at, journal)
      if (across) model.ended(across.id, across.at_ms, RECOVERED)
    },
    async 'store lost'(across) {
      await place.lose()
      model.lost()
      await end(across)
    },
    'clock -1 h': async across => {
      machine.wall_ms -= HOUR_MS
      await end(across)
    },
    'clock +1 h': async across => {
      machine.wall_ms += HOUR_MS
      await end(across)
    },
    'clock -1 day': async across => {
      machine.wall_ms -= DAY_MS
      await end(across)
    },
    async raised(across) {
      terms.limit += 3 * each
      edited()
      await end(across)
    },
    async lowered(across) {
      terms.limit -= 2 * each
      edited()
      await end(across)
    },
    async 'enforced otherwise'(across) {
      terms.enforcement =
        terms.enforcement === 'compatible' ? 'strict' : terms.enforcement === 'strict' ? 'shadow' : 'compatible'
      edited()
      await end(across)
    },
    async 'period changed'(across) {
      terms.period = terms.period === 'monthly' ? 'weekly' : terms.period === 'weekly' ? null : 'monthly'
      terms.rate = terms.rate === 'rpm' ? 'rph' : terms.rate === 'rph' ? 'rpd' : 'rpm'
      edited()
      await end(across)
    },
    async 'alert moved'(across) {
      said.alert = unit.type === 'cost' ? 1e-6 : 3
      edited()
      await end(across)
    },
    async renamed(across) {
      said.name = 'green'
      edited()
      await end(across)
    },
    async 'reset by hand'(across) {
      machine.pass(5)
      terms.reset_ms = now()
      edited()
      machine.pass(5)
      await end(across)
    },
    async 'period over'(across) {
      machine.pass(model.ends(now()) - now() + 5_000)
      await end(across)
    },
  }
  const right = async (when: string) => {
    await house.calm(isRight)
    expect(await counted(), `${when}: the counter of ${nameOf(it)}`).toBe(model.used(now()))
  }
  try {
    for (let at = 0; at < (place.is_shared ? 2 : 1); at++) await house.start(at)
    await end(await begin())
    for (const event of it.events) {
      const across = await begin()
      await end(await begin())
      await steps[event](across)
      await right(event)
      await end(await begin())
    }
    for (let n = 0; n < CALLS + MORE; n++) await end(await begin())
    await right('at the end')
    if (unit.kind === 'budget') expect(await counted()).toBe(model.ledger(now()))
    expect(house.faults).toEqual([])
  } finally {
    house.close()
  }
}

/** Limits for each pair of events, and of how many pairs one. */
const DRAWS = {
  memory: {own: [1], ci: [4], full: [75]},
  redis: {own: [0], ci: [1], full: [4]},
  postgres: {own: [0], ci: [1, 2], full: [4]},
} as const

test.each(KINDS)(
  'counters in %s: whatever befalls a limit, its counter says what the ledger says, and it lets through what it allows',
  async kind => {
    const [draws, one_in] = forRing<readonly [number, number?]>(DRAWS[kind])
    const all = cases(draws, seed(), one_in)
    if (all.length === 0) return
    const makePlace = await placeOf(kind)
    for (const each of all) {
      try {
        await run(each, makePlace)
      } catch (fault) {
        throw new Error(`${nameOf(each)}: ${(fault as Error).message}`, {cause: fault})
      }
    }
    generated(`limits, ${kind}`, all.length)
  },
  900_000,
)
