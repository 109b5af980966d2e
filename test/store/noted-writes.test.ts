import {sql} from 'kysely'
import {afterAll, beforeAll, beforeEach, describe, expect, test} from 'vitest'
import type {Db, Invalidation} from '../../src/store/database.ts'
import {bumpRevisions, revisions} from '../../src/store/revisions.ts'
import {cachesOf} from '../../src/store/tables/invalidation.ts'
import {KINDS, type TestStore, testStore} from '../support/stores.ts'

const AT = '2026-03-04T05:06:07.000Z'
const user = (id: string) => ({
  id,
  email: `${id}@example.com`,
  first_name: null,
  last_name: null,
  created_at: AT,
  last_updated_at: AT,
})

describe.each(KINDS)('what a write changed, on %s', kind => {
  const announced: Invalidation[] = []
  let opened: TestStore
  const write = (work: (db: Db) => Promise<unknown>) => opened.store.write(work)
  beforeAll(async () => {
    opened = await testStore(kind)
    opened.store.onWrite(invalidation => void announced.push(invalidation))
  })
  beforeEach(() => void announced.splice(0))
  afterAll(() => opened.close())

  test('is said with its tables, the ids of its rows and the new revision of each cache, as plain data', async () => {
    await write(async db => {
      await db
        .insertInto('users')
        .values([user('u1'), user('u2')])
        .execute()
      await db.updateTable('configs').set({name: 'x'}).where('workspace_id', '=', 'w').execute()
      await db.updateTable('users').set({first_name: 'Ada'}).where('id', 'in', ['u2', 'u3']).execute()
    })
    await write(db => db.deleteFrom('users').where('email', '<>', '').where('id', '=', 'u1').execute())
    const [first, second] = announced
    expect(first).toEqual({
      tables: [
        {table: 'users', ids: ['u1', 'u2', 'u3']},
        {table: 'configs', ids: null},
      ],
      revisions: {configs: 1, users: 1},
    })
    expect(second).toEqual({tables: [{table: 'users', ids: ['u1']}], revisions: {users: 2}})
    expect(JSON.parse(JSON.stringify(announced))).toEqual(announced)
    expect(await revisions(opened.store.db)).toEqual(new Map(Object.entries({configs: 1, users: 2})))
  })

  test('is said once it is committed, before the writer goes on', async () => {
    const order: string[] = []
    opened.store.onWrite(() => void order.push('announced'))
    await write(async db => {
      await db.deleteFrom('users').execute()
      order.push('written')
    })
    order.push('goes on')
    expect(order).toEqual(['written', 'announced', 'goes on'])
  })

  test('is nothing where it was taken back, or where no cache holds what was written', async () => {
    const before = await revisions(opened.store.db)
    const undone = write(async db => {
      await db.deleteFrom('users').execute()
      throw new Error('undone')
    })
    await expect(undone).rejects.toThrow('undone')
    await write(db => db.insertInto('meta').values({key: 'a', value: 'b'}).execute())
    await write(db => db.selectFrom('users').selectAll().execute())
    expect([announced, await revisions(opened.store.db)]).toEqual([[], before])
  })

  test.each<[string, (db: Db) => Promise<unknown>, readonly string[] | null]>([
    ['an insert of one row', db => db.insertInto('users').values(user('i1')).execute(), ['i1']],
    [
      'an insert that may find its row there under another id',
      db =>
        db
          .insertInto('users')
          .values(user('i2'))
          .onConflict(conflict => conflict.column('email').doUpdateSet({first_name: 'x'}))
          .execute(),
      null,
    ],
    ['an update of all rows', db => db.updateTable('users').set({last_name: 'x'}).execute(), null],
    [
      'one of either of two things',
      db =>
        db
          .updateTable('users')
          .set({last_name: 'x'})
          .where(e => e.or([e('id', '=', 'i1'), e('email', '=', 'i2@example.com')]))
          .execute(),
      null,
    ],
    ['one of all but one', db => db.updateTable('users').set({last_name: 'x'}).where('id', '<>', 'i1').execute(), null],
    [
      'one of rows that a query finds',
      db =>
        db.updateTable('users').set({last_name: 'x'}).where('id', 'in', db.selectFrom('users').select('id')).execute(),
      null,
    ],
  ])('%s: its ids, or that nobody knows', async (_, work, ids) => {
    await write(work)
    expect(announced.map(({tables}) => tables)).toEqual([[{table: 'users', ids}]])
  })

  test('a table without a column id is said as a whole, and so is one of which some rows are unknown', async () => {
    await write(async db => {
      await db.deleteFrom('workspace_users').where('user_id', '=', 'i1').execute()
      await db.deleteFrom('users').where('last_name', '=', 'y').execute()
      await db.deleteFrom('users').where('id', '=', 'i1').execute()
    })
    expect(announced[0]!.tables).toEqual([
      {table: 'workspace_users', ids: null},
      {table: 'users', ids: null},
    ])
    expect(cachesOf(announced[0]!.tables)).toEqual(['users'])
  })

  test.each([
    sql`update users set first_name = 'x'`,
    sql`  INSERT INTO users (id) values ('x')`,
    sql`with gone as (select 1) delete from users`,
  ])('raw SQL that writes is refused: nobody could know of it', async statement => {
    await expect(write(db => statement.execute(db))).rejects.toThrow('query builder')
  })

  test('raw SQL that reads is not, nor any that a migration runs', async () => {
    const {rows} = await opened.store.write(db => sql<{n: number}>`select 1 as n`.execute(db))
    expect(rows.map(({n}) => Number(n))).toEqual([1])
    await opened.store.migrate(async db => {
      await sql`update users set first_name = 'x'`.execute(db)
      await bumpRevisions(db, [])
    })
    expect(announced).toEqual([])
  })
})
