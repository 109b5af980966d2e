import {index, type Migration, strict, types} from './support.ts'

/** Sessions of clients of MCP servers, which outlive a restart. */
export const mcpSessions: Migration = {
  name: '0037_mcp_sessions',
  area: 'control',
  async up(db, kind) {
    const {bytes, text} = types(kind)
    await strict(
      kind,
      db.schema
        .createTable('mcp_sessions')
        .addColumn('id_hash', text, c => c.primaryKey())
        .addColumn('principal_kind', text, c => c.notNull())
        .addColumn('principal_id', text, c => c.notNull())
        .addColumn('organisation_id', text, c => c.notNull())
        .addColumn('workspace_id', text, c => c.notNull())
        .addColumn('mcp_server_id', text, c => c.notNull())
        .addColumn('version', text, c => c.notNull())
        .addColumn('client_info', text, c => c.notNull())
        .addColumn('client_capabilities', text, c => c.notNull())
        .addColumn('log_level', text)
        .addColumn('subscriptions', text, c => c.notNull())
        .addColumn('upstream_sealed', bytes)
        .addColumn('created_at', text, c => c.notNull())
        .addColumn('used_at', text, c => c.notNull()),
    ).execute()
    await index(db, kind, 'mcp_sessions', ['used_at'])
  },
}
