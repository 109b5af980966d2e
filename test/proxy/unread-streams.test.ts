import {brotliCompressSync, deflateRawSync, gzipSync} from 'node:zlib'
import {describe, expect, test} from 'vitest'
import {openStream, type Stream} from '../../src/proxy/upstream/stream.ts'
import type {RequestTranslation} from '../../src/proxy/upstream/translate.ts'
import {TranslatedStream} from '../../src/proxy/upstream/translated-stream.ts'
import {chatEvents} from '../support/provider.ts'

const WHOLE = Buffer.from(chatEvents('m').join(''))
const opened = (encoding: string) =>
  openStream('chatComplete', {provider: 'p', is_good: true, encoding, is_metered: false})

/** What passes of the chunks, and when it is known that the provider has begun. */
async function through(stream: Stream, chunks: readonly Buffer[]) {
  const passed: Buffer[] = []
  let has_begun = false
  for (const chunk of chunks) {
    await new Promise<void>(resolve =>
      stream.take(chunk, (send, hold) => {
        passed.push(send, hold ?? Buffer.alloc(0))
        resolve()
      }),
    )
    has_begun ||= stream.has_begun
  }
  passed.push(await new Promise<Buffer>(resolve => stream.end(resolve)))
  return {bytes: Buffer.concat(passed), has_begun}
}

const halves = (bytes: Buffer) => [bytes.subarray(0, bytes.length >> 1), bytes.subarray(bytes.length >> 1)]
const long = Buffer.concat([
  Buffer.from(`data: {"choices":[],"x":"`),
  Buffer.alloc(33 << 20, 'a'),
  Buffer.from('"}\n\n'),
  WHOLE,
])

describe('a stream whose encoding cannot be read goes on unread: it has begun, and is not taken for a cut one', () => {
  test.each([
    ['deflate without its frame', 'deflate', deflateRawSync(WHOLE)],
    ['plain text said to be gzip', 'gzip', WHOLE],
    ['plain text said to be br', 'br', WHOLE],
    ['gzip within gzip that is none', 'gzip, gzip', gzipSync(WHOLE)],
    ['more than may be inflated', 'gzip', gzipSync(long)],
    ['an encoding that nobody knows', 'compress', WHOLE],
  ])('%s', async (_, encoding, sent) => {
    const stream = opened(encoding)
    const {bytes, has_begun} = await through(stream, halves(sent))
    expect([bytes.equals(sent), has_begun, stream.fault]).toEqual([true, true, null])
    expect(stream.events).toBeGreaterThan(0)
  })

  test.each([
    ['gzip', gzipSync],
    ['br', brotliCompressSync],
  ] as const)('but one in %s that is read and ends too early is cut', async (encoding, encode) => {
    const sent = encode(Buffer.from(chatEvents('m').slice(0, 3).join('')))
    for (const chunks of [[sent], [sent.subarray(0, -6)]]) {
      const stream = opened(encoding)
      await through(stream, chunks)
      expect(stream.fault?.code).toBe('upstream.cut')
    }
  })
})

test('what a translator throws breaks its stream alone, and is told to the log', async () => {
  const fault = new TypeError("Cannot read properties of undefined (reading 'parts')")
  for (const encoding of ['gzip', null]) {
    const response: unknown[] = []
    const translator = {
      usage: null,
      model: null,
      text_bytes: 0,
      failed: null,
      finished: false,
      event: () => {
        throw fault
      },
      end: () => [],
    }
    const translating = {
      translation: {stream: {framing: 'sse', open: () => translator}},
      client: null,
      context: {provider: 'p'},
      chat_request: {},
      client_request: {},
    } as unknown as RequestTranslation
    const stream = new TranslatedStream('chatComplete', translating, {encoding, onFault: one => response.push(one)})
    await through(stream, [encoding ? gzipSync(WHOLE) : WHOLE])
    expect(stream.fault?.message).toContain('its stream is not what it documents')
    expect(response).toEqual([fault])
  }
})
