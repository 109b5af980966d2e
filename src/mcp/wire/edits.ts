import {elementsOf, membersOf, space} from '../../base/json-text.ts'

/** From the root of a text on: keys of objects, indices of lists. */
export type EditPath = readonly (string | number)[]

/**
 * A change of a JSON text. `set`: the place gets this JSON text; undefined takes it out. `wrap`: texts before and behind
 * the place's own text, which edits below it may have changed. `append`: a last element of the list that is there.
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
  let out = text.slice(0, members[0]?.key_at ?? text.lastIndexOf('}'))
  let before_end = 0
  let has_kept = false
  const found = new Set<string>()
  for (const {key, key_at, start, end} of members) {
    const edit = node.below.get(key)
    if (edit) found.add(key)
    const value = edit ? changed(text.slice(start, end), edit) : text.slice(start, end)
    if (value !== undefined) {
      if (has_kept) out += text.slice(before_end, key_at)
      out += text.slice(key_at, start) + value
      has_kept = true
    }
    before_end = end
  }
  for (const [key, edit] of node.below) {
    const value = typeof key === 'number' || found.has(key) ? undefined : made(edit)
    if (value === undefined) continue
    out += `${has_kept ? ',' : ''}${JSON.stringify(key)}:${value}`
    has_kept = true
  }
  return out + text.slice(members.length > 0 ? before_end : text.lastIndexOf('}'))
}

function changedElements(text: string, node: EditNode): string {
  const elements = elementsOf(text)
  let out = text.slice(0, elements[0]?.start ?? text.lastIndexOf(']'))
  let before_end = 0
  let has_kept = false
  for (const [at, {start, end}] of elements.entries()) {
    const edit = node.below.get(at)
    const value = edit ? changed(text.slice(start, end), edit) : text.slice(start, end)
    if (value !== undefined) {
      if (has_kept) out += text.slice(before_end, start)
      out += value
      has_kept = true
    }
    before_end = end
  }
  if (node.append !== undefined) out += (has_kept ? ',' : '') + node.append
  return out + text.slice(elements.length > 0 ? before_end : text.lastIndexOf(']'))
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
