import fc from 'fast-check'
import {describe, expect, test} from 'vitest'
import {isBase64, readString, walkStrings} from '../../src/base/json-strings.ts'

function found(text: string | Buffer) {
  const bytes = Buffer.from(text)
  const walk = walkStrings(bytes, 0, bytes.length)
  const strings: {text: string | undefined; is_key: boolean}[] = []
  for (let next = walk.next(); ; next = walk.next()) {
    if (next.done) return {fault: next.value, strings}
    if (next.value === undefined) continue
    const {start, end, is_key} = next.value
    strings.push({text: whole(readString(bytes, start, end)), is_key})
  }
}

function whole<T>(work: Generator<undefined, T>): T {
  for (let next = work.next(); ; next = work.next()) if (next.done) return next.value
}

/** What `JSON.parse` finds, in the order in which it stands. */
function parsed(value: unknown): {text: string; is_key: boolean}[] {
  if (typeof value === 'string') return [{text: value, is_key: false}]
  if (Array.isArray(value)) return value.flatMap(parsed)
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, each]) => [{text: key, is_key: true}, ...parsed(each)])
}

test('every string of JSON is told, as it is read', () => {
  fc.assert(
    fc.property(fc.json({maxDepth: 6}), fc.constantFrom(0, 2), (json, space) => {
      const text = JSON.stringify(JSON.parse(json), null, space)
      expect(found(text)).toEqual({fault: null, strings: parsed(JSON.parse(text))})
    }),
  )
})

test('escapes, and characters beyond the first plane, are read as they are meant', () => {
  expect(found('["\\u0066\\/\\"\\\\", "\\ud83d\\ude00", "😀", ""]').strings.map(({text}) => text)).toEqual([
    'f/"\\',
    '😀',
    '😀',
    '',
  ])
})

test('a long string is read in pieces, wherever they would cut it', () => {
  for (const unit of ['\\u0066', '😀', '\\\\', '\\"', '\\ud83d\\ude00', 'x\\u00e9'])
    for (const before of ['', 'a', 'ab', 'abc', 'abcd', 'abcde']) {
      const raw = before + unit.repeat(100_000)
      expect(found(`"${raw}"`).strings[0]!.text === JSON.parse(`"${raw}"`)).toBe(true)
    }
})

test('values may follow one another', () => {
  expect(found('{"a":"b"}\n{"c":"d"}\n')).toMatchObject({
    fault: null,
    strings: [{text: 'a'}, {text: 'b'}, {text: 'c'}, {text: 'd'}],
  })
  expect(found('\x1e{"a":1}\n\x1e{"b":2}\n').fault).toBeNull()
})

describe('what a strict reader does not take for JSON', () => {
  test.each([
    ...[
      '',
      ' ',
      '{',
      '[',
      '"a',
      '{"a"}',
      '{"a":}',
      '[1,]',
      '{"a":1,}',
      "{'a':1}",
      '{a:1}',
      '[1 2]',
      '{"a":1]',
      '[}',
      '"a" :',
      '{"a" "b"}',
    ],
    ...[
      '// c\n{}',
      '/* c */{}',
      '{"a":1}garbage',
      '["\\x"]',
      '["\\u12"]',
      ': "a"',
      ',',
      '[,]',
      '\ufeff\0',
      '[tru]',
      '[0x1]',
      '{"a":b}',
    ],
  ])('%j', text => {
    expect(found(text)).toMatchObject(text.includes('\\') ? {strings: [{text: undefined}]} : {fault: 'not_json'})
  })

  test('is a fault in UTF-16', () => {
    expect(found(Buffer.from('{"a":"b"}', 'utf16le')).fault).toBe('not_json')
  })

  test('is never an error of ours', () => {
    fc.assert(fc.property(fc.uint8Array(), bytes => void found(Buffer.from(bytes))))
    fc.assert(fc.property(fc.array(fc.constantFrom(...'{}[]",:\\ \n1atrue')), signs => void found(signs.join(''))))
  })
})

test('it goes as deep as all readers do', () => {
  expect(found('['.repeat(256) + ']'.repeat(256)).fault).toBeNull()
  expect(found('['.repeat(257) + ']'.repeat(257)).fault).toBe('deep')
})

test('knows base64 by its form', () => {
  const is = (text: string) => {
    const bytes = Buffer.from(`"${text}"`)
    return whole(isBase64(bytes, 0, bytes.length))
  }
  expect([
    is('aGk='),
    is('data:image/png;base64,aGk='),
    is('-_aGk'),
    is('a b'),
    is('a.b'),
    is('data:text/plain,hello'),
    is('ä'),
  ]).toEqual([...[true, true, true, false, false, false, false]])
})
