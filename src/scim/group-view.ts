import type {GroupMember} from '../store/scim-groups.ts'
import type {ScimGroupsTable} from '../store/tables/registry.ts'
import type {MutableObject} from './json.ts'
import {GROUP} from './names.ts'

/** A group as directories see it, with all of its members. */
export function groupView(row: ScimGroupsTable, members: readonly GroupMember[], location: string): MutableObject {
  const kept = JSON.parse(row.resource ?? '{}') as MutableObject
  return {
    schemas: [GROUP, ...Object.keys(kept).filter(name => name.toLowerCase().startsWith('urn:'))],
    id: row.id,
    ...(row.external_id && {externalId: row.external_id}),
    displayName: row.name,
    ...kept,
    members: members.map(({user_id, email}) => ({
      value: user_id,
      display: email,
      $ref: `${location}/Users/${user_id}`,
      type: 'User',
    })),
    meta: {
      resourceType: 'Group',
      created: row.created_at,
      lastModified: row.last_updated_at ?? row.created_at,
      location: `${location}/Groups/${row.id}`,
      version: `W/"${row.version ?? 0}"`,
    },
  }
}
