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
  const all = await listedWorkspaces(gateway)
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

/** The same for reports: archived workspaces have a past. An active one of the same name is meant first. */
export async function reportedWorkspace(gateway: Gateway, workspace: string | undefined): Promise<string | undefined> {
  if (workspace === undefined) return undefined
  const active = await listedWorkspaces(gateway)
  if (!active) return workspace
  const slug = slugIn(active, workspace)
  if (slug !== undefined) return slug
  return slugIn((await listedWorkspaces(gateway, 'archived')) ?? [], workspace) ?? notFound(active, workspace)
}

function named(all: readonly WorkspaceRow[], workspace: string): string {
  return slugIn(all, workspace) ?? notFound(all, workspace)
}

function slugIn(all: readonly WorkspaceRow[], workspace: string): string | undefined {
  const exact = all.find(({slug, id}) => slug === workspace || id === workspace)
  if (exact) return exact.slug
  const called = all.filter(({name}) => name === workspace)
  if (called.length > 1)
    throw usageFault(`${called.length} workspaces have the name ${workspace}: give a slug.`, known(called))
  const usual = workspace === DEFAULT ? all.find(({is_default}) => is_default) : undefined
  return called[0]?.slug ?? usual?.slug
}

function notFound(all: readonly WorkspaceRow[], workspace: string): never {
  throw new CommandFault(`No workspace is called ${workspace}.`, {
    exit: EXIT.not_found,
    code: 'workspace_not_found',
    next: known(all),
  })
}

/** Undefined where the caller may not list them. */
async function listedWorkspaces({call}: Gateway, status?: 'archived'): Promise<readonly WorkspaceRow[] | undefined> {
  try {
    const {data} = await call('workspaces.list', {query: {page_size: 1000, ...(status && {status})}})
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
