import {elementsOf, membersOf, space} from '../../base/json-text.ts'

/** From the root of a text on: keys of objects, indices of lists. */
export type EditPath = readonly (string | number)[]

/**
 * A change of a JSON text. `set`: the place gets this JSON text; undefined takes it out. `wrap`: texts before and
 * behind the place's own text, which edits below it may have changed. `append`: a last element of the list there.
 */
export type TextEdit =
  | {readonly path: EditPath; readonly set: string | undefined}
  | {readonly path: EditPath; readonly wrap: readonly [before: string, behind: string]}
  | {readonly path: EditPath; readonly append: string}

/** Edits by the first step of their paths. */
interface EditNode {
  /** The whole place is changed, whatever other edits say. */
  whole: boolean
  set: string | undefined
  wrap: readonly [string, string] | undefined
  append: string | undefined
  readonly below: Map<string | number, EditNode>
}

/**
 * `text`, which is JSON, with the edits made in place: everything outside of them keeps its bytes (the form of numbers,
 * escapes, spaces, the order of members). A missing member goes last; objects on the way to it are made, also in the
 * place of something else, except of a list. To take out what is not there, and to set an element beyond the end of a
 * list, changes nothing. To set a whole place wins over edits below it; of two edits of one place, the later counts. A
 * list that is not there is made by `append`; another kind of value in its place stays.
 */
export function edited(text: string, edits: readonly TextEdit[]): string {
  if (edits.length === 0) return text
  const root = emptyNode()
  for (const edit of edits) {
    let node = root
    for (const step of edit.path) {
      const next = node.below.get(step) ?? emptyNode()
      node.below.set(step, next)
      node = next
    }
    if ('wrap' in edit) node.wrap = edit.wrap
    else if ('append' in edit) node.append = edit.append
    else {
      node.whole = true
      node.set = edit.set
    }
  }
  return changed(text, root) ?? text
}

function emptyNode(): EditNode {
  return {whole: false, set: undefined, wrap: undefined, append: undefined, below: new Map()}
}

/** The new text of one value; undefined: it is taken out. As deep as the paths of the edits. */
function changed(text: string, node: EditNode): string | undefined {
  if (node.whole) return node.set
  const inner = node.below.size > 0 || node.append !== undefined ? changedInside(text, node) : text
  return node.wrap ? node.wrap[0] + inner + node.wrap[1] : inner
}

function changedInside(text: string, node: EditNode): string {
  const first = text[space(text, 0)]
  if (first === '{') return changedMembers(text, node)
  if (first === '[') return changedElements(text, node)
  return node.append === undefined ? (made(node) ?? text) : text
}

function changedMembers(text: string, node: EditNode): string {
  const members = membersOf(text)
  const found = new Set<string>()
  const parts = new KeptParts(text, members.length > 0 ? members[0]!.key_at : text.lastIndexOf('}'))
  for (const {key, key_at, start, end} of members) {
    const edit = node.below.get(key)
    if (edit) found.add(key)
    parts.next(key_at, start, end, edit)
  }
  for (const [key, edit] of node.below) {
    const value = typeof key === 'number' || found.has(key) ? undefined : made(edit)
    if (value !== undefined) parts.add(`${JSON.stringify(key)}:${value}`)
  }
  return parts.end()
}

function changedElements(text: string, node: EditNode): string {
  const elements = elementsOf(text)
  const parts = new KeptParts(text, elements.length > 0 ? elements[0]!.start : text.lastIndexOf(']'))
  for (const [at, {start, end}] of elements.entries()) parts.next(start, start, end, node.below.get(at))
  if (node.append !== undefined) parts.add(node.append)
  return parts.end()
}

/** The text of an object or a list that is made of the parts of another. A part that goes takes its comma along. */
class KeptParts {
  readonly #text: string
  #out: string
  /** Up to here the text is in `out`, or left out. */
  #at: number
  /** The end of the part before. */
  #before_end: number
  #has_kept = false

  constructor(text: string, first: number) {
    this.#text = text
    this.#out = text.slice(0, first)
    this.#at = this.#before_end = first
  }

  /** The next part, with its key from `from` on and its value from `start` to `end`. */
  next(from: number, start: number, end: number, edit: EditNode | undefined) {
    if (!this.#has_kept) this.#at = from
    const value = edit ? changed(this.#text.slice(start, end), edit) : null
    if (value === undefined) {
      if (this.#has_kept) this.#out += this.#text.slice(this.#at, this.#before_end)
      this.#at = end
    } else {
      if (value !== null) {
        this.#out += this.#text.slice(this.#at, start) + value
        this.#at = end
      }
      this.#has_kept = true
    }
    this.#before_end = end
  }

  add(part: string) {
    this.#out += this.#text.slice(this.#at, this.#before_end) + (this.#has_kept ? ',' : '') + part
    this.#at = this.#before_end
    this.#has_kept = true
  }

  end(): string {
    return this.#out + this.#text.slice(this.#at)
  }
}

/** A value where there was none: undefined when nothing below is set. */
function made(node: EditNode): string | undefined {
  if (node.whole) return node.set
  if (node.append !== undefined) return `[${node.append}]`
  const members: string[] = []
  for (const [key, below] of node.below) {
    const value = typeof key === 'number' ? undefined : made(below)
    if (value !== undefined) members.push(`${JSON.stringify(key)}:${value}`)
  }
  return members.length > 0 ? `{${members.join(',')}}` : undefined
}
