import type {Db} from './database.ts'
import type {OrganisationRole, OrganisationUsersTable} from './tables/people.ts'

/** All that decides of a token when it is used, as it is now. */
export interface OAuthCallerRow {
  readonly token_id: string
  readonly kind: 'access' | 'refresh'
  readonly token_scopes: string
  readonly token_created_at: string
  readonly token_expires_at: string
  readonly token_revoked_at: string | null
  readonly grant_id: string
  readonly grant_created_at: string
  readonly client_id: string
  readonly user_id: string | null
  readonly organisation_id: string
  readonly organisation_name: string
  readonly workspace_id: string
  readonly workspace_slug: string
  readonly workspace_name: string
  readonly workspace_status: string
  readonly server_id: string
  readonly server_slug: string
  readonly server_status: string
  readonly resource: string
  readonly grant_revoked_at: string | null
  readonly email: string | null
  readonly first_name: string | null
  readonly last_name: string | null
  readonly user_role: OrganisationRole | null
  readonly user_status: OrganisationUsersTable['status'] | null
  /** The last time that he was taken out of the organisation, or back. */
  readonly status_changed_at: string | null | undefined
  /** Set where the person is a member of the workspace. */
  readonly member_role: string | null
}

/** The token that has this SHA-256 with its grant, its person and its server; one statement, for each call. */
export function findCallerRow(db: Db, token_hash: string): Promise<OAuthCallerRow | undefined> {
  return db
    .selectFrom('mcp_oauth_tokens as t')
    .innerJoin('mcp_oauth_grants as g', 'g.id', 't.grant_id')
    .innerJoin('organisations as o', 'o.id', 'g.organisation_id')
    .innerJoin('workspaces as w', 'w.id', 'g.workspace_id')
    .innerJoin('mcp_servers as s', join =>
      join.onRef('s.id', '=', 'g.server_id').onRef('s.workspace_id', '=', 'g.workspace_id'),
    )
    .leftJoin('users as u', 'u.id', 'g.user_id')
    .leftJoin('organisation_users as ou', join =>
      join.onRef('ou.user_id', '=', 'g.user_id').onRef('ou.organisation_id', '=', 'g.organisation_id'),
    )
    .leftJoin('workspace_users as wu', join =>
      join.onRef('wu.user_id', '=', 'g.user_id').onRef('wu.workspace_id', '=', 'g.workspace_id'),
    )
    .select(['t.id as token_id', 't.kind', 't.scopes as token_scopes', 't.created_at as token_created_at'])
    .select(['t.expires_at as token_expires_at', 't.revoked_at as token_revoked_at'])
    .select(['g.id as grant_id', 'g.client_id', 'g.user_id', 'g.organisation_id', 'g.workspace_id', 'g.server_id'])
    .select(['g.resource', 'g.created_at as grant_created_at', 'g.revoked_at as grant_revoked_at'])
    .select('o.name as organisation_name')
    .select(['w.slug as workspace_slug', 'w.name as workspace_name', 'w.status as workspace_status'])
    .select(['s.slug as server_slug', 's.status as server_status'])
    .select(['u.email', 'u.first_name', 'u.last_name', 'ou.role as user_role', 'ou.status as user_status'])
    .select(['ou.status_changed_at', 'wu.role as member_role'])
    .where('t.token_hash', '=', token_hash)
    .executeTakeFirst()
}
