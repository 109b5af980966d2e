import fc from 'fast-check'
import {expect, test} from 'vitest'
import {AwsEventStream, type AwsHeader, FrameFault, readEvent} from '../../src/base/aws-event-stream.ts'
import {checksum, eventFrame, frame, sized} from '../providers/bedrock/frames.ts'

interface Read {
  readonly headers: readonly (readonly [string, AwsHeader])[]
  readonly payload: string
}

function read(chunks: readonly Buffer[], most_bytes?: number): Read[] {
  const messages: Read[] = []
  const stream = new AwsEventStream(
    ({headers, payload}) => messages.push({headers: [...headers], payload: payload.toString('hex')}),
    most_bytes,
  )
  for (const chunk of chunks) stream.push(chunk)
  expect(stream.is_open).toBe(false)
  return messages
}

function cut(bytes: Buffer, at: readonly number[]): Buffer[] {
  const edges = [0, ...at.map(each => each % (bytes.length + 1)).sort((one, other) => one - other), bytes.length]
  return edges.slice(1).map((edge, index) => bytes.subarray(edges[index]!, edge))
}

const word = fc.string({minLength: 1, maxLength: 20}).filter(text => text.isWellFormed())
const message = fc.record({
  headers: fc.array(fc.tuple(word, word), {maxLength: 4}),
  payload: fc.uint8Array({maxLength: 700}),
})

test('whatever the messages and the cuts, what was written is read', () => {
  fc.assert(
    fc.property(fc.array(message, {maxLength: 5}), fc.array(fc.nat(), {maxLength: 20}), (messages, cuts) => {
      const bytes = Buffer.concat(messages.map(({headers, payload}) => frame(headers, Buffer.from(payload))))
      const expected = messages.map(({headers, payload}) => ({
        headers: [...new Map(headers)],
        payload: Buffer.from(payload).toString('hex'),
      }))
      expect(read(cut(bytes, cuts))).toEqual(expected)
    }),
    {numRuns: 300},
  )
})

test('a stream cut at any byte, and at every byte, gives the same messages', () => {
  const bytes = Buffer.concat([
    eventFrame('messageStart', {role: 'assistant'}),
    frame([], ''),
    eventFrame('contentBlockDelta', {contentBlockIndex: 0, delta: {text: 'žluťoučký'}}),
    eventFrame('!throttlingException', {message: 'slow'}),
  ])
  const whole = read([bytes])
  expect(whole).toHaveLength(4)
  for (let at = 0; at <= bytes.length; at++)
    expect(read([bytes.subarray(0, at), bytes.subarray(at)]), `cut at ${at}`).toEqual(whole)
  expect(read([...bytes].map(byte => Buffer.from([byte])))).toEqual(whole)
})

test('headers of every type have their value', () => {
  const bytes = frame(
    [
      ['yes', {type: 0, bytes: Buffer.alloc(0)}],
      ['no', {type: 1, bytes: Buffer.alloc(0)}],
      ['byte', {type: 2, bytes: Buffer.from([0xfe])}],
      ['short', {type: 3, bytes: Buffer.from([0xff, 0x00])}],
      ['int', {type: 4, bytes: Buffer.from([0x80, 0, 0, 1])}],
      ['long', {type: 5, bytes: Buffer.from('7fffffffffffffff', 'hex')}],
      ['bytes', {type: 6, bytes: sized(Buffer.from([1, 2, 3]))}],
      ['string', {type: 7, bytes: sized(Buffer.from('čaj'))}],
      ['time', {type: 8, bytes: Buffer.from('000001499de6ba18', 'hex')}],
      ['uuid', {type: 9, bytes: Buffer.from('00112233445566778899aabbccddeeff', 'hex')}],
      ['__proto__', 'a name like any other'],
    ],
    '',
  )
  expect(read([bytes])[0]!.headers).toEqual([
    ['yes', true],
    ['no', false],
    ['byte', -2],
    ['short', -256],
    ['int', -2147483647],
    ['long', 9223372036854775807n],
    ['bytes', Buffer.from([1, 2, 3])],
    ['string', 'čaj'],
    ['time', new Date(0x1499de6ba18)],
    ['uuid', '00112233-4455-6677-8899-aabbccddeeff'],
    ['__proto__', 'a name like any other'],
  ])
})

test('one flipped bit anywhere is noticed, wherever the stream is cut', () => {
  const bytes = Buffer.concat([eventFrame('ping', {n: 1}), eventFrame('pong', {n: 2})])
  for (let bit = 0; bit < bytes.length * 8; bit++) {
    const damaged = Buffer.from(bytes)
    damaged[bit >> 3]! ^= 1 << (bit & 7)
    expect(() => read([damaged]), `bit ${bit}`).toThrow(FrameFault)
    expect(() => read([...damaged].map(byte => Buffer.from([byte]))), `bit ${bit}, byte by byte`).toThrow(FrameFault)
  }
})

test('nothing is read after damage', () => {
  const stream = new AwsEventStream(() => expect.unreachable())
  expect(() => stream.push(Buffer.alloc(12))).toThrow(FrameFault)
  expect(() => stream.push(eventFrame('ping', {}))).toThrow(FrameFault)
})

test('a message longer than the bound is refused at its prelude, before its bytes are kept', () => {
  const long = frame([], Buffer.alloc(200))
  expect(() => read([long.subarray(0, 12)], 100)).toThrow('a message of 216 bytes is longer than 100')
  expect(() => read([long], 216)).not.toThrow()
})

test.each([
  ['lengths that disagree', prelude(20, 10)],
  ['a message shorter than its frame', prelude(15, 0)],
  ['headers longer than any may be', prelude(200_000, 131_073)],
])('%s are refused', (_, bytes) => {
  expect(() => read([bytes])).toThrow('the lengths of a message disagree')
})

test.each([
  ['a header cut off in its name', Buffer.from([9, 0x61])],
  ['a header without a type', Buffer.from([1, 0x61])],
  ['a string longer than the headers', Buffer.from([1, 0x61, 7, 0xff, 0xff, 0x61])],
  ['an unknown type', Buffer.from([1, 0x61, 10])],
])('%s is refused', (_, headers) => {
  const head = Buffer.alloc(8)
  head.writeUInt32BE(16 + headers.length, 0)
  head.writeUInt32BE(headers.length, 4)
  const start = Buffer.concat([head, crc(head), headers])
  expect(() => read([Buffer.concat([start, crc(start)])])).toThrow(FrameFault)
})

test('an open message shows that the stream was cut off', () => {
  const bytes = eventFrame('ping', {})
  const stream = new AwsEventStream(() => undefined)
  stream.push(bytes.subarray(0, 5))
  expect(stream.is_open).toBe(true)
  stream.push(bytes.subarray(5))
  expect(stream.is_open).toBe(false)
})

test.each([
  ['an event', eventFrame('metadata', {usage: {}}), {name: 'metadata', data: {usage: {}}}],
  [
    'an exception',
    eventFrame('!validationException', {message: 'no'}),
    {name: 'validationException', data: {__type: 'validationException', message: 'no'}},
  ],
  [
    'an exception in words',
    frame(
      [
        [':message-type', 'exception'],
        [':exception-type', 'oops'],
      ],
      'plain',
    ),
    {name: 'oops', data: {__type: 'oops', message: 'plain'}},
  ],
  [
    'an error',
    eventFrame('?InternalFailure', 'broken'),
    {name: 'InternalFailure', data: {__type: 'InternalFailure', message: 'broken'}},
  ],
  ['an event that is no JSON', frame([[':event-type', 'raw']], 'not json'), {name: 'raw', data: 'not json'}],
  ['a message without headers', frame([], '{}'), {name: null, data: {}}],
])('%s is told with its name', (_, bytes, expected) => {
  const events: unknown[] = []
  new AwsEventStream(message => events.push(readEvent(message))).push(bytes)
  expect(events).toEqual([expected])
})

function prelude(total: number, headers: number): Buffer {
  const head = Buffer.alloc(8)
  head.writeUInt32BE(total, 0)
  head.writeUInt32BE(headers, 4)
  return Buffer.concat([head, crc(head)])
}

function crc(bytes: Buffer): Buffer {
  const four = Buffer.alloc(4)
  four.writeUInt32BE(checksum(bytes))
  return four
}
