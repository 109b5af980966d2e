import {mkdirSync, mkdtempSync, rmSync, writeFileSync} from 'node:fs'
import {createServer, type Server} from 'node:http'
import type {AddressInfo} from 'node:net'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {afterEach, beforeEach, describe, expect, test} from 'vitest'
import {openCatalogue} from '../../src/pricing/catalogue.ts'
import {openPricing} from '../../src/pricing/open.ts'
import {readSettings} from '../../src/settings/index.ts'

const HOUR_MS = 3_600_000
const catalogue = openCatalogue({
  as_of: '2026-01-01',
  sources: {},
  models: {openai: {m: {source: 'bundled', rates: {input: 1}}}},
})
const file = (cents: number, model = 'm') => ({
  [model]: {pricing_config: {pay_as_you_go: {request_token: {price: cents}}}},
})
const fetchText = async (url: string) => {
  const reply = await fetch(url)
  return {status: reply.status, text: await reply.text()}
}

let folder: string
let server: Server
let url: string
let held: Record<string, unknown>
let asked: string[]
let warnings: string[]
let now_ms: number

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'sources-'))
  for (const name of ['store', 'local', 'described']) mkdirSync(join(folder, name))
  held = {}
  asked = []
  warnings = []
  now_ms = 1_000_000
  server = createServer((request, reply) => {
    asked.push(request.url!)
    const said = held[request.url!]
    reply.statusCode = said === undefined ? 404 : typeof said === 'number' ? said : 200
    reply.end(typeof said === 'string' ? said : JSON.stringify(said ?? {}))
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
afterEach(() => {
  server.closeAllConnections()
  server.close()
  rmSync(folder, {recursive: true})
})

const write = (place: string, rows: unknown, provider = 'openai') =>
  writeFileSync(join(folder, place, `${provider}.json`), JSON.stringify(rows))
const settingsOf = () => ({
  MODEL_CONFIGS_PROXY_FETCH_ENABLED: 'ON',
  MODEL_CONFIGS_PROXY_URL: url,
  MODEL_CONFIGS_PRICING_LOG_STORE_PATH: join(folder, 'store'),
  MODEL_CONFIGS_PRICING_LOCAL_PATH: join(folder, 'local'),
  MODEL_CONFIGS_CAPABILITIES_LOG_STORE_PATH: join(folder, 'described'),
})
const open = (env: Record<string, string> = settingsOf()) => {
  const pricing = openPricing({
    settings: readSettings({env}).settings,
    fetch: fetchText,
    isProvider: provider => provider === 'openai',
    warn: sentence => void warnings.push(sentence),
    now_ms: () => now_ms,
    catalogue,
  })
  const input = (model = 'm') => pricing.lookup('openai', model)?.periods[0]?.rates.input
  return {pricing, input}
}

describe('prices come from', () => {
  test('the proxy, then the log store, then local files, then the catalogue, model by model', async () => {
    held['/pricing/openai'] = file(0.0001, 'from-proxy')
    write('store', {...file(0.0002), ...file(0.0002, 'from-store'), ...file(9, 'from-proxy')})
    write('local', {...file(9), ...file(0.0003, 'from-local'), ...file(9, 'from-store')})
    const {pricing, input} = open()
    await pricing.ready('openai')
    expect(['from-proxy', 'from-store', 'm', 'from-local'].map(input)).toEqual([1e6, 2e6, 2e6, 3e6])
    expect(pricing.list().map(({model, source}) => `${model} ${source}`)).toEqual([
      'from-local local',
      'from-proxy proxy',
      'from-store log-store',
      'm log-store',
    ])
  })

  test('a hosted file whose name ends in .json', async () => {
    held['/pricing/openai.json'] = file(0.0001)
    const {pricing, input} = open()
    await pricing.ready('openai')
    expect(input()).toBe(1e6)
    expect(asked).toEqual(['/pricing/openai', '/pricing/openai.json'])
  })

  test('nowhere but the catalogue when the proxy is not switched on', async () => {
    const {MODEL_CONFIGS_PROXY_FETCH_ENABLED: _, MODEL_CONFIGS_PROXY_URL: __, ...others} = settingsOf()
    const {pricing, input} = open(others)
    await pricing.ready('openai')
    expect([input(), asked]).toEqual([1, []])
  })

  test('memory for an hour; then the source is asked again, and nobody waits for it', async () => {
    held['/pricing/openai'] = file(0.0001)
    const {pricing, input} = open()
    expect(input()).toBe(1)
    await pricing.ready('openai')
    held['/pricing/openai'] = file(0.0005)
    now_ms += HOUR_MS - 1
    expect(input()).toBe(1e6)
    now_ms += 1
    expect(input()).toBe(1e6)
    await pricing.ready('openai')
    expect([input(), asked.length]).toEqual([5e6, 2])
  })
})

describe('a source that fails', () => {
  test.each<[string, unknown, string]>([
    ['answers with an error', 500, 'it answered 500'],
    ['holds no JSON', '<html>', 'not valid JSON'],
    ['holds a bad price', file(-1), 'm.pricing_config.pay_as_you_go.request_token.price'],
  ])('is told once an hour, and the next is asked: it %s', async (_, said, sentence) => {
    held['/pricing/openai'] = said
    write('local', file(0.0003))
    const {pricing, input} = open()
    await pricing.ready('openai')
    expect([input(), input()]).toEqual([3e6, 3e6])
    expect(warnings).toEqual([expect.stringContaining(sentence)])
    expect(warnings[0]).toContain(`the proxy ${url}/pricing`)
    expect(warnings[0]).toContain('the next source is asked')
  })

  test('is asked again after a minute, and told of again after an hour', async () => {
    held['/pricing/openai'] = 503
    const {pricing, input} = open()
    for (let minute = 0; minute < 60; minute++) {
      await pricing.ready('openai')
      now_ms += 60_000
    }
    expect([asked.length, warnings.length]).toEqual([60, 1])
    await pricing.ready('openai')
    expect(warnings).toHaveLength(2)
    held['/pricing/openai'] = file(0.0001)
    now_ms += 60_000
    await pricing.ready('openai')
    expect(input()).toBe(1e6)
  })

  test('leaves what it said before in use', async () => {
    held['/pricing/openai'] = file(0.0001)
    const {pricing, input} = open()
    await pricing.ready('openai')
    held['/pricing/openai'] = 503
    now_ms += HOUR_MS
    await pricing.ready('openai')
    expect(input()).toBe(1e6)
    expect(warnings).toEqual([expect.stringContaining('what it said before is used')])
  })

  test('is not asked for names that callers make up', async () => {
    const {pricing} = open()
    for (const provider of ['groq', '../openai', 'openai/x', '', 'a'.repeat(500)]) {
      await pricing.ready(provider)
      expect(pricing.lookup(provider, 'm')).toBeUndefined()
      expect(await pricing.capabilities(provider)).toBeUndefined()
    }
    expect(asked).toEqual([])
  })
})

describe('capabilities come from', () => {
  test('the proxy, else the log store', async () => {
    write('described', {m: {type: {primary: 'chat'}}})
    const {pricing} = open()
    expect(await pricing.capabilities('openai')).toEqual({m: {type: {primary: 'chat'}}})
    held['/general/openai'] = {m: {type: {primary: 'embed'}}}
    now_ms += HOUR_MS
    expect(await pricing.capabilities('openai')).toEqual({m: {type: {primary: 'embed'}}})
  })

  test('nowhere, where nothing is named', async () => {
    expect(await open({}).pricing.capabilities('openai')).toBeUndefined()
  })
})
