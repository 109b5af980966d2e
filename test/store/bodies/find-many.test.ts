import {appendFileSync} from 'node:fs'
import {join} from 'node:path'
import {afterEach, beforeEach, describe, expect, test} from 'vitest'
import {bodyFinder, manyBodiesFinder, openPacks, PACKS_FOLDER} from '../../../src/store/bodies/index.ts'
import {listPacks} from '../../../src/store/bodies/packs.ts'
import {keepBodies, packedBodies} from '../../support/bodies.ts'
import {KINDS, type TestStore, testStore} from '../../support/stores.ts'

const BEGAN_MS = Date.parse('2026-03-04T05:00:00.000Z')
const rowOf = (index: number, apart_ms = 1000) => ({
  id: `row-${index}`,
  created_at: new Date(BEGAN_MS + index * apart_ms).toISOString(),
  last_byte_ms: 50,
})
const bodyOf = (index: number) => `{"n":${index},"text":"${'x'.repeat(index * 7)}"}`

describe.each(KINDS)('the bodies of many rows on %s', kind => {
  let made: TestStore
  beforeEach(async () => {
    made = await testStore(kind)
  })
  afterEach(() => made.close())

  const find = async (indexes: readonly number[], apart_ms?: number) => {
    const found = new Map<string, string>()
    const rows = indexes.map(index => rowOf(index, apart_ms))
    await manyBodiesFinder(made.options, made.store.db)(
      rows,
      row => void found.set(row.log_id, Buffer.from(row.request_body!).toString()),
    )
    return found
  }
  const keep = async (index: number, apart_ms?: number) => {
    const {id, created_at} = rowOf(index, apart_ms)
    await keepBodies(
      made,
      {log_id: id, created_at, request_body: Buffer.from(bodyOf(index))},
      Date.parse(created_at) + 60,
    )
  }

  test('are those that are found one by one; what is not kept is passed over', async () => {
    for (let index = 0; index < 40; index++) if (index % 3) await keep(index)
    const all = Array.from({length: 40}, (_, index) => index)
    const found = await find(all)
    expect([...found].sort()).toEqual(
      all
        .filter(index => index % 3)
        .map(index => [`row-${index}`, bodyOf(index)])
        .sort(),
    )
    const one = bodyFinder(made.options, made.store.db)
    for (const index of all)
      expect((await one(rowOf(index)))?.request_body?.length).toBe(found.get(`row-${index}`)?.length)
    expect(await find([])).toEqual(new Map())
    expect((await find([4])).size).toBe(1)
  })

  test('lie days apart', async () => {
    const day_ms = 86_400_000
    for (const index of [0, 1, 3]) await keep(index, day_ms)
    expect([...(await find([0, 1, 2, 3], day_ms)).keys()].sort()).toEqual(['row-0', 'row-1', 'row-3'])
  })
})

test('a pack that ends in the middle gives what stands before', async () => {
  const made = await testStore('sqlite')
  const folder = join(made.folder, PACKS_FOLDER)
  const packs = openPacks(folder)
  const body = (index: number) => ({
    log_id: rowOf(index).id,
    created_at: rowOf(index).created_at,
    request_body: Buffer.from(bodyOf(index)),
  })
  packs.append(packedBodies([body(0), body(1)], BEGAN_MS + 1100), fault => expect(fault).toBeUndefined())
  packs.close()
  const [pack] = listPacks(folder)
  appendFileSync(pack!.path, Buffer.from([0x47, 0x42, 0x50, 0x31, 9, 0, 0, 0]))
  const found: string[] = []
  await manyBodiesFinder(made.options, made.store.db)(
    [0, 1, 2].map(index => rowOf(index)),
    ({log_id}) => found.push(log_id),
  )
  expect(found).toEqual(['row-0', 'row-1'])
  await made.close()
})
