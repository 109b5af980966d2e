import type {Usage} from '../schema/usage.ts'

/** The members that a reader of usage knows, by name, each with those inside it; null for a number. */
export type KnownMembers = ReadonlyMap<string, KnownMembers | null>

/** No report has so many members; behind them `MORE` stands for whatever follows. */
const MAX_MEMBERS = 256
const MAX_DEPTH = 5
/** Of one report. The table of informative members takes some of them away again. */
const MAX_UNKNOWN = 48
const MORE = '*'

/**
 * Known members from their paths (`prompt_tokens_details.cached_tokens`), parted by spaces. A list's entries have its
 * own name.
 */
export function knownMembers(paths: string): KnownMembers {
  const tree = new Map<string, KnownMembers | null>()
  for (const path of paths.trim().split(/\s+/)) {
    let inside = tree
    const names = path.split('.')
    const last = names.pop()!
    for (const name of names) {
      const next = (inside.get(name) as Map<string, KnownMembers | null> | null | undefined) ?? new Map()
      inside.set(name, next)
      inside = next
    }
    if (!inside.has(last)) inside.set(last, null)
  }
  return tree
}

/**
 * Paths of the numbers in a report of usage that are not zero and that its reader does not know; undefined where it
 * knows all, as nearly always. Goes over the report alone, at most 256 members of it.
 */
export function unknownMembers(usage: object, known: KnownMembers): readonly string[] | undefined {
  const walk: Walk = {left: MAX_MEMBERS, found: undefined}
  look(usage, known, '', '', 0, walk)
  return walk.found
}

/** `usage` with the numbers of its report that no reader knows. */
export function withUnknown(usage: Usage, report: object, known: KnownMembers): Usage {
  const unknown = unknownMembers(report, known)
  if (unknown) usage.unknown = unknown
  return usage
}

/**
 * `usage` with a total that is more than all of its parts: what it has beyond them is nothing that its reader knows.
 */
export function withTotal(usage: Usage, path: string, total: number | null, parts: number): Usage {
  if (total !== null && total > parts) usage.unknown = [...(usage.unknown ?? []), path]
  return usage
}

interface Walk {
  left: number
  found: string[] | undefined
}

/** `path` and `name` are put together only where something is found: nearly every report is known. */
function look(
  value: object,
  known: KnownMembers | null | undefined,
  path: string,
  name: string,
  depth: number,
  walk: Walk,
) {
  if (Array.isArray(value)) {
    for (let at = 0; at < value.length; at++) {
      if (walk.left-- <= 0) return add(MORE, walk)
      const entry: unknown = value[at]
      if (typeof entry === 'number') {
        if (entry !== 0 && known !== null) add(joined(path, name), walk)
      } else if (typeof entry === 'object' && entry !== null) within(entry, known, path, name, depth, walk)
    }
    return
  }
  for (const key in value) {
    if (walk.left-- <= 0) return add(MORE, walk)
    const member: unknown = (value as Record<string, unknown>)[key]
    if (typeof member === 'number') {
      if (member !== 0 && known?.get(key) === undefined) add(joined(joined(path, name), key), walk)
    } else if (typeof member === 'object' && member !== null) {
      within(member, known?.get(key), name === '' ? path : joined(path, name), key, depth, walk)
    }
  }
}

function within(
  value: object,
  known: KnownMembers | null | undefined,
  path: string,
  name: string,
  depth: number,
  walk: Walk,
) {
  if (depth < MAX_DEPTH) look(value, known, path, name, depth + 1, walk)
  else add(joined(path, name), walk)
}

function joined(path: string, name: string): string {
  if (path === '' || name === '') return path || name
  return `${path}.${name}`
}

function add(path: string, walk: Walk) {
  walk.found ??= []
  if (walk.found.length < MAX_UNKNOWN && !walk.found.includes(path)) walk.found.push(path)
}
