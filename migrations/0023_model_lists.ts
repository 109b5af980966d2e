import {type Migration, types} from './support.ts'

/** The models that keys and workspaces may call; null: all. */
export const modelLists: Migration = {
  name: '0023_model_lists',
  area: 'control',
  async up(db, kind) {
    const {text} = types(kind)
    for (const table of ['api_keys', 'workspaces'])
      await db.schema.alterTable(table).addColumn('models', text).execute()
  },
}
