import {type Migration, types} from './support.ts'

/** Fields of integrations, those of virtual keys too, that are filled from secret references. */
export const secretMappings: Migration = {
  name: '0017_secret_mappings',
  area: 'control',
  async up(db, kind) {
    const {text} = types(kind)
    await db.schema
      .alterTable('integrations')
      .addColumn('secret_mappings', text, c => c.notNull().defaultTo('[]'))
      .execute()
  },
}
