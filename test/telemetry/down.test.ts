import type {AddressInfo} from 'node:net'
import {createServer} from 'node:net'
import {expect, onTestFinished, test} from 'vitest'
import {startGateway} from '../support/gateway.ts'
import {scraped} from '../support/scrape.ts'
import {startCollector} from './collector.ts'

const CALLS = 60
const BODY = {model: 'echo', messages: [{role: 'user', content: 'hi'}]}

/** An address that refuses connections. */
async function nobody(): Promise<string> {
  const server = createServer()
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const {port} = server.address() as AddressInfo
  await new Promise(resolve => server.close(resolve))
  return `http://127.0.0.1:${port}`
}

async function silent(): Promise<string> {
  const collector = await startCollector()
  collector.answer = () => undefined
  return collector.url
}

test.each([
  ['refuses connections', nobody],
  ['never answers', silent],
])(
  'TL20: a collector that %s holds back neither calls nor the ledger',
  async (_, start) => {
    const gateway = await startGateway({OTEL_EXPORTER_OTLP_ENDPOINT: await start(), OTEL_BSP_SCHEDULE_DELAY: '100'})
    onTestFinished(() => gateway.close())
    const took_ms: number[] = []
    for (let call = 0; call < CALLS; call++) {
      const started = performance.now()
      expect((await gateway.chat(BODY, {'x-gateway-provider': '@demo'})).status).toBe(200)
      took_ms.push(performance.now() - started)
    }
    // far below the timeout of a request to a collector (10 s), also on a busy machine
    expect(took_ms.toSorted((one, other) => one - other)[CALLS / 2]).toBeLessThan(2_000)
    expect(await gateway.logs()).toHaveLength(CALLS)
    const page = await (await gateway.call('/metrics')).text()
    expect(Number(/^gateway_journal_lag_seconds (\S+)$/m.exec(page)![1])).toBeLessThan(1)
    expect(await scraped(gateway, 'gateway_telemetry_items_total', 'outcome="sent"')).toBe(0)
  },
  60_000,
)
