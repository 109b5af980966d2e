import fc from 'fast-check'
import {describe, expect, test} from 'vitest'
import {meterFilter} from '../../../src/providers/openai/meter.ts'
import {cut, fixtures} from './fixtures.ts'

function filtered(chunks: readonly Buffer[]): Buffer {
  const filter = meterFilter()
  const given = chunks.map(chunk => filter.take(chunk))
  return Buffer.concat([...given, filter.end()])
}

/**
 * The stream without its event of usage alone and without what says that there is none, found by other means than the
 * filter's.
 */
function without(bytes: Buffer): string {
  return withoutEvent(bytes).replace(/(data: \{[^\r\n]*"choices":[^\r\n]*),"usage":null(?=[,}])/g, '$1')
}

function withoutEvent(bytes: Buffer): string {
  return bytes.toString().replace(/data: [^\r\n]*"choices":\[\],"usage":\{[^\r\n]*(\r\n\r\n|\n\n|\r\r|\n|$)/, '')
}

describe.each(fixtures('events.txt').filter(({facts}) => !facts.last_at_end || facts.metered))(
  '$name',
  ({bytes, facts}) => {
    test('loses its event of usage alone and no other byte, wherever it is cut', () => {
      const kept = without(bytes)
      expect(withoutEvent(bytes).length < bytes.length).toBe(facts.metered ?? false)
      for (let at = 0; at <= bytes.length; at++) {
        expect(filtered([bytes.subarray(0, at), bytes.subarray(at)]).toString(), `cut at ${at}`).toBe(kept)
      }
      expect(filtered([...bytes].map(byte => Buffer.from([byte]))).toString()).toBe(kept)
    })
  },
)

test('whatever the line ends and the cuts, what is left is the stream without the event', () => {
  const metered = fixtures('events.txt').filter(({facts}) => facts.metered)
  fc.assert(
    fc.property(
      fc.constantFrom(...metered),
      fc.constantFrom('\n', '\r\n', '\r'),
      fc.array(fc.nat(), {maxLength: 12}),
      ({bytes}, end, cuts) => {
        const text = Buffer.from(bytes.toString().replace(/\n/g, end))
        expect(filtered(cut(text, cuts)).toString()).toBe(without(text))
      },
    ),
    {numRuns: 300},
  )
})

test('whole events go on at once, and a begun one is kept back until it is whole', () => {
  const filter = meterFilter()
  expect(filter.take(Buffer.from('data: {"a":1}\n\ndata: {"b"')).toString()).toBe('data: {"a":1}\n\n')
  expect(filter.take(Buffer.from(':2}')).toString()).toBe('')
  expect(filter.take(Buffer.from('\n\n')).toString()).toBe('data: {"b":2}\n\n')
})

test('usage beside choices stays', () => {
  const text = 'data: {"choices":[{"index":0,"delta":{}}],"usage":{"prompt_tokens":1}}\n\n'
  expect(filtered([Buffer.from(text)]).toString()).toBe(text)
})

test.each([
  ['{"choices":[],"usage":null}', '{"choices":[]}'],
  ['{"choices":[], "usage": null }', '{"choices":[] }'],
  ['{"choices":[],"usage":null,"obfuscation":"a"}', '{"choices":[],"obfuscation":"a"}'],
  ['{"usage":null,"choices":[]}', '{"choices":[]}'],
  ['{"usage":null}', '{}'],
  ['{"choices":[{"usage":null}]}', '{"choices":[{"usage":null}]}'],
  ['{"x":{"a":1,"usage":null}}', '{"x":{"a":1,"usage":null}}'],
  [
    '{"choices":[{"delta":{"content":",\\"usage\\":null}"}}]}',
    '{"choices":[{"delta":{"content":",\\"usage\\":null}"}}]}',
  ],
  ['no JSON,"usage":1', 'no JSON,"usage":1'],
])('of %s is left %s, wherever it is cut', (json, left) => {
  for (const end of ['\n\n', '\r\n\r\n', '\r\r', '']) {
    const bytes = Buffer.from(`data: ${json}${end}`)
    for (let at = 0; at <= bytes.length; at++) {
      expect(filtered([bytes.subarray(0, at), bytes.subarray(at)]).toString()).toBe(`data: ${left}${end}`)
    }
  }
})

test('a metered stream is the same as the stream that no one asked for usage, byte for byte', () => {
  const streams = fixtures('events.txt').filter(
    ({endpoint, facts}) => ['chatComplete', 'complete'].includes(endpoint) && !facts.usage,
  )
  expect(streams.length).toBeGreaterThan(2)
  const usage_event = 'data: {"id":"c","choices":[],"usage":{"prompt_tokens":1,"completion_tokens":2}}\n\n'
  for (const {name, bytes} of streams) {
    const plain = bytes.toString()
    if (plain.includes('"usage"')) continue
    const metered = plain.replace(/\}(?=\n\n)/g, ',"usage":null}').replace(/(?=data: \[DONE\])|$/, usage_event)
    for (let at = 0; at <= metered.length; at += 7) {
      const chunks = [metered.slice(0, at), metered.slice(at)].map(piece => Buffer.from(piece))
      expect(filtered(chunks).toString(), `${name} cut at ${at}`).toBe(plain)
    }
  }
})

test('only one event is taken out', () => {
  const event = 'data: {"choices":[],"usage":{"prompt_tokens":1}}\n\n'
  expect(filtered([Buffer.from(event + event)]).toString()).toBe(event)
})

test('an event longer than an event may be flows on', () => {
  const filter = meterFilter()
  expect(filter.take(Buffer.from('data: {"choices":[],"usage":{"x":"')).length).toBe(0)
  expect(filter.take(Buffer.alloc(1024 * 1024, 120)).length).toBe(1024 * 1024 + 34)
  expect(filter.take(Buffer.from('"}}\n\n')).toString()).toBe('"}}\n\n')
})

test('the last event is taken out though the stream ends without its blank line', () => {
  const usage = 'data: {"choices":[],"usage":{"prompt_tokens":1}}'
  expect(filtered([Buffer.from(`data: {}\n\n${usage}`)]).toString()).toBe('data: {}\n\n')
})

test('what is asked for before it is whole is given, and the rest follows', () => {
  const filter = meterFilter()
  filter.take(Buffer.from('data: {"choices":[],"us'))
  expect(filter.end().toString()).toBe('data: {"choices":[],"us')
  expect(filter.take(Buffer.from('age":{"prompt_tokens":1}}\n\n')).toString()).toBe('age":{"prompt_tokens":1}}\n\n')
})
