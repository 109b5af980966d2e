/**
 * One test for a list of globs. `*` stands for any run of characters, an empty one too; every other character for
 * itself. The time of a test grows with the length of the text and of the globs, never with their product: a caller
 * chooses the text.
 */
export function anyGlob(globs: readonly string[]): (text: string) => boolean {
  const exact = new Set<string>()
  const wild: ((text: string) => boolean)[] = []
  for (const glob of new Set(globs)) {
    if (glob.includes('*')) wild.push(wildGlob(glob))
    else exact.add(glob)
  }
  return text => exact.has(text) || wild.some(matches => matches(text))
}

function wildGlob(glob: string): (text: string) => boolean {
  const parts = glob.split('*')
  const [first, last] = [parts[0]!, parts.at(-1)!]
  const inner = parts.slice(1, -1).filter(Boolean).map(finder)
  return text => {
    const end = text.length - last.length
    let at = first.length
    if (end < at || !text.startsWith(first) || !text.endsWith(last)) return false
    for (const find of inner) {
      at = find(text, at, end)
      if (at < 0) return false
    }
    return true
  }
}

/**
 * The end of the first `part` in `text` from `at` on that ends by `end`; -1 where there is none (Knuth, Morris and
 * Pratt).
 */
function finder(part: string): (text: string, at: number, end: number) => number {
  const borders = new Uint16Array(part.length)
  for (let index = 1, border = 0; index < part.length; index++) {
    while (border > 0 && part[index] !== part[border]) border = borders[border - 1]!
    if (part[index] === part[border]) border++
    borders[index] = border
  }
  return (text, at, end) => {
    let matched = 0
    for (let index = at; index < end; index++) {
      while (matched > 0 && text[index] !== part[matched]) matched = borders[matched - 1]!
      if (text[index] === part[matched]) matched++
      if (matched === part.length) return index + 1
    }
    return -1
  }
}
