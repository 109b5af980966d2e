/** A document that is no XML of the kind that is read here. Its message has no text of the document. */
export class XmlFault extends Error {
  override readonly name = 'XmlFault'
}

/** How much of a document is read: each bound keeps the time that the libraries take in proportion. */
export interface MarkupLimits {
  readonly elements: number
  readonly depth: number
}

export const RESPONSE_LIMITS: MarkupLimits = {elements: 10_000, depth: 64}
export const METADATA_LIMITS: MarkupLimits = {elements: 30_000, depth: 64}

const MAX_ATTRIBUTES_OF_ONE = 32
const MAX_ATTRIBUTES = 40_000
const MAX_COMMENTS = 100
/** Different names of elements, and different prefixes: the parser looks through the whole text for each. */
const MAX_NAMES = 256
const MAX_PREFIXES = 64

const SPACE = '[ \\t\\r\\n]'
const DECLARATION = new RegExp(
  `^<\\?xml${SPACE}+version=(["'])1\\.0\\1(?:${SPACE}+encoding=(["'])utf-8\\2)?` +
    `(?:${SPACE}+standalone=(["'])(?:yes|no)\\3)?${SPACE}*\\?>`,
  'i',
)
const NAME = '[A-Za-z_][\\w.-]*(?::[A-Za-z_][\\w.-]*)?'
const END = new RegExp(`</(${NAME})[ \\t\\r\\n]*>`, 'y')
const START = new RegExp(`<(${NAME})`, 'y')
const ATTRIBUTE = new RegExp(`[ \\t\\r\\n]+(${NAME})[ \\t\\r\\n]*=[ \\t\\r\\n]*("[^"<]*"|'[^'<]*')`, 'y')
const START_END = /[ \t\r\n]*(\/?)>/y
const COMMENT = '<!--'
const REFERENCE = /&(?:(?:amp|lt|gt|quot|apos)|#(\d{1,7})|#x([\da-fA-F]{1,6}));|&/g
/** Characters that XML 1.0 has not, and two that the parser takes for line ends (XML 1.1). */
const NO_CHARACTER = /[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\x85\u2028\ufffe\uffff]|\p{Surrogate}/u

/**
 * `text` without its XML declaration. Throws an `XmlFault` for anything but elements with attributes, text and
 * comments, well-formed and within `limits`: no DTD, entity of its own, processing instruction or CDATA section.
 */
export function checkMarkup(text: string, limits: MarkupLimits): string {
  const body = text.replace(DECLARATION, '').trim()
  if (NO_CHARACTER.test(body)) throw new XmlFault('It has a character that XML has not.')
  checkReferences(body)
  new Markup(body, limits).check()
  return body
}

function checkReferences(body: string): void {
  for (const [reference, decimal, hex] of body.matchAll(REFERENCE)) {
    if (reference === '&') throw new XmlFault('It names an entity.')
    const code = decimal === undefined ? Number.parseInt(hex ?? '20', 16) : Number(decimal)
    const character = code <= 0x10ffff ? String.fromCodePoint(code) : '\0'
    if (NO_CHARACTER.test(character)) throw new XmlFault('It names a character that XML has not.')
  }
}

class Markup {
  readonly #text: string
  readonly #limits: MarkupLimits
  readonly #open: string[] = []
  readonly #names = new Set<string>()
  readonly #prefixes = new Set<string>()
  #elements = 0
  #attributes = 0
  #comments = 0
  #at = 0

  constructor(text: string, limits: MarkupLimits) {
    this.#text = text
    this.#limits = limits
  }

  check(): void {
    while (this.#at < this.#text.length) {
      const next = this.#text.indexOf('<', this.#at)
      const run = this.#text.slice(this.#at, next < 0 ? undefined : next)
      if (this.#open.length === 0 && run.trim() !== '') throw new XmlFault('It has text outside of its element.')
      if (run.includes(']]>')) throw new XmlFault('It has the end of a CDATA section.')
      if (next < 0) break
      this.#at = next
      this.#tag()
    }
    if (this.#elements === 0 || this.#open.length > 0) throw new XmlFault('It ends before its element does.')
  }

  #tag(): void {
    const second = this.#text[this.#at + 1]
    if (second === '?') throw new XmlFault('It has a processing instruction.')
    if (second === '!') this.#comment()
    else if (second === '/') this.#end()
    else this.#start()
  }

  #comment(): void {
    if (!this.#text.startsWith(COMMENT, this.#at)) throw new XmlFault('It has a DTD or a CDATA section.')
    const end = this.#text.indexOf('--', this.#at + COMMENT.length)
    if (end < 0 || this.#text[end + 2] !== '>') throw new XmlFault('It has a comment that is not well-formed.')
    if (/[<&]/.test(this.#text.slice(this.#at + COMMENT.length, end))) throw new XmlFault('It has markup in a comment.')
    if (++this.#comments > MAX_COMMENTS) throw new XmlFault('It has too many comments.')
    this.#at = end + 3
  }

  #end(): void {
    const [, name] = this.#matched(END)
    if (this.#open.pop() !== name) throw new XmlFault('It closes an element that is not open.')
  }

  #start(): void {
    const name = this.#matched(START)[1]!
    if (this.#open.length === 0 && this.#elements > 0) throw new XmlFault('It has several elements at its top.')
    const seen = new Set<string>()
    for (;;) {
      const attribute = this.#matching(ATTRIBUTE)
      if (!attribute) break
      if (seen.has(attribute[1]!)) throw new XmlFault('It has an attribute twice.')
      seen.add(attribute[1]!)
      if (attribute[1]!.startsWith('xmlns')) this.#prefixes.add(attribute[1]!)
    }
    this.#names.add(name)
    if (this.#matched(START_END)[1] === '') this.#open.push(name)
    this.#elements++
    this.#attributes += seen.size
    const {elements, depth} = this.#limits
    if (this.#elements > elements) throw new XmlFault(`It has more than ${elements} elements.`)
    if (this.#open.length > depth) throw new XmlFault(`It is deeper than ${depth} elements.`)
    if (seen.size > MAX_ATTRIBUTES_OF_ONE || this.#attributes > MAX_ATTRIBUTES)
      throw new XmlFault('It has too many attributes.')
    if (this.#names.size > MAX_NAMES || this.#prefixes.size > MAX_PREFIXES)
      throw new XmlFault('It has too many different names.')
  }

  #matched(pattern: RegExp): RegExpExecArray {
    const match = this.#matching(pattern)
    if (!match) throw new XmlFault('It is not well-formed.')
    return match
  }

  #matching(pattern: RegExp): RegExpExecArray | null {
    pattern.lastIndex = this.#at
    const match = pattern.exec(this.#text)
    if (match) this.#at += match[0].length
    return match
  }
}
