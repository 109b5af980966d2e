import type {Gateway} from '../connect.ts'
import {CommandFault} from '../fault.ts'
import {type Address, called} from './document.ts'
import {type ApplyTarget, type ExistingResource, everyRow, type ResourceKind} from './kind.ts'
import {KINDS} from './kinds.ts'

/** The resources of some kinds that a gateway has. */
export interface Snapshot {
  readonly place: ApplyTarget
  readonly found: readonly ExistingResource[]
  /** Kinds that the key may not read. */
  readonly closed: ReadonlySet<string>
  /** Resources that files cannot tell apart, as they share a name. */
  readonly doubled: ReadonlySet<string>
}

/** Reads what the gateway has of `kinds` and of those they need, kind after kind. */
export async function snapshot(
  gateway: Gateway,
  kinds: Iterable<string>,
  step: (kind: string, at: number, of: number) => void = () => undefined,
): Promise<Snapshot> {
  const place = await placeOf(gateway)
  const found: ExistingResource[] = []
  const closed = new Set<string>()
  const needed = withNeeds(kinds)
  const read = KINDS.filter(({name}) => needed.has(name))
  for (const [at, kind] of read.entries()) {
    step(kind.folder, at, read.length)
    const rows = await readable(kind, place)
    if (rows) found.push(...rows)
    else closed.add(kind.name)
  }
  const counts = new Map<string, number>()
  for (const each of found) counts.set(called(each), (counts.get(called(each)) ?? 0) + 1)
  const doubled = new Set([...counts].filter(([, count]) => count > 1).map(([name]) => name))
  return {place, found: found.filter(each => !doubled.has(called(each))), closed, doubled}
}

/** The kinds, and all that they may refer to. */
function withNeeds(kinds: Iterable<string>): ReadonlySet<string> {
  const all = new Set(kinds)
  // Needed resources come first, so one walk from the end finds all of it.
  for (const {name, needs} of KINDS.toReversed()) if (all.has(name)) for (const need of needs) all.add(need)
  return all
}

async function readable(kind: ResourceKind, place: ApplyTarget): Promise<ExistingResource[] | undefined> {
  try {
    return await kind.read(place)
  } catch (fault) {
    if (fault instanceof CommandFault && (fault.status === 403 || (fault.status === 404 && kind.may_be_off)))
      return undefined
    throw fault
  }
}

async function placeOf(gateway: Gateway): Promise<ApplyTarget> {
  const rows = await everyRow(gateway, 'workspaces.list')
  const handles = new Map(rows.map(row => [row.id, row.is_default ? 'default' : row.slug]))
  const usual = rows.find(row => row.is_default)?.slug
  const addresses = new Map<string, Address>()
  const ids = new Map<string, string>()
  let people: ReturnType<ApplyTarget['users']> | undefined
  return {
    gateway,
    handleOf: id => handles.get(id) ?? id,
    slugOf: handle => (handle === 'default' ? (usual ?? handle) : handle),
    workspaces: [...handles.values()],
    named: text => addresses.get(text)?.slug ?? text,
    addressOf: id => addresses.get(id),
    idOf: address => ids.get(called(address)),
    slugsOf: (kind, places) =>
      [...addresses.values()]
        .filter(each => each.kind === kind && places.includes(each.workspace))
        .map(({slug}) => slug),
    knows(id, {kind, workspace, slug}) {
      addresses.set(id, {kind, workspace, slug})
      ids.set(called({kind, workspace, slug}), id)
    },
    users: () => {
      people ??= usersOf(gateway)
      return people
    },
  }
}

async function usersOf(gateway: Gateway) {
  const rows = await everyRow(gateway, 'users.list').catch(fault => {
    if (fault instanceof CommandFault && fault.status === 403) return []
    throw fault
  })
  return {
    emails: new Map(rows.map(({id, email}) => [email.toLowerCase(), id])),
    ids: new Map(rows.map(({id, email}) => [id, email])),
  }
}
