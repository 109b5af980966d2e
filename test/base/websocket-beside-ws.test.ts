import {createRequire} from 'node:module'
import fc from 'fast-check'
import {expect, test} from 'vitest'
import {FrameReader, SocketFault} from '../../src/base/websocket/index.ts'
import {seed} from '../support/ring.ts'

/** The parts of `ws` that read and write frames. */
const {Receiver, Sender} = createRequire(import.meta.url)('ws') as {
  readonly Receiver: new (options: {isServer: boolean; skipUTF8Validation: boolean}) => NodeJS.WritableStream
  readonly Sender: {frame(data: Buffer, options: object): Buffer[]}
}

interface Frame {
  readonly opcode: number
  readonly fin: boolean
  readonly data: Uint8Array
}

interface Read {
  readonly found: readonly string[]
  readonly is_refused: boolean
}

const data = fc.oneof(
  {weight: 5, arbitrary: fc.uint8Array({maxLength: 200})},
  fc.uint8Array({minLength: 65_530, maxLength: 65_540, size: 'max'}),
)
const control = fc.record({
  opcode: fc.constantFrom(9, 10),
  fin: fc.constant(true),
  data: fc.uint8Array({maxLength: 125}),
})
/** A message in frames, with control frames between them. */
const message = fc
  .record({
    opcode: fc.constantFrom(1, 2),
    parts: fc.array(data, {minLength: 1, maxLength: 4}),
    between: fc.array(control, {maxLength: 2}),
  })
  .map(({opcode, parts, between}) =>
    parts.flatMap((part, at): Frame[] => [
      ...(at > 0 ? between : []),
      {opcode: at === 0 ? opcode : 0, fin: at === parts.length - 1, data: part},
    ]),
  )
/** Frames in any order: most of them break the protocol somewhere. */
const anything = fc.array(
  fc.record({opcode: fc.integer({min: 0, max: 15}), fin: fc.boolean(), data: fc.uint8Array({maxLength: 130})}),
  {
    minLength: 1,
    maxLength: 5,
  },
)

function bytesOf(frames: readonly Frame[], mask: boolean): Buffer {
  return Buffer.concat(
    frames.flatMap(({opcode, fin, data: payload}) =>
      Sender.frame(Buffer.from(payload), {opcode, fin, mask, readOnly: true, rsv1: false, ...(mask && {generateMask})}),
    ),
  )
}

function generateMask(mask: Buffer) {
  mask.set([0xa1, 0x07, 0xff, 0x33])
}

async function theirs(bytes: Buffer, mask: boolean): Promise<Read> {
  const found: string[] = []
  const receiver = new Receiver({isServer: mask, skipUTF8Validation: true})
  receiver.on('message', (payload: Buffer, is_binary: boolean) =>
    found.push(`${is_binary ? 'binary' : 'text'} ${payload.toString('hex')}`),
  )
  for (const kind of ['ping', 'pong'])
    receiver.on(kind, (payload: Buffer) => found.push(`${kind} ${payload.toString('hex')}`))
  const is_refused = await new Promise<boolean>(resolve => {
    receiver.on('error', () => resolve(true))
    receiver.on('conclude', () => resolve(false))
    receiver.write(Buffer.from(bytes)) // it unmasks in place
    // it gives one event in each turn, and ends what it has before it finishes
    receiver.end((fault?: Error | null) => resolve(Boolean(fault)))
  })
  return {found, is_refused}
}

function ours(bytes: Buffer, mask: boolean, piece: number): Read & {readonly passed: Buffer} {
  const reader = new FrameReader(mask ? 'client' : 'server')
  const found: string[] = []
  const passed: Buffer[] = []
  try {
    for (let at = 0; at < bytes.length; at += piece) {
      reader.add(bytes.subarray(at, at + piece))
      for (let next = reader.next(); next; next = reader.next()) {
        passed.push(next.bytes)
        const {ended} = next
        if (ended?.kind === 'message')
          found.push(`${ended.is_text ? 'text' : 'binary'} ${ended.payload!.toString('hex')}`)
        else if (ended) found.push(`${ended.kind} ${ended.payload.toString('hex')}`)
        if (ended?.kind === 'close')
          return {found: found.slice(0, -1), is_refused: false, passed: Buffer.concat(passed)}
      }
    }
    return {found, is_refused: false, passed: Buffer.concat(passed)}
  } catch (fault) {
    if (fault instanceof SocketFault) return {found, is_refused: true, passed: Buffer.concat(passed)}
    throw fault
  }
}

test('what ws writes is read as it reads it itself, however it is cut, and goes on as the same bytes', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(message, {minLength: 1, maxLength: 3}),
      fc.boolean(),
      fc.integer({min: 1, max: 5000}),
      async (messages, mask, piece) => {
        const bytes = bytesOf(messages.flat(), mask)
        const {passed, ...read} = ours(bytes, mask, piece)
        expect(read).toEqual(await theirs(bytes, mask))
        expect(passed.equals(bytes)).toBe(true)
      },
    ),
    {seed: seed(), numRuns: 150},
  )
})

test('frames that break the protocol are refused by both, at the same place', async () => {
  let refused = 0
  await fc.assert(
    fc.asyncProperty(anything, fc.boolean(), fc.integer({min: 1, max: 50}), async (frames, mask, piece) => {
      // what a close frame must hold is not for the reader, which passes it on
      const readable = frames.filter(({opcode}) => opcode !== 8)
      const bytes = bytesOf(readable, mask)
      const {found, is_refused} = ours(bytes, mask, piece)
      expect({found, is_refused}).toEqual(await theirs(bytes, mask))
      if (is_refused) refused++
    }),
    {seed: seed(), numRuns: 500},
  )
  expect(refused).toBeGreaterThan(100)
})
