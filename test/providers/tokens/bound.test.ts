import {randomBytes} from 'node:crypto'
import {readFileSync} from 'node:fs'
import {resolve} from 'node:path'
import fc from 'fast-check'
import {encode as cl100k} from 'gpt-tokenizer/encoding/cl100k_base'
import {encode as o200k} from 'gpt-tokenizer/encoding/o200k_base'
import {describe, expect, test} from 'vitest'
import {mostTokens} from '../../../src/providers/tokens/bound.ts'
import {pace} from '../../support/pace.ts'
import {forRing, generated, seed} from '../../support/ring.ts'

const AS_TEXT = {disallowedSpecial: new Set<string>()}
const counts = (text: string) => ({o200k: o200k(text, AS_TEXT).length, cl100k: cl100k(text, AS_TEXT).length})
const most = (json: string) => mostTokens(Buffer.from(json), 0, Buffer.byteLength(json), 3)
const bound = (text: string) => most(JSON.stringify(text).slice(1, -1))
const escaped = (text: string) =>
  JSON.stringify(text)
    .slice(1, -1)
    .replace(/[\u0080-\uffff/]/g, sign =>
      sign === '/' ? '\\/' : `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`,
    )

const MEASURED: readonly {name: string; text: string}[] = JSON.parse(
  readFileSync(resolve(import.meta.dirname, '../../fixtures/tokens.json'), 'utf8'),
)
const read = (file: string) => readFileSync(resolve(import.meta.dirname, '../../..', file), 'utf8')
const lines = (count: number, line: (at: number) => string) =>
  Array.from({length: count}, (_, at) => line(at)).join('\n')

const TEXTS: readonly (readonly [string, string])[] = [
  ...MEASURED.map(({name, text}) => [name, text] as const),
  ['a page of documentation', read('docs/architecture.md')],
  ['TypeScript', read('src/proxy/proxy.ts')],
  ['hex', randomBytes(2000).toString('hex')],
  ['base64', randomBytes(3000).toString('base64')],
  ['UUIDs', lines(100, () => crypto.randomUUID())],
  ['CSV', lines(100, at => `${at},"row ${at}",${(at * 7919) / 1000},2026-01-${(at % 28) + 1},TRUE`)],
  ['CJK', '汉字是世界上最古老的文字之一，漢字圏では今も使われている。한글은 소리글자이다. '.repeat(10)],
  ['rare CJK', '龘靐齉爩鱻麤龗灪吁厵'.repeat(20)],
  ['emoji', '😀👩‍👩‍👧‍👦🇨🇭👍🏽❤️‍🔥'.repeat(20)],
  ['runs of whitespace', `${' '.repeat(700)}\n\n\n\t\t  \r\n \u00a0\u3000 ${'\n'.repeat(90)}x${'\t'.repeat(90)}`],
  ['control characters', Array.from({length: 512}, (_, at) => String.fromCharCode(at % 33)).join('')],
  ['long digits', '31415926535897932384626433832795'.repeat(40)],
  ['single letters', 'a b c d e f g h '.repeat(60)],
  ['rare letters', 'qjxzvkwQZJXVKqzxj'.repeat(60)],
  ['signs', '}~|{;:<>?@#$%^&*()_+-=[]\\"\',./`'.repeat(30)],
]

describe('the bound of a text is never below its tokens', () => {
  test.each(TEXTS)('%s', (_, text) => {
    const {o200k: wide, cl100k: narrow} = counts(text)
    for (const held of [bound(text), most(escaped(text))]) expect(held).toBeGreaterThanOrEqual(Math.max(wide, narrow))
  })

  test('whatever it is', () => {
    const runs = forRing({own: 400, ci: 5000, full: 100_000})
    generated('bounds of texts', runs)
    const signs = (from: string) => fc.string({unit: fc.constantFrom(...from), minLength: 1, maxLength: 9})
    const piece = fc.oneof(
      signs('abcdefghijklmnopqrstuvwxyz'),
      signs('ABCDEFGHIJKLMNOPQRSTUVWXYZ'),
      signs('jqxzvkwJQXZVKW'),
      signs('0123456789'),
      signs(' \n\t\r'),
      signs('!"#$%&\'()*+,-./:;<=>?@[\\]^_`{|}~'),
      fc.constantFrom(
        " don't",
        " we'll",
        '.\n/',
        ' the',
        ' The',
        ' THE',
        'café',
        ' understanding',
        '  ',
        '\u0001',
        '界',
        '🙂',
        'ж',
        '\u0301',
      ),
      fc.string({unit: 'binary', maxLength: 6}),
    )
    fc.assert(
      fc.property(fc.array(piece, {maxLength: 14}), pieces => {
        const text = pieces.join('').toWellFormed()
        const {o200k: wide, cl100k: narrow} = counts(text)
        const tokens = Math.max(wide, narrow)
        expect(bound(text)).toBeGreaterThanOrEqual(tokens)
        expect(most(escaped(text))).toBeGreaterThanOrEqual(tokens)
        expect(bound(text)).toBeLessThanOrEqual(Math.max(1, Buffer.byteLength(text)))
      }),
      {seed: seed(), numRuns: runs},
    )
  })
})

test.each(TEXTS.filter(([name]) => /prose|documentation|TypeScript|question/.test(name)))(
  'the bound of prose is at most 2.5 times its tokens: %s',
  (_, text) => {
    expect(bound(text)).toBeLessThanOrEqual(2.5 * counts(text).o200k)
  },
)

test.each(TEXTS.filter(([name]) => /hex|base64|UUIDs|CSV|digits/.test(name)))(
  'the bound of %s is at most 1.3 times its tokens',
  (_, text) => {
    expect(bound(text)).toBeLessThanOrEqual(1.3 * counts(text).o200k)
  },
)

test('a list of tokens is at least as many', () => {
  expect(most(JSON.stringify(Array.from({length: 500}, (_, at) => at * 31)))).toBeGreaterThanOrEqual(500)
})

test('any bytes are gone over, whole or in part', () => {
  fc.assert(
    fc.property(fc.uint8Array({maxLength: 200}), fc.nat(200), (bytes, cut) => {
      const body = Buffer.from(bytes)
      expect(mostTokens(body, Math.min(cut, body.length), body.length, 3)).toBeGreaterThanOrEqual(0)
    }),
    {seed: seed()},
  )
  for (const cut of ['\\', 'a\\u', 'a\\u12', '\\u0', ' \\', ' ']) expect(most(cut)).toBeGreaterThan(0)
})

const USUAL_BYTE_MS = 1e-6

test.each([
  ['4 kB', 4096, 0.06],
  ['a megabyte', 1 << 20, 5],
])('the bound of %s takes little longer than its bytes do to be read one by one', (_, bytes, limit_ms) => {
  const prose = Buffer.from(read('docs/architecture.md').repeat(60)).subarray(0, bytes)
  const slowed = pace()
  const best = {bound: Number.POSITIVE_INFINITY, loop: Number.POSITIVE_INFINITY}
  const rounds = bytes > 1e5 ? 30 : 3000
  for (let round = 0; round < rounds; round++) {
    let began = performance.now()
    mostTokens(prose, 0, bytes, 3)
    best.bound = Math.min(best.bound, performance.now() - began)
    began = performance.now()
    let hash = 0
    for (let at = 0; at < bytes; at++) hash = (Math.imul(hash, 31) + prose[at]!) | 0
    if (hash !== 0.5) best.loop = Math.min(best.loop, performance.now() - began)
  }
  expect(best.bound / best.loop).toBeLessThan(8)
  // on the machine of the limits a byte of the loop takes a nanosecond
  expect(best.bound).toBeLessThan(limit_ms * Math.max(slowed, best.loop / (bytes * USUAL_BYTE_MS)))
})
