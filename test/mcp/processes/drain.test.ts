import {expect, onTestFinished, test} from 'vitest'
import {WORKSPACE_KEY} from '../../support/gateway.ts'
import {openLegacy} from '../../support/mcp/legacy-server.ts'
import {openModern} from '../../support/mcp/modern-server.ts'
import {McpProcesses} from '../../support/mcp/processes.ts'
import {rpcBody} from '../../support/mcp/rpc-body.ts'
import {RING} from '../../support/ring.ts'

const DRAIN_MS = 20_000
/** Promised beyond the drain limit (docs/cli.md). */
const GRACE_MS = 1_000

test('SIGTERM: streams end, running calls come to their end, a held one is abandoned, and all are recorded', {
  timeout: 180_000,
}, async () => {
  const legacy = await openLegacy()
  const modern = await openModern()
  const processes = await McpProcesses.open('sqlite', {DRAIN_TIMEOUT_MS: String(DRAIN_MS)})
  onTestFinished(async () => {
    await processes.close()
    await Promise.all([legacy, modern].map(each => each.close()))
  })
  const gateway = await processes.start()
  await gateway.server('legacy', legacy.url)
  await gateway.server('modern', modern.url)
  const session = await begun('legacy')
  const streams = [
    await fetch(gateway.url('legacy'), {
      headers: {...session, 'x-gateway-api-key': WORKSPACE_KEY, accept: 'text/event-stream'},
    }),
    await gateway.modernCall('modern', 'subscriptions/listen', {notifications: {toolsListChanged: true}}),
  ]
  expect(streams.map(({status}) => status)).toEqual([200, 200])
  const held = await rpcBody(await gateway.modernCall('legacy', 'tools/call', {name: 'ask', arguments: {}}))
  expect(held.result).toHaveProperty('requestState')
  const hold = {name: 'hold', arguments: {}}
  const running = [
    gateway.post('legacy', {jsonrpc: '2.0', id: 7, method: 'tools/call', params: hold}, session),
    gateway.modernCall('legacy', 'tools/call', hold),
    gateway.modernCall('modern', 'tools/call', hold),
  ]
  await Promise.all([legacy.state.whenHeld(2), modern.state.whenHeld(1)])

  const stopped = gateway.stop()
  const ends = await Promise.all(streams.map(stream => stream.text()))
  // the one of a client's own request ends with its result
  expect(ends[1]).toContain('"resultType":"complete"')
  expect([legacy.state.cancelled, modern.state.cancelled]).toEqual([0, 0])
  // longer than answers have that are leaving when all calls are over
  await new Promise(resolve => setTimeout(resolve, 1_500))
  expect([legacy.state.held, modern.state.held]).toEqual([2, 1])
  legacy.state.release()
  modern.state.release()
  for (const body of await Promise.all((await Promise.all(running)).map(rpcBody)))
    expect(body.result).toMatchObject({content: [{text: 'released'}]})
  const {took_ms, code} = await stopped
  expect(code).toBe(0)
  expect(took_ms).toBeLessThan(DRAIN_MS + GRACE_MS)
  expect(legacy.of('notifications/cancelled').length).toBe(1) // the held one

  const again = await processes.start()
  const rows = await again.gateway.admin<{data: {ai_model: string}[]}>('GET', '/logs?page_size=100')
  const calls = rows.data.filter(({ai_model}) => ai_model.includes('/'))
  expect(calls.map(({ai_model}) => ai_model).sort()).toEqual([
    ...['legacy/ask', 'legacy/hold', 'legacy/hold', 'modern/hold'],
  ])
  const entries = await processes.read(db =>
    db.selectFrom('traffic.ledger_entries').select(['model', 'outcome']).where('provider', '=', 'mcp').execute(),
  )
  expect(entries.map(({model, outcome}) => `${model} ${outcome}`).sort()).toEqual([
    ...['legacy/ask aborted', 'legacy/hold ok', 'legacy/hold ok', 'modern/hold ok'],
  ])

  async function begun(slug: string) {
    const params = {protocolVersion: '2025-11-25', capabilities: {}, clientInfo: {name: 'c', version: '1'}}
    const response = await gateway.post(slug, {jsonrpc: '2.0', id: 0, method: 'initialize', params})
    await response.text()
    return {'mcp-session-id': response.headers.get('mcp-session-id')!, 'mcp-protocol-version': '2025-11-25'}
  }
})

test.skipIf(RING === 'own')(
  'a running call that does not end is ended with the drain, and pays: the server has it',
  {timeout: 180_000},
  async () => {
    const modern = await openModern()
    const processes = await McpProcesses.open('sqlite', {DRAIN_TIMEOUT_MS: '500'})
    onTestFinished(async () => {
      await processes.close()
      await modern.close()
    })
    const gateway = await processes.start()
    await gateway.server('modern', modern.url, {configurations: {tool_prices: {default: 0.5}}})
    const running = gateway.modernCall('modern', 'tools/call', {name: 'hold', arguments: {}}).then(rpcBody, () => null)
    await modern.state.whenHeld(1)
    const {took_ms, code} = await gateway.stop()
    expect(code).toBe(0)
    expect(took_ms).toBeLessThan(10_000)
    await running
    await processes.start()
    const rows = () =>
      processes.read(db =>
        db
          .selectFrom('traffic.ledger_entries')
          .select(['model', 'outcome', 'cost_nanousd'])
          .where('provider', '=', 'mcp')
          .execute(),
      )
    const entry = {model: 'modern/hold', outcome: 'aborted', cost_nanousd: 5_000_000}
    await expect.poll(rows, {timeout: 30_000, interval: 500}).toMatchObject([entry])
    expect(modern.state.runs('hold')).toBe(1)
  },
)
