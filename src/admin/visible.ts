import type {Actor} from './services.ts'
import {onlyOf} from './tenancy.ts'

/** What of the traffic a caller may see beyond where it stands; what is absent does not narrow. */
export interface Visible {
  /** Only calls of these users' keys. */
  readonly user_ids?: readonly string[] | undefined
}

export function visibleTo(actor: Actor): Visible {
  const user_id = onlyOf(actor)
  return user_id === undefined ? {} : {user_ids: [user_id]}
}
