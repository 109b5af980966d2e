import {index, type Migration, strict, types} from './support.ts'

/** Sign-ins of people at a provider of an MCP integration, and the last use of a person's connection. */
export const mcpExternalSignIns: Migration = {
  name: '0040_mcp_external_sign_ins',
  area: 'control',
  async up(db, kind) {
    const {bytes, text} = types(kind)
    await db.schema.alterTable('mcp_connections').addColumn('last_used_at', text).execute()
    await strict(
      kind,
      db.schema
        .createTable('mcp_external_sign_ins')
        .addColumn('id', text, c => c.primaryKey())
        .addColumn('organisation_id', text, c => c.notNull().references('organisations.id'))
        .addColumn('mcp_integration_id', text, c => c.notNull().references('mcp_integrations.id'))
        .addColumn('mcp_server_id', text, c => c.notNull())
        .addColumn('transaction_id', text, c => c.notNull().unique())
        .addColumn('state_hash', text, c => c.notNull().unique())
        .addColumn('browser_hash', text, c => c.notNull())
        .addColumn('step', text, c => c.notNull())
        .addColumn('secrets', bytes)
        .addColumn('user_id', text)
        .addColumn('created_at', text, c => c.notNull())
        .addColumn('expires_at', text, c => c.notNull()),
    ).execute()
    await index(db, kind, 'mcp_external_sign_ins', ['expires_at'])
    await strict(
      kind,
      db.schema
        .createTable('mcp_external_people')
        .addColumn('mcp_integration_id', text, c => c.notNull().references('mcp_integrations.id'))
        .addColumn('subject', text, c => c.notNull())
        .addColumn('user_id', text, c => c.notNull())
        .addColumn('created_at', text, c => c.notNull())
        .addPrimaryKeyConstraint('mcp_external_people_row', ['mcp_integration_id', 'subject']),
    ).execute()
    await index(db, kind, 'mcp_external_people', ['user_id'])
  },
}
