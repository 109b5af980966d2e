/** The longest value of an attribute. */
export const MAX_VALUE_BYTES = 64 * 1024
/** Behind what was cut. */
export const CUT_MARK = '…[cut]'
/** How much is kept of each string of JSON that is too long, until it fits. */
const STRING_CHARS = [16_384, 4096, 1024, 256, 64, 16] as const
const BYTES_PER_UNIT = 3

/** A text of at most 64 KB, cut between two characters. It takes one argument, as it maps lists. */
export function boundedText(text: string): string {
  return textWithin(text, MAX_VALUE_BYTES)
}

/** A text of at most so many bytes, likewise. */
export function textWithin(text: string, most_bytes: number): string {
  if (fits(text, most_bytes)) return text
  let kept = text.slice(0, most_bytes)
  while (Buffer.byteLength(kept) > most_bytes - CUT_MARK.length * BYTES_PER_UNIT)
    kept = kept.slice(0, Math.floor(kept.length * 0.9))
  return whole(kept) + CUT_MARK
}

/**
 * A value as JSON of at most 64 KB: what is too long is cut inside its longest strings, so that it stays JSON.
 * Undefined where that does not help.
 */
export function boundedJson(value: unknown): string | undefined {
  const text = JSON.stringify(value)
  if (fits(text, MAX_VALUE_BYTES)) return text
  for (const most of STRING_CHARS) {
    const cut = JSON.stringify(value, (_, each: unknown) =>
      typeof each === 'string' && each.length > most ? whole(each.slice(0, most)) + CUT_MARK : each,
    )
    if (fits(cut, MAX_VALUE_BYTES)) return cut
  }
  return undefined
}

function fits(text: string, most_bytes: number): boolean {
  return text.length * BYTES_PER_UNIT <= most_bytes || Buffer.byteLength(text) <= most_bytes
}

/** Without the first half of a surrogate pair whose other half was cut off. */
function whole(text: string): string {
  const last = text.charCodeAt(text.length - 1)
  return last >= 0xd800 && last <= 0xdbff ? text.slice(0, -1) : text
}
