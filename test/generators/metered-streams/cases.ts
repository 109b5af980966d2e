import {numbers} from './numbers.ts'
import {type CallPath, WAYS} from './ways.ts'
import type {Bill, Counts, Step} from './words.ts'

/** How an answer ends: `whole` is no stream; a stream ends by itself, breaks, ends early, or is left by its client. */
export const ENDS = ['whole', 'stream', 'reset', 'ends early', 'client gone'] as const
/** How its content type is written. */
export const LABELS = ['as documented', 'with charset', 'in capitals', 'text/plain', 'absent', 'octet-stream'] as const
/** Where, how often and how truly usage is reported. */
export const REPORTS = [
  ...[
    'as documented',
    'first',
    'last',
    'so far with each event',
    'twice',
    'falling',
    'with each event',
    'behind the end',
  ],
  ...['negative', 'negative output', '2^63', '2^63 output', 'total below', 'total above', 'total negative', 'absent'],
] as const
export const OPTIONS = ['none', 'include_usage true', 'include_usage false', 'empty', 'null'] as const
/** Whether a limit counts what the call uses. */
const LIMITED = [true, false] as const

const TABLE = [WAYS, ENDS, LABELS, REPORTS, OPTIONS, LIMITED] as const
export const COMBINATIONS = TABLE.reduce((product, {length}) => product * length, 1)
/**
 * A step through all combinations that meets each once before any a second time, the ones beside each other far apart.
 */
const STEP = 100_003

export interface Case {
  readonly way: CallPath
  readonly end: (typeof ENDS)[number]
  readonly label: (typeof LABELS)[number]
  readonly report: (typeof REPORTS)[number]
  readonly options: (typeof OPTIONS)[number]
  readonly is_limited: boolean
  readonly pieces: readonly string[]
  readonly steps: readonly Step[]
  /** The last event that the provider sends, or that its client waits for. */
  readonly last: number
  readonly bill: Bill
}

export function caseAt(index: number, seed: number): Case {
  let rest = (index * STEP) % COMBINATIONS
  const drawn = TABLE.map(column => {
    const place = rest % column.length
    rest = Math.floor(rest / column.length)
    return column[place]
  })
  const [way, drawn_end, label, report, options, is_limited] = drawn as unknown as [
    CallPath,
    Case['end'],
    Case['label'],
    Case['report'],
    Case['options'],
    boolean,
  ]
  const end = way.is_whole ? 'whole' : drawn_end
  const random = numbers(seed + index)
  const pieces = way.is_whole
    ? []
    : Array.from(
        {length: 1 + Math.floor(random() * 5)},
        (_, at) => `w${at}x ${WORDS[Math.floor(random() * WORDS.length)]} `,
      )
  const steps = way.words.steps(pieces)
  const is_cut = end !== 'whole' && end !== 'stream'
  const last = is_cut ? Math.floor(random() * (steps.length + 1)) - 1 : steps.length - 1
  const output = pieces.reduce((sum, piece) => sum + tokensOf(piece), 0)
  const bill = {input: 700 + Math.floor(random() * 300), output}
  return {way, end, label, report, options: way.has_options ? options : 'none', is_limited, pieces, steps, last, bill}
}

const WORDS = ['Vienna', 'lies on the Danube', 'the mountains and the river', 'said she, and went on to tell of it']

/** What the provider charges for a piece: more than its bytes say, as for a language that is dear. */
export function tokensOf(piece: string): number {
  return Math.ceil(piece.length / 4) + 2
}

export function nameOf({way, end, label, report, options, is_limited, last, steps}: Case): string {
  const place =
    end === 'whole' || end === 'stream' ? end : `${end} at ${last} of ${steps.length} (${steps[last]?.place ?? 'head'})`
  return `${way.name}, ${place}, label ${label}, usage ${report}, stream_options ${options}, ${is_limited ? 'limited' : 'not limited'}`
}

const ABSURD = 2 ** 63

/** Of each event what it reports, and what comes behind the last. `asked`: usage was requested of the provider. */
export function reportsOf(
  {way, report, steps, pieces, bill}: Case,
  asked: boolean,
): {told: ReadonlyMap<number, Counts>; late: Counts | null} {
  const usual = way.words.usual(steps, bill)
  const home = Math.max(...usual.keys())
  const nothing = {told: new Map<number, Counts>(), late: null}
  if (home < 0) return nothing
  const carriers = steps.flatMap(({carries}, at) => (carries ? [at] : []))
  const [first, last] = [carriers[0]!, carriers.at(-1)!]
  const before = carriers.findLast(at => at < home) ?? home
  const each = (of: (index: number) => Counts) => ({
    told: new Map(carriers.map((at, index) => [at, of(index)])),
    late: null,
  })
  const as = (counts: Counts) => ({told: new Map([...usual, [home, counts]]), late: null})
  const at = (...entries: readonly (readonly [number, Counts])[]) => ({told: new Map(entries), late: null})
  /** The tokens of the pieces that have come with a step. */
  const outputBy = (step: number) => {
    const texts = steps.slice(0, step + 1).filter(({place}) => place === 'text').length
    return pieces.slice(0, texts).reduce((sum, piece) => sum + tokensOf(piece), 0)
  }
  switch (report) {
    case 'as documented':
      return way.on_request && !asked ? nothing : {told: usual, late: null}
    case 'first':
      return at([first, bill])
    case 'last':
      return at([steps[last]!.place === 'usage' ? before : last, bill])
    case 'so far with each event':
      return each(index => ({
        input: bill.input,
        output: index === carriers.length - 1 ? bill.output : outputBy(carriers[index]!),
      }))
    case 'twice':
      return at([before, bill], [home, bill])
    case 'falling':
      return at(
        [before, bill],
        [home, {input: bill.input - 5, output: Math.max(0, bill.output - 3)}],
        ...(before === home ? [[home, bill] as const] : []),
      )
    case 'with each event':
      return each(() => bill)
    case 'behind the end':
      return {told: new Map(), late: bill}
    case 'negative':
      return at([home, {input: -bill.input, output: -bill.output}])
    case 'negative output':
      return at([home, {input: bill.input, output: -bill.output}])
    case '2^63':
      return at([home, {input: ABSURD, output: ABSURD}])
    case '2^63 output':
      return at([home, {input: bill.input, output: ABSURD}])
    case 'total below':
      return as({...bill, total: bill.input + bill.output - 7})
    case 'total above':
      return as({...bill, total: bill.input + bill.output + MORE})
    case 'total negative':
      return as({...bill, total: -1})
    case 'absent':
      return nothing
  }
}

/** Reports that say what cannot be. */
export const IMPOSSIBLE: ReadonlySet<Case['report']> = new Set(['negative', 'negative output', '2^63', '2^63 output'])

/** What a whole answer reports, which has one place for it. */
export function reportOfWhole(one: Case): Counts | undefined {
  const {told: response} = reportsOf({...one, end: 'stream'}, true)
  if (response.size === 0)
    return one.way.words.usual(one.steps, one.bill).size > 0 && one.report === 'behind the end' ? one.bill : undefined
  return IMPOSSIBLE.has(one.report) || one.report.startsWith('total') ? [...response.values()].at(-1)! : one.bill
}

/** What a total may have beyond its parts. */
export const MORE = 50

/** The content type that the provider writes; null: none. */
export function typeOf({way, end, label}: Case): string | null {
  const type = end === 'whole' ? 'application/json' : way.words.type
  switch (label) {
    case 'as documented':
      return type
    case 'with charset':
      return `${type}; charset=utf-8`
    case 'in capitals':
      return type.toUpperCase()
    case 'text/plain':
      return 'text/plain'
    case 'absent':
      return null
    case 'octet-stream':
      return 'application/octet-stream'
  }
}

/** The `stream_options` of the client. */
export function optionsOf({options, end}: Case): object {
  if (end === 'whole' || options === 'none') return {}
  const stream_options = {
    'include_usage true': {include_usage: true},
    'include_usage false': {include_usage: false},
    empty: {},
    null: null,
  }[options]
  return {stream_options}
}
