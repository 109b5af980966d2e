import {isList, isObject, type JsonObject, type JsonPath, type JsonValue, own} from './json.ts'
import {isLeftAlone} from './left-alone.ts'

/** A piece of text in an event of a stream: which of the answer's texts it belongs to, and its path. */
export interface Delta {
  /** The same for all pieces of one text: what it is, a space, and whose. */
  readonly slot: string
  /** Null: it is no piece, but a string of its own somewhere in the event. */
  readonly path: JsonPath | null
  readonly text: string
  /** It is in a place where the dialect streams no text: it is read by itself too. */
  readonly is_other?: true
  /** It says what stood there before, and adds nothing to the text. */
  readonly is_again?: true
}

/**
 * Deeper than this no provider streams a text; of an event with more strings the rest is judged as strings of their
 * own.
 */
const DEEPEST = 12
const MOST_PIECES = 256
const LONGEST_SLOT = 256

/**
 * The strings below `root` that no rule of a dialect names, each as a piece of the text that the same place has in all
 * events: a provider may stream a text under any member. Elements of a list are known by their own `index`, else by
 * their place. Words that a dialect gives, ids and data in base64 are no pieces (`left-alone.ts`), nor values under a
 * key of `skipped`.
 */
export function nestedPieces(
  event: JsonObject,
  root: JsonPath,
  group: string,
  {known, skipped = NOTHING}: {readonly known: readonly Delta[]; readonly skipped?: ReadonlySet<string>},
): readonly Delta[] {
  let value: JsonValue | undefined = event
  for (const key of root) value = own(value, key)
  if (value === undefined) return []
  const found: Delta[] = []
  const taken = new Set(known.flatMap(({path}) => (path ? [path.join(BETWEEN)] : [])))
  walk(value, root, [], '', undefined)
  return found

  function walk(each: JsonValue, path: JsonPath, place: readonly string[], key: string, holder: JsonValue | undefined) {
    if (found.length >= MOST_PIECES || path.length - root.length > DEEPEST) return
    if (typeof each === 'string') {
      const slot = `${NESTED} ${group}.${place.join('/')}`
      if (each === '' || slot.length > LONGEST_SLOT || taken.has(path.join(BETWEEN)) || isLeftAlone(each, key, holder))
        return
      found.push({slot, path, text: each})
    } else if (isList(each)) {
      for (const [at, item] of each.entries())
        walk(item, [...path, at], [...place, String(own(item, 'index') ?? at)], key, isObject(item) ? item : holder)
    } else if (isObject(each)) {
      for (const name of Object.keys(each)) {
        const part = each[name]
        if (part !== undefined && !skipped.has(name)) walk(part, [...path, name], [...place, name], name, each)
      }
    }
  }
}

/** The kind of such texts. */
export const NESTED = 'nested'
const BETWEEN = '\n'
const NOTHING: ReadonlySet<string> = new Set()
