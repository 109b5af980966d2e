import fc from 'fast-check'
import {sql} from 'kysely'
import {afterAll, beforeAll, describe, expect, test} from 'vitest'
import {Tags, TagsQuery} from '../../src/schema/tags.ts'
import {keepTags, readTags, tagged} from '../../src/store/tags.ts'
import {KINDS, type TestStore, testStore} from '../support/stores.ts'

const key = fc
  .string({unit: fc.constantFrom('a', 'B', '7', ' ', ':', '.', '-'), minLength: 1, maxLength: 4})
  .filter(name => Tags.safeParse({[name]: ''}).success)
const value = fc.string({unit: fc.constantFrom('a', 'A', '"', ',', ':', '{', '}', '\\', '%', '_', 'é'), maxLength: 5})
const tags = fc.dictionary(key, value, {maxKeys: 4})

describe.each(KINDS)('tags on %s', kind => {
  let at: TestStore
  beforeAll(async () => {
    at = await testStore(kind, {migrated: false})
  })
  afterAll(() => at.close())

  const matches = async (row: Tags, name: string, said: string) => {
    const from = sql`(select cast(${keepTags(row)} as text) as tags) as t`
    const {rows} = await sql<{
      n: unknown
    }>`select count(*) as n from ${from} where ${tagged('t.tags', name, said)}`.execute(at.store.db)
    return Number(rows[0]!.n) === 1
  }

  test('a row is found by a pair when it has the pair, and only then', async () => {
    await fc.assert(
      fc.asyncProperty(tags, key, value, fc.boolean(), async (row, name, said, put) => {
        const held = put ? {...row, [name]: said} : row
        expect(await matches(held, name, said)).toBe(Object.hasOwn(held, name) && held[name] === said)
      }),
      {numRuns: 300},
    )
  })

  test.each<[Tags, string, string]>([
    [{a: '","b":"c'}, 'b', 'c'],
    [{xb: 'c'}, 'b', 'c'],
    [{b: 'C'}, 'b', 'c'],
    [{b: 'cd'}, 'b', 'c'],
  ])('%j is not found by %j: %j', async (row, name, said) => {
    expect(await matches(row, name, said)).toBe(false)
  })
})

test('tags are kept in the order of their keys, and read as they were', () => {
  expect(keepTags({b: '1', a: '2'})).toBe('{"a":"2","b":"1"}')
  expect(readTags(keepTags({b: '1', a: '2'}))).toEqual({a: '2', b: '1'})
})

test.each([
  [{'': 'x'}],
  [{'a"': 'x'}],
  [{',a': 'x'}],
  [{_a: 'x'}],
  [{a: 1}],
  [{a: 'x'.repeat(256)}],
  [{['a'.repeat(129)]: 'x'}],
  ['x'],
  [null],
])('%j are no tags', said => {
  expect(Tags.safeParse(said).success).toBe(false)
  expect(TagsQuery.safeParse(JSON.stringify(said)).success).toBe(false)
})
