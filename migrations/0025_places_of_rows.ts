import {type Migration, types} from './support.ts'

/**
 * What a provider and a model say of their place beside their integration, sealed where it is secret, and whether who
 * wrote it may name one.
 */
export const placesOfRows: Migration = {
  name: '0025_places_of_rows',
  area: 'control',
  async up(db, kind) {
    const {bytes, integer, text} = types(kind)
    for (const [table, column] of [
      ['providers', 'model_config'],
      ['integration_models', 'configurations'],
    ] as const)
      for (const [name, type] of [
        [column, text],
        [`${column}_sealed`, bytes],
        ['names_place', integer],
      ] as const)
        await db.schema.alterTable(table).addColumn(name, type).execute()
  },
}
