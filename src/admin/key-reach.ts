import {hasScope, ownWorkspace} from '../identity/access.ts'
import {userOf} from '../identity/subject.ts'
import type {KeyReach} from '../store/api-keys.ts'
import type {KeysInSight} from '../store/limited-entity.ts'
import type {ApiKeyKind} from '../store/tables/identity.ts'
import type {Actor} from './services.ts'
import {levelOf, onlyOf} from './tenancy.ts'

export const KINDS: readonly ApiKeyKind[] = ['organisation-service', 'workspace-service', 'workspace-user']
export type Action = 'create' | 'read' | 'update' | 'delete' | 'list' | 'rotate'

export function scopeFor(kind: ApiKeyKind, action: Action): string {
  return `${kind.replace('-', '_')}_api_keys.${action}`
}

/**
 * The keys that the caller may do this with: of the kinds it holds the scope for, in its organisation or its workspace.
 */
export function visibilityOf(actor: Actor, action: Action): KeyReach {
  const kinds = KINDS.filter(kind => hasScope(actor, scopeFor(kind, action)))
  const user_id = isOwnOnly(actor) ? (userOf(actor.subject) ?? '') : undefined
  return {organisation_id: actor.organisation_id, workspace_id: ownWorkspace(actor), kinds, user_id}
}

/** A member manages and sees his own keys alone. */
export function isOwnOnly(actor: Actor): boolean {
  return actor.subject.kind === 'user' && levelOf(actor) === 'member'
}

/**
 * The keys of which the caller sees what they used: those it may list, as far as it sees what others did, and the one
 * that asks.
 */
export function keysInSight(actor: Actor): KeysInSight {
  const {kinds, user_id} = visibilityOf(actor, 'list')
  return {
    kinds,
    user_id: user_id ?? onlyOf(actor),
    key_id: actor.subject.kind === 'api_key' ? actor.subject.id : undefined,
  }
}
