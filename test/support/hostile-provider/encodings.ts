import {constants, deflateRawSync, gzipSync, zstdCompressSync} from 'node:zlib'
import {type Asked, type CaseTable, chunked, type HostileReply, whole} from './reply.ts'
import {SSE, usualEvents, usualJson} from './usual.ts'

/** Content codings that are false, cut, stacked, or that blow up; and bytes that are no UTF-8. */
const BOMB_BYTES = 32 << 20
const encoded = (body: Buffer | string, encoding: string, type?: string) =>
  whole(body, {lines: [`Content-Encoding: ${encoding}`], ...(type && {type})})
const gzipped = (asked: Asked) => gzipSync(usualJson(asked))

/**
 * A bomb's bytes are made once: what tells it apart is its beginning and its end, and gzip lets members follow one
 * another.
 */
const filler = new Map<string, Buffer>()

function bomb(before: string, line: string, behind: string, type: string): HostileReply {
  let middle = filler.get(line)
  if (!middle) {
    middle = gzipSync(Buffer.alloc(BOMB_BYTES, line), {level: constants.Z_BEST_SPEED})
    filler.set(line, middle)
  }
  return chunked([gzipSync(before), middle, gzipSync(behind)], {type, lines: ['Content-Encoding: gzip']})
}

export const ENCODINGS: CaseTable = {
  'gzip-cut': asked => encoded(gzipped(asked).subarray(0, -12), 'gzip'),
  'gzip-false': asked => encoded(usualJson(asked), 'gzip'),
  'gzip-twice': asked => encoded(gzipSync(gzipped(asked)), 'gzip, gzip'),
  'gzip-ten-times': asked => {
    let body: Buffer = Buffer.from(usualJson(asked))
    for (let times = 0; times < 10; times++) body = gzipSync(body)
    return encoded(body, Array.from({length: 10}, () => 'gzip').join(', '))
  },
  'gzip-with-rubbish-behind': asked => encoded(Buffer.concat([gzipped(asked), Buffer.from('rubbish')]), 'gzip'),
  'gzip-of-two-members': asked => {
    const json = Buffer.from(usualJson(asked))
    return encoded(Buffer.concat([gzipSync(json.subarray(0, 20)), gzipSync(json.subarray(20))]), 'gzip')
  },
  'gzip-with-false-sum': asked => {
    const body = gzipped(asked)
    body.writeUInt32LE(0, body.length - 8)
    return encoded(body, 'gzip')
  },
  'gzip-empty': () => encoded('', 'gzip'),
  'gzip-unannounced': asked => whole(gzipped(asked)),
  'gzip-in-capitals': asked => encoded(gzipped(asked), ' GZIP '),
  'gzip-old-name': asked => encoded(gzipped(asked), 'x-gzip'),
  'gzip-as-transfer-coding': asked => {
    const {pieces} = chunked([gzipped(asked)])
    const [first, ...rest] = [...pieces].map(piece => Buffer.from(piece).toString('latin1'))
    const bytes = [first!.replace('Encoding: chunked', 'Encoding: gzip, chunked'), ...rest].map(text =>
      Buffer.from(text, 'latin1'),
    )
    return {pieces: bytes, after: 'ends'}
  },
  'gzip-bomb': asked => bomb(`${usualJson(asked).slice(0, -1)},"pad":"`, 'a', '"}', 'application/json'),
  'gzip-bomb-in-stream': asked => {
    const events = usualEvents(asked)
    return bomb(events.slice(0, -1).join(''), `:${'a'.repeat(1022)}\n`, events.at(-1)!, SSE)
  },
  'gzip-stream-cut': asked => encoded(gzipSync(usualEvents(asked).join('')).subarray(0, -10), 'gzip', SSE),
  'deflate-raw': asked => encoded(deflateRawSync(usualJson(asked)), 'deflate'),
  'deflate-false': asked => encoded(usualJson(asked), 'deflate'),
  'brotli-false': asked => encoded(usualJson(asked), 'br'),
  'zstd-false': asked => encoded(usualJson(asked), 'zstd'),
  'zstd-cut': asked => encoded(zstdCompressSync(usualJson(asked)).subarray(0, -6), 'zstd'),
  'encoding-unknown': asked => encoded(usualJson(asked), 'rot13'),
  'encoding-500-names': asked => encoded(usualJson(asked), Array.from({length: 500}, () => 'identity').join(', ')),
  'encoding-empty': asked => encoded(usualJson(asked), ''),
  'encoding-of-prototype': asked => encoded(usualJson(asked), 'constructor'),
  'utf-8-invalid': asked => whole(Buffer.from(usualJson(asked).replace(/Wien|"m"/g, '"\xff\xfe\x80'), 'latin1')),
  'utf-16': asked => whole(Buffer.from(`\ufeff${usualJson(asked)}`, 'utf16le')),
  'byte-order-mark': asked => whole(`\ufeff${usualJson(asked)}`),
}
