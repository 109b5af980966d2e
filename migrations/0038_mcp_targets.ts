import {type Migration, types} from './support.ts'

/** Policies for calls of tools. Those that are there are for calls of models. */
export const mcpTargets: Migration = {
  name: '0038_mcp_targets',
  area: 'control',
  async up(db, kind) {
    const {text} = types(kind)
    await db.schema
      .alterTable('policies')
      .addColumn('target', text, c => c.notNull().defaultTo('llm'))
      .execute()
  },
}
