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
 * The slug of the workspace that a command is about: the one given by slug, id, name, or the word `default`. Where none
 * is given, the only one there is. Undefined where a key may not list workspaces and none is given: the gateway then
 * takes the key's own.
 */
export async function workspaceFor(gateway: Gateway, workspace: string | undefined): Promise<string | undefined> {
  const all = await activeWorkspaces(gateway)
  if (!all) return workspace
  if (workspace === undefined) {
    if (all.length === 1) return all[0]!.slug
    throw usageFault(`There are ${all.length} workspaces: name one with --workspace.`, known(all))
  }
  return named(all, workspace)
}

/** The same for commands that are about all workspaces when none is given. */
export async function workspaceIfSaid(gateway: Gateway, workspace: string | undefined): Promise<string | undefined> {
  return workspace === undefined ? undefined : workspaceFor(gateway, workspace)
}

function named(all: readonly WorkspaceRow[], workspace: string): string {
  const exact = all.find(({slug, id}) => slug === workspace || id === workspace)
  if (exact) return exact.slug
  const called = all.filter(({name}) => name === workspace)
  if (called.length === 1) return called[0]!.slug
  if (called.length > 1)
    throw usageFault(`${called.length} workspaces have the name ${workspace}: give a slug.`, known(called))
  const usual = workspace === DEFAULT && all.find(({is_default}) => is_default)
  if (usual) return usual.slug
  throw new CommandFault(`No workspace is called ${workspace}.`, {
    exit: EXIT.not_found,
    code: 'workspace_not_found',
    next: known(all),
  })
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
