import {brotliCompressSync, deflateSync, gzipSync} from 'node:zlib'
import {eventFrame} from '../../providers/bedrock/frames.ts'
import {openEvents, type Row} from './rows.ts'
import {type Bytes, reply} from './wire.ts'

export interface Fault {
  readonly name: string
  /**
   * `none`: the answer is as good as any. `early`: nothing can have left before it. `any`: it depends on what came
   * before.
   */
  readonly when: 'none' | 'early' | 'any'
  readonly stream: Bytes
  readonly whole: Bytes | null
}

const JSON_TYPE = 'application/json'
const PAGE = Buffer.from('<!doctype html><html><body>Sign in to continue</body></html>')
const news = (...heads: string[]) => heads.map(head => `HTTP/1.1 ${head}\r\n\r\n`).join('')
const before = (said: string, bytes: Bytes): Bytes => ({...bytes, pieces: [said, ...bytes.pieces]})
const together = ({pieces, end}: Bytes): Bytes => ({
  pieces: [Buffer.concat(pieces.map(piece => Buffer.from(piece)))],
  end,
})

/** All that is done to a dialect's answers. */
export function faultsOf(row: Row): readonly Fault[] {
  const {stream_type, events, framing} = row
  const good = () => reply(stream_type, events)
  const plain = Buffer.from(JSON.stringify(row.plain))
  const whole = () => reply(JSON_TYPE, [plain])
  const NEWS: Readonly<Record<string, string>> = {
    'an unsolicited 100': news('100 Continue'),
    'a 100 with headers': news('100 Continue\r\nserver: x\r\ncontent-length: 5'),
    'a 102 and a 103': news('102 Processing', '103 Early Hints\r\nlink: </x>'),
    'a 100 twice and a 103': news('100 Continue', '100 Continue', '103 Early Hints'),
  }
  const ENCODED: Readonly<Record<string, (bytes: Buffer) => Buffer>> = {
    GZIP: gzipSync,
    'X-GZip': gzipSync,
    'identity, Gzip': gzipSync,
    'deflate, gzip': bytes => gzipSync(deflateSync(bytes)),
    ' BR ': brotliCompressSync,
    IDENTITY: bytes => bytes,
  }
  const bad_event =
    framing === 'aws'
      ? Buffer.concat([eventFrame('contentBlockDelta', {a: 1}).subarray(0, -1), Buffer.from([0])])
      : Buffer.from(framing === 'sse' ? 'data: {"id": "x", "choices": [{"ind\n\n' : '{"text": "x", oops}\n')
  const open = openEvents(row)
  return [
    ...Object.entries(NEWS).flatMap(([name, said]): Fault[] => [
      {name, when: 'none', stream: before(said, good()), whole: before(said, whole())},
      {name: `${name}, in one piece with the rest`, when: 'none', stream: together(before(said, good())), whole: null},
    ]),
    ...Object.entries(ENCODED).map(([name, encode]): Fault => {
      const head = {head: `Content-Encoding: ${name}\r\n`}
      const bytes = encode(Buffer.concat(events))
      const halves = [bytes.subarray(0, bytes.length >> 1), bytes.subarray(bytes.length >> 1)]
      return {
        name: `encoded as ${name}`,
        when: 'none',
        stream: reply(stream_type, halves, head),
        whole: reply(JSON_TYPE, [encode(plain)], head),
      }
    }),
    {name: 'empty', when: 'early', stream: reply(stream_type, []), whole: reply(JSON_TYPE, [])},
    {
      name: 'empty, with a length',
      when: 'early',
      stream: {pieces: [`HTTP/1.1 200 OK\r\ncontent-type: ${stream_type}\r\ncontent-length: 0\r\n\r\n`], end: 'kept'},
      whole: {pieces: ['HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n'], end: 'kept'},
    },
    {name: 'a page', when: 'early', stream: reply('text/html', [PAGE]), whole: reply('text/html', [PAGE])},
    {
      name: 'a page that says it is a stream',
      when: 'early',
      stream: reply(stream_type, [PAGE]),
      whole: reply(JSON_TYPE, [PAGE]),
    },
    {
      name: 'nothing but a lost connection',
      when: 'early',
      stream: reply(stream_type, [], {is_whole: false}),
      whole: null,
    },
    {name: 'malformed from the start', when: 'early', stream: reply(stream_type, [bad_event, ...events]), whole: null},
    ...Array.from({length: open}, (_, at): Fault[] => [
      {name: `cut off behind ${at} events`, when: 'any', stream: reply(stream_type, events.slice(0, at)), whole: null},
      {
        name: `its connection lost behind ${at} events`,
        when: 'any',
        stream: reply(stream_type, events.slice(0, at), {is_whole: false}),
        whole: null,
      },
      {
        name: `malformed behind ${at} events`,
        when: 'any',
        stream: reply(stream_type, [...events.slice(0, at), bad_event, ...events.slice(at)]),
        whole: null,
      },
    ]).flat(),
    ...(framing === 'sse'
      ? [
          {
            name: 'comments alone',
            when: 'early' as const,
            stream: reply(stream_type, [Buffer.from(': a\n\n: b\n\n')]),
            whole: null,
          },
        ]
      : []),
  ]
}
