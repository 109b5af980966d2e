import {readFileSync} from 'node:fs'
import {join} from 'node:path'
import {afterAll, beforeAll, describe, expect, test} from 'vitest'
import {openapi} from '../../src/admin/openapi.ts'
import type {AnyOperation} from '../../src/admin/operation.ts'
import {OPERATIONS} from '../../src/admin/registry.ts'
import {type Admin, startAdmin} from '../support/admin.ts'
import type {Person} from '../support/people.ts'
import {KINDS} from '../support/stores.ts'
import {additional} from './contract/additional.ts'
import {factsOfReference, readFacts} from './contract/facts.ts'
import {AS_GRANTED, against} from './contract/granted.ts'
import {type Furnished, furnished, ownerOf} from './contract/rows.ts'
import type {Described} from './contract/schema.ts'
import {walk} from './contract/walk.ts'
import {DEVIATIONS, EXCLUDED} from './contract-exceptions.ts'

const kept = join(import.meta.dirname, 'contract/reference.txt')
const facts = readFacts(readFileSync(kept, 'utf8'))
const besides = additional(facts)
/** Of the data plane, which is asked in `contract-calls.test.ts`. */
const CALLS = new Set(['POST /prompts/{promptId}/completions'])

const document = await openapi(OPERATIONS)
const normal = (operation: string) => operation.replace(/\{[^}]+\}|:\w+/g, '{}')
const ours = new Map(OPERATIONS.map(each => [normal(`${each.method} ${each.path}`), each]))
const all = [...facts.operations, ...besides.map(({fact}) => fact)].map(fact => ({
  fact,
  operation: ours.get(normal(fact.operation)),
}))

test('the facts are those of the reference, where it is at hand', async () => {
  const reference = factsOfReference()
  if (reference !== undefined) await expect(reference).toMatchFileSnapshot(kept)
  expect(facts.operations).toHaveLength(160)
})

test('every operation that the reference names besides is walked too, or excluded by name', () => {
  const named = [...new Set(besides.map(({named}) => named)), ...Object.keys(EXCLUDED)]
  expect(named.toSorted()).toEqual(facts.named.toSorted())
})

test('every exception is of an operation there is', () => {
  const known = new Set(all.map(({fact}) => fact.operation))
  expect(DEVIATIONS.flatMap(({operations}) => operations).filter(each => !known.has(each))).toEqual([])
})

describe.each(KINDS)('the contract on %s', kind => {
  let admin: Admin
  let owner: Person
  let place: Furnished
  let doomed: Furnished
  beforeAll(async () => {
    admin = await startAdmin({kind})
    Object.assign(admin.services, {insert_log: () => undefined})
    owner = await ownerOf(admin)
    place = await furnished(admin, owner)
    doomed = await furnished(admin, owner)
  }, 60_000)
  afterAll(() => admin.close())

  const walked = all
    .filter(({fact}) => !CALLS.has(fact.operation))
    .toSorted((a, b) => removal(a.operation) - removal(b.operation))
  test.each(walked.map(each => [each.fact.operation, each] as const))('%s', async (name, {fact, operation}) => {
    const of = operation?.method === 'DELETE' ? doomed : place
    const found = operation
      ? await walk(admin, owner, {fact, operation, described: describedBy(operation), place: of})
      : ['not served']
    expect(against(name, found)).toEqual(AS_GRANTED)
  })
})

/** What is removed is removed last, rows before those they stand in. */
function removal(operation: AnyOperation | undefined): number {
  return operation?.method === 'DELETE' ? OPERATIONS.length - OPERATIONS.indexOf(operation) : 0
}

function describedBy({path, method}: AnyOperation): Described {
  return document.paths[path.replace(/:(\w+)/g, '{$1}')]![method.toLowerCase()] as Described
}
