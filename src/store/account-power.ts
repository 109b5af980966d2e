import type {Db} from './database.ts'

/** Facts of a user, of every organisation, by which a stranger would gain by being taken for him. */
export interface AccountPower {
  /** He is owner or admin somewhere. */
  readonly is_admin: boolean
  readonly has_password: boolean
  /** The issuers at which he is known already. */
  readonly issuers: readonly string[]
  /** He is an active member of another organisation than `organisation_id`. */
  readonly is_elsewhere: boolean
}

export async function accountPower(db: Db, organisation_id: string, user_id: string): Promise<AccountPower> {
  const memberships = await db
    .selectFrom('organisation_users')
    .select(['organisation_id', 'role', 'status'])
    .where('user_id', '=', user_id)
    .execute()
  const links = await db.selectFrom('identities').select('issuer').where('user_id', '=', user_id).execute()
  const password = await db
    .selectFrom('user_passwords')
    .select('user_id')
    .where('user_id', '=', user_id)
    .executeTakeFirst()
  const active = memberships.filter(({status}) => status === 'active')
  return {
    is_admin: active.some(({role}) => role !== 'member'),
    has_password: password !== undefined,
    issuers: links.map(({issuer}) => issuer),
    is_elsewhere: active.some(each => each.organisation_id !== organisation_id),
  }
}

/** The memberships that groups of these exact names are mapped to, of the workspaces that are active. */
export async function mappedByGroups(db: Db, organisation_id: string, names: readonly string[]) {
  if (names.length === 0) return []
  return db
    .selectFrom('scim_mappings as m')
    .innerJoin('scim_groups as g', 'g.id', 'm.scim_group_id')
    .innerJoin('workspaces as w', 'w.id', 'm.workspace_id')
    .select(['m.workspace_id', 'm.role'])
    .where('m.organisation_id', '=', organisation_id)
    .where('m.status', '=', 'active')
    .where('w.status', '=', 'active')
    .where('g.name', 'in', [...names])
    .execute()
}
