import {EventSourceParserStream} from 'eventsource-parser/stream'
import fc from 'fast-check'
import {describe, expect, test} from 'vitest'
import {eventText, KEEP_ALIVE, McpEventReader} from '../../../src/mcp/wire/events.ts'
import {forRing} from '../../support/ring.ts'

interface Read {
  readonly id: string | null
  readonly event: string
  readonly data: string
  readonly retry_ms: number | null
}

const message = (data: string, more: Partial<Read> = {}): Read => ({
  id: null,
  event: 'message',
  data,
  retry_ms: null,
  ...more,
})

/** Streams, and the events in them. */
const STREAMS: readonly (readonly [name: string, text: string, events: readonly Read[]])[] = [
  ['one event', 'event: message\ndata: {"a":1}\n\n', [message('{"a":1}')]],
  ['no blank behind the colon', 'data:{"a":1}\n\n', [message('{"a":1}')]],
  ['two blanks behind the colon', 'data:  x\n\n', [message(' x')]],
  ['the priming event', 'id: 7\ndata:\n\nid: 8\ndata: x\n\n', [message('', {id: '7'}), message('x', {id: '8'})]],
  ['the priming event without a colon', 'id: 7\ndata\n\n', [message('', {id: '7'})]],
  ['comments', ': hello\n\n:\n\ndata: x\n: between\ndata: y\n\n', [message('x\ny')]],
  ['CRLF', 'id: 1\r\ndata: x\r\n\r\ndata: y\r\n\r\n', [message('x', {id: '1'}), message('y')]],
  ['CR alone', 'data: x\r\rdata: y\r\r', [message('x'), message('y')]],
  ['ends in a mixture', 'data: x\r\n\ndata: y\n\r\ndata: z\r\r\n', [message('x'), message('y'), message('z')]],
  ['several lines of data', 'data: {\ndata: "a":1\ndata: }\n\n', [message('{\n"a":1\n}')]],
  ['other names', 'event: endpoint\ndata: /messages?s=1\n\n', [message('/messages?s=1', {event: 'endpoint'})]],
  ['a pause', 'retry: 1500\n\n', [message('', {retry_ms: 1500})]],
  ['a pause that is none', 'retry: 1.5\nretry: -1\nretry:\ndata: x\n\n', [message('x')]],
  ['an id with NUL', 'id: a\0b\ndata: x\n\n', [message('x')]],
  ['an empty id', 'id\ndata: x\n\n', [message('x', {id: ''})]],
  ['unknown fields', 'later: x\nDATA: no\ndata: x\n\n', [message('x')]],
  ['characters of two to four bytes', 'data: é☃𝄞\n\n', [message('é☃𝄞')]],
  ['a byte order mark', '\ufeffdata: x\n\n', [message('x')]],
  ['an event that the end cuts off', 'data: x\n\ndata: {"cut":', [message('x')]],
  ['an event without its blank line', 'data: x\n\ndata: y\n', [message('x')]],
  ['nothing', '\n\n\n', []],
]

describe('37: server-sent events', () => {
  test.each(STREAMS)('%s: read whole', (_name, text, events) => {
    expect(readIn([Buffer.from(text)])).toEqual(events)
  })

  test.each(STREAMS)('%s: each cut into two, and each byte alone, is read as the whole', (_name, text, events) => {
    const bytes = Buffer.from(text)
    for (let at = 0; at <= bytes.length; at++)
      expect(readIn([bytes.subarray(0, at), bytes.subarray(at)]), `cut at ${at}`).toEqual(events)
    expect(readIn([...bytes].map(byte => Buffer.from([byte])))).toEqual(events)
  })

  test('all streams one after the other, cut anywhere, are read as the whole', () => {
    const whole = STREAMS.filter(([name]) => !/cut|without its|byte order/.test(name))
    const bytes = Buffer.from(whole.map(([, text]) => text).join(''))
    const events = whole.flatMap(([, , each]) => each)
    fc.assert(
      fc.property(fc.array(fc.nat(bytes.length), {maxLength: 12}), cuts => {
        const places = [0, ...cuts.toSorted((one, other) => one - other), bytes.length]
        const chunks = places.slice(1).map((end, at) => bytes.subarray(places[at], end))
        expect(readIn(chunks)).toEqual(events)
      }),
      {numRuns: forRing({own: 200, ci: 2_000, full: 20_000})},
    )
  })

  // Behind a CR at the end of a stream it waits for an LF.
  test.each(STREAMS.filter(([name]) => name !== 'CR alone'))(
    '%s: as both SDKs read it',
    async (_name, text, events) => {
      // It holds an event without data for none, and takes fields of the event stream standard alone.
      const expected = events.filter(({data}) => data !== '').map(({data}) => data)
      const read: string[] = []
      const source = new Response(text)
        .body!.pipeThrough(new TextDecoderStream())
        .pipeThrough(new EventSourceParserStream())
      for await (const {data} of source) if (data !== '') read.push(data)
      expect(read).toEqual(expected)
    },
  )

  test('an event longer than the bound is a fault at once, in one chunk and in many', () => {
    const long = Buffer.from(`data: ${'x'.repeat(2_000)}\n\n`)
    const tooLarge = expect.objectContaining({reason: 'result_too_large', http: 502, facts: {limit: 1_000}})
    expect(() => new McpEventReader(1_000).push(long)).toThrow(tooLarge)
    const reader = new McpEventReader(1_000)
    for (let at = 0; at < 1_000; at += 100) reader.push(long.subarray(at, at + 100))
    expect(() => reader.push(long.subarray(1_000, 1_100))).toThrow(tooLarge)
  })

  test('one line of data may be 8 MiB, a line of another kind not 1 MiB', () => {
    const data = 'x'.repeat(8 << 20)
    expect(readIn([Buffer.from(`data: ${data}\n\n`)])[0]!.data.length).toBe(data.length)
    for (const head of ['id: ', 'event: ', ': ', 'later: '])
      expect(() => readIn([Buffer.from(`${head}${'x'.repeat((1 << 20) + 1)}\ndata: x\n\n`)])).toThrow(/larger/)
  })

  test('many events in one chunk are read in order', () => {
    const text = Array.from({length: 5_000}, (_, at) => `data: ${at}\n\n`).join('')
    expect(readIn([Buffer.from(text)]).map(({data}) => Number(data))).toEqual(
      Array.from({length: 5_000}, (_, at) => at),
    )
  })

  test('written events are read again, whatever line ends are in them', () => {
    fc.assert(
      fc.property(fc.string({unit: fc.constantFrom('a', ' ', ':', '\n', '\r', '☃')}), data => {
        const expected = data.replace(/\r\n|\r/g, '\n')
        expect(readIn([Buffer.from(KEEP_ALIVE + eventText(data, 'e1', 2_000))])).toEqual([
          message(expected, {id: 'e1', retry_ms: 2_000}),
        ])
      }),
    )
    expect(eventText('{}')).toBe('event: message\ndata: {}\n\n')
  })

  test('a stream is whole between events', () => {
    const reader = new McpEventReader()
    expect(reader.is_whole).toBe(true)
    reader.push(Buffer.from('data: x\n'))
    expect(reader.is_whole).toBe(false)
    reader.push(Buffer.from('\n'))
    expect(reader.is_whole).toBe(true)
  })
})

function readIn(chunks: readonly Buffer[]): readonly Read[] {
  const reader = new McpEventReader()
  return chunks.flatMap(chunk => reader.push(chunk))
}
