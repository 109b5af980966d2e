import type {Actor} from './services.ts'
import {onlyOf} from './tenancy.ts'

/** The part of the traffic that a caller may see within its scope; an absent member does not narrow. */
export interface Visible {
  /** Only calls of these users' keys. */
  readonly user_ids?: readonly string[] | undefined
}

export function visibleTo(actor: Actor): Visible {
  const user_id = onlyOf(actor)
  return user_id === undefined ? {} : {user_ids: [user_id]}
}
