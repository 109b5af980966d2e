import {readdirSync} from 'node:fs'
import {sql} from 'kysely'
import {describe, expect, test} from 'vitest'
import {MIGRATIONS, type Migration} from '../../migrations/index.ts'
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
    const workspace = {...row, ...empty, id: 'w', slug: 'w', organisation_id: 'o', is_default: 1, status: 'active' as const}
    await store.db.insertInto('workspaces').values(workspace).execute()
    await migrate(store, {now})
    expect(await store.db.selectFrom('collections').selectAll().execute()).toMatchObject([
      {organisation_id: 'o', workspace_id: 'w', name: 'Default', is_default: 1, status: 'active', parent_collection_id: null},
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
    const before = async () => void backups++
    await migrate(store, {now, before})
    expect(backups).toBe(0)
    await migrate(store, {now, before, steps: [...MIGRATIONS, {name: '9998_next', area: 'traffic', up: async () => undefined}]})
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
