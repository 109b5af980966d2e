import type {ScimUserRow} from '../store/scim-users.ts'
import type {MutableObject} from './json.ts'
import {USER} from './names.ts'

interface InGroup {
  readonly id: string
  readonly name: string
}

/** A user as directories see him; for one who came otherwise his row is read. */
export function userView(row: ScimUserRow, groups: readonly InGroup[], location: string): MutableObject {
  const kept = keptOf(row)
  const {userName, ...rest} = kept
  const version = row.version ?? 0
  return {
    schemas: [USER, ...Object.keys(rest).filter(name => name.toLowerCase().startsWith('urn:'))],
    id: row.user_id,
    ...(row.external_id !== null && {externalId: row.external_id}),
    userName: userName ?? row.email,
    ...rest,
    active: row.status === 'active' && row.deleted_at === null,
    roles: [{value: row.role, primary: true}],
    groups: groups.map(({id, name}) => ({value: id, display: name, $ref: `${location}/Groups/${id}`, type: 'direct'})),
    meta: {
      resourceType: 'User',
      created: row.scim_created_at ?? row.joined_at,
      lastModified: row.scim_updated_at ?? row.changed_at,
      location: `${location}/Users/${row.user_id}`,
      version: `W/"${version}"`,
    },
  }
}

/** The attributes that are kept of him, `userName` among them. */
export function keptOf({resource, email, first_name, last_name}: ScimUserRow): MutableObject {
  if (resource !== null) return JSON.parse(resource) as MutableObject
  const name: MutableObject = {
    ...(first_name !== null && {givenName: first_name}),
    ...(last_name !== null && {familyName: last_name}),
  }
  return {
    userName: email,
    ...(Object.keys(name).length > 0 && {name}),
    emails: [{value: email, type: 'work', primary: true}],
  }
}

/** The resource as a PATCH changes it: without what the service adds, and without groups where `groups` is null. */
export function changeable(row: ScimUserRow, groups: readonly InGroup[] | null): MutableObject {
  const {schemas: _, meta: __, id: ___, groups: all, ...rest} = userView(row, groups ?? [], '')
  return groups === null || !all ? rest : {...rest, groups: all}
}
