import fc from 'fast-check'
import {describe, expect, test} from 'vitest'
import {
  acceptKey,
  CLOSE,
  type CompletedFrame,
  closeFrame,
  FrameReader,
  frame,
  OPCODE,
  pingFrame,
  readClose,
  readProtocols,
  SocketFault,
  textFrame,
  upgradeFault,
  type WebSocketSide,
} from '../../src/base/websocket/index.ts'

interface Read {
  readonly bytes: Buffer
  readonly ended: readonly CompletedFrame[]
  readonly fault: string | null
}

/** Reads `wire` in the chunks that `cuts` make of it. */
function read(side: WebSocketSide, wire: Buffer, cuts: readonly number[], most_bytes?: number): Read {
  const reader = new FrameReader(side, most_bytes)
  const passed: Buffer[] = []
  const ended: CompletedFrame[] = []
  const marks = [0, ...[...new Set(cuts)].sort((a, b) => a - b), wire.length]
  try {
    for (let at = 1; at < marks.length; at++) {
      reader.add(wire.subarray(marks[at - 1], marks[at]))
      for (let piece = reader.next(); piece; piece = reader.next()) {
        passed.push(piece.bytes)
        if (piece.ended) ended.push(piece.ended)
      }
    }
  } catch (fault) {
    if (!(fault instanceof SocketFault)) throw fault
    return {bytes: Buffer.concat(passed), ended, fault: fault.message}
  }
  return {bytes: Buffer.concat(passed), ended, fault: null}
}

const everyByte = (wire: Buffer) => Array.from({length: wire.length}, (_, at) => at)

/** A message in fragments of these lengths, with a ping between each two. */
function fragmented(side: WebSocketSide, text: string, lengths: readonly number[]): Buffer {
  const whole = Buffer.from(text)
  const frames: Buffer[] = []
  let at = 0
  lengths.forEach((length, index) => {
    frames.push(frame(side, index === 0 ? OPCODE.text : OPCODE.continuation, whole.subarray(at, at + length), false))
    frames.push(pingFrame(side, Buffer.from([index])))
    at += length
  })
  frames.push(frame(side, lengths.length === 0 ? OPCODE.text : OPCODE.continuation, whole.subarray(at)))
  return Buffer.concat(frames)
}

describe('the reader of frames', () => {
  test('reads the frames of RFC 6455, 5.7', () => {
    const hello: CompletedFrame = {kind: 'message', is_text: true, bytes: 5, payload: Buffer.from('Hello')}
    expect(read('server', Buffer.from('810548656c6c6f', 'hex'), []).ended).toEqual([hello])
    expect(read('client', Buffer.from('818537fa213d7f9f4d5158', 'hex'), []).ended).toEqual([hello])
    expect(read('server', Buffer.from('010348656c80026c6f', 'hex'), []).ended).toEqual([hello])
    expect(read('server', Buffer.from('890548656c6c6f', 'hex'), []).ended).toEqual([
      {kind: 'ping', payload: Buffer.from('Hello')},
    ])
    expect(read('client', Buffer.from('8a8537fa213d7f9f4d5158', 'hex'), []).ended).toEqual([
      {kind: 'pong', payload: Buffer.from('Hello')},
    ])
    const long = Buffer.concat([Buffer.from('827e0100', 'hex'), Buffer.alloc(256, 7)])
    expect(read('server', long, []).ended).toEqual([
      {kind: 'message', is_text: false, bytes: 256, payload: Buffer.alloc(256, 7)},
    ])
    const longer = Buffer.concat([Buffer.from('827f0000000000010000', 'hex'), Buffer.alloc(65_536, 9)])
    expect(read('server', longer, []).ended).toEqual([
      {kind: 'message', is_text: false, bytes: 65_536, payload: Buffer.alloc(65_536, 9)},
    ])
  })

  test.each<WebSocketSide>(['client', 'server'])('reads the same of a %s, cut at every byte', side => {
    const wire = Buffer.concat([
      textFrame(side, ''),
      fragmented(side, '{"type":"response.create","text":"Grüße"}', [3, 0, 11]),
      frame(side, OPCODE.binary, Buffer.alloc(130, 1)),
      closeFrame(side, {code: 1000, reason: 'bye'}),
    ])
    const whole = read(side, wire, [])
    expect(whole.fault).toBeNull()
    expect(whole.ended.map(({kind}) => kind)).toEqual([
      'message',
      'ping',
      'ping',
      'ping',
      'message',
      'message',
      'close',
    ])
    expect(read(side, wire, everyByte(wire))).toEqual(whole)
    for (let at = 0; at <= wire.length; at++) expect(read(side, wire, [at])).toEqual(whole)
  })

  test('gives any messages back, whatever their fragments and the chunks they come in, and every byte as it was', () => {
    const message = fc.record({
      text: fc.string({maxLength: 300, unit: 'binary'}),
      lengths: fc.array(fc.nat(40), {maxLength: 4}),
    })
    fc.assert(
      fc.property(
        fc.constantFrom<WebSocketSide>('client', 'server'),
        fc.array(message, {maxLength: 6}),
        fc.array(fc.nat(3000), {maxLength: 12}),
        (side, messages, cuts) => {
          const wire = Buffer.concat(messages.map(({text, lengths}) => fragmented(side, text, lengths)))
          const received = read(
            side,
            wire,
            cuts.filter(cut => cut < wire.length),
          )
          expect(received.fault).toBeNull()
          expect(received.bytes.equals(wire)).toBe(true)
          const texts = received.ended.flatMap(each => (each.kind === 'message' ? [each.payload!.toString()] : []))
          expect(texts).toEqual(messages.map(({text}) => Buffer.from(text).toString()))
        },
      ),
    )
  })

  test('passes what is larger than the bound unread, in pieces, and reads on after it', () => {
    const wire = Buffer.concat([
      textFrame('client', 'x'.repeat(5000)),
      fragmented('client', 'y'.repeat(900), [400, 400]),
      textFrame('client', 'small'),
    ])
    const received = read('client', wire, everyByte(wire), 500)
    expect(received.bytes.equals(wire)).toBe(true)
    expect(
      received.ended.map(each =>
        each.kind === 'message' ? [each.bytes, each.payload?.toString() ?? null] : each.kind,
      ),
    ).toEqual([[5000, null], 'ping', 'ping', [900, null], [5, 'small']])
  })

  test('says where nothing of our own can be put in', () => {
    const reader = new FrameReader('server', 100)
    const state = () => [reader.is_mid_frame, reader.is_mid_message]
    const large = frame('server', OPCODE.text, Buffer.alloc(200), false)
    expect(state()).toEqual([false, false])
    reader.add(large.subarray(0, 50))
    reader.next()
    expect(state()).toEqual([true, true])
    reader.add(large.subarray(50))
    reader.next()
    expect(state()).toEqual([false, true])
    reader.add(frame('server', OPCODE.continuation, Buffer.alloc(1)))
    reader.next()
    expect(state()).toEqual([false, false])
  })

  test('reads a large frame that comes byte by byte', () => {
    const wire = textFrame('client', 'z'.repeat(200_000))
    const reader = new FrameReader('client')
    for (let at = 0; at < wire.length - 1; at++) {
      reader.add(Buffer.from([wire[at]!]))
      expect(reader.next()).toBeNull()
    }
    expect(reader.held_bytes).toBe(wire.length - 1)
    reader.add(wire.subarray(-1))
    expect(reader.next()!.bytes.equals(wire)).toBe(true)
  })

  const masked = (first: number, second: number, more = '') =>
    Buffer.concat([Buffer.from([first, second]), Buffer.from(more, 'hex')])
  test.each<[string, WebSocketSide, Buffer, string]>([
    [
      'a reserved bit',
      'server',
      Buffer.from('c10548656c6c6f', 'hex'),
      'a reserved bit is set, though no extension was agreed on',
    ],
    ['an opcode that nobody knows', 'server', masked(0x83, 0), 'the opcode 3 is not known'],
    ['a control opcode that nobody knows', 'server', masked(0x8b, 0), 'the opcode 11 is not known'],
    [
      'a frame of a client without a mask',
      'client',
      Buffer.from('810548656c6c6f', 'hex'),
      'a frame of a client is not masked',
    ],
    [
      'a frame of a server with a mask',
      'server',
      Buffer.from('818537fa213d7f9f4d5158', 'hex'),
      'a frame of a server is masked',
    ],
    ['a long control frame', 'server', masked(0x89, 126, '0080'), 'a control frame is longer than 125 bytes'],
    ['a control frame in fragments', 'server', masked(0x09, 0), 'a control frame is fragmented'],
    ['a continuation of nothing', 'server', masked(0x80, 0), 'a message is continued that did not begin'],
    [
      'a message inside another',
      'server',
      masked(0x01, 0, '8100'),
      'a message begins before the one before it has ended',
    ],
    [
      'a length of 2 bytes that needs none',
      'server',
      masked(0x81, 126, '007d'),
      'a length is not written in its shortest form',
    ],
    [
      'a length of 8 bytes that needs 2',
      'server',
      masked(0x81, 127, '000000000000ffff'),
      'a length is not written in its shortest form',
    ],
    [
      'a length beyond all bounds',
      'server',
      masked(0x81, 127, 'ffffffffffffffff'),
      'a frame is longer than any can be',
    ],
    ['half a close code', 'server', masked(0x88, 1, '03'), 'a close frame holds half a code'],
  ])('refuses %s', (_, side, wire, reason) => {
    expect(read(side, wire, []).fault).toBe(reason)
    expect(read(side, wire, everyByte(wire)).fault).toBe(reason)
  })

  test('never fails in another way, whatever comes', () => {
    fc.assert(
      fc.property(
        fc.constantFrom<WebSocketSide>('client', 'server'),
        fc.uint8Array({maxLength: 400}),
        (side, bytes) => {
          const received = read(side, Buffer.from(bytes), [])
          expect(Buffer.from(bytes).subarray(0, received.bytes.length).equals(received.bytes)).toBe(true)
        },
      ),
    )
  })
})

describe('the writer of frames', () => {
  test.each<WebSocketSide>(['client', 'server'])('a %s writes closes that are read as they were meant', side => {
    for (const said of [
      {code: 1000, reason: ''},
      {code: 1008, reason: 'The usage limit is used up.'},
      {code: CLOSE.none, reason: ''},
    ]) {
      const [ended] = read(side, closeFrame(side, said), []).ended
      expect(ended?.kind === 'close' && readClose(ended.payload)).toEqual(said)
    }
  })

  test('cuts a reason to what a close frame holds, between characters', () => {
    const [ended] = read('server', closeFrame('server', {code: 1011, reason: `${'a'.repeat(122)}€uro`}), []).ended
    expect(ended?.kind === 'close' && readClose(ended.payload).reason).toBe('a'.repeat(122))
  })
})

describe('the handshake', () => {
  test('answers the key as RFC 6455, 1.3 does', () => {
    expect(acceptKey('dGhlIHNhbXBsZSBub25jZQ==')).toBe('s3pPLMBiTxaQ9kYGzzhZRbK+xOo=')
  })

  const good = {upgrade: 'websocket', 'sec-websocket-version': '13', 'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ=='}
  test.each([
    [good, null],
    [{...good, upgrade: 'h2c, WebSocket'}, null],
    [{...good, upgrade: 'h2c'}, 'upgrade'],
    [{...good, 'sec-websocket-version': '8'}, 'sec-websocket-version'],
    [{...good, 'sec-websocket-key': 'short'}, 'sec-websocket-key'],
    [{}, 'upgrade'],
  ])('judges %j', (headers, wrong) => {
    expect(upgradeFault(headers)?.header ?? null).toBe(wrong)
  })

  test('reads subprotocols, and refuses what is none', () => {
    expect(readProtocols('realtime, openai-beta.realtime-v1 ,')).toEqual(['realtime', 'openai-beta.realtime-v1'])
    expect(readProtocols(undefined)).toEqual([])
    expect(readProtocols('real time')).toBeNull()
  })
})
