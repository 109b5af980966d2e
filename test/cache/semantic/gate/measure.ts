import {existsSync, readFileSync} from 'node:fs'
import {resolve} from 'node:path'
import {BUILTIN_DIMENSIONS, embedBuiltin} from '../../../../src/cache/semantic/builtin-embedder.ts'
import {differs, featuresOf, type GateMode} from '../../../../src/cache/semantic/gate/index.ts'
import {minimalPairs, PROMPTS} from './minimal-pairs.ts'

/**
 * Measures the gate on pairs that were written without knowledge of it: `pairs.jsonl`, with vectors of MiniLM beside.
 * Run: `node test/cache/semantic/gate/measure.ts FOLDER`; `SHOW=1` lists what is served and what is refused.
 */
interface ForeignPair {
  readonly id: string
  readonly kind: 'paraphrase' | 'trap'
  readonly class: string
  readonly a: string
  readonly b: string
}
export interface MeasuredPair extends ForeignPair {
  /** The class of the gate that refuses it; null: served. */
  readonly verdict: string | null
  readonly minilm: number
  readonly builtin: number
  /** Equal after case, spaces and final punctuation. */
  readonly is_equal: boolean
}

const MINILM_DIMENSIONS = 384
const THRESHOLDS = [0, 0.8, 0.85, 0.9, 0.95, 0.99]
const key = new Uint8Array(32).fill(7)

/** The folder of the foreign pairs; null where it is missing. */
export function foreignFolder(given: string | undefined): string | null {
  const folder = resolve(import.meta.dirname, '../../../../../shared/cases/semantic-cache')
  const named = given ?? folder
  return existsSync(resolve(named, 'pairs.jsonl')) ? named : null
}

export function measured(folder: string, mode: GateMode): MeasuredPair[] {
  const vectors = readFileSync(resolve(folder, 'minilm-l6-v2.f16'))
  const pairs = readFileSync(resolve(folder, 'pairs.jsonl'), 'utf8').trim().split('\n')
  return pairs.map((line, at) => {
    const pair = JSON.parse(line) as ForeignPair
    const [a, b] = [featuresOf(pair.a, key), featuresOf(pair.b, key)]
    return {
      ...pair,
      verdict: a === null || b === null ? 'none' : differs(a, b, mode),
      minilm: cosine(minilm(vectors, 2 * at), minilm(vectors, 2 * at + 1)),
      builtin: cosine(embedBuiltin(pair.a), embedBuiltin(pair.b)),
      is_equal: normalised(pair.a) === normalised(pair.b),
    }
  })
}

function normalised(text: string): string {
  return text
    .normalize('NFKC')
    .toLowerCase()
    .replace(/\s+/g, ' ')
    .trim()
    .replace(/[.?!]+$/, '')
}

function minilm(vectors: Buffer, row: number): Float32Array {
  return Float32Array.from({length: MINILM_DIMENSIONS}, (_, at) =>
    halfFloat(vectors.readUInt16LE((row * MINILM_DIMENSIONS + at) * 2)),
  )
}

function halfFloat(bits: number): number {
  const sign = bits & 0x8000 ? -1 : 1
  const exponent = (bits >> 10) & 0x1f
  const fraction = bits & 0x3ff
  return sign * (exponent === 0 ? fraction * 2 ** -24 : (1 + fraction / 1024) * 2 ** (exponent - 15))
}

function cosine(one: Float32Array, other: Float32Array): number {
  let dot = 0
  let mine = 0
  let theirs = 0
  for (let at = 0; at < one.length; at++) {
    dot += one[at]! * other[at]!
    mine += one[at]! ** 2
    theirs += other[at]! ** 2
  }
  return dot / Math.sqrt(mine * theirs)
}

function print(folder: string) {
  const pairs = measured(folder, 'strict')
  const share = (kind: string, served: (pair: MeasuredPair) => boolean) => {
    const of = pairs.filter(pair => pair.kind === kind)
    return `${of.filter(served).length} of ${of.length}`
  }
  console.log(`equal after normalising: ${share('paraphrase', pair => pair.is_equal)} paraphrases`)
  for (const threshold of THRESHOLDS)
    for (const embedder of ['minilm', 'builtin'] as const) {
      const near = (pair: MeasuredPair) => pair[embedder] >= threshold
      const served = (pair: MeasuredPair) => near(pair) && pair.verdict === null
      const cells = [share('paraphrase', near), share('trap', near), share('paraphrase', served), share('trap', served)]
      console.log(
        `${threshold} ${embedder}: cosine alone ${cells[0]} | ${cells[1]}; with the gate ${cells[2]} | ${cells[3]}`,
      )
    }
  for (const [name, list] of Object.entries(Object.groupBy(pairs, pair => `${pair.kind} ${pair.class}`)))
    console.log(`${name}: ${list!.filter(pair => pair.verdict === null).length} of ${list!.length} served`)
  const last = ['words', 'fillers', 'direction']
  const without = (pair: MeasuredPair) => pair.verdict === null || last.includes(pair.verdict)
  console.log(`without the rules for words and order: ${share('paraphrase', without)} | ${share('trap', without)}`)
  const minimal = minimalPairs()
  const served = minimal.filter(({a, b}) => differs(featuresOf(a, key)!, featuresOf(b, key)!, 'strict') === null)
  console.log(
    `minimal pairs of ${PROMPTS} prompts: ${served.length} of ${minimal.length} served (${BUILTIN_DIMENSIONS})`,
  )
  printTimes()
  if (process.env.SHOW === undefined) return
  for (const {id, kind, class: of, verdict, a, b} of pairs)
    if ((kind === 'trap') === (verdict === null)) console.log(`${id} ${of} ${verdict ?? 'SERVED'} | ${a} | ${b}`)
}

const ROUNDS = 500
const KILOBYTE = 'Convert 5 km to miles in the sheet that our team keeps for the report. '.repeat(15).slice(0, 1024)

/** The time for a prompt of 1 KB, once what is called is warm. */
function printTimes() {
  const work = {features: () => featuresOf(KILOBYTE, key), 'built-in embedder': () => embedBuiltin(KILOBYTE)}
  for (const [name, run] of Object.entries(work)) {
    for (let round = 0; round < ROUNDS; round++) run()
    const began = performance.now()
    for (let round = 0; round < ROUNDS; round++) run()
    console.log(`${name} of 1 KB: ${(((performance.now() - began) * 1000) / ROUNDS).toFixed(0)} µs`)
  }
}

if (import.meta.main) {
  const folder = foreignFolder(process.argv[2])
  if (folder === null) throw new Error('Name the folder of pairs.jsonl')
  print(folder)
}
