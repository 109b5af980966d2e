import {index, type Migration, strict, types} from './support.ts'

/** Tokens at MCP servers, clients registered at their authorization servers, and sign-ins there. */
export const mcpConnections: Migration = {
  name: '0035_mcp_connections',
  area: 'control',
  async up(db, kind) {
    const {bytes, integer, text} = types(kind)
    await strict(
      kind,
      db.schema
        .createTable('mcp_connections')
        .addColumn('mcp_integration_id', text, c => c.notNull().references('mcp_integrations.id'))
        .addColumn('mcp_server_id', text, c => c.notNull())
        .addColumn('user_id', text, c => c.notNull())
        .addColumn('organisation_id', text, c => c.notNull().references('organisations.id'))
        .addColumn('upstream', text, c => c.notNull())
        .addColumn('issuer', text)
        .addColumn('tokens', bytes, c => c.notNull())
        .addColumn('scope', text)
        .addColumn('expires_at', text)
        .addColumn('refresh_at', text)
        .addColumn('held_off_until', text)
        .addColumn('revision', integer, c => c.notNull())
        .addColumn('created_at', text, c => c.notNull())
        .addColumn('last_updated_at', text, c => c.notNull())
        .addPrimaryKeyConstraint('mcp_connections_row', ['mcp_integration_id', 'mcp_server_id', 'user_id']),
    ).execute()
    await index(db, kind, 'mcp_connections', ['mcp_server_id', 'created_at'])
    await index(db, kind, 'mcp_connections', ['user_id'])
    await strict(
      kind,
      db.schema
        .createTable('mcp_registrations')
        .addColumn('mcp_integration_id', text, c => c.notNull().references('mcp_integrations.id'))
        .addColumn('issuer', text, c => c.notNull())
        .addColumn('organisation_id', text, c => c.notNull().references('organisations.id'))
        .addColumn('redirect_uri', text, c => c.notNull())
        .addColumn('client', bytes, c => c.notNull())
        .addColumn('expires_at', text)
        .addColumn('created_at', text, c => c.notNull())
        .addPrimaryKeyConstraint('mcp_registrations_row', ['mcp_integration_id', 'issuer']),
    ).execute()
    await strict(
      kind,
      db.schema
        .createTable('mcp_sign_ins')
        .addColumn('id', text, c => c.primaryKey())
        .addColumn('organisation_id', text, c => c.notNull().references('organisations.id'))
        .addColumn('mcp_integration_id', text, c => c.notNull().references('mcp_integrations.id'))
        .addColumn('mcp_server_id', text, c => c.notNull())
        .addColumn('user_id', text, c => c.notNull())
        .addColumn('state_hash', text, c => c.notNull().unique())
        .addColumn('step', text, c => c.notNull())
        .addColumn('secrets', bytes)
        .addColumn('challenge', text)
        .addColumn('return_to', text)
        .addColumn('registrations', integer, c => c.notNull())
        .addColumn('created_at', text, c => c.notNull())
        .addColumn('expires_at', text, c => c.notNull()),
    ).execute()
    await index(db, kind, 'mcp_sign_ins', ['user_id', 'mcp_server_id'])
    await index(db, kind, 'mcp_sign_ins', ['expires_at'])
    await strict(
      kind,
      db.schema
        .createTable('mcp_leases')
        .addColumn('name', text, c => c.primaryKey())
        .addColumn('holder', text, c => c.notNull())
        .addColumn('expires_at', text, c => c.notNull()),
    ).execute()
  },
}
