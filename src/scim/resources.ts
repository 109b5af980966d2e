import type {ScimGroupNarrowing} from '../store/scim-groups.ts'
import * as group_store from '../store/scim-groups.ts'
import {countScimUsers, listScimUsers, type ScimUserNarrowing, type ScimUserRow} from '../store/scim-users.ts'
import type {ScimGroupsTable} from '../store/tables/registry.ts'
import {groupView} from './group-view.ts'
import {createGroup, deleteGroup, foundGroup, patchGroup, replaceGroup, shownGroup} from './groups.ts'
import type {MutableObject} from './json.ts'
import {type Listed, type ListQuery, listed} from './list.ts'
import {narrowGroups, narrowUsers} from './narrowing.ts'
import type {PatchChange} from './patch/read.ts'
import type {ScimContext, ScimDeed} from './services.ts'
import {userView} from './user-view.ts'
import {createUser, deleteUser, found, patchUser, replaceUser, shownUser} from './users.ts'

/** A kind of resource, as the protocol works with it. A write returns the resource as it is then. */
export interface ScimKind {
  readonly endpoint: 'Users' | 'Groups'
  readonly audited: ScimDeed['resource']
  list(context: ScimContext, query: ListQuery): Promise<Listed>
  get(context: ScimContext, id: string): Promise<MutableObject>
  create(context: ScimContext, resource: MutableObject): Promise<MutableObject>
  replace(context: ScimContext, id: string, resource: MutableObject): Promise<MutableObject>
  patch(context: ScimContext, id: string, changes: readonly PatchChange[]): Promise<MutableObject>
  remove(context: ScimContext, id: string): Promise<void>
}

export const KINDS: readonly ScimKind[] = [
  {
    endpoint: 'Users',
    audited: 'scim_user',
    list: listUsers,
    get: async (context, id) => shownUser(context, await found(context, id)),
    create: async (context, resource) => shownUser(context, await createUser(context, resource)),
    replace: async (context, id, resource) => shownUser(context, await replaceUser(context, id, resource)),
    patch: async (context, id, changes) => shownUser(context, await patchUser(context, id, changes)),
    remove: deleteUser,
  },
  {
    endpoint: 'Groups',
    audited: 'scim_group',
    list: listGroups,
    get: async (context, id) => shownGroup(context, await foundGroup(context, id)),
    create: async (context, resource) => shownGroup(context, await createGroup(context, resource)),
    replace: async (context, id, resource) => shownGroup(context, await replaceGroup(context, id, resource)),
    patch: async (context, id, changes) => shownGroup(context, await patchGroup(context, id, changes)),
    remove: deleteGroup,
  },
]

function listUsers({db, organisation_id, location}: ScimContext, query: ListQuery): Promise<Listed> {
  const narrowed = query.filter ? narrowUsers(query.filter) : {by: {}, is_whole: true}
  return listed<ScimUserRow, ScimUserNarrowing>(query, {
    ...narrowed,
    rows: (by, page) => listScimUsers(db, organisation_id, by, page),
    count: by => countScimUsers(db, organisation_id, by),
    async views(rows) {
      const ids = rows.map(({user_id}) => user_id)
      const groups = await group_store.groupsOfUsers(db, organisation_id, ids)
      return rows.map(row => userView(row, groups.get(row.user_id) ?? [], location))
    },
  })
}

function listGroups({db, organisation_id, location}: ScimContext, query: ListQuery): Promise<Listed> {
  const narrowed = query.filter ? narrowGroups(query.filter) : {by: {}, is_whole: true}
  return listed<ScimGroupsTable, ScimGroupNarrowing>(query, {
    ...narrowed,
    rows: (by, page) => group_store.listScimGroups(db, organisation_id, by, page),
    count: by => group_store.countScimGroups(db, organisation_id, by),
    async views(rows) {
      const members = await group_store.membersOfGroups(
        db,
        rows.map(({id}) => id),
      )
      return rows.map(row => groupView(row, members.get(row.id) ?? [], location))
    },
  })
}
