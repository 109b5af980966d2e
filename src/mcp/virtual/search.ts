/** Search of tools by words: the same words and tools give the same order. */

/** A text of a tool, and how much a word in it counts. */
export interface SearchedText {
  readonly text: string
  readonly weight: number
}

/** How fast further occurrences of a word count less, and how much long texts do (BM25). */
const SATURATION = 1.2
const LENGTH = 0.75
/** A word that only begins with the one that is looked for. */
const BEGINS = 0.5
const LEAST_BEGINNING = 3
const MOST_WORDS = 50
const MOST_CHARACTERS = 20_000

/** The places of the documents that have at least one word of the query, best first; of equals the earlier. */
export function ranked(query: string, documents: readonly (readonly SearchedText[])[]): readonly number[] {
  const wanted = [...new Set(wordsOf(query))].slice(0, MOST_WORDS)
  const all = documents.map(weighed)
  const usual = all.reduce((sum, {length}) => sum + length, 0) / Math.max(1, all.length) || 1
  const scores = all.map(() => 0)
  for (const word of wanted) {
    const counts = all.map(({counts}) => countOf(word, counts))
    const having = counts.filter(count => count > 0).length
    const rarity = Math.log(1 + (all.length - having + 0.5) / (having + 0.5))
    for (const [at, count] of counts.entries()) {
      const norm = SATURATION * (1 - LENGTH + (LENGTH * all[at]!.length) / usual)
      scores[at]! += (rarity * count * (SATURATION + 1)) / (count + norm)
    }
  }
  return scores
    .map((score, at) => ({score, at}))
    .filter(({score}) => score > 0)
    .sort((one, other) => other.score - one.score || one.at - other.at)
    .map(({at}) => at)
}

interface Weighed {
  readonly counts: ReadonlyMap<string, number>
  readonly length: number
}

function weighed(texts: readonly SearchedText[]): Weighed {
  const counts = new Map<string, number>()
  let length = 0
  for (const {text, weight} of texts)
    for (const word of wordsOf(text)) {
      counts.set(word, (counts.get(word) ?? 0) + weight)
      length += weight
    }
  return {counts, length}
}

function countOf(wanted: string, counts: ReadonlyMap<string, number>): number {
  let count = counts.get(wanted) ?? 0
  if (wanted.length < LEAST_BEGINNING) return count
  for (const [word, each] of counts) if (word !== wanted && word.startsWith(wanted)) count += each * BEGINS
  return count
}

/** Words in small letters; `listOpenIssues` and `list_open_issues` are three. */
function wordsOf(text: string): readonly string[] {
  const parts = text.slice(0, MOST_CHARACTERS).replace(/(\p{Ll}|\p{N})(?=\p{Lu})/gu, '$1 ')
  return (
    parts
      .normalize('NFKC')
      .toLowerCase()
      .match(/[\p{L}\p{N}]+/gu) ?? []
  )
}
