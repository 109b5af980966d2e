import fc from 'fast-check'
import {describe, expect, test} from 'vitest'
import {canonical} from '../../src/cache/canonical.ts'
import {behaviouralHeaders, cacheKey, type KeyParts} from '../../src/cache/key.ts'

const PARTS: KeyParts = {
  organisation_id: 'o1',
  workspace_id: 'w1',
  provider: 'kind-a',
  base_url: 'https://a.example/v1',
  endpoint: 'chatComplete',
  path: '/chat/completions',
  own_credential: null,
  guards: '',
  model: 'm1',
  body: Buffer.from('{"model":"m1","messages":[{"role":"user","content":"hi"}]}'),
  metadata: {},
  headers: {},
}
const digest = (parts: Partial<KeyParts> = {}) => cacheKey({...PARTS, ...parts})?.digest

/** Texts that like to be mistaken for another: of the alphabet that keys are written in. */
const text = fc.oneof(
  fc.string({maxLength: 8}),
  fc.string({unit: fc.constantFrom('a', '"', ',', '[', ']', '\\', ':', '\n', 'é', '😀'), maxLength: 6}),
)
const record = fc.dictionary(text, text, {maxKeys: 4})
const value = fc.jsonValue({maxDepth: 4})
const body = fc.dictionary(text, value, {maxKeys: 6})
const parts = fc.record({
  organisation_id: text,
  workspace_id: text,
  provider: text,
  base_url: text,
  endpoint: fc.constantFrom('chatComplete', 'complete', 'embed', 'messages', 'proxy'),
  path: text,
  own_credential: fc.option(text),
  guards: text,
  model: fc.option(text),
  body,
  metadata: record,
  headers: record,
})
type Given = typeof parts extends fc.Arbitrary<infer T> ? T : never

const keyOf = (given: Given, namespace?: string) => cacheKey({...given, body: json(given.body), namespace})!.digest
const json = (content: unknown, blanks?: number) => Buffer.from(JSON.stringify(content, null, blanks))
/** What makes two calls the same, written so that equal is equal. */
const meaning = (given: Given) =>
  JSON.stringify({
    ...given,
    body: canonical(json(given.body), LEFT_OUT),
    metadata: Object.entries(given.metadata).toSorted(),
    headers: Object.entries(given.headers).toSorted(),
  })
const LEFT_OUT = new Set(['"stream"', '"stream_options"'])

/** `given` with its keys in another order, everywhere. */
function shuffled(given: unknown): unknown {
  if (Array.isArray(given)) return given.map(shuffled)
  if (typeof given !== 'object' || given === null) return given
  const entries = Object.entries(given)
    .reverse()
    .map(([key, each]) => [key, shuffled(each)] as const)
  return Object.fromEntries(entries)
}

describe('a key', () => {
  test('of two calls is the same only if every part is', () => {
    fc.assert(
      fc.property(parts, parts, (one, other) => {
        expect(keyOf(one) === keyOf(other)).toBe(meaning(one) === meaning(other))
      }),
      {numRuns: 2000},
    )
  })

  test('changes with any one part', () => {
    fc.assert(
      fc.property(parts, parts, fc.constantFrom(...(Object.keys(PARTS) as (keyof Given)[])), (one, other, name) => {
        const mixed = {...one, [name]: other[name]}
        expect(keyOf(one) === keyOf(mixed)).toBe(meaning(one) === meaning(mixed))
      }),
      {numRuns: 4000},
    )
  })

  test('changes with any value of the body, however deep', () => {
    fc.assert(
      fc.property(body, fc.nat(), value, (given, at, put) => {
        const paths = pathsOf(given)
        fc.pre(paths.length > 0)
        const path = paths[at % paths.length]!
        fc.pre(path[0] !== 'stream' && path[0] !== 'stream_options')
        const changed = structuredClone(given)
        const place = path
          .slice(0, -1)
          .reduce<Record<string, unknown>>((inside, key) => inside[key] as Record<string, unknown>, changed)
        fc.pre(
          JSON.stringify(shuffled(place[path.at(-1)!])) !== JSON.stringify(shuffled(put)) &&
            path.at(-1) !== '__proto__',
        )
        const was = JSON.stringify(place[path.at(-1)!])
        place[path.at(-1)!] = put
        fc.pre(canonical(json({was: JSON.parse(was)})) !== canonical(json({was: put})))
        expect(digest({body: json(changed)})).not.toBe(digest({body: json(given)}))
      }),
      {numRuns: 2000},
    )
  })

  test('does not change with the order of keys, with blanks, escapes, or how the answer is delivered', () => {
    fc.assert(
      fc.property(body, value, value, (given, stream, stream_options) => {
        const {stream: _, stream_options: __, ...plain} = given
        const key = digest({body: json(plain)})
        expect(digest({body: json(shuffled(plain))})).toBe(key)
        expect(digest({body: json(plain, 2)})).toBe(key)
        expect(digest({body: Buffer.from(`\ufeff${escaped(plain)}\r\n`)})).toBe(key)
        expect(digest({body: json({stream, ...plain, stream_options})})).toBe(key)
      }),
      {numRuns: 1000},
    )
  })

  test('with a namespace does not change with metadata or headers, but with everything else', () => {
    fc.assert(
      fc.property(parts, parts, text, text, (one, other, namespace, another) => {
        fc.pre(namespace !== '' && another !== '')
        const {metadata, headers} = other
        expect(keyOf({...one, metadata, headers}, namespace)).toBe(keyOf(one, namespace))
        expect(keyOf(one, namespace) === keyOf(one, another)).toBe(namespace === another)
        expect(keyOf(one, namespace)).not.toBe(keyOf(one))
        const rest = (given: Given) => meaning({...given, metadata: {}, headers: {}})
        expect(keyOf(one, namespace) === keyOf(other, namespace)).toBe(rest(one) === rest(other))
      }),
      {numRuns: 1000},
    )
  })

  test('of a long body is told by the bytes of its members, in any order of those', () => {
    const long = 'x'.repeat(1024 * 1024)
    const key = digest({body: json({a: long, b: 1})})
    expect(key).toMatch(/^[0-9a-f]{64}$/)
    expect(digest({body: json({b: 1, stream: true, a: long})})).toBe(key)
    for (const other of [{a: long, b: 2}, {a: `${long.slice(1)}y`, b: 1}, {a: long, c: 1}, {a: long}])
      expect(digest({body: json(other)})).not.toBe(key)
    expect(digest({body: Buffer.from(`{"b":2,"b":1,"a":"${long}"}`)})).toBeUndefined()
    expect(digest({body: Buffer.from(`["${long}"]`)})).toBeUndefined()
    expect(digest({body: json({a: long.repeat(16)})})).toBeUndefined()
  })

  test.each([
    ['{"a":1}', '{"a":"1"}'],
    ['{"a":1}', '{"a":true}'],
    ['{"a":null}', '{}'],
    ['{"seed":9007199254740993}', '{"seed":9007199254740992}'],
    ['{"a":0.1}', '{"a":0.10000000000000000001}'],
    ['{"a":1,"a":2}', '{"a":2}'],
    ['{"a":1,"a":2}', '{"a":2,"a":1}'],
    ['{"a":{"b":1}}', '{"a":{},"b":1}'],
    ['{"a":["b","c"]}', '{"a":["c","b"]}'],
    ['{"a":{"stream":true}}', '{"a":{"stream":false}}'],
    ['{"a":"\\u0000"}', '{"a":"0000"}'],
    ['{"a":"\\ud800"}', '{"a":"\\ufffd"}'],
  ])('tells %s from %s', (one, other) => {
    expect(digest({body: Buffer.from(one)})).not.toBe(digest({body: Buffer.from(other)}))
  })

  test('tells bytes apart that are no UTF-8', () => {
    const with_byte = (byte: number) =>
      digest({body: Buffer.concat([Buffer.from('{"a":"\\n'), Buffer.from([byte]), Buffer.from('"}')])})
    expect(with_byte(0xfe)).not.toBe(with_byte(0xff))
  })

  test.each([
    '',
    '[]',
    '"a"',
    '{',
    '{"a"}',
    '{"a":}',
    '{"a":1,}',
    '{"a":1}}',
    '{"a":1 2}',
    '{"a":01}',
    '{"a":"b}',
    '{"a":[1}',
    '{a:1}',
    '{"a":nul}',
    `{"a":${'['.repeat(100_000)}${']'.repeat(100_000)}}`,
  ])('does not exist for %#', given => expect(cacheKey({...PARTS, body: Buffer.from(given)})).toBeNull())

  test('carries its workspace', () => {
    expect(cacheKey(PARTS)).toEqual({workspace_id: 'w1', digest: expect.stringMatching(/^[0-9a-f]{64}$/)})
  })
})

test('an empty namespace is none', () => {
  expect(digest({namespace: '', metadata: {a: '1'}})).not.toBe(digest({namespace: '', metadata: {a: '2'}}))
})

test('headers that say how, not what, are no part of a key; unknown ones are', () => {
  const values = {
    'api-key': 'k',
    'trace-id': 't',
    'cache-force-refresh': 'true',
    'cache-namespace': 'n',
    'request-timeout': '1',
    debug: 'true',
    metadata: '{}',
  }
  expect(
    behaviouralHeaders({
      ...values,
      'strict-open-ai-compliance': 'false',
      beta: 'x',
      'something-new': 'y',
      absent: undefined,
    }),
  ).toEqual({
    'strict-open-ai-compliance': 'false',
    beta: 'x',
    'something-new': 'y',
  })
})

function pathsOf(given: unknown, path: readonly string[] = []): string[][] {
  if (typeof given !== 'object' || given === null) return path.length > 0 ? [[...path]] : []
  const below = Object.entries(given).flatMap(([key, each]) => pathsOf(each, [...path, key]))
  return path.length > 0 ? [[...path], ...below] : below
}

/** The same JSON with every character of a string written as an escape. */
function escaped(given: unknown): string {
  if (typeof given === 'string') {
    return `"${Array.from({length: given.length}, (_, at) => `\\u${given.charCodeAt(at).toString(16).padStart(4, '0')}`).join('')}"`
  }
  if (Array.isArray(given)) return `[${given.map(escaped).join(' , ')}]`
  if (typeof given !== 'object' || given === null) return JSON.stringify(given)
  const members = Object.entries(given).map(([key, each]) => `${escaped(key)}\t:${escaped(each)}`)
  return `{ ${members.join(',\n')} }`
}
