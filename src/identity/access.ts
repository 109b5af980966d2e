import {Refusal} from '../base/errors.ts'
import type {ApiKeyKind} from '../store/tables/identity.ts'
import type {OrganisationRole, WorkspaceRole} from '../store/tables/people.ts'
import {scopesOf} from './scopes.ts'
import {isKeyOf, type Subject} from './subject.ts'

/** A subject, where it reaches, and what it may do there. An authenticator makes it; both planes read it. */
export interface Access {
  readonly subject: Subject
  readonly organisation_id: string
  readonly reach: AccessReach
  /** As far as the subject's kind can hold them; `all` for the operator. */
  readonly scopes: ReadonlySet<string> | 'all'
  /** The role of the person behind a session or a user's key. */
  readonly person: Person | null
}

export type AccessReach =
  | {readonly kind: 'organisation'}
  | {readonly kind: 'workspace'; readonly workspace_id: string}
  /** One of the person's memberships: the call says which, and has not said it yet. */
  | {readonly kind: 'membership'}
  | {readonly kind: 'nothing'}

export interface Person {
  readonly organisation_role: OrganisationRole
  /** In the workspace that he reaches; null while that is not known. Owners and admins are admins of each. */
  readonly workspace_role: WorkspaceRole | null
  /** The permissions of his role; the scopes of his key do not go beyond. */
  readonly role_scopes: ReadonlySet<string>
  /** Logs and analytics show him what his own keys did. */
  readonly sees_own_only: boolean
  /** The workspaces between which a session moves; null for keys, owners and admins. */
  readonly memberships: readonly Membership[] | null
}

/** The role of a user in one workspace. */
export interface Membership {
  readonly workspace_id: string
  readonly slug: string
  readonly role: WorkspaceRole
  readonly scopes: ReadonlySet<string>
  readonly sees_own_only: boolean
}

/** A caller of an operation that is open to everyone. */
export const ANONYMOUS: Access = {
  subject: {kind: 'anonymous', id: null},
  organisation_id: '',
  reach: {kind: 'nothing'},
  scopes: new Set(),
  person: null,
}

export function operatorOf(organisation_id: string): Access {
  return {
    subject: {kind: 'operator', id: null},
    organisation_id,
    reach: {kind: 'organisation'},
    scopes: 'all',
    person: null,
  }
}

export function hasScope({scopes}: Pick<Access, 'scopes'>, scope: string): boolean {
  return scopes === 'all' || scopes.has(scope)
}

/** True when any one of the scopes is held. */
export function isAllowed(access: Pick<Access, 'scopes'>, any_of: readonly string[]): boolean {
  return any_of.some(scope => hasScope(access, scope))
}

/** Those of `scopes` that a key of this kind can hold: a row may list others, which do not count. */
export function heldByKey(kind: ApiKeyKind, scopes: Iterable<string>): ReadonlySet<string> {
  const holdable = scopesOf(kind)
  return new Set([...scopes].filter(scope => holdable.has(scope)))
}

/**
 * Those of `scopes` that the subject may not give to another key. It may give what it holds; an admin key may also give
 * what no admin key can hold, such as the right to call models.
 */
export function ungrantable(access: Pick<Access, 'subject' | 'scopes'>, scopes: readonly string[]): string[] {
  const gives_any = isKeyOf(access.subject, 'organisation-service')
  const beyond = (scope: string) => gives_any && !scopesOf('organisation-service').has(scope)
  return scopes.filter(scope => !hasScope(access, scope) && !beyond(scope))
}

/**
 * The one workspace that is reached; null where the whole organisation is. Refuses a person of several workspaces who
 * has named none.
 */
export function ownWorkspace({reach}: Pick<Access, 'reach'>): string | null {
  switch (reach.kind) {
    case 'organisation':
      return null
    case 'workspace':
      return reach.workspace_id
    case 'membership':
      throw new Refusal('body.invalid', {issues: WORKSPACE_NEEDED})
    case 'nothing':
      throw new Error('an operation that is open to everyone reaches no workspace')
  }
}

export const WORKSPACE_NEEDED = 'workspace_id: is required (the id or slug of a workspace), as you are in several.'

/**
 * The person with his role in the workspace of a call: the one it names by id or slug, else the only one he is in.
 * Undefined when he is in several and none is named. One that he is not in is not found.
 */
export function placedIn(access: Access, named: string | undefined): Access | undefined {
  const {memberships} = access.person ?? {}
  if (!memberships || (named === undefined && memberships.length !== 1)) return undefined
  const membership =
    named === undefined
      ? memberships[0]
      : memberships.find(({workspace_id, slug}) => named === workspace_id || named === slug)
  if (!membership) throw new Refusal('row.not_found', {object: 'workspace'})
  return {...asMember(access, membership), scopes: membership.scopes}
}

/** The person as a member of the workspace, with that role; his scopes are unchanged. */
export function asMember(access: Access, {workspace_id, role, scopes, sees_own_only}: Membership): Access {
  if (!access.person) throw new Error('only a person is a member')
  return {
    ...access,
    reach: {kind: 'workspace', workspace_id},
    person: {...access.person, workspace_role: role, role_scopes: scopes, sees_own_only},
  }
}
