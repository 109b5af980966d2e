import type {Usage} from '../schema/usage.ts'

/** The members that a reader of usage knows, by name, each with those inside it; null for a number. */
export type KnownMembers = ReadonlyMap<string, KnownMembers | null>

/** No report has so many members; behind them `MORE` stands for whatever follows. */
const MAX_MEMBERS = 256
const MAX_DEPTH = 5
/** Of one report. The table of informative members takes some of them away again. */
const MAX_UNKNOWN = 48
const MORE = '*'

/** Known members from their paths (`prompt_tokens_details.cached_tokens`), parted by spaces. A list's entries have its own name. */
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
 * Paths of the numbers in a report of usage that are not zero and that its reader does not know; undefined where it knows all, as nearly
 * always. Goes over the report alone, at most 256 members of it.
 */
export function unknownMembers(usage: object, known: KnownMembers): readonly string[] | undefined {
  const walk: Walk = {left: MAX_MEMBERS, found: undefined}
  look(usage, known, '', 0, walk)
  return walk.found
}

/** `usage` with the numbers of its report that no reader knows. */
export function withUnknown(usage: Usage, report: object, known: KnownMembers): Usage {
  const unknown = unknownMembers(report, known)
  if (unknown) usage.unknown = unknown
  return usage
}

/** `usage` with a total that is more than all of its parts: what it has beyond them is nothing that its reader knows. */
export function withTotal(usage: Usage, path: string, total: number | null, parts: number): Usage {
  if (total !== null && total > parts) usage.unknown = [...(usage.unknown ?? []), path]
  return usage
}

interface Walk {
  left: number
  found: string[] | undefined
}

function look(value: object, known: KnownMembers | null | undefined, path: string, depth: number, walk: Walk) {
  const is_list = Array.isArray(value)
  for (const name in value) {
    if (walk.left-- <= 0) {
      add(MORE, walk)
      return
    }
    const member: unknown = (value as Record<string, unknown>)[name]
    if (typeof member === 'number') {
      if (member !== 0 && (is_list ? known !== null : known?.get(name) === undefined)) add(is_list ? path : joined(path, name), walk)
    } else if (typeof member === 'object' && member !== null) {
      const inside = is_list ? known : known?.get(name)
      const at = is_list ? path : joined(path, name)
      if (depth < MAX_DEPTH) look(member, inside, at, depth + 1, walk)
      else add(at, walk)
    }
  }
}

function joined(path: string, name: string): string {
  return path === '' ? name : `${path}.${name}`
}

function add(path: string, walk: Walk) {
  walk.found ??= []
  if (walk.found.length < MAX_UNKNOWN && !walk.found.includes(path)) walk.found.push(path)
}
