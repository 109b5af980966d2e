const LONGEST = 100

/**
 * The one of `words` that is most like `word`, or undefined when none is like it: more than a third of the letters
 * differ (at least one letter may). A changed, missing, extra or swapped letter counts as one difference; case and the
 * choice between `-` and `_` count as none. The first of equals wins. A word above 100 characters resembles nothing.
 */
export function nearest<Word extends string>(word: string, words: Iterable<Word>): Word | undefined {
  if (word.length > LONGEST) return undefined
  const typed = plain(word)
  let best: Word | undefined
  let fewest = Math.max(1, Math.floor(word.length / 3)) + 1
  for (const candidate of words) {
    if (Math.abs(candidate.length - word.length) >= fewest) continue
    const differences = distance(typed, plain(candidate))
    if (differences < fewest) [best, fewest] = [candidate, differences]
  }
  return best
}

function plain(word: string): string {
  return word.toLowerCase().replaceAll('-', '_')
}

/** Damerau-Levenshtein distance in its optimal-string-alignment form, kept in three rows. */
function distance(a: string, b: string): number {
  let before: number[] = []
  let above = Array.from({length: b.length + 1}, (_, column) => column)
  for (let row = 1; row <= a.length; row++) {
    const current = [row]
    for (let column = 1; column <= b.length; column++) {
      const same = a[row - 1] === b[column - 1]
      let cost = Math.min(above[column]! + 1, current[column - 1]! + 1, above[column - 1]! + (same ? 0 : 1))
      const swapped = row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1]
      if (swapped) cost = Math.min(cost, before[column - 2]! + 1)
      current.push(cost)
    }
    before = above
    above = current
  }
  return above[b.length]!
}
