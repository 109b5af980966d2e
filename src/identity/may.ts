import type {ApiKeyKind} from '../store/tables/identity.ts'
import {SCOPES, scopesOf} from './scopes.ts'

/**
 * The holder of a permission: a key of a kind with its scopes, a user with those of his role, or the operator, who may
 * do everything.
 */
export interface Holder {
  readonly kind: ApiKeyKind | 'user' | 'operator'
  readonly scopes: ReadonlySet<string> | 'all'
}

/**
 * True when the holder has any one of the scopes. A scope that its kind cannot hold does not count, though it be in the
 * row.
 */
export function may(holder: Holder, anyOf: readonly string[]): boolean {
  return anyOf.some(scope => holds(holder, scope))
}

export function holds({kind, scopes}: Holder, scope: string): boolean {
  if (kind === 'operator' || scopes === 'all') return true
  return scopes.has(scope) && (kind === 'user' ? SCOPES : scopesOf(kind)).has(scope)
}

/**
 * Those of `scopes` that the holder may not give to another key. It may give what it holds; an admin key may also give
 * what no admin key can hold, such as the right to call models.
 */
export function ungrantable(holder: Holder, scopes: readonly string[]): string[] {
  const beyond = (scope: string) => holder.kind === 'organisation-service' && !scopesOf(holder.kind).has(scope)
  return scopes.filter(scope => !holds(holder, scope) && !beyond(scope))
}
