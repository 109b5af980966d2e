import {PassThrough, Writable} from 'node:stream'
import {describe, expect, test} from 'vitest'
import {frame, OPCODE, type SocketFault, textFrame, type WirePiece} from '../../src/base/websocket/index.ts'
import {Pipe, type PipeListener} from '../../src/proxy/realtime/pipe.ts'

/** A receiver that is full at once, and takes a write when it is let. */
function slow() {
  const taken: Buffer[] = []
  const held: (() => void)[] = []
  const to = new Writable({
    highWaterMark: 1,
    write(chunk: Buffer, _, done) {
      taken.push(chunk)
      held.push(done)
    },
  })
  return {to, taken, let: () => held.shift()?.()}
}

const bytesIn = (chunks: readonly Buffer[]) => chunks.reduce((sum, {length}) => sum + length, 0)
const turn = () => new Promise(resolve => setImmediate(resolve))

function ears(
  more: Partial<PipeListener> = {},
): PipeListener & {faults: SocketFault[]; failures: unknown[]; ends: number} {
  const received = {
    faults: [] as SocketFault[],
    failures: [] as unknown[],
    ends: 0,
    judge: (_: WirePiece, pass: () => void) => pass(),
    broke: (fault: SocketFault) => void received.faults.push(fault),
    failed: (fault: unknown) => void received.failures.push(fault),
    ended: () => void received.ends++,
    ...more,
  }
  return received
}

const steady = () => performance.now()

describe('a lane', () => {
  test('takes no more from the sender while the receiver is full, and forgets nothing', async () => {
    const from = new PassThrough({highWaterMark: 1 << 16})
    const {to, taken, let: take} = slow()
    const lane = new Pipe('server', from, to, ears(), steady)
    lane.start(Buffer.alloc(0))
    const one = frame('server', OPCODE.binary, Buffer.alloc(10_000, 3))
    let written = 0
    while (from.write(one)) written++
    for (let at = 0; at < 50; at++) await turn()
    expect(from.isPaused()).toBe(true)
    expect(lane.full_since).toBeGreaterThan(0)
    expect(bytesIn(taken)).toBe(one.length)
    expect(lane.received_bytes).toBeLessThanOrEqual(2 << 16)
    const all = (written + 1) * one.length
    while (bytesIn(taken) < all) {
      take()
      await turn()
    }
    take()
    await turn()
    expect(Buffer.concat(taken).equals(Buffer.concat(Array.from({length: written + 1}, () => one)))).toBe(true)
    expect([from.isPaused(), lane.full_since]).toEqual([false, 0])
  })

  test('passes nothing on while a piece is judged, and all of it in order after', async () => {
    const from = new PassThrough()
    const to = new PassThrough()
    const passes: (() => void)[] = []
    const received = ears({judge: (_, pass) => void passes.push(pass)})
    new Pipe('server', from, to, received, steady).start(textFrame('server', 'early'))
    from.end(Buffer.concat([textFrame('server', 'one'), textFrame('server', 'two')]))
    await turn()
    expect([passes.length, to.readableLength, received.ends]).toEqual([1, 0, 0])
    for (const count of [1, 2, 3]) {
      expect(passes.length).toBe(count)
      passes[count - 1]!()
      passes[count - 1]!() // a second time does nothing
      await turn()
    }
    expect(to.read()).toEqual(Buffer.concat(['early', 'one', 'two'].map(text => textFrame('server', text))))
    await turn()
    expect(received.ends).toBe(1)
  })

  test('knows where a frame of our own would break one that passes in pieces', async () => {
    const from = new PassThrough()
    const to = new PassThrough()
    const lane = new Pipe('server', from, to, ears(), steady)
    lane.start(Buffer.alloc(0))
    const large = frame('server', OPCODE.binary, Buffer.alloc(2 << 20))
    from.write(large.subarray(0, 1000))
    await turn()
    expect([lane.is_mid_frame, lane.is_mid_message]).toEqual([true, true])
    to.resume()
    from.write(large.subarray(1000))
    await expect.poll(() => lane.is_mid_frame).toBe(false)
    expect(lane.is_mid_message).toBe(false)
  })

  test('tells of a sender that breaks the protocol, once, after what was right', async () => {
    const from = new PassThrough()
    const to = new PassThrough()
    const received = ears()
    new Pipe('client', from, to, received, steady).start(Buffer.alloc(0))
    from.end(Buffer.concat([textFrame('client', 'right'), textFrame('server', 'wrong'), textFrame('client', 'late')]))
    await turn()
    await turn()
    expect(received.faults.map(({code}) => code)).toEqual([1002])
    expect(to.readableLength).toBe(textFrame('client', 'right').length)
    expect(received.ends).toBe(0)
  })

  test('stops when its judge fails, and says so', async () => {
    const from = new PassThrough()
    const to = new PassThrough()
    const fault = new Error('ours')
    const received = ears({
      judge() {
        throw fault
      },
    })
    new Pipe('server', from, to, received, steady).start(textFrame('server', 'one'))
    from.write(textFrame('server', 'two'))
    await turn()
    expect([received.failures, to.readableLength]).toEqual([[fault], 0])
  })
})
