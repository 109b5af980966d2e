import {readdirSync} from 'node:fs'
import {sql} from 'kysely'
import {describe, expect, test} from 'vitest'
import {MIGRATIONS, type Migration} from '../../migrations/index.ts'
import {indexedText} from '../../src/base/stored-text.ts'
import {MigrationFault, migrate, migrationState} from '../../src/store/migrate.ts'
import {insertLog} from '../support/logs.ts'
import {KINDS, testStore} from '../support/stores.ts'

const now = () => new Date('2026-01-02T03:04:05.000Z')

test('every file of migrations is in the list, in the order of its number', () => {
  const files = readdirSync('migrations').filter(name => /^\d/.test(name))
  const numbers = [...new Set(MIGRATIONS.map(({name}) => name.slice(0, 4)))]
  expect(numbers).toEqual(files.map(name => name.slice(0, 4)).toSorted())
})

describe.each(KINDS)('migrations on %s', kind => {
  test('an empty database gets every step once, and a second run finds nothing to do', async () => {
    const {store, close} = await testStore(kind, {migrated: false})
    expect(await migrate(store, {now})).toEqual(MIGRATIONS.map(step => step.name))
    expect(await migrate(store, {now})).toEqual([])
    expect((await migrationState(store)).pending).toEqual([])
    await close()
  })

  test('workspaces that are there get their default collection with the step that brings prompts', async () => {
    const {store, close} = await testStore(kind, {migrated: false})
    await migrate(store, {
      now,
      steps: MIGRATIONS.slice(
        0,
        MIGRATIONS.findIndex(({name}) => name === '0011_prompts'),
      ),
    })
    const at = now().toISOString()
    const row = {id: 'o', slug: 'o', name: 'O', created_at: at, last_updated_at: at}
    await store.db.insertInto('organisations').values(row).execute()
    const empty = {description: null, icon: null, defaults: null, usage_limits: null, rate_limits: null}
    const workspace = {
      ...row,
      ...empty,
      id: 'w',
      slug: 'w',
      organisation_id: 'o',
      is_default: 1,
      status: 'active' as const,
    }
    await store.db.insertInto('workspaces').values(workspace).execute()
    await migrate(store, {now})
    expect(await store.db.selectFrom('collections').selectAll().execute()).toMatchObject([
      {
        organisation_id: 'o',
        workspace_id: 'w',
        name: 'Default',
        is_default: 1,
        status: 'active',
        parent_collection_id: null,
      },
    ])
    await close()
  })

  test('domains that are verified keep their place, and no record of them is looked for', async () => {
    const {store, close} = await testStore(kind, {migrated: false})
    await migrate(store, {
      now,
      steps: MIGRATIONS.slice(
        0,
        MIGRATIONS.findIndex(({name}) => name === '0032_domain_proofs'),
      ),
    })
    const at = now().toISOString()
    const row = {id: 'o', slug: 'o', name: 'O', created_at: at, last_updated_at: at}
    await store.db.insertInto('organisations').values(row).execute()
    for (const code of ['environment', '0123'])
      await store.db
        .insertInto('domains')
        .values({
          ...{id: code, organisation_id: 'o', domain: `${code}.example`, allow_subdomains: 0, status: 'verified'},
          ...{code, created_at: at, verified_at: at},
        })
        .execute()
    await migrate(store, {now})
    const rows = store.db.selectFrom('domains').select(['id', 'proof', 'look_due_at', 'lost_at']).orderBy('id')
    expect(await rows.execute()).toEqual([
      {id: '0123', proof: 'operator', look_due_at: null, lost_at: null},
      {id: 'environment', proof: 'settings', look_due_at: null, lost_at: null},
    ])
    await close()
  })

  test('rows of before there were columns to sum by get theirs from their detail', async () => {
    const {store, close} = await testStore(kind, {migrated: false})
    await migrate(store, {
      now,
      steps: MIGRATIONS.slice(
        0,
        MIGRATIONS.findIndex(({name}) => name === '0016_log_reads'),
      ),
    })
    await insertLog(store.db, {id: 'log-1', last_byte_ms: 12.5})
    await store.db.updateTable('traffic.logs').set({duration_ms: null, cache_status: null}).execute()
    await insertLog(store.db, {id: 'log-2', duration_ms: 7, cache_status: 'HIT', last_byte_ms: 99})
    await migrate(store, {now})
    const rows = store.db.selectFrom('traffic.logs').select(['id', 'duration_ms', 'cache_status']).orderBy('id')
    expect(await rows.execute()).toEqual([
      {id: 'log-1', duration_ms: 13, cache_status: 'DISABLED'},
      {id: 'log-2', duration_ms: 7, cache_status: 'HIT'},
    ])
    await close()
  })

  test('sums of models of any length keep their counts with the step that indexes models by their first bytes', async () => {
    const {store, close} = await testStore(kind, {migrated: false})
    const before = MIGRATIONS.findIndex(({name}) => name === '0024_model_keys')
    await migrate(store, {now, steps: MIGRATIONS.slice(0, before)})
    const models = [
      'gpt',
      '',
      'm'.repeat(255),
      `${'m'.repeat(254)}\u00e9`,
      `${'m'.repeat(400)}a`,
      `${'m'.repeat(400)}b`,
    ]
    const texts = {workspace_id: 'w', hour: '2026-01-01T00:00:00.000Z', provider: 'openai'}
    const sums = {prompt_tokens: 5, completion_tokens: 6, cost_nanousd: 7}
    const named = {organisation_id: 'o', api_key_id: 'k'}
    for (const [at, model] of models.entries()) {
      const requests = at + 1
      const row = {...texts, model, requests}
      const each = {
        usage_hourly: {...row, ...named, ...sums, provider_slug: 's', failures: 1, unpriced: 2},
        unpriced_hourly: {...row, ...named, unit: 'maps'},
        log_hourly: {
          ...{...row, ...sums, api_key_id: 'k', provider_slug: 's', config_id: '', cache_status: 'HIT'},
          ...{grain: 1, status: 200, successes: 3, duration_ms: 9},
        },
        log_latencies: {...row, grain: 1, bucket: 4},
      }
      for (const [table, values] of Object.entries(each))
        await sql`insert into ${sql.table(`traffic.${table}`)} (${sql.raw(Object.keys(values).join(', '))})
          values (${sql.join(Object.values(values))})`.execute(store.db)
    }
    const kept = async () =>
      Object.fromEntries(
        await Promise.all(
          (['usage_hourly', 'unpriced_hourly', 'log_hourly', 'log_latencies'] as const).map(async table => {
            const rows = await store.db.selectFrom(`traffic.${table}`).selectAll().orderBy('requests').execute()
            return [table, rows.map(({model_key: _, ...row}) => row)] as const
          }),
        ),
      )
    const old = await kept()
    await migrate(store, {now})
    expect(await kept()).toEqual(old)
    const keys = await store.db
      .selectFrom('traffic.usage_hourly')
      .select(['model', 'model_key'])
      .orderBy('requests')
      .execute()
    expect(keys.map(({model_key}) => model_key)).toEqual(models.map(indexedText))
    expect(new Set(keys.map(({model_key}) => model_key)).size).toBe(models.length)
    await close()
  })

  test('a step that fails leaves nothing behind', async () => {
    const {store, close} = await testStore(kind)
    const broken: Migration = {
      name: '9999_broken',
      area: 'control',
      async up(db) {
        await db.schema.createTable('half').addColumn('id', 'text').execute()
        throw new Error('power cut')
      },
    }
    await expect(migrate(store, {now, steps: [...MIGRATIONS, broken]})).rejects.toThrow('power cut')
    expect((await migrationState(store)).applied.toSorted()).toEqual(MIGRATIONS.map(step => step.name).toSorted())
    await expect(sql`select * from half`.execute(store.db)).rejects.toThrow()
    await close()
  })

  test('the backup is asked for before a step on a database that holds something, and not on an empty one', async () => {
    const {store, close} = await testStore(kind, {migrated: false})
    let backups = 0
    const onBeforeUpgrade = async () => void backups++
    await migrate(store, {now, onBeforeUpgrade})
    expect(backups).toBe(0)
    await migrate(store, {
      now,
      onBeforeUpgrade,
      steps: [...MIGRATIONS, {name: '9998_next', area: 'traffic', up: async () => undefined}],
    })
    expect(backups).toBe(1)
    await close()
  })

  test('a database of a newer version is refused', async () => {
    const {store, close} = await testStore(kind)
    await expect(migrate(store, {now, steps: MIGRATIONS.slice(0, -1)})).rejects.toThrow(MigrationFault)
    await close()
  })

  test('two migrators at once apply each step once', async () => {
    const {store, again, close} = await testStore(kind, {migrated: false})
    if (kind === 'postgres') {
      const other = await again()
      const applied = await Promise.all([migrate(store, {now}), migrate(other, {now})])
      expect(applied.flat().toSorted()).toEqual(MIGRATIONS.map(step => step.name))
    } else {
      expect(await migrate(store, {now})).toHaveLength(MIGRATIONS.length)
    }
    await close()
  })
})
