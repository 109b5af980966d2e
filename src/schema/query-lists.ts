/**
 * The pattern of values by commas as a document says it: at most `most`, each like `item` (a pattern without anchors),
 * with spaces around them.
 */
export function listPattern(item: string, most: number): string {
  return `^ *${item} *(?:, *${item} *){0,${most - 1}}$`
}

/** Any text without a comma, of at most 255 characters. */
export const LISTED_TEXT = '[^,]{1,255}'

/** One of these words. */
export function oneOf(words: readonly string[]): string {
  return `(?:${words.map(word => word.replaceAll('.', '\\.')).join('|')})`
}
