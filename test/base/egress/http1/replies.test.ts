import type {Socket} from 'node:net'
import {setImmediate as turn} from 'node:timers/promises'
import fc from 'fast-check'
import {Pool} from 'undici'
import {expect, onTestFinished, test} from 'vitest'
import {codeOf, poolTo, received, serveText, type Told, tell, wired} from './dispatched.ts'
import {bent, type Reply, reply} from './replies.ts'

async function tellInPieces({bytes, closes}: Reply, cuts: number[]): Promise<Told> {
  const {pool, wire} = wired()
  const call = tell(pool)
  const there = await wire(0)
  const places = [...new Set(cuts.map(cut => cut % (bytes.length + 1)))].sort((a, b) => a - b)
  let from = 0
  for (const to of [...places, bytes.length]) {
    if (to > from) there.push(bytes.subarray(from, to))
    from = to
    await turn()
  }
  if (closes) there.push(null)
  const told = await call
  await pool.destroy()
  return told
}

test('however a reply is cut into pieces, the handler is told the same', async () => {
  await fc.assert(
    fc.asyncProperty(fc.oneof(reply, bent), fc.array(fc.nat(), {maxLength: 30}), async (of, cuts) => {
      const whole = await tellInPieces(of, [])
      const cut = await tellInPieces(of, cuts)
      const ends = (told: Told) => ({...told, end: codeOf(told), body: told.end === 'whole' ? told.body : ''})
      expect(ends(cut)).toEqual(ends(whole))
    }),
    {numRuns: 400},
  )
}, 60_000)

test('byte by byte, too', async () => {
  await fc.assert(
    fc.asyncProperty(reply, async of => {
      const every = Array.from(of.bytes, (_, place) => place)
      expect(await tellInPieces(of, every)).toEqual(await tellInPieces(of, []))
    }),
    {numRuns: 60},
  )
}, 60_000)

/** Two pools, ours and undici's, to a server that sends what is asked of it. */
async function besideUndici() {
  let next: Reply
  const {port} = await serveText(
    (socket: Socket) => void (next.closes ? socket.end(next.bytes) : socket.write(next.bytes)),
  )
  const theirs = new Pool(`http://127.0.0.1:${port}`, {headersTimeout: 0, bodyTimeout: 0, keepAliveTimeout: 60_000})
  onTestFinished(() => theirs.destroy())
  const pools = [theirs, poolTo(port), poolTo(port, false)]
  return async (of: Reply) => {
    next = of
    const told = []
    for (const pool of pools) told.push(await tell(pool))
    return told as [Told, Told, Told]
  }
}

test('of replies that are well formed callers are told what undici tells', async () => {
  const ask = await besideUndici()
  await fc.assert(
    fc.asyncProperty(reply, async of => {
      const [theirs, ...ours] = await ask(of)
      expect(theirs.end).toBe('whole')
      for (const told of ours) expect(received(told)).toEqual(received(theirs))
    }),
    {numRuns: 400},
  )
}, 60_000)

test('of bent replies nothing is believed that undici does not believe', async () => {
  const ask = await besideUndici()
  await fc.assert(
    fc.asyncProperty(bent, async of => {
      const [theirs, ...ours] = await ask(of)
      if (/HTTP\/1\.[01] 100/.test(of.bytes.toString('latin1'))) return // undici refuses those, and we pass them over
      for (const told of ours) {
        if (told.end === 'whole') expect(received(told)).toEqual(received(theirs))
        else expect(['upstream.broken', 'upstream.bad_reply', 'upstream.cut']).toContain(received(told).end)
      }
    }),
    {numRuns: 1500},
  )
}, 60_000)
