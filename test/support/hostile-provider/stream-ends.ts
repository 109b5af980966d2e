import {type Asked, type CaseTable, chunk, type HostileReply, head, raw, untilClosed} from './reply.ts'
import {SSE, usualEvents} from './usual.ts'

/** Streams that are cut, that never end, or that come in pieces that fit nothing. */
const HEAD = head({type: SSE, lines: ['Transfer-Encoding: chunked']})
const MB = 1 << 20
/** A line that has no end is sent so far and no further: what it costs to hold it shows long before. */
const LINE_MB = 24

/** The first events, and then `after`. */
const begun = (count: number, after: HostileReply['after'], ...more: readonly (Buffer | string)[]) => {
  return (asked: Asked) => raw([HEAD, ...usualEvents(asked).slice(0, count).map(chunk), ...more.map(chunk)], after)
}
const cutBehind = (mark: string | Buffer, more: number) => {
  return (asked: Asked) => {
    const all = Buffer.from(usualEvents(asked).join(''))
    return raw([HEAD, chunk(all.subarray(0, all.indexOf(mark) + more))])
  }
}
function* repeated(piece: Buffer, count: number) {
  for (let at = 0; at < count; at++) yield piece
}
function* lineWithoutEnd(asked: Asked) {
  yield usualEvents(asked)[0]!
  yield 'data: {"x":"'
  yield* repeated(Buffer.alloc(MB, 'a'), LINE_MB)
}

export const STREAM_ENDS: CaseTable = {
  'stream-cut-behind-an-event': begun(2, 'ends'),
  'stream-cut-in-an-event': asked => raw([HEAD, chunk(usualEvents(asked).join('').slice(0, 150))]),
  'stream-cut-in-a-letter': cutBehind('🎡', 2),
  'stream-cut-in-a-number': cutBehind('"usage', 20),
  'stream-reset': begun(2, 'resets'),
  'stream-reset-at-once': begun(0, 'resets'),
  'stream-open-at-once': begun(0, 'waits'),
  'stream-open-behind-an-event': begun(2, 'waits'),
  'stream-open-in-an-event': begun(1, 'waits', 'data: {"id":'),
  'stream-open-behind-comments': begun(0, 'waits', ': still here\n\n', ': still here\n\n'),
  'stream-open-behind-the-end': asked => raw([HEAD, ...usualEvents(asked).map(chunk)], 'waits'),
  'stream-shorter-than-its-length': asked =>
    raw([head({type: SSE, lines: ['Content-Length: 100000']}), usualEvents(asked).slice(0, 2).join('')]),
  'stream-until-closed': asked => untilClosed(usualEvents(asked), {type: SSE}),
  'stream-byte-by-byte': asked =>
    untilClosed(
      [...Buffer.from(usualEvents(asked).join(''))].map(byte => Buffer.of(byte)),
      {type: SSE},
    ),
  'stream-without-line-ends': asked => untilClosed(lineWithoutEnd(asked), {type: SSE}),
  'stream-bad-chunk-in-the-middle': asked => raw([HEAD, ...usualEvents(asked).slice(0, 2).map(chunk), 'zz\r\nxx\r\n']),
}
