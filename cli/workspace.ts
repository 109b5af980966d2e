import type {Gateway} from './connect.ts'
import {CommandFault, EXIT, usageFault} from './fault.ts'

interface WorkspaceRow {
  readonly id: string
  readonly slug: string
  readonly name: string
  readonly is_default: boolean
}

/** The word for the workspace that every organisation has, whatever its slug. */
const DEFAULT = 'default'

/**
 * The slug of the workspace that a command is about: the one said by slug, id, name, or the word `default`. Where none is said, the
 * only one there is. Undefined where a key may not list workspaces and none is said: the gateway then takes the key's own.
 */
export async function workspaceFor(gateway: Gateway, said: string | undefined): Promise<string | undefined> {
  const all = await activeWorkspaces(gateway)
  if (!all) return said
  if (said === undefined) {
    if (all.length === 1) return all[0]!.slug
    throw usageFault(`There are ${all.length} workspaces: name one with --workspace.`, known(all))
  }
  return named(all, said)
}

/** The same for commands that are about all workspaces when none is said. */
export async function workspaceIfSaid(gateway: Gateway, said: string | undefined): Promise<string | undefined> {
  return said === undefined ? undefined : workspaceFor(gateway, said)
}

function named(all: readonly WorkspaceRow[], said: string): string {
  const exact = all.find(({slug, id}) => slug === said || id === said)
  if (exact) return exact.slug
  const called = all.filter(({name}) => name === said)
  if (called.length === 1) return called[0]!.slug
  if (called.length > 1) throw usageFault(`${called.length} workspaces have the name ${said}: give a slug.`, known(called))
  const usual = said === DEFAULT && all.find(({is_default}) => is_default)
  if (usual) return usual.slug
  throw new CommandFault(`No workspace is called ${said}.`, {exit: EXIT.not_found, code: 'workspace_not_found', next: known(all)})
}

async function activeWorkspaces({call}: Gateway): Promise<readonly WorkspaceRow[] | undefined> {
  try {
    const {data} = await call('workspaces.list', {query: {page_size: 1000}})
    return data
  } catch (fault) {
    if (fault instanceof CommandFault && fault.status === 403) return undefined
    throw fault
  }
}

function known(all: readonly WorkspaceRow[]): string {
  const few = all.slice(0, 10).map(({slug}) => slug)
  return `There are: ${few.join(', ')}${all.length > few.length ? ' and more (gateway workspaces list)' : ''}.`
}
