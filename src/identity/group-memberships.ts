import type {Db} from '../store/database.ts'
import type {GivenMembership, HeldMembership} from '../store/scim-groups.ts'
import * as store from '../store/scim-groups.ts'
import {isAbove} from './roles.ts'

/**
 * Gives these users the memberships of workspaces that their groups give them, and takes those that no group gives any
 * more. Of several roles in a workspace the highest holds. What was given by hand stays as it is.
 */
export async function syncMemberships(
  {db, organisation_id, now}: {readonly db: Db; readonly organisation_id: string; readonly now: string},
  user_ids: readonly string[],
): Promise<void> {
  if (user_ids.length === 0) return
  const given = highest(await store.givenMemberships(db, organisation_id, user_ids))
  const held = new Map((await store.heldMemberships(db, organisation_id, user_ids)).map(each => [nameOf(each), each]))
  const missing = [...given.values()].filter(each => !held.has(nameOf(each)))
  if (missing.length > 0) await store.giveMemberships(db, organisation_id, missing, now)
  for (const each of given.values()) {
    const before = held.get(nameOf(each))
    if (before && isOfScim(before) && before.role !== each.role) await store.changeMembership(db, each, now)
  }
  const gone = [...held.values()].filter(each => isOfScim(each) && !given.has(nameOf(each)))
  for (const [workspace_id, rows] of Map.groupBy(gone, each => each.workspace_id))
    await store.endMemberships(
      db,
      workspace_id,
      rows.map(({user_id}) => user_id),
      now,
    )
}

function highest(all: readonly GivenMembership[]): ReadonlyMap<string, GivenMembership> {
  const kept = new Map<string, GivenMembership>()
  for (const each of all) {
    const before = kept.get(nameOf(each))
    if (!before || isAbove(each.role, before.role)) kept.set(nameOf(each), each)
  }
  return kept
}

const nameOf = ({user_id, workspace_id}: GivenMembership) => `${user_id} ${workspace_id}`
const isOfScim = ({source}: HeldMembership) => source === 'scim'
