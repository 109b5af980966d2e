import {readFileSync} from 'node:fs'
import {resolve} from 'node:path'
import fc from 'fast-check'
import {encode as cl100k} from 'gpt-tokenizer/encoding/cl100k_base'
import {encode as o200k} from 'gpt-tokenizer/encoding/o200k_base'
import {countChatCompletionTokens} from 'gpt-tokenizer/model/gpt-4o'
import {describe, expect, test} from 'vitest'
import {countJson} from '../../../src/providers/tokens/count.ts'
import {encodingOf} from '../../../src/providers/tokens/encodings.ts'
import {PieceCounter} from '../../../src/providers/tokens/pieces.ts'
import {type Encoding, vocabularyOf} from '../../../src/providers/tokens/vocabulary.ts'
import {pace, worked_ms} from '../../support/pace.ts'
import {forRing, generated, seed} from '../../support/ring.ts'

const AS_TEXT = {disallowedSpecial: new Set<string>()}
const ORACLES = {
  o200k_base: (text: string) => o200k(text, AS_TEXT).length,
  cl100k_base: (text: string) => cl100k(text, AS_TEXT).length,
}
const ENCODINGS = Object.keys(ORACLES) as Encoding[]
const counters = {
  o200k_base: new PieceCounter(await vocabularyOf('o200k_base'), 'o200k_base'),
  cl100k_base: new PieceCounter(await vocabularyOf('cl100k_base'), 'cl100k_base'),
}

/** Counts a text that comes in parts of so many units. */
function counted(encoding: Encoding, text: string, size = text.length || 1): number {
  const counter = counters[encoding]
  const before = counter.tokens
  for (let at = 0; at < text.length; at += size) counter.add(text.slice(at, at + size))
  counter.end()
  return counter.tokens - before
}

const read = (file: string) => readFileSync(resolve(import.meta.dirname, '../../..', file), 'utf8')
const MEASURED: readonly {name: string; text: string}[] = JSON.parse(read('test/fixtures/tokens.json'))
const CHINESE =
  '汉字是世界上最古老的文字之一，至今仍在使用。网关在每次调用之前都会预留它可能用掉的最大数量，然后在调用结束时用实际数量代替。如果预留的数量不合适，就会拒绝调用。'
const RUSSIAN =
  'Шлюз перед каждым вызовом резервирует наибольшее количество, которое тот может израсходовать, и заменяет его настоящим, когда вызов закончен. '
const TEXTS: readonly (readonly [string, string])[] = [
  ...MEASURED.map(({name, text}) => [name, text] as const),
  ['a page of documentation', read('docs/architecture.md')],
  ['TypeScript', read('src/proxy/proxy.ts')],
  ['Chinese', CHINESE.repeat(20)],
  ['Russian', RUSSIAN.repeat(20)],
  ['runs of whitespace', `${' '.repeat(700)}\n\n\n\t\t  \r\n \u00a0\u3000 ${'\n'.repeat(90)}x${'\t'.repeat(90)}`],
  ['emoji', '😀👩‍👩‍👧‍👦🇨🇭👍🏽❤️‍🔥'.repeat(20)],
  ['signs', '}~|{;:<>?@#$%^&*()_+-=[]\\"\',./`'.repeat(30)],
  ['contractions', "I'll you'VE they're it's O'Neill'd ".repeat(30)],
]

describe.each(ENCODINGS)('tokens of %s', encoding => {
  test.each(TEXTS)('%s are as many as its tokenizer makes, in whatever parts they come', (_, text) => {
    const tokens = ORACLES[encoding](text)
    for (const size of [text.length, 4096, 37]) expect(counted(encoding, text, size)).toBe(tokens)
  })

  test('any text has as many, in whatever parts it comes', () => {
    const runs = forRing({own: 300, ci: 3000, full: 50_000})
    generated(`exact counts of ${encoding}`, runs)
    const piece = fc.oneof(
      fc.string({unit: 'grapheme', maxLength: 12}),
      fc.string({unit: 'binary', maxLength: 6}),
      fc.string({unit: fc.constantFrom(..."abcdefgh ABC\n\r\t 0123'.,/!é汉ж\u0301"), maxLength: 20}),
      fc.constantFrom(" don't", " we'LL", '\n   \n', '   \r\n ', 'ǅ', '٣٤', '..//\n', '\u0301a'),
    )
    fc.assert(
      fc.property(fc.array(piece, {maxLength: 12}), fc.integer({min: 1, max: 40}), (pieces, size) => {
        const text = pieces.join('').toWellFormed()
        expect(counted(encoding, text)).toBe(ORACLES[encoding](text))
        const cuts = text.match(new RegExp(`[^]{1,${size}}`, 'gu')) ?? []
        const counter = counters[encoding]
        const before = counter.tokens
        for (const cut of cuts) counter.add(cut)
        counter.end()
        expect(counter.tokens - before).toBe(ORACLES[encoding](text))
      }),
      {seed: seed(), numRuns: runs},
    )
  })

  test.each([
    ['letters', 'abcdefghij'.repeat(2000)],
    ['one letter', 'a'.repeat(30_000)],
    ['Chinese without a stop', '汉字是世界上最古老的文字至今仍在使用'.repeat(600)],
    ['line ends', '\n'.repeat(40_000)],
  ])('a piece without an end, of %s, is counted in parts, for hardly more and never less', (_, text) => {
    const tokens = ORACLES[encoding](text)
    for (const size of [text.length, 4096]) {
      const held = counted(encoding, text, size)
      expect(held).toBeGreaterThanOrEqual(tokens)
      expect(held).toBeLessThanOrEqual(tokens * 1.1 + 20)
    }
  })
})

describe('a body', () => {
  const chat = (content: unknown, more = {}) => ({model: 'gpt-4o', messages: [{role: 'user', content}], ...more})
  const count = async (body: object | string) =>
    countJson(Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)), 'o200k_base')

  test.each(TEXTS.filter(([name, text]) => /prose|documentation|Chinese|Russian/.test(name) && text.length > 900))(
    'of %s is held for at no more than 1.1 times its tokens, and at no less',
    async (_, text) => {
      const tokens = ORACLES.o200k_base(text) + 7
      const held = await count(chat(text))
      expect(held).toBeGreaterThanOrEqual(tokens)
      expect(held).toBeLessThanOrEqual(1.1 * tokens)
    },
  )

  test('that is escaped has as many tokens', async () => {
    const escaped = JSON.stringify(chat(`${CHINESE}😀\n"`)).replace(
      /[\u0080-\uffff]/g,
      sign => `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`,
    )
    expect(await count(escaped)).toBe(await count(chat(`${CHINESE}😀\n"`)))
  })

  test('whose strings are longer than is decoded at once has as many, wherever a sign is cut', async () => {
    for (let before = 0; before < 12; before++) {
      const text = `${'x '.repeat(2040)}${'x'.repeat(before)} 汉字😀\u0000\\"\n${RUSSIAN}`
      const held = await count(chat(text))
      expect(held - (await count(chat('')))).toBe(ORACLES.o200k_base(text))
    }
  })

  test('counts a list of tokens by its numbers, and leaves out what no model reads', async () => {
    const input = Array.from({length: 500}, (_, at) => at * 311)
    const held = await count({model: 'text-embedding-3-small', input})
    expect(held).toBeGreaterThanOrEqual(500)
    expect(held).toBeLessThanOrEqual(530)
    const plain = await count(chat('hi'))
    expect(await count(chat('hi', {metadata: {note: RUSSIAN}}))).toBeLessThan(plain + 5)
  })

  test('with functions is held for at no less than OpenAI makes of them', async () => {
    const runs = forRing({own: 100, ci: 1000, full: 10_000})
    generated('counted functions', runs)
    const word = fc.oneof(
      fc.constantFrom('kg', 'lb', 'a', 'x1', 'location', 'Max. items', '1', '汉字'),
      fc.string({maxLength: 6}),
    )
    const described = fc.option(fc.constantFrom('How warm it is.', 'unit', RUSSIAN.slice(0, 30)), {nil: undefined})
    const parameter = fc.letrec<{any: object}>(tie => ({
      any: fc.oneof(
        {maxDepth: 3},
        fc.record({
          type: fc.constant('string'),
          description: described,
          enum: fc.option(fc.array(word, {minLength: 1, maxLength: 6}), {nil: undefined}),
        }),
        fc.record({
          type: fc.constantFrom('number', 'integer'),
          enum: fc.option(fc.array(fc.nat(), {minLength: 1, maxLength: 6}), {nil: undefined}),
        }),
        fc.record({type: fc.constantFrom('boolean', 'null'), description: described}),
        fc.record({type: fc.constant('array'), items: tie('any')}),
        fc.record({type: fc.constant('object'), properties: fc.dictionary(word, tie('any'), {maxKeys: 4})}),
      ),
    })).any
    const one = fc.record({
      name: fc.constantFrom('f', 'get_current_weather', 'search'),
      description: described,
      parameters: fc.record({type: fc.constant('object'), properties: fc.dictionary(word, parameter, {maxKeys: 5})}),
    })
    await fc.assert(
      fc.asyncProperty(fc.array(one, {minLength: 1, maxLength: 4}), async functions => {
        const messages = [{role: 'user' as const, content: 'hi'}]
        const tokens = countChatCompletionTokens!({messages, functions: functions as never})
        const tools = functions.map(each => ({type: 'function', function: each}))
        expect(await count({model: 'gpt-4o', messages, tools})).toBeGreaterThanOrEqual(tokens)
      }),
      {seed: seed(), numRuns: runs},
    )
  })

  test('that is no JSON is gone over all the same', async () => {
    for (const text of [
      '',
      '"',
      '"\\',
      '"\\u12',
      '{"a":"\\q"}',
      '[[[',
      `"${'9'.repeat(9000)}`,
      '9'.repeat(9000),
      '\xff"\xff',
    ])
      expect(await count(text)).toBeGreaterThanOrEqual(0)
  })

  test.each([
    ['prose', read('docs/architecture.md').repeat(60)],
    ['Chinese', CHINESE.repeat(6000)],
    ['one letter', 'a'.repeat(1 << 20)],
    ['line ends', '\n \n'.repeat(400_000)],
    ['digits', '1'.repeat(1 << 20)],
  ])('of a megabyte of %s never holds the loop for 20 ms', {timeout: 60_000}, async (_, text) => {
    const slowed = pace()
    const turns: number[] = []
    let since = worked_ms()
    let is_over = false
    const watch = () => {
      const now = worked_ms()
      turns.push(now - since)
      since = worked_ms()
      if (!is_over) setImmediate(watch)
    }
    const body = Buffer.from(JSON.stringify(chat(text.slice(0, 1 << 20))))
    since = worked_ms()
    setImmediate(watch)
    await countJson(body, 'o200k_base')
    is_over = true
    const whole = turns.reduce((sum, turn) => sum + turn, 0)
    expect(turns.length).toBeGreaterThanOrEqual(Math.floor(whole / (20 * slowed)))
    expect(Math.max(...turns)).toBeLessThan(20 * slowed)
  })
})

test.each([
  ['gpt-4o', 'o200k_base'],
  ['gpt-4o-mini-2024-07-18', 'o200k_base'],
  ['openai/gpt-4.1-mini', 'o200k_base'],
  ['ft:gpt-4o-2024-08-06:acme::1', 'o200k_base'],
  ['gpt-5', 'o200k_base'],
  ['gpt-5.1-codex', 'o200k_base'],
  ['GPT-OSS:20b', 'o200k_base'],
  ['o3-mini', 'o200k_base'],
  ['gpt-4', 'cl100k_base'],
  ['gpt-4-turbo', 'cl100k_base'],
  ['gpt-35-turbo-16k', 'cl100k_base'],
  ['text-embedding-3-small', 'cl100k_base'],
  ['ft:davinci-002:acme::1', 'cl100k_base'],
  ['gpt-4.7', null],
  ['o30', null],
  ['claude-sonnet-4-5', null],
  ['text-davinci-003', null],
  ['not-gpt-4o', null],
  ['', null],
])('%s reads by %s', (model, encoding) => {
  expect(encodingOf(model)).toBe(encoding)
})
