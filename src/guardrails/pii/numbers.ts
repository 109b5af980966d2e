import type {ScannedText} from './scanned-text.ts'
import {isWordAt, PAUSE} from './scanned-text.ts'

/** Digits that may be one number, in one group or several. */
export interface DigitRun {
  readonly start: number
  readonly end: number
  /** How many digits in all. */
  readonly length: number
  /** The groups' lengths, `4-4-4-4`; `16` where nothing parts it. */
  readonly shape: string
  digits(): string
}

export interface Wanted {
  /** Numbers of digits that are looked for. */
  readonly lengths: ReadonlySet<number>
  /** Most groups. */
  readonly groups: number
  /** A line break may part two groups. */
  readonly is_wrapped?: boolean
}

const LONGEST_GAP = 3

/**
 * Every run of groups with a wanted number of digits that stands by itself: no letter or digit beside it, no further
 * group joined to it in the same way; undefined where it may pause. Looks at no more than `groups` groups from each.
 */
export function* runs(
  page: ScannedText,
  {lengths, groups: most, is_wrapped = false}: Wanted,
): Generator<DigitRun | undefined> {
  const {text, groups, work} = page
  const longest = Math.max(...lengths)
  for (let first = 0; first < groups.length; first += 2) {
    const start = groups[first]!
    if (first % PAUSE === 0) yield undefined
    work.spend(1)
    if (isWordAt(text, start - 1)) continue
    const gap_before = first > 0 ? joint(text, groups[first - 1]!, start) : ''
    // A digit and `.`, `,`, `-` or `/` right before: the middle of a decimal, a date, a longer code.
    if (gap_before && gap_before !== ' ' && gap_before !== '\n') continue
    if (gap_before === '' && isDecimal(text, start)) continue
    let length = 0
    let gap = ''
    // One of many like it: a number of several groups does not begin here.
    const is_peer =
      gap_before === ' ' &&
      first + 2 < groups.length &&
      groups[first]! - groups[first - 1]! === 1 &&
      isPeer(text, groups, first)
    for (let last = first, count = 1; last < groups.length && count <= (is_peer ? 1 : most); last += 2, count++) {
      if (last > first) {
        const joined = joint(text, groups[last - 1]!, groups[last]!)
        const next = joined === '\n' && is_wrapped ? ' ' : joined
        if (next === '' || next === '\n' || next === ',') break
        if (gap && next !== gap && !(gap === '.' && next === '-') && !(gap === '.' && next === '/')) gap = '*'
        else gap = next
      }
      length += groups[last + 1]! - groups[last]!
      work.spend(1)
      if (length > longest) break
      if (!lengths.has(length)) continue
      const end = groups[last + 1]!
      if (isWordAt(text, end)) continue
      const after = last + 2 < groups.length ? joint(text, end, groups[last + 2]!) : ''
      if (after && after !== ' ' && after !== '\n' && after !== ',') continue
      if (
        count > 1 &&
        gap !== '*' &&
        (isSame(gap_before, gap) || isSame(after, gap)) &&
        hasPeer(page, first, last, gap_before, after, gap)
      )
        continue
      yield made(page, first, last, length)
    }
  }
}

function isPeer(text: string, groups: readonly number[], at: number): boolean {
  const size = groups[at + 1]! - groups[at]!
  return (
    size === groups[at - 1]! - groups[at - 2]! &&
    groups[at + 2]! - groups[at + 1]! === 1 &&
    text[groups[at + 1]!] === ' '
  )
}

function made({text, groups}: ScannedText, first: number, last: number, length: number): DigitRun {
  const start = groups[first]!
  const end = groups[last + 1]!
  let shape = ''
  for (let at = first; at <= last; at += 2) shape += `${shape && '-'}${groups[at + 1]! - groups[at]!}`
  return {start, end, length, shape, digits: () => text.slice(start, end).replace(/\D/g, '')}
}

function isSame(neighbour: string, gap: string): boolean {
  return neighbour !== '' && neighbour === gap
}

/**
 * True when the group before or after is joined like the groups of the run and as long as its neighbour in it: a part
 * of a longer number.
 */
function hasPeer(
  {groups}: ScannedText,
  first: number,
  last: number,
  before: string,
  after: string,
  gap: string,
): boolean {
  const size = (at: number) => groups[at + 1]! - groups[at]!
  return (before === gap && size(first - 2) === size(first)) || (after === gap && size(last + 2) === size(last))
}

/**
 * The text that joins two groups: ' ', '\n', one of `-./·_,`, or '' when they are apart; a full stop before a space
 * ends a sentence.
 */
export function joint(text: string, from: number, to: number): string {
  const length = to - from
  if (length < 1 || length > LONGEST_GAP) return ''
  if (length === 1) {
    const sign = text[from]!
    return '-./·_,'.includes(sign) ? sign : sign === '\n' ? '\n' : sign === ' ' || sign === '\t' ? ' ' : ''
  }
  const gap = text.slice(from, to)
  const sign = gap.trim()
  if (sign === '') return gap.includes('\n') ? '\n' : ' '
  return sign === '-' || sign === '/' || sign === '·' ? sign : ''
}

/** The fraction of a decimal number. */
function isDecimal(text: string, start: number): boolean {
  return text[start - 1] === '.' && /\d/.test(text[start - 2] ?? '')
}
