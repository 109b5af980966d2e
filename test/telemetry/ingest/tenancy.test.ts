import {expect, test} from 'vitest'
import {type LogRow, WORKSPACE_KEY} from '../../support/gateway.ts'
import {startUpstream} from '../upstream.ts'
import {ingestHouse, request, spanId, TRACE, work} from './house.ts'

const USAGE = {'gen_ai.usage.input_tokens': 100, 'gen_ai.usage.output_tokens': 20}
const SCOPES = ['logs.write', 'logs.list', 'logs.view']

async function tenants() {
  const {gateway, post} = await ingestHouse()
  const upstream = await startUpstream()
  await gateway.provider('one', 'openai', upstream.url)
  const other = await gateway.admin<{id: string}>('POST', '/admin/workspaces', {name: 'Other'})
  const keyOf = async (workspace_id: string, more: object = {}) =>
    (
      await gateway.admin<{key: string}>('POST', '/api-keys/workspace/service', {
        ...{name: 'spans', workspace_id, scopes: SCOPES},
        ...more,
      })
    ).key
  const key = await keyOf(other.id)
  const as = (key: string) => ({'x-gateway-api-key': key})
  const sent = async (key: string, ...spans: readonly object[]) =>
    (await post(JSON.stringify(request(spans)), as(key))).status
  const rows = async (key: string) => {
    const reply = await gateway.call('/v1/logs?page_size=100', {headers: as(key)})
    expect(reply.status).toBe(200)
    return ((await reply.json()) as {data: LogRow[]}).data.filter(({source}) => source === 'otel')
  }
  const shown = async (key: string, id: unknown) => (await gateway.call(`/v1/logs/${id}`, {headers: as(key)})).status
  return {gateway, other, key, keyOf, sent, rows, shown}
}

test('a span is of the workspace of its key: another has its own of that id, and cannot read this', async () => {
  const {gateway, key, sent, rows, shown} = await tenants()
  const own = spanId()
  const headers = {'x-gateway-provider': '@one', traceparent: `00-${TRACE}-${own}-01`}
  expect((await gateway.chat({model: 'gpt-4o-mini', messages: [{role: 'user', content: 'hi'}]}, headers)).status).toBe(
    200,
  )
  // who guesses the ids of another takes none of them
  expect(await sent(key, work(USAGE, {spanId: own, name: 'of the other'}))).toBe(200)
  expect(await sent(WORKSPACE_KEY, work(USAGE, {spanId: own, name: 'of the first'}))).toBe(200)
  const [theirs, ours] = [await rows(key), await rows(WORKSPACE_KEY)]
  expect([theirs.length, ours.length]).toEqual([1, 1])
  expect(theirs[0]).toMatchObject({span_name: 'of the other', usage_source: 'reported', span: {own_call_id: null}})
  expect(theirs[0]!.cost).toBeGreaterThan(0)
  expect(ours[0]).toMatchObject({span_name: 'of the first', cost: 0, span: {own_call_id: expect.any(String)}})
  expect([await shown(key, theirs[0]!.id), await shown(key, ours[0]!.id)]).toEqual([200, 404])
  expect(await shown(WORKSPACE_KEY, theirs[0]!.id)).toBe(404)
}, 60_000)

test('a key that has ended, or whose workspace is archived, sends no more spans', async () => {
  const {gateway, other, key, keyOf, sent} = await tenants()
  const brief = await keyOf(other.id, {name: 'brief', expires_at: new Date(Date.now() + 400).toISOString()})
  await expect.poll(() => sent(brief, work()), {timeout: 10_000}).toBe(401)
  expect(await sent(key, work())).toBe(200)
  await gateway.admin('DELETE', `/admin/workspaces/${other.id}`, {name: 'Other', force_delete: true})
  expect([401, 403]).toContain(await sent(key, work()))
}, 60_000)
