import {mkdtempSync, rmSync, writeFileSync} from 'node:fs'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {afterEach, beforeEach, describe, expect, test} from 'vitest'
import {type CatalogueFile, openCatalogue} from '../../src/pricing/catalogue.ts'
import {readPriceFile} from '../../src/pricing/file.ts'
import {openPricing} from '../../src/pricing/open.ts'
import {readSettings} from '../../src/settings/index.ts'

const HOUR_MS = 3_600_000
const file: CatalogueFile = {
  as_of: '2026-01-01',
  sources: {},
  models: {openai: {'gpt-4o': {source: 'bundled', rates: {input: 1}}}},
}
const catalogue = openCatalogue(file)

let directory: string
let now_ms: number
let warnings: string[]
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'prices-'))
  now_ms = 1_000_000
  warnings = []
})
afterEach(() => rmSync(directory, {recursive: true}))

const write = (name: string, content: unknown) =>
  writeFileSync(join(directory, name), typeof content === 'string' ? content : JSON.stringify(content))
const open = (env: Record<string, string> = {MODEL_CONFIGS_PRICING_LOCAL_PATH: directory}) =>
  openPricing({
    settings: readSettings({env}).settings,
    catalogue,
    isProvider: () => true,
    warn: sentence => void warnings.push(sentence),
    now_ms: () => now_ms,
  })
const row = (cents: number) => ({pricing_config: {pay_as_you_go: {request_token: {price: cents}}}})
const inputOf = (prices: ReturnType<typeof open>, model: string, provider = 'openai') =>
  prices.lookup(provider, model)?.periods[0]?.rates.input

describe('local price files', () => {
  test('win over the catalogue, model by model, however the model is spelled', () => {
    write('openai.json', {'GPT-4o': row(0.0002)})
    const prices = open()
    expect(prices.lookup('openai', 'openai/gpt-4o')).toMatchObject({
      source: 'local',
      model: 'GPT-4o',
      periods: [{rates: {input: 2_000_000}}],
    })
    expect(warnings).toEqual([])
  })

  test('leave to the catalogue what they do not name', () => {
    write('openai.json', {other: row(0.0002)})
    expect([inputOf(open(), 'gpt-4o'), inputOf(open(), 'other'), inputOf(open(), 'third')]).toEqual([
      1,
      2_000_000,
      undefined,
    ])
  })

  test('may price a provider the catalogue does not know', () => {
    write('my-lab.json', {m: row(0.0001)})
    expect(inputOf(open(), 'm', 'my-lab')).toBe(1_000_000)
  })

  test('are listed with the catalogue, each model once, also of a provider the catalogue does not know', () => {
    write('openai.json', {'GPT-4o': row(0.0002), 'a-model': row(0.0001), default: row(1)})
    write('my-lab.json', {m: row(0.0001)})
    write('bad.json', '{')
    write('notes.txt', 'x')
    const listed = open()
      .list()
      .map(({provider, model, source}) => `${provider} ${model} ${source}`)
    expect(listed).toEqual(['my-lab m local', 'openai GPT-4o local', 'openai a-model local'])
    rmSync(join(directory, 'openai.json'))
    expect(
      open()
        .list()
        .map(({source}) => source),
    ).toEqual(['local', 'bundled'])
  })

  test('price every other model by a default that is worth something', () => {
    write('openai.json', {default: row(0.0003)})
    write('my-lab.json', {default: row(0)})
    expect([inputOf(open(), 'gpt-4o'), inputOf(open(), 'unknown'), inputOf(open(), 'unknown', 'my-lab')]).toEqual([
      1,
      3_000_000,
      undefined,
    ])
  })

  test('inherit the formulas of the default', () => {
    const doubled = {
      operation: 'multiply',
      operands: [{value: 'input_tokens'}, {value: 'rates.request_token'}, {value: 2}],
    }
    const own = {operation: 'multiply', operands: [{value: 'input_tokens'}, {value: 'rates.request_token'}, {value: 3}]}
    const rows = {
      default: {
        pricing_config: {pay_as_you_go: {request_token: {price: 0}}, calculate: {request: doubled}, currency: 'USD'},
      },
      plain: row(0.0001),
      own: {pricing_config: {...row(0.0001).pricing_config, calculate: {request: own}}},
    }
    const {models} = readPriceFile(rows, 'p', 'local')
    expect([...models.values()].map(price => price.periods[0]?.rates.input)).toEqual([2_000_000, 3_000_000])
  })

  test('are read again after an hour, not before', () => {
    write('openai.json', {'gpt-4o': row(0.0002)})
    const prices = open()
    expect(inputOf(prices, 'gpt-4o')).toBe(2_000_000)
    write('openai.json', {'gpt-4o': row(0.0004)})
    now_ms += HOUR_MS - 1
    expect(inputOf(prices, 'gpt-4o')).toBe(2_000_000)
    now_ms += 1
    expect(inputOf(prices, 'gpt-4o')).toBe(4_000_000)
  })

  test('need not be there', () => {
    expect(inputOf(open(), 'gpt-4o')).toBe(1)
    expect(inputOf(open({}), 'gpt-4o')).toBe(1)
    expect(warnings).toEqual([])
  })
})

describe('a bad price file', () => {
  test.each<[string, unknown, string]>([
    ['is no JSON', '{', 'openai.json is not used, the bundled prices are: '],
    ['is no object', [], 'expected an object of models'],
    ['has a row without a config', {'gpt-4o': row(1), m: {}}, 'm: expected {"pricing_config": {...}}'],
    ['has a bad price', {m: row(-1)}, 'm.pricing_config.pay_as_you_go.request_token.price: '],
    [
      'has a bad formula',
      {default: {pricing_config: {calculate: {request: 1}}}},
      'default.pricing_config.calculate.request: expected',
    ],
    ['is too long', `"${'x'.repeat(9_000_000)}"`, 'bytes long; expected at most 8388608'],
  ])('is told once, with the place, and left aside: it %s', (_, content, sentence) => {
    write('openai.json', content)
    const prices = open()
    expect([inputOf(prices, 'gpt-4o'), inputOf(prices, 'gpt-4o')]).toEqual([1, 1])
    expect(warnings).toHaveLength(1)
    expect(warnings[0]).toContain(join(directory, 'openai.json'))
    expect(warnings[0]).toContain(sentence)
  })

  test.each(['../secret', 'a/b', '.', '', 'A', 'x'.repeat(65)])(
    'is never looked for by a provider that is no slug: %s',
    provider => {
      write('secret.json', {m: row(1)})
      expect(open().lookup(provider, 'm')).toBeUndefined()
      expect(warnings).toEqual([])
    },
  )
})
