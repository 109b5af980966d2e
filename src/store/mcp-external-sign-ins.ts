import type {Db} from './database.ts'
import type {McpServerNames} from './oauth-servers.ts'
import type {McpExternalSignInsTable} from './tables/mcp-connections.ts'
import type {OrganisationRole} from './tables/people.ts'

const KEPT_MS = 86_400_000

export async function insertExternalSignIn(db: Db, row: McpExternalSignInsTable) {
  const long_ago = new Date(Date.parse(row.created_at) - KEPT_MS).toISOString()
  await db.deleteFrom('mcp_external_sign_ins').where('expires_at', '<', long_ago).execute()
  await db.insertInto('mcp_external_sign_ins').values(row).execute()
}

export function findExternalSignIn(db: Db, state_hash: string): Promise<McpExternalSignInsTable | undefined> {
  return db.selectFrom('mcp_external_sign_ins').selectAll().where('state_hash', '=', state_hash).executeTakeFirst()
}

/** Takes a sign-in from a step to another; false where another request was faster. Its secrets go. */
export async function stepExternalSignIn(
  db: Db,
  {id}: Pick<McpExternalSignInsTable, 'id'>,
  {
    from,
    to,
    user_id = null,
  }: {
    readonly from: McpExternalSignInsTable['step']
    readonly to: McpExternalSignInsTable['step']
    readonly user_id?: string | null
  },
): Promise<boolean> {
  const {numUpdatedRows} = await db
    .updateTable('mcp_external_sign_ins')
    .set({step: to, user_id, secrets: null})
    .where('id', '=', id)
    .where('step', '=', from)
    .executeTakeFirst()
  return numUpdatedRows === 1n
}

/** The person of an authorization, as a provider named him. */
export interface ExternalPerson {
  readonly id: string
  readonly user_id: string
  readonly organisation_id: string
  readonly email: string
  readonly role: OrganisationRole
  /** He is known for servers of this integration alone. */
  readonly only_integration: string
  readonly browser_hash: string
}

/** The one who signed in at a provider for this authorization, while he is of the organisation. */
export async function findExternalPerson(
  db: Db,
  transaction_id: string,
  now: string,
): Promise<ExternalPerson | undefined> {
  return db
    .selectFrom('mcp_external_sign_ins as x')
    .innerJoin('users as u', 'u.id', 'x.user_id')
    .innerJoin('organisation_users as o', join =>
      join.onRef('o.user_id', '=', 'u.id').onRef('o.organisation_id', '=', 'x.organisation_id'),
    )
    .select(['x.id', 'u.id as user_id', 'x.organisation_id', 'u.email', 'o.role', 'x.browser_hash'])
    .select('x.mcp_integration_id as only_integration')
    .where('x.transaction_id', '=', transaction_id)
    .where('x.step', '=', 'done')
    .where('x.expires_at', '>', now)
    .where('o.status', '=', 'active')
    .executeTakeFirst()
}

/**
 * The server of an address, where the whole installation has one of these names and its integration may have a provider
 * of its own. No one is signed in yet, so of several organisations none is chosen.
 */
export async function externalServer(
  db: Db,
  {workspace, server}: McpServerNames,
): Promise<{mcp_server_id: string; mcp_integration_id: string; organisation_id: string} | undefined> {
  let rows = db
    .selectFrom('mcp_servers as s')
    .innerJoin('mcp_integrations as i', 'i.id', 's.mcp_integration_id')
    .innerJoin('workspaces as w', 'w.id', 's.workspace_id')
    .select(['s.id as mcp_server_id', 's.mcp_integration_id', 's.organisation_id', 'i.configurations'])
    .where(e => e.or([e('s.slug', '=', server), e('s.id', '=', server)]))
    .where('s.status', '=', 'active')
    .where('i.status', '=', 'active')
    .where('w.status', '=', 'active')
  if (workspace !== null) rows = rows.where(e => e.or([e('w.slug', '=', workspace), e('w.id', '=', workspace)]))
  const [found, ...more] = await rows.limit(2).execute()
  if (!found || more.length > 0 || !found.configurations.includes('"external_auth_config"')) return undefined
  const {configurations: _, ...place} = found
  return place
}

/** The user who a subject is at the provider of an integration. */
export async function externalUser(db: Db, mcp_integration_id: string, subject: string): Promise<string | undefined> {
  const row = await db
    .selectFrom('mcp_external_people')
    .select('user_id')
    .where('mcp_integration_id', '=', mcp_integration_id)
    .where('subject', '=', subject)
    .executeTakeFirst()
  return row?.user_id
}

/** True where a user is known under another subject of a provider already. */
export async function hasExternalSubject(db: Db, mcp_integration_id: string, user_id: string): Promise<boolean> {
  const row = await db
    .selectFrom('mcp_external_people')
    .select('subject')
    .where('mcp_integration_id', '=', mcp_integration_id)
    .where('user_id', '=', user_id)
    .executeTakeFirst()
  return row !== undefined
}

export async function linkExternalUser(
  db: Db,
  row: {mcp_integration_id: string; subject: string; user_id: string; created_at: string},
) {
  await db.insertInto('mcp_external_people').values(row).execute()
}

/** Forgets who people are at the provider of an integration, and sign-ins there that have not ended. */
export async function forgetExternalPeople(db: Db, mcp_integration_id: string) {
  await db.deleteFrom('mcp_external_people').where('mcp_integration_id', '=', mcp_integration_id).execute()
  await db.deleteFrom('mcp_external_sign_ins').where('mcp_integration_id', '=', mcp_integration_id).execute()
}
