import {badRequest} from '../fault.ts'

export type Lexeme =
  | {readonly kind: '(' | ')' | '[' | ']'}
  | {readonly kind: 'word'; readonly text: string}
  | {readonly kind: 'text'; readonly text: string}

const MARK = /[()[\]]/
const SPACE = /\s/

/** The pieces of a filter. */
export function lexed(text: string): readonly Lexeme[] {
  const pieces: Lexeme[] = []
  for (let at = 0; at < text.length; ) {
    const character = text[at]!
    if (SPACE.test(character)) {
      at++
    } else if (MARK.test(character)) {
      pieces.push({kind: character as '('})
      at++
    } else if (character === '"') {
      const end = endOfText(text, at)
      pieces.push({kind: 'text', text: textIn(text.slice(at, end))})
      at = end
    } else {
      let end = at + 1
      while (end < text.length && !SPACE.test(text[end]!) && !MARK.test(text[end]!) && text[end] !== '"') end++
      pieces.push({kind: 'word', text: text.slice(at, end)})
      at = end
    }
  }
  return pieces
}

/** The place after the closing quote. */
function endOfText(text: string, from: number): number {
  for (let at = from + 1; at < text.length; at++) {
    if (text[at] === '\\') at++
    else if (text[at] === '"') return at + 1
  }
  throw badRequest('invalidFilter', 'The filter has a text without its closing quote.')
}

/** A text is written as in JSON (RFC 7644 §3.4.2.2). */
function textIn(quoted: string): string {
  try {
    return JSON.parse(quoted) as string
  } catch {
    throw badRequest('invalidFilter', 'The filter has a text that is not written as in JSON.')
  }
}
