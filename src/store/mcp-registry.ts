import type {Db} from './database.ts'
import {IS_GRANTED} from './mcp-grants.ts'
import {mentioning} from './rows.ts'

/** An MCP server that callers may use now, as the registry shows it. */
export interface RegistryRow {
  readonly id: string
  readonly slug: string
  readonly name: string
  readonly description: string | null
  readonly workspace_slug: string
  readonly created_at: string
  readonly last_updated_at: string
  /** JSON: the server's description of itself. */
  readonly metadata: string | null
}

export interface RegistryFilter {
  readonly organisation_id: string
  readonly workspace_id?: string | undefined
  /** A person: servers that are closed to him are left out. */
  readonly user_id: string | null
  readonly search?: string | undefined
  readonly updated_since?: string | undefined
  readonly slug?: string | undefined
  /** Behind this one, newest first. */
  readonly after?: {readonly created_at: string; readonly id: string} | undefined
}

/** Active servers of active integrations that are open to their active workspaces; newest first. */
export function listRegistry(db: Db, filter: RegistryFilter, most: number): Promise<RegistryRow[]> {
  const {organisation_id, workspace_id, user_id, search, updated_since, slug, after} = filter
  let rows = db
    .selectFrom('mcp_servers as s')
    .innerJoin('mcp_integrations as i', 'i.id', 's.mcp_integration_id')
    .innerJoin('workspaces as w', 'w.id', 's.workspace_id')
    .leftJoin('mcp_integration_workspaces as iw', join =>
      join.onRef('iw.mcp_integration_id', '=', 'i.id').onRef('iw.workspace_id', '=', 's.workspace_id'),
    )
    .select(['s.id', 's.slug', 's.name', 's.description', 'w.slug as workspace_slug', 's.created_at'])
    .select(['s.last_updated_at', 'i.metadata'])
    .where('s.organisation_id', '=', organisation_id)
    .where('s.status', '=', 'active')
    .where('i.status', '=', 'active')
    .where('w.status', '=', 'active')
    .where(IS_GRANTED)
  if (workspace_id !== undefined) rows = rows.where('s.workspace_id', '=', workspace_id)
  if (search !== undefined) rows = rows.where(mentioning(['s.name', 's.slug'], search))
  if (updated_since !== undefined) rows = rows.where('s.last_updated_at', '>=', updated_since)
  if (slug !== undefined) rows = rows.where('s.slug', '=', slug)
  if (after)
    rows = rows.where(e =>
      e.or([
        e('s.created_at', '<', after.created_at),
        e.and([e('s.created_at', '=', after.created_at), e('s.id', '>', after.id)]),
      ]),
    )
  if (user_id !== null) {
    rows = rows
      .leftJoin('mcp_server_users as u', join =>
        join.onRef('u.mcp_server_id', '=', 's.id').on('u.user_id', '=', user_id),
      )
      .where(e =>
        e.or([e('u.enabled', '=', 1), e.and([e('u.enabled', 'is', null), e('s.default_user_access', '=', 'allow')])]),
      )
  }
  return rows.orderBy('s.created_at', 'desc').orderBy('s.id').limit(most).execute()
}
