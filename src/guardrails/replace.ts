import type {Match} from '../base/regex.ts'
import {budget, type CheckBudget, type Pattern} from './pattern.ts'
import type {SlicedWork} from './time-slices.ts'

export interface Replaced {
  readonly text: string
  readonly count: number
}

/** A window no shorter than this: the work of beginning a search is shared by so many code units. */
const WINDOW = 256
/** Code units and matches between two pauses. */
const UNITS_AT_ONCE = 32_768
const MATCHES_AT_ONCE = 64

/**
 * Every match of `pattern` in `text` replaced by `put`, literally: `$1` is no group. An empty match replaces nothing.
 * Spends from `by`, at most in proportion to the text's length where the longest match is bounded; throws when it is
 * used up.
 *
 * A search may look far ahead before it settles for a short match, so that searching again behind each match could cost
 * the square of the length. From the first match on it therefore sees a window at a time: the run of code units that
 * the pattern can take, for no match reaches beyond it, and of that no more than the longest match.
 */
export function* replacingAll(
  pattern: Pattern,
  text: string,
  put: string,
  by: CheckBudget = budget(),
): SlicedWork<Replaced> {
  const first = yield* pattern.regex.finding(text, 0, by.spend)
  if (!first) return {text, count: 0}
  const parts: string[] = []
  let kept = 0
  let count = 0
  for (const found of matches(pattern, text, first.start, by)) {
    if (!found || ++count % MATCHES_AT_ONCE === 0) yield
    if (!found) continue
    parts.push(text.slice(kept, found.start), put)
    kept = found.end
  }
  return count ? {text: parts.join('') + text.slice(kept), count} : {text, count}
}

/** The first match replaced. */
export function* replacingFirst(
  pattern: Pattern,
  text: string,
  put: string,
  by: CheckBudget = budget(),
): SlicedWork<Replaced> {
  const found = yield* pattern.regex.finding(text, 0, by.spend)
  if (!found) return {text, count: 0}
  return {text: text.slice(0, found.start) + put + text.slice(found.end), count: 1}
}

/** All matches but empty ones, in order, and undefined where there is to be a pause. */
function* matches(pattern: Pattern, text: string, from: number, by: CheckBudget): Generator<Match | undefined> {
  for (let at = from, paused_at = from; at < text.length; ) {
    if (at - paused_at > UNITS_AT_ONCE) {
      paused_at = at
      yield undefined
    }
    if (!pattern.takes(text.charCodeAt(at))) {
      at++
      continue
    }
    let end = at
    while (end < text.length && pattern.takes(text.charCodeAt(end))) end++
    by.spend(end - at)
    yield* within(pattern, text, at, end, by)
    at = end
  }
}

function* within(
  pattern: Pattern,
  text: string,
  from: number,
  to: number,
  by: CheckBudget,
): Generator<Match | undefined> {
  const {regex, longest} = pattern
  const width = Math.max(WINDOW, longest)
  for (let at = from; at < to; ) {
    // A match that begins in the window is judged as in the whole text: it ends before `seen`, and one code unit more
    // is on either side.
    const last = Math.min(to, at + width)
    const seen = Math.min(to, last + longest)
    const begin = Math.max(0, at - 1)
    const found = yield* regex.finding(text.slice(begin, Math.min(text.length, seen + 1)), at - begin, by.spend)
    const start = found ? begin + found.start : to
    if (!found || start >= last) at = last
    else if (found.end === found.start) at = start + 1
    else {
      yield {start, end: begin + found.end}
      at = begin + found.end
    }
  }
}
