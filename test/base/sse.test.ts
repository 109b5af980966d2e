import fc from 'fast-check'
import {expect, test} from 'vitest'
import {readFields, SseFramer} from '../../src/base/sse.ts'

interface Framed {
  readonly raw: string | null
  readonly start: number
  readonly end: number
}

function framed(chunks: readonly Buffer[], most_bytes?: number): Framed[] {
  const events: Framed[] = []
  const framer = new SseFramer((raw, start, end) => events.push({raw: raw?.toString() ?? null, start, end}), most_bytes)
  for (const chunk of chunks) framer.push(chunk)
  framer.end()
  return events
}

function cut(bytes: Buffer, at: readonly number[]): Buffer[] {
  const edges = [0, ...at.map(each => each % (bytes.length + 1)).sort((one, other) => one - other), bytes.length]
  return edges.slice(1).map((edge, index) => bytes.subarray(edges[index]!, edge))
}

const line = fc.oneof(
  fc.constantFrom(
    'data: {"a":1}',
    'data: [DONE]',
    ': comment',
    'event: ping',
    'data:',
    'data',
    'id: 7',
    'retry: 10',
    'nonsense',
  ),
  fc.string({maxLength: 12}).map(text => `data: ${text.replace(/[\r\n\ufeff]/g, '')}`),
)
const event = fc.array(line, {minLength: 1, maxLength: 4})
const end = fc.constantFrom('\n', '\r\n', '\r')
/** Events, each line with a line end of its own kind. */
const stream = fc.array(fc.tuple(event, fc.infiniteStream(end), end), {maxLength: 6}).map(events => ({
  lines: events.map(([lines]) => lines),
  text: events
    .map(([lines, ends, last]) => lines.map(each => each + separated(ends.next().value!, last)).join('') + last)
    .join(''),
}))

/**
 * A line that ends in CR and a blank line that ends in LF would be one line end; such an event ends its lines as its
 * last.
 */
function separated(chosen: string, last: string): string {
  return chosen === '\r' && last.startsWith('\n') ? last : chosen
}

test('whatever the line ends and the cuts, the events and their fields are the same', () => {
  fc.assert(
    fc.property(stream, fc.array(fc.nat(), {maxLength: 20}), ({lines, text}, cuts) => {
      const bytes = Buffer.from(text)
      const whole = framed([bytes])
      expect(framed(cut(bytes, cuts))).toEqual(whole)
      expect(whole.map(({raw}) => readFields(Buffer.from(raw!)))).toEqual(
        lines.map(each => readFields(Buffer.from(each.join('\n')))),
      )
      for (const {raw, start, end} of whole) expect(bytes.subarray(start, end).toString()).toBe(raw)
    }),
    {numRuns: 300},
  )
})

test('every cut of a stream with all kinds of line ends gives the same events', () => {
  const bytes = Buffer.from('\ufeffdata: a\n\n\n: c\r\n\r\ndata: b\rdata: c\r\r\ndata: é\n\r\nevent: last\ndata: x')
  const whole = framed([bytes])
  expect(whole.map(({raw}) => readFields(Buffer.from(raw!)))).toEqual([
    {event: null, data: ['a']},
    {event: null, data: []},
    {event: null, data: ['b', 'c']},
    {event: null, data: ['é']},
    {event: 'last', data: ['x']},
  ])
  for (let at = 0; at <= bytes.length; at++)
    expect(framed([bytes.subarray(0, at), bytes.subarray(at)]), `cut at ${at}`).toEqual(whole)
  expect(framed([...bytes].map(byte => Buffer.from([byte])))).toEqual(whole)
})

test('an event is told with the byte that ends it, also when that is a CR whose LF comes later', () => {
  const told: number[] = []
  const framer = new SseFramer((_, start) => told.push(start))
  framer.push(Buffer.from('data: a\r\n\r'))
  expect(told).toEqual([0])
  expect(framer.open_start).toBe(-1)
  framer.push(Buffer.from('\ndata: b'))
  expect(framer.open_start).toBe(11)
})

test('an event beyond the bound passes unread, and the next is read', () => {
  const text = `data: ${'x'.repeat(40)}\n\ndata: y\n\n`
  const bytes = Buffer.from(text)
  const expected = [
    {raw: null, start: 0, end: 48},
    {raw: 'data: y\n\n', start: 48, end: 57},
  ]
  expect(framed([bytes], 20)).toEqual(expected)
  expect(
    framed(
      [...bytes].map(byte => Buffer.from([byte])),
      20,
    ),
  ).toEqual(expected)
})

test('an endless line is not kept', () => {
  const framer = new SseFramer(() => undefined, 1000)
  for (let at = 0; at < 10; at++) framer.push(Buffer.alloc(500, 120))
  expect(framer.is_opaque).toBe(true)
  expect(framer.whole_lines).toBeNull()
  expect(framer.offset).toBe(5000)
})

test('an open event shows its lines while it stops at the end of one', () => {
  const framer = new SseFramer(() => undefined)
  framer.push(Buffer.from('data: [DONE]'))
  expect(framer.whole_lines).toBeNull()
  framer.push(Buffer.from('\n'))
  expect(framer.whole_lines?.toString()).toBe('data: [DONE]\n')
  framer.push(Buffer.from('\n'))
  expect(framer.whole_lines).toBeNull()
})

test('events within a chunk are slices of it', () => {
  const chunk = Buffer.from('data: a\n\ndata: b\n\n')
  const framer = new SseFramer(raw => expect(raw?.buffer).toBe(chunk.buffer))
  framer.push(chunk)
  expect.assertions(2)
})
