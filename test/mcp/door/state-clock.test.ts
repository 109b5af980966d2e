import {expect, onTestFinished, test} from 'vitest'
import {openLegacy} from '../../support/mcp/legacy-server.ts'
import {openModern} from '../../support/mcp/modern-server.ts'
import {rpcBody} from '../../support/mcp/rpc-body.ts'
import {McpGateway} from '../../support/mcp/served.ts'

const MINUTE_MS = 60_000

test.each(['modern', 'legacy'] as const)(
  'fact 27: a state is good for ten minutes of the clock, which may jump in either direction (%s server)',
  async era => {
    const fixture = era === 'modern' ? await openModern() : await openLegacy()
    let now_ms = Date.UTC(2026, 10, 1, 12)
    const mcp = await McpGateway.open({}, {now: () => now_ms})
    onTestFinished(async () => {
      await mcp.close()
      await fixture.close()
    })
    await mcp.server('asks', fixture.url)
    const ask = async () => {
      const {result} = await rpcBody(await mcp.modernCall('asks', 'tools/call', {name: 'ask', arguments: {}}))
      return result as {requestState: string; inputRequests: Record<string, unknown>}
    }
    const retry = async ({requestState, inputRequests}: Awaited<ReturnType<typeof ask>>) => {
      const accepted = {action: 'accept', content: {ok: true}}
      const inputResponses = Object.fromEntries(Object.keys(inputRequests).map(key => [key, accepted]))
      const params = {name: 'ask', arguments: {}, requestState, inputResponses}
      return rpcBody(await mcp.modernCall('asks', 'tools/call', params))
    }
    const refused = {error: {code: -32602, message: 'requestState is not valid'}}
    const [late, again] = [await ask(), await ask()]
    now_ms += 9 * MINUTE_MS
    expect(await retry(again)).toMatchObject({result: {content: [{text: 'accept {"ok":true}'}]}})
    now_ms += MINUTE_MS
    expect(await retry(late)).toMatchObject(refused)
    // the clock of a process does not go back: what is over stays over
    now_ms -= 5 * MINUTE_MS
    expect(await retry(late)).toMatchObject(refused)
    // used once, whatever the clock says next
    for (const jump_ms of [-60 * MINUTE_MS, 59 * MINUTE_MS]) {
      now_ms += jump_ms
      expect(await retry(again)).toMatchObject(refused)
    }
  },
)
