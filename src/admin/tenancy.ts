import {Refusal} from '../base/errors.ts'
import type {Db} from '../store/database.ts'
import type {WorkspacesTable} from '../store/tables/identity.ts'
import {findWorkspace} from '../store/workspaces.ts'
import type {Actor} from './services.ts'

/** The part of a call that says where its caller stands. */
export interface Standing {
  readonly actor: Actor
  readonly db: Db
}

/**
 * The active workspace that the call is about: `given` by id or slug, else the caller's own. One that is foreign, absent or archived
 * is not found, each with the same words; a caller who has none of its own must name one.
 */
export async function workspaceOf(call: Standing, given: string | undefined): Promise<WorkspacesTable> {
  const workspace = await namedWorkspace(call, given)
  if (workspace) return workspace
  throw new Refusal('body.invalid', {issues: 'workspace_id: is required (the id or slug of a workspace), as this key is of no workspace.'})
}

/**
 * The same, but undefined where a caller without a workspace names none: it means all of them. `archived` reaches those too, for what
 * tells of the past.
 */
export async function namedWorkspace(
  {actor, db}: Standing,
  given: string | undefined,
  {archived = false} = {},
): Promise<WorkspacesTable | undefined> {
  const named = given ?? actor.workspace_id
  if (named === null) return undefined
  const workspace = await findWorkspace(db, actor.organisation_id, named)
  const there = workspace !== undefined && (archived || workspace.status === 'active')
  const reached = there && (actor.workspace_id === null || workspace.id === actor.workspace_id)
  return found(reached ? workspace : undefined, 'workspace')
}

/** The row, or the refusal that no such object is known. */
export function found<Row>(row: Row | undefined, object: string): Row {
  if (row === undefined) throw new Refusal('row.not_found', {object})
  return row
}

/** True for callers of the whole organisation: admin keys and the operator. */
export function isAdmin({kind}: Actor): boolean {
  return kind === 'operator' || kind === 'organisation-service'
}

/** A refusal of a field by a rule that its schema cannot say. */
export function invalid(field: string, why: string): Refusal {
  return new Refusal('body.invalid', {issues: `${field}: ${why}${why.endsWith('?') ? '' : '.'}`})
}
