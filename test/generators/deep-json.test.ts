import {setTimeout as sleep} from 'node:timers/promises'
import {expect, test} from 'vitest'
import {Refusal} from '../../src/base/errors.ts'
import {parsed} from '../../src/base/json-object.ts'
import {TemplateFault} from '../../src/base/mustache/parse.ts'
import {InexactFault} from '../../src/cache/merge.ts'
import {FormulaFault} from '../../src/pricing/calculate.ts'
import {PricingConfigFault} from '../../src/pricing/config.ts'
import {InvalidResponseFault, UnsupportedInputFault} from '../../src/providers/translation.ts'
import {pace} from '../support/pace.ts'
import {forRing, generated} from '../support/ring.ts'
import {READERS, type Reader} from './deep-json/readers.ts'
import {quickest, SHAPES, type Shape} from './deep-json/shapes.ts'

/**
 * Every reader of JSON that others wrote × JSON that is made to hurt: deep, wide, long, with keys that repeat. It may
 * say that it cannot read it, in its own kinds of faults; it holds the event loop no longer than parsing and writing
 * the text does, and 20 ms.
 */
const FAULTS = [
  Refusal,
  TemplateFault,
  InexactFault,
  FormulaFault,
  PricingConfigFault,
  InvalidResponseFault,
  UnsupportedInputFault,
  SyntaxError,
]
/** Places of each reader that each shape is tried at. */
const PLACES = forRing({own: 1, ci: 1, full: 4})
/** Of all pairs, and of those that take long to read, every how many-th. */
const EVERY = forRing({own: 5, ci: 1, full: 1})
const EVERY_LONG = forRing({own: 20, ci: 4, full: 1})

const PACE = pace()

let cases = 0
let longest = {ms: 0, what: ''}

function tried(reader: Reader, shape: Shape, place: string, nth: number): string | SlowRead | null {
  const {json, is_long} = shape
  const places = place.split('@').length - 1
  // a long one stands at one place, null at the others
  const chosen = nth % places
  let at = 0
  const text = place.replaceAll('@', () => (!is_long || at++ === chosen ? json : 'null'))
  const times = is_long ? 1 : places
  let fault: unknown
  const work = () => {
    try {
      reader.read(text)
    } catch (thrown) {
      fault = thrown
    }
  }
  let most_ms = reader.most_ms * PACE
  let allowed_ms = most_ms + times * (reader.parses * shape.parse_ms + reader.writes * shape.write_ms)
  let ms = quickest(work, allowed_ms)
  if (ms > allowed_ms) {
    // The machine may be slower now than it was at the start, and parsing too, with caches that others fill and a heap
    // that is larger.
    const slower = is_long ? Math.max(1, quickest(() => parsed(json)) / shape.parse_ms) : 1
    const beside_ms = slower * (allowed_ms - most_ms)
    most_ms = reader.most_ms * Math.max(PACE, pace())
    allowed_ms = most_ms + beside_ms
    ms = Math.min(ms, quickest(work, allowed_ms))
  }
  const what = `${reader.name}, ${shape.name} in ${place}`
  if (fault !== undefined && !FAULTS.some(kind => fault instanceof kind)) return `${what}: ${String(fault)}`
  const own_ms = ms - (allowed_ms - most_ms)
  const is_over = ms > allowed_ms
  if (!is_over && own_ms > longest.ms && reader.most_ms <= 20) longest = {ms: own_ms, what}
  return is_over ? new SlowRead(`${what}: ${ms.toFixed(1)} ms, of which ${allowed_ms.toFixed(1)} are allowed`) : null
}

/** It took too long. Other work may have taken the caches: it is tried again when the rest is done. */
class SlowRead {
  readonly what: string
  constructor(what: string) {
    this.what = what
  }
}

const TURNS = 5
/** More of them are no accident. */
const MAX_AGAIN = 20
const PAUSE_MS = 1000

/** What a case comes to when it is tried again, at other times: what always takes too long does so in each of them. */
async function again(one: () => string | SlowRead | null): Promise<string | null> {
  let last: string | SlowRead | null = null
  for (let turn = 0; turn < TURNS; turn++) {
    await sleep(PAUSE_MS)
    last = one()
    if (!(last instanceof SlowRead)) return last
  }
  return last instanceof SlowRead ? last.what : last
}

test('no reader is held up or broken', {timeout: forRing({own: 60_000, ci: 120_000, full: 900_000})}, async () => {
  const failed: string[] = []
  const held: (() => string | SlowRead | null)[] = []
  READERS.forEach((reader, at) => {
    SHAPES.forEach((shape, which) => {
      if ((at * 3 + which) % (shape.is_long ? EVERY_LONG : EVERY) !== 0) return
      const {places} = reader
      for (let turn = 0; turn < Math.min(PLACES, places.length); turn++) {
        const nth = cases++
        const one = () => tried(reader, shape, places[(at + which + turn * 3) % places.length]!, nth)
        const fault = one()
        if (fault instanceof SlowRead) held.push(one)
        else if (fault) failed.push(fault)
      }
    })
  })
  generated('deep JSON', cases)
  for (const one of held.slice(0, MAX_AGAIN)) failed.push(...[await again(one)].filter(fault => fault !== null))
  expect(held.length).toBeLessThan(MAX_AGAIN)
  console.log(`the longest hold: ${longest.ms.toFixed(1)} ms beyond parsing and writing (${longest.what})`)
  expect(failed).toEqual([])
  expect(cases).toBeGreaterThan(600)
})
