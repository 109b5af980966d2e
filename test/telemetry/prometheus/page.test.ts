import {mkdtempSync, rmSync, writeFileSync} from 'node:fs'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {afterAll, beforeAll, describe, expect, onTestFinished, test, vi} from 'vitest'
import {startGateway, type TestGateway} from '../../support/gateway.ts'
import {type FakeProvider, fakeProvider} from '../../support/provider.ts'
import {NO_PROMETHEUS, openPrometheus, promtoolSays} from './programs.ts'

const HOSTILE = 'a "quoted" \\ value\nof two lines \u0000 \ud800 é'
const HI = {model: 'gpt-4o-mini', messages: [{role: 'user', content: 'Hi'}]}

let provider: FakeProvider
let gateway: TestGateway
beforeAll(async () => {
  provider = await fakeProvider()
  gateway = await startGateway({
    TRUSTED_CUSTOM_HOSTS: '127.0.0.1',
    PROMETHEUS_INCLUDE_MODEL_LABEL: 'true',
    PROMETHEUS_INCLUDE_CONFIG_NAME_LABEL: 'true',
    PROMETHEUS_INCLUDE_API_KEY_NAME_LABEL: 'true',
    PROMETHEUS_EXTRA_LABELS: 'apiKeyName,configName,source,payloadSizeRange,app,env',
    NODE_ENV: 'production',
    PROMETHEUS_INCLUDE_METADATA_LABELS: 'true',
    PROMETHEUS_LABELS_METADATA_ALLOWED_KEYS: 'team, cost-centre',
    PROMETHEUS_COMPATIBLE_NAMES: 'true',
  })
  await gateway.provider('mock', 'openai', provider.url)
  const {data} = await gateway.admin<{data: {slug: string}}>('POST', '/configs', {
    ...{name: 'The "best" config', config: {provider: '@mock'}, workspace_id: await workspace()},
  })
  const call = async (headers: Record<string, string>, body: object = HI) => (await gateway.chat(body, headers)).text()
  await call({
    'x-gateway-config': data.slug,
    'x-gateway-metadata': JSON.stringify({team: 'blue', secret: 'never shown'}),
  })
  await call({'x-gateway-provider': '@mock', 'x-gateway-metadata': JSON.stringify({team: HOSTILE, 'cost-centre': '7'})})
  await call({'x-gateway-provider': '@mock'}, {...HI, stream: true})
  await call({'x-gateway-provider': '@mock'}, {...HI, model: 'no-such-model-anywhere'})
  await call({'x-gateway-provider': '@absent'})
  await gateway.app.flushed()
}, 60_000)
afterAll(async () => {
  await gateway.close()
  await provider.close()
})

async function workspace() {
  const {data} = await gateway.admin<{data: {id: string}[]}>('GET', '/admin/workspaces')
  return data[0]!.id
}
const page = async () => (await fetch(`${gateway.url}/metrics`)).text()
/** The label sets of a metric. */
const setsOf = (text: string, name: string) =>
  [...text.matchAll(new RegExp(`^${name}\\{(.*)\\} \\S+$`, 'gm'))].map(([, set]) => set!)

/** Complaints that stay, each for what it names. */
const KNOWN_COMPLAINTS: readonly RegExp[] = [
  // names, units and labels in camel case are those of the compatible product
  /^(?:request_count|llm_(?:cost|token)_sum|\w+_milliseconds|\w+_ms|unpriced_(?:request|unit)_count) /,
  /^(?:mode_unpriced_count|usage_unknown_count) /,
  / label names should be written in 'snake_case' not 'camelCase'$/,
  // those of prom-client, which dashboards for Node.js know
  /^node_/,
  // counters are what drifts
  /^gateway_counter_drift_total metric name should not include type 'counter'$/,
]

describe('the page with every label on', () => {
  test('config and key have their names, under both forms; a call without a saved config has N/A', async () => {
    const sets = setsOf(await page(), 'request_count')
    expect(sets).toContainEqual(
      expect.stringContaining('config_name="The \\"best\\" config",configName="The \\"best\\"'),
    )
    expect(sets).toContainEqual(expect.stringContaining('config_name="N/A",configName="N/A"'))
    expect(sets.filter(set => /api_key_name="[^"]+",apiKeyName="[^"]+"/.test(set)).length).toBeGreaterThan(0)
  })

  test('who answered, the size of the body, the service and its environment are labels where they are wished', async () => {
    const sets = setsOf(await page(), 'request_count')
    const service = 'app="gateway",env="production"'
    expect(sets).toContainEqual(expect.stringContaining(`${service},source="provider",payloadSizeRange="0-2MB"`))
    const refused = sets.filter(set => set.includes('source="gateway"'))
    expect(refused.length).toBeGreaterThan(0)
    for (const set of sets) expect(set).toContain(service)
  })

  test('TL26: a key of metadata that is not on the list never appears, and an odd value breaks no line', async () => {
    const text = await page()
    expect(text).not.toMatch(/never shown|metadata_secret/)
    const sets = setsOf(text, 'request_count')
    expect(sets).toContainEqual(expect.stringContaining('metadata_team="blue",metadata_cost_centre=""'))
    expect(sets).toContainEqual(
      expect.stringContaining(
        'metadata_team="a \\"quoted\\" \\\\ value\\nof two lines \ufffd \ufffd é",metadata_cost_centre="7"',
      ),
    )
    expect(text.split('\n').every(line => line === '' || /^#|^[a-z_:][\w:]*(?:\{.*\})? \S+$/i.test(line))).toBe(true)
  })

  test('a model that nobody knows is a label of its own when calls of it have succeeded three times', async () => {
    const models = async () =>
      new Set([...(await page()).matchAll(/^request_count\{.*model="([^"]*)"/gm)].map(([, m]) => m))
    const call = async () => {
      await (await gateway.chat({...HI, model: 'local-7b'}, {'x-gateway-provider': '@mock'})).text()
      await gateway.app.flushed()
    }
    for (let at = 0; at < 3; at++) await call()
    expect(await models()).not.toContain('local-7b')
    await call()
    expect(await models()).toContain('local-7b')
    expect(await models()).not.toContain('no-such-model-anywhere')
  })

  test('tokens by direction sum to all tokens, and cost has a name that says its unit', async () => {
    const text = await page()
    const sum = (name: string) =>
      [...text.matchAll(new RegExp(`^${name}\\{.*\\} (\\S+)$`, 'gm'))].reduce(
        (all, [, value]) => all + Number(value),
        0,
      )
    expect(sum('gateway_tokens_total')).toBe(sum('llm_token_sum'))
    expect(sum('llm_token_sum')).toBeGreaterThan(0)
    expect(sum('gateway_cost_dollars_total')).toBeCloseTo(sum('llm_cost_sum'), 12)
  })

  test('each time that the compatible product has a name for is measured', async () => {
    const text = await page()
    for (const name of [
      ...[
        'http_request_duration_seconds',
        'llm_request_duration_milliseconds',
        'llm_last_byte_diff_duration_milliseconds',
      ],
      ...['authentication_duration_milliseconds', 'pre_request_processing_duration_milliseconds'],
      ...['post_request_processing_duration_milliseconds', 'gateway_request_duration_milliseconds'],
      ...['portkey_request_duration_milliseconds', 'portkey_processing_time_excluding_last_byte_ms'],
    ])
      expect(setsOf(text, `${name}_count`).length, name).toBeGreaterThan(0)
  })

  test.skipIf(NO_PROMETHEUS)('TL24: promtool reads all of it, and has no complaint that is not known', async () => {
    const complaints = promtoolSays(await page())
    expect(complaints.filter(line => !KNOWN_COMPLAINTS.some(known => known.test(line)))).toEqual([])
  })

  test.skipIf(NO_PROMETHEUS)(
    'TL24: Prometheus scrapes it, and has what the page says',
    async () => {
      const folder = mkdtempSync(join(tmpdir(), 'prometheus-'))
      const target = new URL(gateway.url).host
      writeFileSync(
        join(folder, 'prometheus.yml'),
        `global: {scrape_interval: 1s}\nscrape_configs: [{job_name: gateway, static_configs: [{targets: ['${target}']}]}]\n`,
      )
      const prometheus = await openPrometheus(join(folder, 'prometheus.yml'), join(folder, 'data'))
      onTestFinished(async () => {
        await prometheus.close()
        rmSync(folder, {recursive: true, force: true})
      })
      const query = async (text: string) => {
        const reply = await fetch(`${prometheus.url}/api/v1/query?query=${encodeURIComponent(text)}`)
        const {data} = (await reply.json()) as {data: {result: {value: [number, string]}[]}}
        return data.result.map(({value}) => value[1])
      }
      await vi.waitFor(async () => expect(await query('up')).toEqual(['1']), {timeout: 30_000, interval: 200})
      const scraped = Number((await query('sum(request_count)'))[0])
      expect(scraped).toBe(
        [...(await page()).matchAll(/^request_count\{.*\} (\d+)$/gm)].reduce(
          (sum, [, count]) => sum + Number(count),
          0,
        ),
      )
    },
    60_000,
  )
})

test('TL25: buckets are those of the settings', async () => {
  const own = await startGateway({
    ...{PROMETHEUS_HISTOGRAM_BUCKETS: '5, 50, 500', PROMETHEUS_HTTP_DURATION_BUCKETS: '0.5,2.5'},
    TRUSTED_CUSTOM_HOSTS: '127.0.0.1',
  })
  onTestFinished(() => own.close())
  await own.provider('mock', 'openai', provider.url)
  await (await own.chat(HI, {'x-gateway-provider': '@mock'})).text()
  await own.app.flushed()
  const text = await (await fetch(`${own.url}/metrics`)).text()
  const bounds = (name: string) => [
    ...new Set([...text.matchAll(new RegExp(`^${name}_bucket\\{.*le="([^"]*)"`, 'gm'))].map(([, le]) => le)),
  ]
  expect(bounds('http_request_duration_seconds')).toEqual(['0.5', '2.5', '+Inf'])
  expect(bounds('llm_request_duration_milliseconds')).toEqual(['5', '50', '500', '+Inf'])
  expect(text).not.toContain('metadata_')
})
