import {Refusal} from '../base/errors.ts'
import {ownWorkspace} from '../identity/access.ts'
import {isKeyOf, isService, userOf} from '../identity/subject.ts'
import type {Db} from '../store/database.ts'
import type {WorkspacesTable} from '../store/tables/identity.ts'
import type {WorkspaceRole} from '../store/tables/people.ts'
import {findWorkspace} from '../store/workspaces.ts'
import type {Actor} from './services.ts'

/** The part of a call that identifies its caller's scope. */
export interface CallerScope {
  readonly actor: Actor
  readonly db: Db
}

/**
 * The active workspace that the call is about: `given` by id or slug, else the caller's own. One that is foreign,
 * absent or archived is not found, each with the same words; a caller who has none of its own must name one.
 */
export async function workspaceOf(call: CallerScope, given: string | undefined): Promise<WorkspacesTable> {
  const workspace = await namedWorkspace(call, given)
  if (workspace) return workspace
  throw new Refusal('body.invalid', {
    issues: 'workspace_id: is required (the id or slug of a workspace), as this key is of no workspace.',
  })
}

/**
 * The same, but undefined where a caller without a workspace names none: it means all of them. `archived` reaches those
 * too, for reports on the past.
 */
export async function namedWorkspace(
  {actor, db}: CallerScope,
  given: string | undefined,
  {archived = false} = {},
): Promise<WorkspacesTable | undefined> {
  const own = ownWorkspace(actor)
  const named = given ?? own
  if (named === null) return undefined
  const workspace = await findWorkspace(db, actor.organisation_id, named)
  const there = workspace !== undefined && (archived || workspace.status === 'active')
  const reached = there && (own === null || workspace.id === own)
  return found(reached ? workspace : undefined, 'workspace')
}

/** The row, or the refusal that no such object is known. */
export function found<Row>(row: Row | undefined, object: string): Row {
  if (row === undefined) throw new Refusal('row.not_found', {object})
  return row
}

/** True for callers of the whole organisation: admin keys, its owners and admins, and the operator. */
export function isAdmin({subject, person}: Actor): boolean {
  if (subject.kind === 'user') return person?.organisation_role === 'owner' || person?.organisation_role === 'admin'
  return subject.kind === 'operator' || isKeyOf(subject, 'organisation-service')
}

/**
 * The role of the caller in a workspace that it reaches. A service key or a token can have been made by a manager, and
 * is no more than one; a user key without a user is a member.
 */
export function levelOf(actor: Actor): WorkspaceRole {
  if (isAdmin(actor)) return 'admin'
  return actor.person?.workspace_role ?? (isService(actor.subject) ? 'manager' : 'member')
}

/** The user whose rows alone the caller sees in logs and analytics; undefined where it sees all. */
export function onlyOf({person, subject}: Actor): string | undefined {
  return person?.sees_own_only ? (userOf(subject) ?? '') : undefined
}

/** A refusal of a field by a rule that its schema cannot say. */
export function invalid(field: string, why: string): Refusal {
  return new Refusal('body.invalid', {issues: `${field}: ${why}${why.endsWith('?') ? '' : '.'}`})
}

/** The reach of the caller: its workspace, or all of its organisation. */
export function visibilityOf({actor}: Pick<CallerScope, 'actor'>): {
  organisation_id: string
  workspace_id: string | undefined
} {
  return {organisation_id: actor.organisation_id, workspace_id: ownWorkspace(actor) ?? undefined}
}

/** Another organisation than the caller's own is not found. */
export function requireOwn({actor}: CallerScope, organisation_id: string | undefined) {
  found(organisation_id === undefined || organisation_id === actor.organisation_id || undefined, 'organisation')
}
