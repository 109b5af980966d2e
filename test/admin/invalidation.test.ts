import {afterAll, beforeAll, describe, expect, test} from 'vitest'
import {requestOf} from '../../cli/connect.ts'
import type {AnyOperation} from '../../src/admin/operation.ts'
import {OPERATIONS, OPERATOR_OPERATIONS} from '../../src/admin/registry.ts'
import type {Invalidation} from '../../src/store/database.ts'
import {cachesOf} from '../../src/store/tables/invalidation.ts'
import {type Admin, startAdmin} from '../support/admin.ts'
import type {Person} from '../support/people.ts'
import {KINDS} from '../support/stores.ts'
import {askedInFull} from './contract/asked.ts'
import {EMPTIES} from './contract/empties.ts'
import {type Furnished, furnished, ownerOf} from './contract/rows.ts'

/**
 * Refused as the table of operations asks for them; their own tests look at what they announce. The deletion of tokens
 * is that of the connection, under another path.
 */
const ELSEWHERE = /^(pricing|bundles|invites\.accept)\b|^mcp_servers\.delete_tokens$/

test('every operation that has to empty a cache is there', () => {
  const known = new Set([...OPERATIONS, ...OPERATOR_OPERATIONS].map(({id}) => id))
  expect(Object.keys(EMPTIES).filter(id => !known.has(id))).toEqual([])
})

describe.each(KINDS)('what the operations empty, on %s', kind => {
  const announced: Invalidation[] = []
  let admin: Admin
  let owner: Person
  let place: Furnished
  let doomed: Furnished
  beforeAll(async () => {
    admin = await startAdmin({kind})
    owner = await ownerOf(admin)
    place = await furnished(admin, owner)
    doomed = await furnished(admin, owner)
    admin.store.onWrite(invalidation => void announced.push(invalidation))
  }, 60_000)
  afterAll(() => admin.close())

  const named = OPERATIONS.filter(({id}) => EMPTIES[id] && !ELSEWHERE.test(id)).toSorted(
    (a, b) => removal(a) - removal(b),
  )
  test.each(named.map(each => [each.id, each] as const))('%s', async (id, operation) => {
    announced.length = 0
    for (const {params = {}, query = {}, body} of askedInFull(id, operation.method === 'DELETE' ? doomed : place)) {
      const {method, path} = requestOf(operation, {params, query})
      const reply = await admin.send(owner.token, method, path, body)
      expect(reply.status, reply.text).toBe(200)
    }
    const emptied = announced.flatMap(({tables}) => cachesOf(tables))
    expect(EMPTIES[id]!.filter(cache => !emptied.includes(cache))).toEqual([])
    expect(
      announced.every(({tables, revisions}) => cachesOf(tables).join() === Object.keys(revisions).sort().join()),
    ).toBe(true)
  })
})

/** What is removed is removed last, rows before those they stand in. */
function removal(operation: AnyOperation): number {
  return operation.method === 'DELETE' ? OPERATIONS.length - OPERATIONS.indexOf(operation) : 0
}
