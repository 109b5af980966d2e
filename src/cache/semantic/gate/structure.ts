import type {GateItem} from './items.ts'
import {lexicon} from './lexicon.ts'
import {type GateQuestion, questionOf} from './question.ts'

/** A sentence in the one order that is compared, and the words that it leaves out. */
export interface Structure {
  readonly kind: string
  /** Parts in order, each with its phrases sorted: their order says nothing. */
  readonly text: string
  readonly items: readonly GateItem[]
  readonly fillers: readonly string[]
}

const PREPOSITIONS = new Set(
  `in on at for with without from to into onto over under between among through during about against around near by as
  than like across along behind beyond within inside outside toward via per above below beside upon except`.split(
    /\s+/,
  ),
)
const SUBORDINATE = new Set('if when while because although unless until before after since so-that once'.split(' '))
const COORDINATE = new Set('and or but then versus plus minus nor ,'.split(' '))
const SAME_PREPOSITION: ReadonlyMap<string, string> = new Map([
  ['via', 'with'],
  ['upon', 'on'],
  ['onto', 'on'],
])
const MADE_FOR_ASKER = new Set(
  'write create give show draft compose suggest list find recommend build send tell get'.split(' '),
)
const QUANTIFIERS = new Set(
  'all some most both any each none many few several half every either neither one'.split(' '),
)

/** A longer chain of "of" keeps its order. */
const MAX_OWNERS = 8

/** Null: the sentence says nothing, as "Thanks!" does. */
export function structureOf(sentence: readonly GateItem[]): Structure | null {
  const {polite} = lexicon()
  const tag = sentence.at(-2)?.text ?? ''
  const tagged = sentence.at(-1)?.text === 'you' && (tag === 'would' || tag === 'could' || tag === 'will')
  const whole = tagged ? sentence.slice(0, -2) : sentence
  const last = whole.findLastIndex(item => item.text !== ',' && !(item.of === 'word' && polite.has(item.text)))
  const question = questionOf(whole.slice(0, last + 1))
  const fillers: string[] = []
  const items = contentOf(question, fillers)
  if (items.length === 0 && question.kind === '') return null
  const text = segmentsOf(items, question.kind).join(';')
  return {kind: question.kind, text: `${question.kind}|${text}`, items, fillers}
}

/** The items without words that say nothing. */
function contentOf({items, is_general}: GateQuestion, fillers: string[]): GateItem[] {
  const {stop, polite, fillers: may_stay} = lexicon()
  const content: GateItem[] = []
  for (const [at, item] of items.entries()) {
    const next = items[at + 1]
    const beside_sign = next?.of === 'symbol' || items[at - 1]?.of === 'symbol'
    if (item.of !== 'word' || beside_sign) content.push(item)
    else if (polite.has(item.text) && (item.text === 'please' || items[at - 1]?.text === ',' || at === 0)) continue
    else if (item.text === 'it') continue
    else if (item.text === 'of') content.push(item)
    // "vitamin a", "plan a"
    else if (item.text === 'a' && (next === undefined || next.text === ',')) content.push(item)
    else if (stop.has(item.text)) continue
    else if (is_general && (item.text === 'my' || item.text === 'your')) continue
    else if (may_stay.has(item.text) && next?.of !== 'number') fillers.push(item.text)
    else content.push(item)
  }
  const asked_for = content[1]?.text === 'me' && MADE_FOR_ASKER.has(content[0]!.text)
  return asked_for ? content.filter((_, at) => at !== 1) : content
}

interface Segment {
  readonly joint: string
  main: string[]
  phrases: string[]
}

function segmentsOf(items: readonly GateItem[], kind: string): string[] {
  const segments: Segment[] = []
  let joint = ''
  let run: GateItem[] = []
  const end = () => {
    if (run.length > 0) segments.push(segmentOf(joint, run))
    run = []
  }
  for (const item of items) {
    if (item.of === 'word' || item.of === 'break') {
      if (COORDINATE.has(item.text)) {
        if (run.length === 0) joint = joint === ',' || joint === '' ? item.text : `${joint} ${item.text}`
        else {
          end()
          joint = item.text
        }
        continue
      }
    }
    run.push(item)
  }
  end()
  const joined = withFronts(segments)
  const asks = kind !== '' && kind !== 'howto'
  return joined.map(({joint, main, phrases}) =>
    [joint, ...(asks ? notFirst(main) : main), ...phrases.toSorted().map(phrase => `/${phrase}`)].join(' '),
  )
}

/** "In Python, sort a list" is "sort a list in Python". */
function withFronts(segments: readonly Segment[]): Segment[] {
  const joined: Segment[] = []
  let waiting: string[] = []
  for (const [at, segment] of segments.entries()) {
    const is_front = segment.main.length === 0 && segment.joint !== 'or' && segment.joint !== 'and'
    if (is_front && at + 1 < segments.length && joined.length === 0) waiting.push(...segment.phrases)
    else if (is_front && segment.joint === ',' && joined.length > 0) joined.at(-1)!.phrases.push(...segment.phrases)
    else {
      joined.push({
        ...segment,
        joint: joined.length === 0 ? '' : segment.joint,
        phrases: [...waiting, ...segment.phrases],
      })
      waiting = []
    }
  }
  return joined
}

function segmentOf(joint: string, run: readonly GateItem[]): Segment {
  const segment: Segment = {joint, main: [], phrases: []}
  let head = ''
  let words: string[] = []
  let whole = false
  const end = () => {
    if (head === '') segment.main = withOwners(words)
    else segment.phrases.push([head, ...withOwners(words)].join(' '))
    words = []
  }
  for (const item of run) {
    const is_word = item.of === 'word'
    if (is_word && !whole && SUBORDINATE.has(item.text)) {
      end()
      head = item.text
      whole = true
    } else if (is_word && !whole && PREPOSITIONS.has(item.text)) {
      end()
      head = SAME_PREPOSITION.get(item.text) ?? item.text
    } else words.push(item.text)
  }
  end()
  return segment
}

/** "The capital of France" is "France's capital". */
function withOwners(words: readonly string[]): string[] {
  if (!words.includes('of')) return [...words]
  const parts: string[][] = [[]]
  for (const word of words) {
    if (word !== 'of') parts.at(-1)!.push(word)
    else if (!QUANTIFIERS.has(parts.at(-1)!.at(-1) ?? '')) parts.push([])
  }
  if (parts.length > MAX_OWNERS) return [...words]
  let owner = parts.pop()!
  for (const part of parts.toReversed()) {
    const head = part.pop()
    owner = head === undefined ? ['of', ...owner] : [...part, ...owner, head]
  }
  return owner
}

/** "Why is it not working" is "why isn't it working". Before "all" and the like its place decides. */
function notFirst(main: readonly string[]): readonly string[] {
  const at = main.indexOf('not')
  if (at <= 0 || main.lastIndexOf('not') !== at || main.some(word => QUANTIFIERS.has(word))) return main
  return ['not', ...main.filter(word => word !== 'not')]
}
