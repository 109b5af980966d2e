/** A template that cannot be read or rendered; the message says where and why, and carries nothing of the variables. */
export class TemplateFault extends Error {
  override name = 'TemplateFault'
}

/** A piece of a template, read: text, a value, a section with what is in it, or another template's place. */
export type Node =
  | {readonly kind: 'text'; readonly text: string}
  | {readonly kind: 'value'; readonly path: NamePath; readonly is_plain: boolean}
  | {readonly kind: 'section'; readonly path: NamePath; readonly is_inverted: boolean; readonly nodes: readonly Node[]}
  | {readonly kind: 'partial'; readonly name: string; readonly version: PartialVersion}

/** The steps of a dotted name; none for `.`, the value that a loop is at. */
export type NamePath = readonly string[]

/** Of a partial: a number, the newest, or the one that is published. */
export type PartialVersion = number | 'latest' | 'default'

export const MAX_TEMPLATE_CHARS = 1_000_000
export const MAX_SECTION_DEPTH = 32
const MAX_NAME_CHARS = 255

interface Open {
  readonly name: string
  readonly path: NamePath
  readonly is_inverted: boolean
  readonly nodes: Node[]
}

/**
 * Reads a template: `{{name}}`, `{{{name}}}` and `{{&name}}` (the value as JSON where the template is JSON),
 * `{{#name}}…{{/name}}`, `{{^name}}…{{/name}}`, `{{>partial}}`, `{{>partial@3}}`, `{{! comment}}`. A tag of a section
 * or a comment that is alone on its line takes the line with it. Throws a `TemplateFault`.
 */
export function parseTemplate(text: string): readonly Node[] {
  if (text.length > MAX_TEMPLATE_CHARS)
    throw new TemplateFault(`the template is longer than ${MAX_TEMPLATE_CHARS} characters`)
  const root: Open = {name: '', path: [], is_inverted: false, nodes: []}
  const open: Open[] = [root]
  let from = 0
  for (;;) {
    const start = text.indexOf('{{', from)
    if (start < 0) break
    const tag = readTag(text, start)
    const alone = tag.is_block ? lineAround(text, from, start, tag.end) : null
    addText(open.at(-1)!, text.slice(from, alone?.start ?? start))
    place(tag, open, text, start)
    from = alone?.end ?? tag.end
  }
  addText(root, text.slice(from))
  const unclosed = open.at(-1)!
  if (unclosed !== root)
    throw new TemplateFault(`the section {{${unclosed.is_inverted ? '^' : '#'}${shown(unclosed.name)}}} is not closed`)
  return root.nodes
}

interface Tag {
  readonly sigil: string
  readonly name: string
  readonly end: number
  /** Says nothing itself. */
  readonly is_block: boolean
}

function readTag(text: string, start: number): Tag {
  const is_triple = text[start + 2] === '{'
  const close = is_triple ? '}}}' : '}}'
  const inside = start + (is_triple ? 3 : 2)
  const end = text.indexOf(close, inside)
  if (end < 0) throw new TemplateFault(`${where(text, start)}: the tag is not closed with ${close}`)
  const inner = text.slice(inside, end).trim()
  const sigil = is_triple ? '{' : '#^/>!&='.includes(inner[0] ?? ' ') ? inner[0]! : ''
  const name = is_triple || sigil === '' ? inner : inner.slice(1).trim()
  return {sigil, name, end: end + close.length, is_block: '#^/!'.includes(sigil) && sigil !== ''}
}

function place({sigil, name}: Tag, open: Open[], text: string, start: number) {
  const within = open.at(-1)!
  if (sigil === '!') return
  if (sigil === '=') throw new TemplateFault(`${where(text, start)}: other delimiters than {{ and }} are not supported`)
  if (sigil === '/') {
    if (open.length === 1 || within.name !== name) {
      const expected = open.length === 1 ? 'no section is open' : `{{/${within.name}}} is expected`
      throw new TemplateFault(`${where(text, start)}: {{/${shown(name)}}} closes nothing, ${expected}`)
    }
    open.pop()
    const {path, is_inverted, nodes} = within
    open.at(-1)!.nodes.push({kind: 'section', path, is_inverted, nodes})
    return
  }
  if (sigil === '>') {
    within.nodes.push(partialOf(name, text, start))
    return
  }
  const path = pathOf(name, text, start)
  if (sigil !== '#' && sigil !== '^') {
    within.nodes.push({kind: 'value', path, is_plain: sigil !== ''})
    return
  }
  if (open.length > MAX_SECTION_DEPTH)
    throw new TemplateFault(`sections stand more than ${MAX_SECTION_DEPTH} deep in each other`)
  open.push({name, path, is_inverted: sigil === '^', nodes: []})
}

function pathOf(name: string, text: string, start: number): NamePath {
  if (name === '.') return []
  if (!name || name.length > MAX_NAME_CHARS || /[{}\s]/.test(name) || name.split('.').includes('')) {
    throw new TemplateFault(
      `${where(text, start)}: a name is expected, of at most ${MAX_NAME_CHARS} characters without spaces and braces`,
    )
  }
  return name.split('.')
}

function partialOf(reference: string, text: string, start: number): Node {
  const [, name, version = 'default'] = /^([A-Za-z0-9_-]{1,255})(?:@(latest|[1-9]\d{0,8}))?$/.exec(reference) ?? []
  if (name === undefined) {
    throw new TemplateFault(`${where(text, start)}: a partial is named as {{>slug}}, {{>slug@3}} or {{>slug@latest}}`)
  }
  return {kind: 'partial', name, version: version === 'latest' || version === 'default' ? version : Number(version)}
}

/** The line of a tag that is alone on it, up to the beginning of the next; null when the line has more. */
function lineAround(text: string, from: number, start: number, end: number): {start: number; end: number} | null {
  let first = start
  while (first > from && (text[first - 1] === ' ' || text[first - 1] === '\t')) first--
  if (first > 0 && text[first - 1] !== '\n') return null
  let last = end
  while (text[last] === ' ' || text[last] === '\t') last++
  if (text[last] === '\r' && text[last + 1] === '\n') last++
  if (last < text.length && text[last] !== '\n') return null
  return {start: first, end: Math.min(last + 1, text.length)}
}

function addText({nodes}: Open, text: string) {
  if (text) nodes.push({kind: 'text', text})
}

function where(text: string, at: number): string {
  return `line ${text.slice(0, at).split('\n').length}`
}

function shown(name: string): string {
  return name.slice(0, 64)
}
