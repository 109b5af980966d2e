import {afterAll, beforeAll, expect, test} from 'vitest'
import {OPERATIONS} from '../../src/admin/registry.ts'
import {startAdmin} from '../support/admin.ts'

let admin: Awaited<ReturnType<typeof startAdmin>>
beforeAll(async () => {
  admin = await startAdmin()
})
afterAll(() => admin.close())

const shapeOf = (query: unknown) =>
  query && typeof query === 'object' && 'shape' in query ? (query.shape as object) : {}
const LISTS = OPERATIONS.filter(({method, path, query}) => {
  const shape = shapeOf(query)
  return method === 'GET' && !path.includes(':') && ('current_page' in shape || 'currentPage' in shape)
})
/** What a list has to be asked beside its page. */
const NEEDED: Readonly<Record<string, string>> = {
  time_of_generation_min: '2026-01-01T00:00:00Z',
  time_of_generation_max: '2026-01-02T00:00:00Z',
  start_time: '2026-01-01T00:00:00Z',
  end_time: '2026-01-02T00:00:00Z',
}

test('there are lists', () => expect(LISTS.length).toBeGreaterThan(10))

test.each(LISTS)('GET $path takes a page in both spellings, and not in both at once', async ({path, query}) => {
  const needed = Object.entries({...NEEDED, ...(path === '/collections' && {workspace_id: admin.workspace_id})}).filter(
    ([name]) => name in shapeOf(query),
  )
  const get = async (page: string) =>
    admin.asAdmin('GET', `/v1${path}?${[page, ...needed.map(pair => pair.join('='))].join('&')}`)
  const [snake, camel, both, wrong] = [
    await get('current_page=0&page_size=1'),
    await get('currentPage=0&pageSize=1'),
    await get('current_page=0&currentPage=1'),
    await get('pageSize=x'),
  ]
  expect([snake.status, camel.status, both.status, wrong.status]).toEqual(
    snake.status === 403 ? [403, 403, 403, 403] : [200, 200, 400, 400],
  )
  expect(camel.body).toEqual(snake.body)
})
