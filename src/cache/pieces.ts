const PIECE_CHARACTERS = 500

/** `text` in pieces of 500 characters, no pair of surrogates cut in two; one empty piece of an empty text. */
export function pieces(text: string): string[] {
  if (text.length <= PIECE_CHARACTERS) return [text]
  const found: string[] = []
  for (let at = 0; at < text.length; ) {
    let end = Math.min(text.length, at + PIECE_CHARACTERS)
    const last = text.charCodeAt(end - 1)
    if (end < text.length && last >= 0xd800 && last < 0xdc00) end++
    found.push(text.slice(at, end))
    at = end
  }
  return found
}
