const LONGEST_SHOWN = 120

/**
 * A value of a stranger for a sentence that administrators read: short, and of letters, digits, signs and single
 * spaces that neither a page nor a terminal takes for more.
 */
export function printable(value: unknown, longest = LONGEST_SHOWN): string {
  if (value === undefined) return 'nothing'
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? 'something else')
  const shown = text.slice(0, longest * 2).replace(/[^\p{L}\p{N}\p{P}\p{S}]+/gu, ' ')
  return shown
    .replace(/[<>&"'`]/g, '?')
    .trim()
    .slice(0, longest)
    .toWellFormed()
}
