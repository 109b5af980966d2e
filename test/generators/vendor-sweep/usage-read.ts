import {rawUsageOf, usageByHopOf, usageOf} from '../../../src/providers/vendor-operations/raw-usage.ts'
import type {UsageMember} from './usage-types.ts'

type Tree = {[name: string]: unknown}
const WHOLE = 1_000_000
/** Entries of a list say what they count: sound is what costs otherwise. */
const ENTRY = {modality: 'AUDIO'}

/** The members that no reader knows: whatever they say, the usage that is read of a reply stays the same. */
export function unreadMembers(place: string, members: readonly UsageMember[]): readonly string[] {
  const all = filled(members)
  return members.filter(member => !isRead(place, members, member, all)).map(({path}) => path.join('.'))
}

function isRead(place: string, members: readonly UsageMember[], member: UsageMember, all: Tree): boolean {
  const values = member.texts ?? [WHOLE / 2, 3 * WHOLE, 7]
  // Beside all others, and alone: some count only where another is missing, or more than the whole that they are part
  // of.
  return [all, {}, filled(members.filter(({path}) => path.length === 1 && path[0] !== member.path[0]))].some(base => {
    const before = read(place, base)
    return values.some(value => read(place, withValue(base, member, value)) !== before)
  })
}

/** Usage of tools and models stands beside that of the reply. */
const BESIDE = /^(?:tool|svg|per_model|model)_usage$/

function replyWith(place: string, usage: Tree): Tree {
  return {...(BESIDE.test(place) && {usage: {input_tokens: WHOLE, output_tokens: WHOLE}}), [place]: usage}
}

/** What is charged by; what no reader knows is noted beside it. */
function read(place: string, usage: Tree): string {
  const raw = rawUsageOf(replyWith(place, usage))
  if (!raw) return 'null'
  const found = usageByHopOf(raw, null)
  return JSON.stringify([{...found.usage, unknown: undefined}, found.hops])
}

/** Whether anything of a usage there is read. */
export function isPlaceRead(place: string, members: readonly UsageMember[]): boolean {
  return rawUsageOf(replyWith(place, filled(members))) !== null
}

/** Paths that are noted as unknown where the member alone is told beside what every report has. */
export function notedMembers(place: string, members: readonly UsageMember[], path: string): readonly string[] {
  const member = members.find(each => each.path.join('.') === path)!
  if (member.texts) return []
  const raw = rawUsageOf(replyWith(place, withValue(filled(members), member, 9 * WHOLE)))
  return (raw && usageOf(raw)?.unknown) ?? []
}

/** Every number, parts being small beside their wholes; texts as nothing that a reader knows. */
function filled(members: readonly UsageMember[]): Tree {
  let tree: Tree = {}
  for (const [at, member] of members.entries()) {
    const value = member.texts
      ? member.path.at(-1) === 'modality'
        ? 'AUDIO'
        : 'unknown'
      : member.path.length === 1
        ? WHOLE + at
        : 100 + at
    tree = withValue(tree, member, value)
  }
  return tree
}

function withValue(tree: Tree, {path, in_list}: UsageMember, value: unknown): Tree {
  const [name, ...rest] = path
  const [is_list, ...lists] = in_list
  const before = is_list
    ? ((tree[name!] as unknown[] | undefined)?.[0] as Tree | undefined)
    : (tree[name!] as Tree | undefined)
  const inner =
    rest.length === 0
      ? value
      : withValue(before ?? (is_list ? ENTRY : {}), {path: rest, in_list: lists, texts: null}, value)
  return {...tree, [name!]: is_list ? [inner] : inner}
}
