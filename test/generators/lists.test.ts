import {afterAll, beforeAll, expect, test} from 'vitest'
import type {AnyOperation} from '../../src/admin/operation.ts'
import {OPERATIONS} from '../../src/admin/registry.ts'
import {MAX_UNPAGED} from '../../src/schema/paging.ts'
import {type Furnished, furnished, ownerOf} from '../admin/contract/rows.ts'
import {ASKED} from '../admin/matrix-rows.ts'
import {type Admin, startAdmin} from '../support/admin.ts'
import type {Person} from '../support/people.ts'
import {generated} from '../support/ring.ts'

const shapeOf = ({query}: AnyOperation) => Object.keys((query as {shape?: object} | undefined)?.shape ?? {})
const sizeOf = (operation: AnyOperation) => shapeOf(operation).find(name => /^(page_size|pageSize)$/.test(name))
const pageOf = (operation: AnyOperation) =>
  shapeOf(operation).find(name => /^(page|current_page|currentPage)$/.test(name))
const LISTS = OPERATIONS.filter(each => each.method === 'GET' && sizeOf(each))

let admin: Admin
let owner: Person
let place: Furnished
let asked: Record<string, unknown> = {}

beforeAll(async () => {
  const watched = OPERATIONS.map(each => ({
    ...each,
    handle(call: Parameters<typeof each.handle>[0]) {
      asked = call.query as typeof asked
      return each.handle(call)
    },
  }))
  admin = await startAdmin({operations: watched})
  owner = await ownerOf(admin)
  place = await furnished(admin, owner)
}, 60_000)
afterAll(async () => {
  generated('lists', LISTS.length * 3)
  await admin.close()
})

/** How many rows the list was asked for, and the total it told. */
async function ask(operation: AnyOperation, page: Record<string, string>) {
  const {params = {}, query = {}} = ASKED[operation.id]!(place) as {
    params?: Record<string, string>
    query?: Record<string, string>
  }
  const path = operation.path.replace(/:(\w+)/g, (_, name: string) => params[name]!)
  const {status, body, text} = await admin.send(
    owner.token,
    'GET',
    `/v1${path}?${new URLSearchParams({...query, ...page})}`,
  )
  expect(status, text).toBe(200)
  return {size: asked[sizeOf(operation)!], total: body.total ?? body.total_count}
}

test.each(LISTS.map(each => [each.id, each] as const))(
  '%s without a page is whole, and tells the total',
  async (_, operation) => {
    const usual = (await ask(operation, {[pageOf(operation)!]: '1'})).size
    const whole = await ask(operation, {})
    expect(whole).toEqual({size: operation.always_paged ? usual : MAX_UNPAGED, total: expect.any(Number)})
    expect(usual).toBeLessThanOrEqual(100)
    expect((await ask(operation, {[sizeOf(operation)!]: '3'})).size).toBe(3)
  },
)

test('130 configs are all there', async () => {
  for (let count = 0; count < 130; count++)
    await admin.send(owner.token, 'POST', '/v1/configs', {
      name: `Config ${count}`,
      config: {provider: 'openai'},
      workspace_id: place.workspace,
    })
  const {body} = await admin.send(owner.token, 'GET', `/v1/configs?workspace_id=${place.workspace}`)
  expect([body.data.length, body.total]).toEqual([132, 132])
})

test('calls of several traces are found at once', async () => {
  const find = async (trace_id: string) =>
    (await admin.send(owner.token, 'GET', `/v1/logs?workspace_id=${place.workspace}&trace_id=${trace_id}`)).body.total
  expect([await find(place.trace), await find(`${place.trace},another`), await find('another,one-more')]).toEqual([
    2, 2, 0,
  ])
})
