import {mkdtempSync, rmSync, writeFileSync} from 'node:fs'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {describe, expect, test} from 'vitest'
import {build, type SourceTexts} from '../../bin/prices/build.ts'
import {readLiteral} from '../../bin/prices/literal.ts'
import {picoOf} from '../../bin/prices/offer.ts'
import {fetchTexts} from '../../bin/prices/packages.ts'
import {type CatalogueFile, openCatalogue} from '../../src/pricing/catalogue.ts'

/** A genai-prices bundle of `providers` (JavaScript text), as its build writes it. */
const genai = (...providers: string[]) => [`const E = [\n  ${providers.join(',\n')}\n];\nfunction x() {}`]
const provider = (id: string, ...models: string[]) => `{\n    id: "${id}",\n    models: [${models.join(', ')}]\n  }`
const pi = (models = '{}') => [`// generated\nexport const MODELS = ${models};\n`]
const piModel = (id: string, cost: string, name = id) => `"${id}": {id: "${id}", name: "${name}", cost: {${cost}},}`
const cheap = (input: number) => `input: ${input}, output: 10, cacheRead: 0, cacheWrite: 0`
const tokenlens = (id: string, model: string, cost: string, kinds = '["text"]') =>
  `export const oneModels = {id: "${id}", models: {"${model}": {id: "${model}", name: "M", modalities: {input: ${kinds}, output: ["text"]}, ${cost}}}};`
const aicost = (groups = '{}') => [`const AICostModelList = ${groups};\n`]
const aicostModel = (name: string, inputCost: string) =>
  `{"name": "${name}", "inputCost": ${inputCost}, "inputCostUnit": "token", "outputCost": null, "outputCostUnit": null}`

const EMPTY: SourceTexts = {'genai-prices': genai(), 'pi-ai': pi(), tokenlens: [], aicost: aicost()}
const made = (texts: Partial<SourceTexts>, as_of = '2026-11-21') => {
  const {catalogue, conflicts} = build({...EMPTY, 'genai-prices': genai(provider('openai')), ...texts}, as_of)
  return {models: (JSON.parse(catalogue) as CatalogueFile).models, catalogue, conflicts}
}

describe('the build', () => {
  const texts: SourceTexts = {
    'genai-prices': genai(
      provider(
        'openai',
        '{id: "gpt-x", match: {or: [{equals: "gpt-x"}, {equals: "gpt-x-latest"}]}, prices: {input_mtok: 2.5, output_mtok: 10}}',
        '{id: "gpt-y", match: {starts_with: "gpt-y"}, prices: {input_mtok: {base: 1, tiers: [{start: 2e5, price: 2}]}, output_mtok: 4, web_searches_kcount: 10}}',
      ),
    ),
    'pi-ai': pi(`{openai: {${piModel('gpt-z', cheap(0.09999999999999999))}}}`),
    tokenlens: [
      tokenlens('xai', 'grok', 'cost: {input: 3, output: 15, cache_read: .75}'),
      tokenlens('lmstudio', 'home', 'cost: {input: 1, output: 1}'),
    ],
    aicost: aicost(
      `{"openai": [${aicostModel('gpt-y-2026-01-01', '1e-6')}], "groq": [${aicostModel('groq/llama', '5e-8')}]}`,
    ),
  }

  test('makes these lines: sorted, one model each, whole pico-dollars', () => {
    expect(build(texts, '2026-11-21').catalogue.split('"models": ')[1]).toBe(`{
    "groq": {
      "llama": {"source":"aicost","rates":{"input":50000}}
    },
    "openai": {
      "gpt-x": {"source":"genai-prices","rates":{"input":2500000,"output":10000000},"aliases":["gpt-x-latest"]},
      "gpt-y": {"source":"genai-prices","rates":{"input":1000000,"output":4000000},"tiers":[{"above":200000,"rates":{"input":2000000,"output":4000000}}],"units":{"web_search":10000000000},"aliases":["gpt-y-2026-01-01"],"dated":true},
      "gpt-z": {"source":"pi-ai","rates":{"input":100000,"output":10000000}}
    },
    "x-ai": {
      "grok": {"source":"tokenlens","rates":{"input":3000000,"cache_read":750000,"output":15000000}}
    }
  }
}
`)
  })

  test('makes the same bytes from the same texts, twice', () => {
    expect(build(texts, '2026-11-21')).toEqual(build(structuredClone(texts), '2026-11-21'))
  })

  test('keeps every dated price, and hours', () => {
    const prices = `[{prices: {input_mtok: 1}}, {constraint: {type: "start_date", start_date: "2026-08-17"}, prices: {input_mtok: 2}},
      {constraint: {type: "time_of_date", start_time: "01:00:00Z", end_time: "04:30:00Z"}, prices: {input_mtok: 4}}]`
    const {models} = made({
      'genai-prices': genai(provider('deepseek', `{id: "v", match: {equals: "v"}, prices: ${prices}}`)),
    })
    expect(models.deepseek?.v).toEqual({
      source: 'genai-prices',
      periods: [
        {rates: {input: 1_000_000}},
        {from: '2026-08-17', rates: {input: 2_000_000}},
        {hours: [60, 270], rates: {input: 4_000_000}},
      ],
    })
  })

  test('stops at a provider that no table names, and at a price it does not know', () => {
    expect(() => made({'pi-ai': pi(`{newcomer: {${piModel('m', cheap(1))}}}`)})).toThrow(
      'pi-ai has a provider "newcomer"',
    )
    expect(() =>
      made({'genai-prices': genai(provider('openai', '{id: "m", match: {equals: "m"}, prices: {smell_mtok: 1}}'))}),
    ).toThrow('smell_mtok')
  })
})

describe('two sources', () => {
  const rule = (match: string) =>
    genai(provider('openai', `{id: "gpt-x", match: ${match}, prices: {input_mtok: 1, output_mtok: 10}}`))

  test('that differ by more than 1 % are reported, and the earlier wins', () => {
    const {models, conflicts} = made({
      'genai-prices': rule('{equals: "gpt-x"}'),
      'pi-ai': pi(`{openai: {${piModel('gpt-x', cheap(1.02))}}}`),
    })
    expect(models.openai).toEqual({'gpt-x': {source: 'genai-prices', rates: {input: 1_000_000, output: 10_000_000}}})
    expect(conflicts).toContain('| openai | gpt-x | input | 1 genai-prices | 1.02 pi-ai |')
    expect(conflicts).not.toContain('| openai | gpt-x | output')
  })

  test('that differ by 1 % are not reported', () => {
    const {conflicts} = made({
      'genai-prices': rule('{equals: "gpt-x"}'),
      'pi-ai': pi(`{openai: {${piModel('gpt-x', cheap(1.01))}}}`),
    })
    expect(conflicts).not.toContain('| openai | gpt-x')
  })

  test('agree through a rule: the id is an alias, and is found', () => {
    const {models, catalogue} = made({
      'genai-prices': rule('{contains: "gpt-x"}'),
      'pi-ai': pi(`{openai: {${piModel('gpt-x-pro', cheap(1))}}}`),
    })
    expect(Object.keys(models.openai ?? {})).toEqual(['gpt-x'])
    expect(openCatalogue(JSON.parse(catalogue)).lookup('openai', 'gpt-x-pro')?.model).toBe('gpt-x')
  })

  test('differ through a rule: another model keeps its own price, another date does not', () => {
    const {models, conflicts} = made({
      'genai-prices': rule('{starts_with: "gpt-x"}'),
      'pi-ai': pi(`{openai: {${piModel('gpt-x-mini', cheap(0.5))}, ${piModel('gpt-x-2026-01-01', cheap(3))}}}`),
    })
    expect(Object.keys(models.openai ?? {})).toEqual(['gpt-x', 'gpt-x-mini'])
    expect(models.openai?.['gpt-x']).toMatchObject({aliases: ['gpt-x-2026-01-01']})
    expect(conflicts).toContain('| openai | gpt-x | input | 1 genai-prices | 0.5 pi-ai (as gpt-x-mini) |')
  })

  test('a rule without an id is listed under the first id that it means', () => {
    const {models} = made({
      'genai-prices': genai(
        provider('openai', '{id: "ft:x-", match: {starts_with: "ft:x-"}, prices: {input_mtok: 1}}'),
      ),
      aicost: aicost(`{"openai": [${aicostModel('ft:x-2026', '9e-6')}]}`),
    })
    expect(models.openai).toEqual({'ft:x-2026': {source: 'genai-prices', rates: {input: 1_000_000}}})
  })
})

describe('what is left out', () => {
  test('a price of 0 that nobody says is free, what is not known, and names that cannot be called', () => {
    const {models} = made({
      'pi-ai': pi(
        `{openrouter: {${[
          piModel('a/zero', 'input: 0, output: 0, cacheRead: 0, cacheWrite: 0'),
          piModel('a/gift:free', 'input: 0, output: 0, cacheRead: 0, cacheWrite: 0'),
          piModel('auto', 'input: -1000000, output: -1000000, cacheRead: 0, cacheWrite: 0'),
        ].join(', ')}}}`,
      ),
      'genai-prices': genai(
        provider('openai', '{id: "moderation", match: {equals: "moderation"}, prices: {}}'),
        provider('openrouter', '{id: "no-author", match: {equals: "no-author"}, prices: {input_mtok: 1}}'),
      ),
    })
    expect(models).toEqual({openrouter: {'a/gift:free': {source: 'pi-ai', rates: {input: 0, output: 0}}}})
  })

  test('subscriptions, prices of a region, of a minute, absurd prices', () => {
    const {models, conflicts} = made({
      'pi-ai': pi(`{"openai-codex": {${piModel('gpt-x', cheap(1))}}}`),
      tokenlens: [tokenlens('groq', 'whisper', 'cost: {input: 0.0005, output: 0.0005}', '["audio"]')],
      aicost: aicost(
        `{"azure": [${aicostModel('azure/eu/gpt-x', '1e-6')}], "wandb": [${aicostModel('wandb/llama', '0.071')}]}`,
      ),
    })
    expect(models).toEqual({})
    expect(conflicts).toContain('| groq | whisper | input | tokenlens | 0.0005 dollars is not the price of a token')
    expect(conflicts).toContain(
      '| wandb | llama | input | aicost | 0.071 dollars a token is above 1000 USD a million tokens |',
    )
  })

  test('what is no whole number of pico-dollars; the trace of a multiplication is', () => {
    expect(picoOf(0.09999999999999999, 'dollars_per_million')).toBe(100_000)
    expect(picoOf(3.1999999999999997, 'dollars_per_million')).toBe(3_200_000)
    expect(picoOf(0.08333333333333334, 'dollars_per_million')).toHaveProperty('why')
    expect(picoOf(4.6875e-9, 'dollars')).toHaveProperty('why')
  })
})

describe('reading a literal', () => {
  test('takes data, and only data', () => {
    // j
    const text = `{a: [1, -2.5, .5, 2e3, 1E-7,], 'b"': "\\u0041\\x42\\n", c: \`x \\\`y\`, d: !0, e: !1, f: null, g: void 0, /* h */ $i: true,
      7: 'k',}`
    expect(readLiteral(text, 0)).toEqual({
      a: [1, -2.5, 0.5, 2000, 1e-7],
      'b"': 'AB\n',
      c: 'x `y',
      d: true,
      e: false,
      f: null,
      g: null,
      $i: true,
      7: 'k',
    })
  })

  test.each(['{a: x()}', '[1, y]', '`${z}`', '{a 1}', '[1', 'new Date()', '"open'])(
    'refuses %s, with the line',
    text => {
      expect(() => readLiteral(`\n${text}`, 1)).toThrow('line 2: expected ')
    },
  )
})

test('an archive that is not the pinned one is refused', () => {
  const folder = mkdtempSync(join(tmpdir(), 'archives-'))
  writeFileSync(join(folder, 'pydantic-genai-prices-0.1.8.tgz'), 'something else')
  expect(() => fetchTexts(folder)).toThrow(/has the SHA-512 .*, expected h7CYw6q/)
  rmSync(folder, {recursive: true})
})
