import {Refusal} from '../base/errors.ts'
import {allowedWorkspaces, setAllowedWorkspaces} from '../store/allowed-workspaces.ts'
import type {Db} from '../store/database.ts'
import {findWorkspace} from '../store/workspaces.ts'
import {invalid} from './tenancy.ts'

interface Given {
  readonly allow_all_workspaces?: boolean | undefined
  readonly allowed_workspaces?: readonly string[] | undefined
}

interface Row {
  readonly id: string
  readonly organisation_id: string
  readonly allow_all_workspaces: 0 | 1
}

/**
 * Keeps which workspaces a row is for, as far as `given` says it: all of them, which forgets the list, or those of a
 * list. Refuses both, none, and a workspace that is not known. What the row's column is then.
 */
export async function keepAllowed(db: Db, row: Row, given: Given): Promise<0 | 1> {
  const {allow_all_workspaces: all, allowed_workspaces: named} = given
  if (all && named) throw invalid('allowed_workspaces', 'is of no use with allow_all_workspaces: keep one of them')
  if (named) {
    await setAllowedWorkspaces(db, row.id, await idsOf(db, row.organisation_id, named))
    return 0
  }
  if (all === undefined) return row.allow_all_workspaces
  if (all) await setAllowedWorkspaces(db, row.id, [])
  else if (row.allow_all_workspaces)
    throw invalid('allowed_workspaces', 'is required where allow_all_workspaces is false: name one workspace at least')
  return all ? 1 : 0
}

/** True when a row is for every workspace, or for this one. */
export async function isAllowedIn(db: Db, row: Row, workspace_id: string): Promise<boolean> {
  return row.allow_all_workspaces === 1 || (await allowedWorkspaces(db, row.id)).includes(workspace_id)
}

async function idsOf(db: Db, organisation_id: string, named: readonly string[]): Promise<string[]> {
  const ids = new Set<string>()
  for (const [at, value] of named.entries()) {
    const workspace = await findWorkspace(db, organisation_id, value)
    if (workspace?.status !== 'active')
      throw new Refusal('parent.not_found', {field: `allowed_workspaces[${at}]`, object: 'workspace', value})
    ids.add(workspace.id)
  }
  return [...ids]
}
