import {type Migration, types} from './support.ts'

/**
 * MCP servers that are made of tools of others. What joins a server with its integration finds an empty one of the
 * server's own, which nobody sees.
 */
export const virtualServers: Migration = {
  name: '0039_virtual_servers',
  area: 'control',
  async up(db, kind) {
    const {integer, text} = types(kind)
    await db.schema.alterTable('mcp_servers').addColumn('virtual', text).execute()
    await db.schema
      .alterTable('mcp_integrations')
      .addColumn('is_virtual', integer, c => c.notNull().defaultTo(0))
      .execute()
  },
}
