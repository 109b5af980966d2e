import type {GateItem} from './items.ts'
import {PAST} from './lexicon.ts'
import {phraseAt, phraseTables} from './phrases.ts'

/** How a sentence asks; empty for "what is" and for what asks in no other way. */
export interface GateQuestion {
  readonly kind: string
  /** The sentence without the words that only ask. */
  readonly items: readonly GateItem[]
  /** Of an indirect or a general question: "you" and "your" are anybody. */
  readonly is_general: boolean
}

const MAX_OPENINGS = 6
const MAX_FRONT = 14
const AUXILIARIES = new Set('be do can could will would should must may might have shall'.split(' '))
/** Words that may begin a part which is only placed in front of its sentence. */
const FRONT = new Set(
  `in on at for with without from to during using within via under by as if when while because although unless until
  before after since regarding about`.split(/\s+/),
)

export function questionOf(all: readonly GateItem[], may_move = true): GateQuestion {
  const {at, opened} = openingEnd(all)
  const items = all.slice(at)
  const moved = opened ? indirect(items) : null
  if (moved !== null) return moved
  const front = may_move ? frontOf(items) : 0
  if (front > 0) {
    const behind = items[front]?.text === ',' ? front + 1 : front
    const rest = questionOf(items.slice(behind), false)
    return {...rest, items: [...trimmed(rest.items), ...items.slice(0, front)]}
  }
  return framed(items, opened)
}

/** The sentence behind all its polite beginnings. */
function openingEnd(items: readonly GateItem[]): {at: number; opened: boolean} {
  const words = items.map(item => item.text)
  const {openings} = phraseTables()
  let at = 0
  let opened = false
  for (let round = 0; round < MAX_OPENINGS; round++) {
    while (words[at] === ',') at++
    const opening = phraseAt(openings, words, at)
    if (opening === null) break
    at += opening.words.length
    opened = true
  }
  return {at, opened}
}

/** "... if I can return it": a question in the order of a statement. */
function indirect(items: readonly GateItem[]): GateQuestion | null {
  const first = items[0]?.text
  if (first !== 'if' && first !== 'whether') return null
  const rest = items.slice(1)
  const [subject, verb] = [rest[0]?.text, rest[1]?.text]
  if (subject === 'i' && verb === 'can') return {kind: 'can', items: rest.slice(2), is_general: true}
  if (subject === 'i' && verb === 'should') return {kind: 'should', items: rest.slice(2), is_general: true}
  const there_is_way = ['there', 'be', 'a', 'way', 'to'].every((word, at) => rest[at]?.text === word)
  if (there_is_way) return {kind: 'howto', items: rest.slice(5), is_general: true}
  const possible = ['it', 'be', 'possible', 'to'].every((word, at) => rest[at]?.text === word)
  if (possible) return {kind: 'can', items: rest.slice(4), is_general: true}
  return {kind: 'yesno', items: rest, is_general: false}
}

function framed(items: readonly GateItem[], opened: boolean): GateQuestion {
  const words = items.map(item => item.text)
  const frame = phraseAt(phraseTables().frames, words, 0)
  if (frame === null) {
    const first = words[0] ?? ''
    const asks = AUXILIARIES.has(first.replace(PAST, '')) && words.length > 1
    return {kind: asks ? 'yesno' : '', items, is_general: false}
  }
  const [kind, tail] = frame.to
  const rest = items.slice(frame.words.length)
  const tails = tail !== undefined && tail !== 'you' ? [{text: tail, of: 'word' as const}] : []
  const is_general = kind === 'howto' || kind === 'can' || kind === 'may' || kind === 'should' || kind === 'howlong'
  if (kind !== 'what' || tails.length > 0)
    return costed({
      kind: tails.length > 0 ? (kind === 'what' ? '' : kind!) : kind!,
      items: [...rest, ...tails],
      is_general,
    })
  const stated = opened || frame.words.length > 1
  const is = rest[0]?.text === 'be' || (stated && rest.findLast(item => item.text !== ',')?.text === 'be')
  return {kind: is ? '' : 'what', items: rest, is_general: false}
}

/** "How much does it cost" asks for the cost. */
function costed(question: GateQuestion): GateQuestion {
  if (question.kind !== 'howmuch') return question
  const at = question.items.findIndex(item => item.text === 'cost')
  const is_price = at >= 0 || question.items[0]?.text === 'be'
  if (!is_price) return question
  const items = question.items.filter((_, place) => place !== at)
  return {...question, kind: '', items: [...items, {text: 'cost', of: 'word'}]}
}

/** The length of a part that is placed in front of the question; 0: there is none. */
function frontOf(items: readonly GateItem[]): number {
  if (!FRONT.has(items[0]?.text ?? '')) return 0
  const words = items.map(item => item.text)
  if (words[0] === 'when' && AUXILIARIES.has((words[1] ?? '').replace(PAST, ''))) return 0
  const last = Math.min(words.length - 1, MAX_FRONT)
  for (let at = 2; at <= last; at++) if (words[at] === ',') return at
  const {frames} = phraseTables()
  for (let at = 2; at <= last; at++) {
    const frame = phraseAt(frames, words, at)
    if (frame !== null && frame.words.length > 1) return at
  }
  return 0
}

function trimmed(items: readonly GateItem[]): readonly GateItem[] {
  return items.at(-1)?.text === ',' ? items.slice(0, -1) : items
}
