import fc from 'fast-check'
import {afterAll, beforeAll, describe, expect, test} from 'vitest'
import {z} from 'zod'
import {requestOf} from '../../cli/connect.ts'
import type {AnyOperation} from '../../src/admin/operation.ts'
import {OPERATIONS} from '../../src/admin/registry.ts'
import {Refusal} from '../../src/base/errors.ts'
import {newId} from '../../src/base/ids.ts'
import {type Admin, startAdmin} from '../support/admin.ts'
import type {Person} from '../support/people.ts'
import {KINDS} from '../support/stores.ts'
import {askedInFull} from './contract/asked.ts'
import {type Furnished, furnished, ownerOf} from './contract/rows.ts'
import {rowsOf} from './hostile/contents.ts'
import {faultsOf, put, waysOf} from './hostile/faults.ts'
import type {Asked} from './matrix-rows.ts'

/** Values that no field expects. */
const HOSTILE = fc.oneof(
  fc.constantFrom(
    '',
    ' ',
    '\0',
    '\ud800',
    '\u202e',
    "' or 1=1 --",
    '%',
    '../..',
    '{{x}}',
    '🦊'.repeat(64),
    'x'.repeat(5000),
  ),
  fc.constantFrom(-1, 0, 1.5, 2 ** 53, 1e300, -1e300, 5e-324),
  fc.constantFrom(null, true, false, [], {}, [[]], [null], {'': ''}, {'a\0b': 1}, {constructor: {prototype: {}}}),
  fc.jsonValue({maxDepth: 3}),
)
/** PostgreSQL takes no NUL in a text. */
const WORDS = ['', '-1', '1e99', 'a\0b', '🦊', 'x'.repeat(9000)]
const IDS = ['a\0b', ' ', '../..', '🦊', "' or 1=1 --", 'x'.repeat(5000)]
/** What is good of it cannot be taken back. */
const FINAL = new Set(['workspaces.delete'])

describe.each(KINDS)('hostile input on %s', kind => {
  let admin: Admin
  let owner: Person
  let place: Furnished
  beforeAll(async () => {
    admin = await startAdmin({kind})
    const refuse = async () => {
      throw new Refusal('config.unknown', {config: 'none'})
    }
    Object.assign(admin.services, {insert_log: () => undefined, explain: refuse, replay: refuse})
    owner = await ownerOf(admin)
    place = await furnished(admin, owner)
  }, 60_000)
  afterAll(() => admin.close())

  const send = (by: string | undefined, operation: AnyOperation, {params = {}, query = {}, body}: Asked) => {
    const {method, path} = requestOf(operation, {params, query})
    return admin.send(by, method, path, body === undefined ? undefined : JSON.stringify(body))
  }
  const callerOf = ({id}: AnyOperation) => (id === 'logs.insert' ? place.workspace_key : owner.token)
  const firstOf = ({id}: AnyOperation) => askedInFull(id, place)[0]!
  const cases = (operations: readonly AnyOperation[]) => operations.map(each => [each.id, each] as const)
  /**
   * What is said, where a question is answered otherwise than it should be: taken where it is good, else refused by the
   * field's name.
   */
  const judged = async (operation: AnyOperation, asked: Asked, is_good: boolean, leaf = '') => {
    const {status, body, text} = await send(callerOf(operation), operation, asked)
    const is_right = is_good
      ? status < 500
      : status === 400 && body.data.errorCode === 'AB01' && body.data.message.includes(leaf)
    return is_right ? [] : [`${status} ${text}`]
  }

  test.each(cases(OPERATIONS.filter(({body}) => body)))(
    '%s names the field of a body that is wrong, and writes nothing',
    async (_, operation) => {
      const asked = firstOf(operation)
      const schema = z.toJSONSchema(operation.body!, {io: 'input', unrepresentable: 'any'})
      const before = await rowsOf(admin.store)
      const wrong: string[] = []
      for (const {what, body, leaf} of faultsOf(schema, asked.body))
        wrong.push(...(await judged(operation, {...asked, body}, false, leaf)).map(said => `${what}: ${said}`))
      expect(wrong).toEqual([])
      expect(await rowsOf(admin.store)).toBe(before)
    },
  )

  test.each(cases(OPERATIONS.filter(({body, id}) => body && !FINAL.has(id))))(
    '%s takes what stands in a body, or refuses it',
    async (_, operation) => {
      const asked = firstOf(operation)
      const ways = waysOf(asked.body)
      const judge = async (way: (typeof ways)[number], value: unknown, is_good?: boolean) => {
        const body = put(asked.body, way, value)
        const is_read = is_good ?? operation.body!.safeParse(JSON.parse(JSON.stringify(body) ?? '{}')).success
        return judged(operation, {...asked, body}, is_read)
      }
      for (const way of ways) {
        const is_text =
          typeof way.reduce<unknown>((node, step) => (node as Record<string | number, unknown>)?.[step], asked.body) ===
          'string'
        if (is_text) expect([way, await judge(way, 'a\0b')].flat(9).join(' ')).not.toMatch(/ 5\d\d /)
      }
      const holdsNul = (value: unknown) => JSON.stringify(value)?.includes('\\u0000') === true
      await fc.assert(
        fc.asyncProperty(
          fc.constantFrom(...ways),
          HOSTILE.filter(value => !holdsNul(value)),
          async (way, value) => {
            expect(await judge(way, value)).toEqual([])
          },
        ),
        {numRuns: 12},
      )
    },
  )

  test.each(cases(onceEach(OPERATIONS)))('%s takes what stands in a query, or refuses it', async (_, operation) => {
    const asked = firstOf(operation)
    // what could be removed by a good question is asked by an id that is not there
    const nowhere = Object.fromEntries(Object.keys(asked.params ?? {}).map(name => [name, newId()]))
    const params = operation.method === 'GET' ? (asked.params ?? {}) : nowhere
    for (const name of Object.keys((operation.query as z.ZodObject).shape)) {
      for (const word of WORDS) {
        const query = {...asked.query, [name]: word}
        const is_good = !word.includes('\0') && operation.query!.safeParse(query).success
        expect(
          await judged(operation, {...asked, params, query}, is_good, name),
          `${name}=${word.slice(0, 20)}`,
        ).toEqual([])
      }
    }
    expect(
      await judged(operation, {...asked, params, query: {...asked.query, surplus: '1'}}, false, 'surplus'),
    ).toEqual([])
  })

  test.each(cases(OPERATIONS.filter(({params}) => params)))(
    '%s takes what stands in a path, or refuses it',
    async (_, operation) => {
      const asked = firstOf(operation)
      for (const name of Object.keys(asked.params!)) {
        const is_id = /id$|^slug$/i.test(name)
        for (const word of IDS) {
          const {status, text} = await send(callerOf(operation), operation, {
            ...asked,
            params: {...asked.params, [name]: word},
          })
          expect(status, `${name}=${word.slice(0, 20)} ${text}`).toBeLessThan(500)
          if (is_id) expect([400, 404], `${name}=${word.slice(0, 20)} ${text}`).toContain(status)
        }
      }
    },
  )

  test('a key that expired, or never was, is refused by every operation that needs one', async () => {
    const {key} = await admin.seedKey(
      {organisation_id: admin.organisation_id},
      {expires_at: '2026-01-01T00:00:00.000Z'},
    )
    for (const operation of OPERATIONS.filter(({scopes}) => scopes !== null)) {
      for (const by of [key, 'gk-none', undefined]) {
        const {status, body} = await send(by, operation, firstOf(operation))
        expect([operation.id, status, body.data.errorCode]).toEqual([operation.id, 401, 'AB05'])
      }
    }
  })
})

/** Those that take a query; of those that take the same one, the first. */
function onceEach(operations: readonly AnyOperation[]): readonly AnyOperation[] {
  const seen = new Set<unknown>()
  return operations.filter(({query}) => query && !seen.has(query) && seen.add(query))
}
