import {Refusal} from '../base/errors.ts'
import {hasScope} from '../identity/access.ts'
import {type Role, scopesOfRole} from '../identity/roles.ts'
import {scopesOf} from '../identity/scopes.ts'
import type {Security} from '../schema/security.ts'
import type {Actor} from './services.ts'

const MAX_NAMED = 3

/**
 * Refuses a key or a token that would open a role to any caller, itself too, without holding the role's permissions, as
 * far as such a key can hold them. People are bounded by their own roles.
 */
export function checkRoleGrant(actor: Actor, role: Role, security: Security): void {
  const {subject} = actor
  if (subject.kind !== 'api_key' && subject.kind !== 'token') return
  const holdable = scopesOf(subject.kind === 'token' ? 'workspace-service' : subject.key_kind)
  const beyond = [...scopesOfRole(role, security)].filter(scope => holdable.has(scope) && !hasScope(actor, scope))
  if (!beyond.length) return
  const more = beyond.length > MAX_NAMED ? ` and ${beyond.length - MAX_NAMED} more` : ''
  throw new Refusal('scope.missing', {
    scope: `${beyond.slice(0, MAX_NAMED).join(', ')}${more} itself, to give the role ${role}`,
  })
}
