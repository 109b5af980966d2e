import {type Budget, budget, type Pattern} from './pattern.ts'

export interface Replaced {
  readonly text: string
  readonly count: number
}

/** A window no shorter than this: the work of beginning a search is shared by so many code units. */
const WINDOW = 256

/**
 * Every match of `pattern` in `text` replaced by `put`, as it stands: `$1` is no group. An empty match replaces nothing. Spends
 * from `by`, at most in proportion to the text's length where the longest match is bounded; throws when it is used up.
 *
 * A search may look far ahead before it settles for a short match, so that searching again behind each match could cost the square of
 * the length. It therefore sees a window at a time: the run of code units that the pattern can take, for no match reaches beyond it, and
 * of that no more than the longest match.
 */
export function replaceAll(pattern: Pattern, text: string, put: string, by: Budget = budget()): Replaced {
  let made = ''
  let kept = 0
  let count = 0
  for (const {start, end} of matches(pattern, text, by)) {
    made += text.slice(kept, start) + put
    kept = end
    count++
  }
  return count ? {text: made + text.slice(kept), count} : {text, count}
}

/** The first match replaced. */
export function replaceFirst(pattern: Pattern, text: string, put: string, by: Budget = budget()): Replaced {
  by.spend((text.length + 1) * pattern.regex.size)
  const found = pattern.regex.find(text)
  if (!found) return {text, count: 0}
  return {text: text.slice(0, found.start) + put + text.slice(found.end), count: 1}
}

interface Match {
  readonly start: number
  readonly end: number
}

function* matches(pattern: Pattern, text: string, by: Budget): Generator<Match> {
  for (let at = 0; at < text.length; ) {
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

function* within(pattern: Pattern, text: string, from: number, to: number, by: Budget): Generator<Match> {
  const {regex, longest} = pattern
  const width = Math.max(WINDOW, longest)
  for (let at = from; at < to; ) {
    // What begins in the window is judged as in the whole text: it ends before `seen`, and one code unit more stands on either side.
    const last = Math.min(to, at + width)
    const seen = Math.min(to, last + longest)
    const begin = Math.max(0, at - 1)
    by.spend(regex.size * (seen - at + 1))
    const found = regex.find(text.slice(begin, Math.min(text.length, seen + 1)), at - begin)
    // Given back: behind a match it looked no further than the longest one that might have begun with it.
    if (found) by.spend(-regex.size * Math.max(0, seen - (begin + found.start + longest)))
    const start = found ? begin + found.start : to
    if (!found || start >= last) at = last
    else if (found.end === found.start) at = start + 1
    else {
      yield {start, end: begin + found.end}
      at = begin + found.end
    }
  }
}
