import fc from 'fast-check'
import {expect, test} from 'vitest'
import {received, type Told} from '../base/egress/http1/dispatched.ts'
import {forRing, generated, seed} from '../support/ring.ts'
import {sent} from './http/requests.ts'
import {type CameOf, waysIn} from './http/ways-in.ts'
import {asking, besideUndici, differenceOf, LOOSER, STRICTER} from './http/ways-out.ts'

const EACH_WAY = forRing({own: 300, ci: 10_000, full: 40_000})
const LONG_MS = 600_000

/**
 * Where the two differ: of requests that are sent ahead, node:http judges a later one while the answer to an earlier
 * one is under way, and drops that answer when the later is malformed. Ours come one after the other. Where nothing is
 * ahead both do the same; whether the end is told besides, with 400, is a matter of turns.
 */
function withoutLastWord({told: response, received, is_closed}: CameOf): CameOf {
  return {
    told: response,
    received: received.replace(/HTTP\/1\.1 400 Bad Request\r\nConnection: close\r\n\r\n$/, ''),
    is_closed,
  }
}

test('however requests are bent and cut, our way in makes of them what node:http does', {
  timeout: LONG_MS,
}, async () => {
  const ways = await waysIn()
  await fc.assert(
    fc.asyncProperty(sent, async of => {
      const {ours, theirs, in_front} = await ways.besideNode(of)
      if (same(ours, theirs)) return
      expect(in_front).toBeGreaterThan(0)
      expect(withoutLastWord(ours)).toEqual(withoutLastWord(await ways.inOrder(of, in_front)))
    }),
    {numRuns: EACH_WAY, seed: seed()},
  )
  expect(ways.in_front).toBeGreaterThan(EACH_WAY / 10)
  generated('HTTP, the way in', EACH_WAY)
})

test('however replies are bent and cut, callers are told what undici tells, but for a short list', {
  timeout: LONG_MS,
}, async () => {
  const counts = {whole: 0, refused: 0, stricter: 0, looser: 0}
  await fc.assert(
    fc.asyncProperty(asking, async of => {
      const {ours, theirs} = await besideUndici(of)
      if (ours.end === 'whole' && theirs.end === 'whole') {
        counts.whole++
        expect(received(ours)).toEqual(received(theirs))
      } else if (ours.end !== 'whole') {
        expect(['upstream.broken', 'upstream.bad_reply', 'upstream.cut']).toContain(received(ours).end)
        if (theirs.end !== 'whole') return void counts.refused++
        counts.stricter++
        expect(differenceOf(STRICTER, of, ours)).toBeDefined()
      } else {
        counts.looser++
        const difference = differenceOf(LOOSER, of, theirs)
        expect(difference).toBeDefined()
        const bytes = Buffer.from(difference!.without!(of.reply.bytes.toString('latin1')), 'latin1')
        const {theirs: without} = await besideUndici({...of, cuts: [], reply: {bytes, closes: true}})
        expect(withoutNews(ours)).toEqual(withoutNews(without))
      }
    }),
    {numRuns: EACH_WAY, seed: seed()},
  )
  expect(counts.whole).toBeGreaterThan(EACH_WAY / 4)
  expect(counts.refused).toBeGreaterThan(EACH_WAY / 4)
  generated('HTTP, the way out', EACH_WAY)
})

const withoutNews = (response: Told) => ({...received(response), heads: received(response).heads.slice(-1)})

const same = (one: CameOf, other: CameOf) =>
  one.received === other.received && one.is_closed === other.is_closed && one.told.join('\n') === other.told.join('\n')
