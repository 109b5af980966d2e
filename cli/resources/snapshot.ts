import type {Gateway} from '../connect.ts'
import {CommandFault} from '../fault.ts'
import {called} from './document.ts'
import {everyRow, type Found, type Kind, type Place} from './kind.ts'
import type {WorkspaceRow} from './kinds/workspaces.ts'
import {KINDS} from './kinds.ts'

/** What a gateway has of some kinds. */
export interface Snapshot {
  readonly place: Place
  readonly found: readonly Found[]
  /** Kinds that the key may not read. */
  readonly closed: ReadonlySet<string>
  /** Resources that files cannot tell apart, as they share a name. */
  readonly doubled: ReadonlySet<string>
}

/** Reads what the gateway has, kind after kind. */
export async function snapshot(gateway: Gateway, step: (kind: string, at: number) => void = () => undefined): Promise<Snapshot> {
  const place = await placeOf(gateway)
  const found: Found[] = []
  const closed = new Set<string>()
  for (const [at, kind] of KINDS.entries()) {
    step(kind.folder, at)
    const read = await readable(kind, place)
    if (read) found.push(...read)
    else closed.add(kind.name)
  }
  const counts = new Map<string, number>()
  for (const each of found) counts.set(called(each), (counts.get(called(each)) ?? 0) + 1)
  const doubled = new Set([...counts].filter(([, count]) => count > 1).map(([name]) => name))
  return {place, found: found.filter(each => !doubled.has(called(each))), closed, doubled}
}

async function readable(kind: Kind, place: Place): Promise<Found[] | undefined> {
  try {
    return await kind.read(place)
  } catch (fault) {
    if (fault instanceof CommandFault && fault.status === 403) return undefined
    throw fault
  }
}

async function placeOf(gateway: Gateway): Promise<Place> {
  const rows = await everyRow<WorkspaceRow>(gateway, 'workspaces.list')
  const handles = new Map(rows.map(row => [row.id, row.is_default ? 'default' : row.slug]))
  const usual = rows.find(row => row.is_default)?.slug
  const slugs = new Map<string, string>()
  let people: ReturnType<Place['users']> | undefined
  return {
    gateway,
    handleOf: id => handles.get(id) ?? id,
    slugOf: handle => (handle === 'default' ? (usual ?? handle) : handle),
    named: text => slugs.get(text) ?? text,
    knows: (id, slug) => void slugs.set(id, slug),
    users: () => {
      people ??= usersOf(gateway)
      return people
    },
  }
}

async function usersOf(gateway: Gateway) {
  const rows = await everyRow<{id: string; email: string}>(gateway, 'users.list').catch(fault => {
    if (fault instanceof CommandFault && fault.status === 403) return []
    throw fault
  })
  return {
    emails: new Map(rows.map(({id, email}) => [email.toLowerCase(), id])),
    ids: new Map(rows.map(({id, email}) => [id, email])),
  }
}
