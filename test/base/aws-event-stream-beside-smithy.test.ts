import {EventStreamCodec} from '@smithy/eventstream-codec'
import fc from 'fast-check'
import {expect, test} from 'vitest'
import {AwsEventStream, type AwsHeader, FrameFault} from '../../src/base/aws-event-stream.ts'
import {seed} from '../support/ring.ts'

const codec = new EventStreamCodec(
  bytes => (typeof bytes === 'string' ? bytes : Buffer.from(bytes).toString('utf8')),
  text => new Uint8Array(Buffer.from(text, 'utf8')),
)

type Value = ReturnType<typeof codec.decode>['headers'][string]

const value: fc.Arbitrary<Value> = fc.oneof(
  fc.boolean().map(each => ({type: 'boolean', value: each}) as const),
  fc.integer({min: -128, max: 127}).map(each => ({type: 'byte', value: each}) as const),
  fc.integer({min: -32_768, max: 32_767}).map(each => ({type: 'short', value: each}) as const),
  fc.integer().map(each => ({type: 'integer', value: each}) as const),
  fc.uint8Array({maxLength: 30}).map(each => ({type: 'binary', value: each}) as const),
  fc.string({unit: 'grapheme', maxLength: 30}).map(each => ({type: 'string', value: each}) as const),
  fc
    .date({min: new Date(0), max: new Date(2 ** 42), noInvalidDate: true})
    .map(each => ({type: 'timestamp', value: each}) as const),
  fc.uuid().map(each => ({type: 'uuid', value: each}) as const),
)
const name = fc.string({unit: fc.constantFrom(...'abcxyz:-ä'), minLength: 1, maxLength: 20})
const message = fc.record({
  headers: fc.dictionary(name, value, {maxKeys: 6, noNullPrototype: true}),
  body: fc.uint8Array({maxLength: 300}),
})

interface Read {
  readonly headers: Record<string, AwsHeader>
  readonly body: string
}

/** The messages in `bytes`, which come in pieces of `piece` bytes; null where they are refused. */
function read(bytes: Buffer, piece = bytes.length): Read[] | null {
  const found: Read[] = []
  const stream = new AwsEventStream(({headers, payload}) =>
    found.push({headers: Object.fromEntries(headers), body: payload.toString('hex')}),
  )
  try {
    for (let at = 0; at < bytes.length; at += piece) stream.push(bytes.subarray(at, at + piece))
  } catch (fault) {
    if (fault instanceof FrameFault) return null
    throw fault
  }
  return stream.is_open ? null : found
}

test('what the AWS SDK writes is read as it reads it itself, however it is cut', () => {
  fc.assert(
    fc.property(fc.array(message, {minLength: 1, maxLength: 4}), fc.integer({min: 1, max: 64}), (messages, piece) => {
      const encoded = messages.map(each => Buffer.from(codec.encode(each)))
      const theirs = encoded.map(bytes => {
        const {headers, body} = codec.decode(bytes)
        const values = Object.entries(headers).map(([key, each]) => [
          key,
          each.type === 'binary' ? Buffer.from(each.value) : each.value,
        ])
        return {headers: Object.fromEntries(values), body: Buffer.from(body).toString('hex')}
      })
      expect(read(Buffer.concat(encoded), piece)).toEqual(theirs)
    }),
    {seed: seed(), numRuns: 300},
  )
})

test('what was damaged on its way is refused by both', () => {
  fc.assert(
    fc.property(message, fc.nat(), fc.integer({min: 1, max: 255}), (one, where, flip) => {
      const bytes = Buffer.from(codec.encode(one))
      bytes[where % bytes.length]! ^= flip
      expect(() => codec.decode(bytes)).toThrow()
      expect(read(bytes)).toBeNull()
    }),
    {seed: seed(), numRuns: 500},
  )
})
