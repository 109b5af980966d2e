import {plainOf} from '../pii/digits.ts'
import {DISCUSSION, SIGN_RULES, WORD_RULES} from './rules.ts'

export interface Fired {
  readonly id: string
  readonly weight: number
}

export interface Score {
  /** 0 to 1. No probability: what the weights of the rules that fired come to. */
  readonly score: number
  readonly rules: readonly Fired[]
  /** The text writes about injections, which lowers the score. */
  readonly is_discussed: boolean
}

/** How much is left of a score when the text writes about the matter. */
const DISCUSSED = 0.65
/** Rules that no writing about the matter excuses. */
const HARD = new Set(['forged_turn', 'hidden_characters'])

/** Says undefined now and then, a place to pause at, and the score at last. */
export function* scoring(text: string): Generator<undefined, Score> {
  const fired = new Map<string, number>()
  if (hiddenCharacters(text)) fired.set('hidden_characters', 0.55)
  yield
  const plain = plainOf(text)
    .text.toLowerCase()
    .replace(/[\u2018\u2019']/g, '’')
  yield
  for (const {id, weight, signs, near} of SIGN_RULES) {
    if (hasSign(plain, signs, near)) fired.set(id, weight)
    yield
  }
  yield* words(plain, fired)
  const is_discussed = DISCUSSION.some(phrase => plain.includes(phrase))
  const rules = [...fired].map(([id, weight]) => ({id, weight}))
  const doubt = rules.reduce((left, {weight}) => left * (1 - weight), 1)
  const score = (1 - doubt) * (is_discussed && !rules.some(({id}) => HARD.has(id)) ? DISCUSSED : 1)
  return {score: Math.round(score * 1000) / 1000, rules, is_discussed}
}

/** The score of a text by the documented rules. A heuristic: it knows phrases, not what they mean. */
export function scoreInjection(text: string): Score {
  const steps = scoring(text)
  for (;;) {
    const step = steps.next()
    if (step.done) return step.value
  }
}

const MAX_NEAR = 80

function hasSign(text: string, signs: readonly string[], near: readonly string[] | undefined): boolean {
  return signs.some(sign => {
    for (let at = text.indexOf(sign); at >= 0; at = text.indexOf(sign, at + sign.length)) {
      if (!near) return true
      const behind = text.slice(at + sign.length, at + sign.length + MAX_NEAR)
      if (near.some(word => behind.includes(word))) return true
    }
    return false
  })
}

interface Step {
  readonly whole: ReadonlySet<string>
  readonly beginnings: readonly string[]
}

interface Compiled {
  readonly id: string
  readonly weight: number
  readonly gap: number
  readonly steps: readonly Step[]
}

const COMPILED: readonly Compiled[] = WORD_RULES.map(({id, weight, gap, steps}) => ({
  id,
  weight,
  gap,
  steps: steps.map(step),
}))

function step(words: string): Step {
  const all = words.split(' ')
  return {
    whole: new Set(all.filter(word => !word.endsWith('*'))),
    beginnings: all.filter(word => word.endsWith('*')).map(word => word.slice(0, -1)),
  }
}

const START_LETTERS = 3

/** Rules by the first letters of a word that they may begin with. */
const BY_START = Map.groupBy(
  COMPILED.flatMap(rule =>
    [...rule.steps[0]!.whole, ...rule.steps[0]!.beginnings].map(word => ({start: word.slice(0, START_LETTERS), rule})),
  ),
  ({start}) => start,
)

const PAUSE = 2048
/** Letters one by one, as in `i g n o r e`: so many make a hidden word. */
const SPELLED = 8
const LONGEST_WORD = 40

function* words(text: string, fired: Map<string, number>): Generator<undefined> {
  const recent: string[] = []
  let spelled = 0
  // A rule looks ahead, so words are taken in overlapping windows: `AHEAD` more than are begun from.
  for (const [word] of text.matchAll(/[\p{L}\p{N}’-]+/gu)) {
    recent.push(word.length > LONGEST_WORD ? word.slice(0, LONGEST_WORD) : latin(word))
    spelled = word.length === 1 ? spelled + 1 : 0
    if (spelled >= SPELLED && !/\d/.test(word)) fired.set('spelled_out', 0.3)
    if (recent.length === PAUSE + AHEAD) {
      matchAll(recent, PAUSE, fired)
      recent.splice(0, PAUSE)
      yield
    }
  }
  matchAll(recent, recent.length, fired)
}

const AHEAD = 40

function matchAll(tokens: readonly string[], until: number, fired: Map<string, number>): void {
  for (let at = 0; at < until; at++) {
    const word = tokens[at]!
    for (const {rule} of BY_START.get(word.slice(0, START_LETTERS)) ?? []) {
      if (!fired.has(rule.id) && matches(rule, tokens, at)) fired.set(rule.id, rule.weight)
    }
  }
}

function matches({steps, gap}: Compiled, tokens: readonly string[], from: number): boolean {
  if (!isOf(steps[0]!, tokens[from]!)) return false
  let at = from
  for (const next of steps.slice(1)) {
    const last = Math.min(tokens.length - 1, at + 1 + gap)
    let found = -1
    for (let look = at + 1; look <= last && found < 0; look++) if (isOf(next, tokens[look]!)) found = look
    if (found < 0) return false
    at = found
  }
  return true
}

function isOf({whole, beginnings}: Step, word: string): boolean {
  return whole.has(word) || beginnings.some(beginning => word.startsWith(beginning))
}

const LOOK_ALIKES: Readonly<Record<string, string>> = {
  а: 'a',
  е: 'e',
  о: 'o',
  р: 'p',
  с: 'c',
  х: 'x',
  у: 'y',
  і: 'i',
  ѕ: 's',
  ј: 'j',
  ԁ: 'd',
  ο: 'o',
  α: 'a',
  ι: 'i',
  ν: 'v',
  ρ: 'p',
}

/** A word that mixes Latin letters with look-alikes of other scripts, in Latin alone. */
function latin(word: string): string {
  if (!/[a-z]/.test(word) || !/[^\x00-\x7f]/.test(word)) return word
  return word.replace(/[\u0370-\u052f]/g, letter =>
    Object.hasOwn(LOOK_ALIKES, letter) ? LOOK_ALIKES[letter]! : letter,
  )
}

/**
 * Tag characters, which spell ASCII unseen; many zero-width characters beside each other; or a forced writing
 * direction.
 */
function hiddenCharacters(text: string): boolean {
  return (
    /[\u{e0020}-\u{e007e}]{4}/u.test(text) || /[\u200b\u2060\ufeff]{4}/.test(text) || /\u202e[^\u202c]{8}/.test(text)
  )
}
