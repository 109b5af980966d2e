import {existsSync, readdirSync, writeFileSync} from 'node:fs'
import {join} from 'node:path'
import {describe, expect, onTestFinished, test} from 'vitest'
import {firstRun} from '../../src/admin/first-run.ts'
import {Refusal} from '../../src/base/errors.ts'
import {newTimeId} from '../../src/base/ids.ts'
import {BlobFault, type Blobs} from '../../src/ports/blobs/index.ts'
import {bodyFinder, manyBodiesFinder, openPacks, openSpool, PACKS_FOLDER} from '../../src/store/bodies/index.ts'
import {listPacks} from '../../src/store/bodies/packs.ts'
import {findLogObjects} from '../../src/store/log-objects.ts'
import {removeObjects} from '../../src/workers/remove-objects.ts'
import {storedBodies} from '../../src/workers/stored-bodies.ts'
import {uploadBodies} from '../../src/workers/upload-bodies.ts'
import {keepBodies, keptBodies, packedBodies} from '../support/bodies.ts'
import {insertLog} from '../support/logs.ts'
import {KINDS, testStore} from '../support/stores.ts'

const AT_MS = Date.parse('2026-03-04T05:06:07.000Z')
const DAY_MS = 86_400_000

/** A store in memory: `fails` says of each key and the how manieth request it is what is thrown. */
function memoryBlobs() {
  const objects = new Map<string, Buffer>()
  const asked: string[] = []
  const made = {
    objects,
    asked,
    fails: (_deed: string, _key: string, _nth: number): Error | undefined => undefined,
    blobs: undefined as unknown as Blobs,
  }
  const ask = async <T>(deed: string, key: string, act: () => T): Promise<T> => {
    asked.push(`${deed} ${key}`)
    const fault = made.fails(deed, key, asked.length)
    if (fault) throw fault
    return act()
  }
  made.blobs = {
    place: 'The log store',
    put: (key, {body}) => ask('put', key, () => void objects.set(key, body)),
    get: key => ask('get', key, () => objects.get(key)),
    remove: key => ask('remove', key, () => void objects.delete(key)),
  }
  return made
}

const away = () => new BlobFault('unreachable', 'The log store is away.')

describe.each(KINDS)('bodies on their way to a log store, on %s', kind => {
  async function setUp(calls = 3) {
    const database = await testStore(kind)
    onTestFinished(() => database.close())
    const {store} = database
    await firstRun(store, new Date(AT_MS))
    const workspace = await store.db.selectFrom('workspaces').selectAll().executeTakeFirstOrThrow()
    const {organisation_id, id: workspace_id, slug} = workspace
    const rows = Array.from({length: calls}, (_, n) => {
      const created_at = new Date(AT_MS + n * 1000).toISOString()
      return {id: newTimeId(AT_MS + n * 1000), created_at, last_byte_ms: 50}
    })
    for (const row of rows) await insertLog(store.db, {...row, organisation_id, workspace_id})
    const keep = async (n: number) => {
      const {id: log_id, created_at} = rows[n]!
      await keepBodies(
        database,
        {log_id, created_at, request_body: Buffer.from(`{"n":${n}}`)},
        Date.parse(created_at) + 60,
      )
    }
    let now_ms = AT_MS + DAY_MS
    const unreadable: string[] = []
    const twin = memoryBlobs()
    const spool = openSpool({
      store_options: database.options,
      store,
      now: () => now_ms,
      onUnreadable: path => unreadable.push(path),
    })
    const upload = (given: {format?: 'v1' | 'v2'; budget_ms?: number} = {}) =>
      uploadBodies(
        listPacks(join(database.folder, PACKS_FOLDER)).map(({path}) => path),
        {spool, blobs: twin.blobs, format: 'v1', retention_days: 30, now: () => now_ms, budget_ms: 60_000, ...given},
      )
    const here = {find: bodyFinder(database.options, store.db), findMany: manyBodiesFinder(database.options, store.db)}
    const stored = storedBodies(here, twin.blobs, store.db)
    const shown = async (n: number) => (await stored.find(rows[n]!))?.request_body?.toString()
    return {
      ...database,
      twin,
      spool,
      rows,
      keep,
      upload,
      stored,
      shown,
      unreadable,
      organisation_id,
      slug,
      v1: (n: number) => `30/${organisation_id}/${rows[n]!.id}.json`,
      later: (ms: number) => {
        now_ms += ms
      },
    }
  }

  test('are put, noted, let go of here, and read there', async () => {
    const made = await setUp()
    for (const n of [0, 1, 2]) await made.keep(n)
    expect(await made.spool.bytes()).toBeGreaterThan(0)
    expect(await made.shown(1)).toBe('{"n":1}')
    expect(made.twin.asked).toEqual([])
    const report = await made.upload()
    expect(report).toMatchObject({put: 3, refused: [], fault: null, is_done: true})
    expect([...made.twin.objects.keys()].sort()).toEqual([0, 1, 2].map(made.v1).sort())
    expect(await keptBodies(made)).toEqual([])
    expect(await made.spool.bytes()).toBe(0)
    for (const n of [0, 1, 2]) expect(await made.shown(n)).toBe(`{"n":${n}}`)
    const found: string[] = []
    await made.stored.findMany(made.rows, row => found.push(String(row.request_body)))
    expect(found.sort()).toEqual(['{"n":0}', '{"n":1}', '{"n":2}'])
    expect(await made.upload()).toMatchObject({put: 0, is_done: true})
    const [noted] = await findLogObjects(made.store.db, [made.rows[0]!.id])
    expect(noted).toMatchObject({key: made.v1(0), format: 'v1', bytes: made.twin.objects.get(made.v1(0))!.length})
  })

  test('go by the other path where the settings say so; what is there stays where it is', async () => {
    const made = await setUp(2)
    await made.keep(0)
    await made.upload()
    await made.keep(1)
    await made.upload({format: 'v2'})
    expect([...made.twin.objects.keys()].sort()).toEqual(
      [made.v1(0), `30/${made.organisation_id}/${made.slug}/2026/03/04/05/${made.rows[1]!.id}.json`].sort(),
    )
    expect([await made.shown(0), await made.shown(1)]).toEqual(['{"n":0}', '{"n":1}'])
  })

  test('wait for a store that is away, are read from here meanwhile, and asked of it once a turn', async () => {
    const made = await setUp(40)
    for (let n = 0; n < 40; n++) await made.keep(n)
    made.twin.fails = away
    expect(await made.upload()).toMatchObject({put: 0, fault: 'The log store is away.', is_done: false})
    expect(made.twin.asked.length).toBe(1)
    expect((await keptBodies(made)).length).toBe(40)
    expect(await made.shown(7)).toBe('{"n":7}')
    made.twin.fails = () => undefined
    expect(await made.upload()).toMatchObject({put: 40, fault: null, is_done: true})
    expect([made.twin.objects.size, (await keptBodies(made)).length]).toEqual([40, 0])
  })

  test('that were put before the store went away are noted, the others stay', async () => {
    const made = await setUp(4)
    if (kind === 'sqlite') {
      const packs = openPacks(join(made.folder, PACKS_FOLDER))
      const all = made.rows.map(({id: log_id, created_at}, n) => ({
        log_id,
        created_at,
        request_body: Buffer.from(`{"n":${n}}`),
      }))
      packs.append(packedBodies(all, AT_MS + 3060), fault => expect(fault).toBeUndefined())
      packs.close()
    } else for (const n of [0, 1, 2, 3]) await made.keep(n)
    made.twin.fails = (deed, _, nth) => (deed === 'put' && nth > 2 ? away() : undefined)
    const report = await made.upload()
    expect([report.put, report.fault]).toEqual([2, 'The log store is away.'])
    expect(
      (
        await findLogObjects(
          made.store.db,
          made.rows.map(({id}) => id),
        )
      ).length,
    ).toBe(2)
    for (const n of [0, 1, 2, 3]) expect(await made.shown(n)).toBe(`{"n":${n}}`)
    made.twin.fails = () => undefined
    expect(await made.upload()).toMatchObject({put: 2, is_done: true})
    expect(await keptBodies(made)).toEqual([])
  })

  test('that were put and not noted, as a kill leaves them, are put again under the same key', async () => {
    const made = await setUp(2)
    for (const n of [0, 1]) await made.keep(n)
    const batches = made.spool.batches(listPacks(join(made.folder, PACKS_FOLDER)).map(({path}) => path))
    for await (const {waiting} of batches)
      for (const {of} of waiting) made.twin.objects.set(`30/${made.organisation_id}/${of.id}.json`, Buffer.from('{}'))
    expect((await keptBodies(made)).length).toBe(2)
    expect(await made.shown(0)).toBe('{"n":0}')
    made.later(3_600_000)
    expect(await made.upload()).toMatchObject({put: 2, is_done: true})
    expect([...made.twin.objects.keys()].sort()).toEqual([0, 1].map(made.v1).sort())
    expect([await made.shown(0), await made.shown(1)]).toEqual(['{"n":0}', '{"n":1}'])
    expect(await keptBodies(made)).toEqual([])
  })

  test('of one call that no store takes stay here, and stop no other', async () => {
    const made = await setUp(3)
    for (const n of [0, 1, 2]) await made.keep(n)
    made.twin.fails = (_, key) =>
      key === made.v1(1) ? new BlobFault('object', 'The log store answered 413.') : undefined
    expect(await made.upload()).toMatchObject({
      put: 2,
      refused: [{log_id: made.rows[1]!.id, reason: 'The log store answered 413.'}],
      fault: null,
      is_done: true,
    })
    expect((await keptBodies(made)).map(({log_id}) => log_id)).toEqual([made.rows[1]!.id])
    expect(await made.shown(1)).toBe('{"n":1}')
    made.later(3_600_000)
    made.twin.fails = () => undefined
    expect(await made.upload()).toMatchObject({put: 1, is_done: true})
  })

  test('whose row is not in the log yet belong to nobody yet', async () => {
    const made = await setUp(1)
    await made.keep(0)
    await keepBodies(made, {log_id: newTimeId(AT_MS), request_body: Buffer.from('{}')}, AT_MS + 60)
    expect(await made.upload()).toMatchObject({put: 1, is_done: true})
    expect((await keptBodies(made)).length).toBe(kind === 'postgres' ? 1 : 0)
  })

  test('end a turn whose time is up; the next goes on', async () => {
    const made = await setUp(kind === 'postgres' ? 120 : 3)
    for (let n = 0; n < made.rows.length; n++) await made.keep(n)
    let turns = 0
    for (; turns < 10; turns++) if ((await made.upload({budget_ms: 0})).is_done) break
    expect(turns).toBe(3)
    expect(made.twin.objects.size).toBe(made.rows.length)
  })

  test('are removed from the store when their time is up, and noted no more', async () => {
    const made = await setUp(3)
    for (const n of [0, 1, 2]) await made.keep(n)
    await made.upload()
    const {db} = made.store
    const remove = (before_ms: number) =>
      removeObjects(before_ms, {db, blobs: made.twin.blobs, now: () => 0, budget_ms: 60_000})
    expect(await remove(AT_MS)).toEqual({removed: 0, kept: 0, fault: null, is_done: true})
    made.twin.fails = deed => (deed === 'remove' ? away() : undefined)
    expect(await remove(AT_MS + 1500)).toEqual({removed: 0, kept: 2, fault: 'The log store is away.', is_done: false})
    expect(made.twin.objects.size).toBe(3)
    made.twin.fails = (deed, key) =>
      deed === 'remove' && key === made.v1(0) ? new BlobFault('object', 'Locked.') : undefined
    expect(await remove(AT_MS + 1500)).toEqual({removed: 1, kept: 1, fault: null, is_done: true})
    expect([...made.twin.objects.keys()].sort()).toEqual([made.v1(0), made.v1(2)].sort())
    expect([await made.shown(0), await made.shown(1), await made.shown(2)]).toEqual(['{"n":0}', undefined, '{"n":2}'])
  })

  test('that the store has and does not give are told of, not left out', async () => {
    const made = await setUp(2)
    await made.keep(0)
    await made.keep(1)
    await made.upload()
    made.twin.fails = away
    const sentence = 'The bodies of calls cannot be read now. The log store is away.'
    await expect(made.shown(0)).rejects.toThrow(new Refusal('log_store.failed', {reason: 'The log store is away.'}))
    await expect(made.stored.findMany(made.rows, () => undefined)).rejects.toThrow(sentence)
    made.twin.fails = () => undefined
    made.twin.objects.delete(made.v1(0))
    made.twin.objects.set(made.v1(1), Buffer.from('<html>'))
    expect(await made.shown(0)).toBeUndefined()
    await expect(made.shown(1)).rejects.toThrow('What it has there is no object of a gateway.')
  })
})

test('a pack that cannot be read to its end is put as far as it can be, told of once, and kept', async () => {
  const database = await testStore('sqlite')
  onTestFinished(() => database.close())
  const {store, folder, options} = database
  await firstRun(store, new Date(AT_MS))
  const workspace = await store.db.selectFrom('workspaces').selectAll().executeTakeFirstOrThrow()
  const row = {id: newTimeId(AT_MS), created_at: new Date(AT_MS).toISOString()}
  await insertLog(store.db, {...row, organisation_id: workspace.organisation_id, workspace_id: workspace.id})
  await keepBodies(database, {log_id: row.id, request_body: Buffer.from('{}')}, AT_MS + 60)
  const [pack] = listPacks(join(folder, PACKS_FOLDER))
  writeFileSync(pack!.path, Buffer.alloc(64, 0xab), {flag: 'a'})
  const told: string[] = []
  let now_ms = AT_MS
  const spool = openSpool({store_options: options, store, now: () => now_ms, onUnreadable: path => told.push(path)})
  const twin = memoryBlobs()
  const parts = {
    spool,
    blobs: twin.blobs,
    format: 'v1',
    retention_days: 30,
    now: () => now_ms,
    budget_ms: 60_000,
  } as const
  for (let turn = 0; turn < 3; turn++) {
    expect(await uploadBodies([pack!.path], parts)).toMatchObject({put: turn === 0 ? 1 : 0, is_done: true})
    now_ms += 3_600_000
  }
  expect([told, existsSync(pack!.path), twin.objects.size]).toEqual([[pack!.path], true, 1])
})

test('a turn goes on in a pack where the one before had to stop', async () => {
  const database = await testStore('sqlite')
  onTestFinished(() => database.close())
  const {store, folder, options} = database
  const ids = Array.from({length: 6}, (_, n) => newTimeId(AT_MS + n))
  for (const id of ids) await insertLog(store.db, {id})
  const packs = openPacks(join(folder, PACKS_FOLDER))
  for (const n of [0, 2, 4]) {
    const rows = ids.slice(n, n + 2).map(log_id => ({log_id, request_body: Buffer.from('{}')}))
    packs.append(packedBodies(rows, AT_MS + 60), fault => expect(fault).toBeUndefined())
  }
  const sealed = packs.seal()
  const spool = openSpool({store_options: options, store, now: () => AT_MS, onUnreadable: () => undefined})
  const batches: string[][] = []
  const watched = {
    async *batches(given: readonly string[]) {
      for await (const batch of spool.batches(given)) {
        batches.push(batch.waiting.map(({of}) => of.id))
        yield batch
      }
    },
  }
  const twin = memoryBlobs()
  const upload = (budget_ms: number) =>
    uploadBodies(sealed, {
      spool: watched,
      blobs: twin.blobs,
      format: 'v1',
      retention_days: 30,
      now: () => AT_MS,
      budget_ms,
    })
  expect(await upload(0)).toMatchObject({put: 2, is_done: false})
  await store.db.deleteFrom('traffic.log_objects').execute()
  expect(await upload(60_000)).toMatchObject({put: 4, is_done: true})
  expect(batches).toEqual([ids.slice(0, 2), ids.slice(2, 4), ids.slice(4)])
  expect([sealed.length, existsSync(sealed[0]!)]).toEqual([1, false])
})

test('a pack that is gone by now has nothing, and is no fault', async () => {
  const database = await testStore('sqlite')
  onTestFinished(() => database.close())
  const spool = openSpool({
    store_options: database.options,
    store: database.store,
    now: () => 0,
    onUnreadable: () => undefined,
  })
  const parts = {
    spool,
    blobs: memoryBlobs().blobs,
    format: 'v1',
    retention_days: 30,
    now: () => 0,
    budget_ms: 1,
  } as const
  expect(await uploadBodies([join(database.folder, PACKS_FOLDER, 'none.pack')], parts)).toMatchObject({
    put: 0,
    is_done: true,
  })
  expect(readdirSync(database.folder)).not.toContain(PACKS_FOLDER)
})
