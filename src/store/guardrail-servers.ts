import type {Db} from './database.ts'
import type {GuardrailMcpServersTable} from './tables/guardrails.ts'

/** The active servers whose calls of tools a guardrail judges, by slug. */
export function guardrailServers(
  db: Db,
  guardrail_id: string,
): Promise<(Pick<GuardrailMcpServersTable, 'run_on'> & {slug: string})[]> {
  return db
    .selectFrom('guardrail_mcp_servers as a')
    .innerJoin('mcp_servers as s', 's.id', 'a.mcp_server_id')
    .select(['s.slug', 'a.run_on'])
    .where('a.guardrail_id', '=', guardrail_id)
    .where('s.status', '=', 'active')
    .orderBy('s.slug')
    .execute()
}

/** Puts these servers in the place of all that a guardrail had. */
export async function putGuardrailServers(
  db: Db,
  guardrail_id: string,
  server_ids: readonly string[],
  run_on: GuardrailMcpServersTable['run_on'],
) {
  await db.deleteFrom('guardrail_mcp_servers').where('guardrail_id', '=', guardrail_id).execute()
  const rows = server_ids.map(mcp_server_id => ({guardrail_id, mcp_server_id, run_on}))
  if (rows.length > 0) await db.insertInto('guardrail_mcp_servers').values(rows).execute()
}

/** Ids of the active guardrails of a server's own, by the side that they judge. */
export async function guardrailsOfServer(
  db: Db,
  mcp_server_id: string,
): Promise<{readonly input: string[]; readonly output: string[]}> {
  const rows = await db
    .selectFrom('guardrail_mcp_servers as a')
    .innerJoin('guardrails as g', 'g.id', 'a.guardrail_id')
    .select(['g.id', 'a.run_on'])
    .where('a.mcp_server_id', '=', mcp_server_id)
    .where('g.status', '=', 'active')
    .orderBy('g.created_at')
    .orderBy('g.id')
    .execute()
  const on = (side: 'input' | 'output') =>
    rows.filter(({run_on}) => run_on === side || run_on === 'both').map(({id}) => id)
  return {input: on('input'), output: on('output')}
}
