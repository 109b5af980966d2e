import {index, type Migration, strict, types} from './support.ts'

/** Pins of capabilities, the era of each upstream, and the times at which an upstream is read. */
export const mcpSync: Migration = {
  name: '0036_mcp_sync',
  area: 'control',
  async up(db, kind) {
    const {integer, text} = types(kind)
    for (const name of [
      'uri',
      'header_schema',
      'pin_state',
      'approved_hashes',
      'approved_definition',
      'seen_hashes',
      'seen_definitions',
      'suspicions',
      'gone_at',
    ])
      await db.schema.alterTable('mcp_capabilities').addColumn(name, text).execute()
    await strict(
      kind,
      db.schema
        .createTable('mcp_eras')
        .addColumn('mcp_integration_id', text, c => c.primaryKey().references('mcp_integrations.id'))
        .addColumn('url', text, c => c.notNull())
        .addColumn('era', text, c => c.notNull())
        .addColumn('transport', text, c => c.notNull())
        .addColumn('found_at', text, c => c.notNull()),
    ).execute()
    await strict(
      kind,
      db.schema
        .createTable('mcp_syncs')
        .addColumn('mcp_integration_id', text, c => c.primaryKey().references('mcp_integrations.id'))
        .addColumn('due_at', text)
        .addColumn('cause', text, c => c.notNull())
        .addColumn('noticed_at', text)
        .addColumn('quiet_notices', integer, c => c.notNull())
        .addColumn('held_by', text)
        .addColumn('held_until', text),
    ).execute()
    await index(db, kind, 'mcp_syncs', ['due_at'], {where: 'due_at is not null'})
  },
}
