import {sql} from 'kysely'
import {afterAll, beforeAll, describe, expect, test} from 'vitest'
import {Revocations} from '../src/app/revocations.ts'
import type {Store, TableName} from '../src/store/database.ts'
import {forgetCaches, forgetRows} from '../src/store/remembered.ts'
import {INVALIDATES} from '../src/store/tables/invalidation.ts'
import {heldCaches} from './support/held-caches.ts'
import {forRing} from './support/ring.ts'
import {KINDS} from './support/stores.ts'

/** On SQLite these two are kept in files of their own. */
const ELSEWHERE: readonly TableName[] = ['traffic.cache_entries', 'traffic.log_bodies', 'traffic.semantic_entries']
const TABLES = (Object.keys(INVALIDATES) as TableName[]).filter(table => !ELSEWHERE.includes(table))
const MANY = forRing({own: 100, ci: 1_000, full: 1_000})
const CACHES = [
  'callers',
  'policies',
  'policies of tools',
  'guardrails of tools',
  'lists of models',
  'plans',
  'prompts',
  'callers by token',
  'MCP servers',
  'prices',
]
/** Prices are read again, whole, after each change. */
const LOADED = CACHES.filter(name => name !== 'prices')

describe.each(KINDS)('what a write drops, on %s', kind => {
  let held: Awaited<ReturnType<typeof heldCaches>>
  beforeAll(async () => {
    held = await heldCaches(kind)
    held.store.onWrite(changed => forgetRows(held.all, changed))
  }, 60_000)
  afterAll(() => held.admin.close())

  const cacheOf = (name: string) => held.caches.find(each => each.name === name)!
  /** How many statements read what a cache does not hold any more after `work`; prices are read before a look. */
  const reloads = (name: string, work: () => unknown = () => undefined, which?: 'one' | 'other') =>
    held.loads(async () => {
      await work()
      await cacheOf(name).look(which)
    })
  const warm = async () => {
    for (const {look} of held.caches) for (const which of ['one', 'other'] as const) await look(which)
  }
  /** Changes no row, and says that any of the table may have changed. The audit log refuses to delete even no row. */
  const touch = (store: Store, table: TableName) =>
    store.write<unknown>(db =>
      table === 'audit_logs'
        ? db
            .insertInto(table)
            .expression(rows => rows.selectFrom('audit_logs').selectAll().where(sql<boolean>`1 = 0`))
            .execute()
        : db.deleteFrom(table).where(sql<boolean>`1 = 0`).execute(),
    )
  const describeKey = (store: Store, description: string) =>
    store.write(db => db.updateTable('api_keys').set({description}).where('id', '=', 'k').execute())
  /** The tables that the loader of a cache reads. */
  const readBy = async (name: string) => {
    await warm()
    held.reads.tables.clear()
    const dropAll = async () => {
      await touch(held.store, 'prices')
      forgetCaches(cacheOf(name).remembered, null)
    }
    expect(await reloads(name, dropAll)).toBeGreaterThan(0)
    const tables = new Set(held.reads.tables)
    tables.delete('revisions') // it is only compared
    if (name === 'prices') return tables
    tables.delete('prices') // read again by that write
    tables.delete('price_revisions')
    expect(tables.size, `${name} were dropped, and read again`).toBeGreaterThan(0)
    return tables
  }

  test('every cache is here', () => expect(held.caches.map(({name}) => name)).toEqual(CACHES))

  test.each(CACHES)('%s are made of the tables that their loader reads, and of no others', async name => {
    const read = await readBy(name)
    const named = new Set(cacheOf(name).remembered.flatMap(({of}) => [...of]))
    expect([...named].sort()).toEqual([...read].sort())
    expect([...read].filter(table => INVALIDATES[table].length === 0)).toEqual([])
  })

  test.each(CACHES)(
    'a write of a table that the loader of %s reads drops them; one of any other does not',
    {
      timeout: 60_000,
    },
    async name => {
      const read = await readBy(name)
      for (const table of TABLES) {
        await warm()
        const prices = name !== 'prices' && /^price/.test(table) ? await pricesRead(table) : 0
        const loads = await reloads(name, () => touch(held.store, table))
        expect([table, loads > prices]).toEqual([table, read.has(table)])
      }
    },
  )

  /** What a write of prices reads by itself, whatever is looked for after it. */
  const pricesRead = (table: TableName) => reloads('prices', () => touch(held.store, table))

  test.each(LOADED)(
    'what is loaded of %s while a row changes is not kept, but for what is not made of it',
    {
      timeout: 60_000,
    },
    async name => {
      const read = await readBy(name)
      for (const table of TABLES.filter(each => !/^price/.test(each))) {
        forgetCaches(cacheOf(name).remembered, null)
        const loading = cacheOf(name).look()
        forgetRows(held.all, {tables: [{table, ids: null}]})
        await loading
        expect([table, (await reloads(name)) > 0]).toEqual([table, read.has(table)])
      }
    },
  )

  test.each([
    ['callers', 'api_keys', 'key_id'],
    ['callers', 'workspaces', 'workspace_id'],
    ['callers by token', 'workspaces', 'workspace_id'],
    ['plans', 'workspaces', 'workspace_id'],
    ['plans', 'configs', 'config_id'],
    ['plans', 'providers', 'provider_id'],
    ['plans', 'integrations', 'integration_id'],
    ['prompts', 'prompts', 'prompt_id'],
    ['MCP servers', 'mcp_servers', 'mcp_server_id'],
    ['MCP servers', 'mcp_integrations', 'mcp_integration_id'],
    ['MCP servers', 'workspaces', 'workspace_id'],
  ] as const)('of %s a write of one row of %s drops what is made of it alone', async (name, table, id) => {
    await warm()
    forgetRows(held.all, {tables: [{table, ids: [held.rows.one[id]]}]})
    expect([await reloads(name, undefined, 'other'), (await reloads(name, undefined, 'one')) > 0]).toEqual([0, true])
  })

  test.each([
    ['policies', 'policies'],
    ['policies of tools', 'policies'],
    ['lists of models', 'providers'],
    ['plans', 'providers'],
  ] as const)('%s may be others with a new row of %s, of which nothing held is made', async (name, table) => {
    await warm()
    forgetRows(held.all, {tables: [{table, ids: ['new']}]})
    expect((await reloads(name)) > 0).toBe(true)
  })

  test('a thousand writes of another key, or of what no cache holds, load nothing again', {
    timeout: 120_000,
  }, async () => {
    await warm()
    const before = held.reads.statements
    for (let at = 0; at < MANY; at++) {
      await describeKey(held.store, String(at))
      await touch(held.store, 'invites')
      await warm()
    }
    expect(held.reads.statements - before).toBe(0)
  })

  describe('by another process', () => {
    let other: Store
    let revocations: Revocations
    beforeAll(async () => {
      other = await held.admin.again()
      const {store} = held
      revocations = new Revocations({
        store,
        log: {warn: () => undefined, info: () => undefined},
        steady: () => performance.now(),
        after: () => () => undefined,
        query_timeout_ms: 5_000,
        max_stale_s: 60,
      })
      store.onWrite(changed => revocations.wrote(changed))
      await revocations.start(moved => forgetCaches(held.all, moved))
    })

    test.each(LOADED)(
      '%s are dropped with the tables that have a name in common with theirs',
      {
        timeout: 60_000,
      },
      async name => {
        const read = await readBy(name)
        const names = new Set([...read].flatMap(table => INVALIDATES[table]))
        for (const table of TABLES.filter(each => !/^price/.test(each))) {
          await warm()
          await touch(other, table)
          await revocations.ready()
          const loads = await reloads(name)
          expect([table, loads > 0]).toEqual([table, INVALIDATES[table].some(each => names.has(each))])
        }
      },
    )

    test('prices are read again when they changed there', async () => {
      await warm()
      const changed = (table: TableName) => async () => {
        await touch(other, table)
        await revocations.ready()
      }
      expect([await reloads('prices', changed('configs')), (await reloads('prices', changed('prices'))) > 0]).toEqual([
        0,
        true,
      ])
    })

    test('what no cache holds loads nothing again, nor does what this process wrote beside it', {
      timeout: 60_000,
    }, async () => {
      await warm()
      const before = held.reads.statements
      for (let at = 0; at < MANY / 10; at++) {
        await touch(other, 'invites')
        await describeKey(held.store, String(at))
        await revocations.ready()
        await warm()
      }
      expect(held.reads.statements - before).toBe(0)
    })

    test('a name of a later version may stand for any table', async () => {
      await warm()
      await other.migrate(db => db.insertInto('revisions').values({name: 'later', revision: 1}).execute())
      await revocations.ready()
      for (const name of LOADED) expect([name, (await reloads(name)) > 0]).toEqual([name, true])
    })

    test('revisions that went back are those of another database: everything is dropped', async () => {
      await warm()
      await other.migrate(db => db.deleteFrom('revisions').where('name', '=', 'users').execute())
      await revocations.ready()
      for (const name of LOADED) expect([name, (await reloads(name)) > 0]).toEqual([name, true])
    })
  })
})
