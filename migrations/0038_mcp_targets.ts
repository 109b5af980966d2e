import {index, type Migration, strict, types} from './support.ts'

/** Policies and guardrails for calls of tools. Those that are there are for calls of models. */
export const mcpTargets: Migration = {
  name: '0038_mcp_targets',
  area: 'control',
  async up(db, kind) {
    const {text} = types(kind)
    for (const table of ['policies', 'guardrails'] as const)
      await db.schema
        .alterTable(table)
        .addColumn('target', text, c => c.notNull().defaultTo('llm'))
        .execute()
    await strict(
      kind,
      db.schema
        .createTable('guardrail_mcp_servers')
        .addColumn('guardrail_id', text, c => c.notNull().references('guardrails.id'))
        .addColumn('mcp_server_id', text, c => c.notNull().references('mcp_servers.id'))
        .addColumn('run_on', text, c => c.notNull())
        .addPrimaryKeyConstraint('guardrail_mcp_servers_key', ['guardrail_id', 'mcp_server_id']),
    ).execute()
    await index(db, kind, 'guardrail_mcp_servers', ['mcp_server_id'])
  },
}
