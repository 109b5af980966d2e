import {type Migration, types} from './support.ts'

/** How people and tokens of an organisation are recognised; null: as it is by default. */
export const organisationAuth: Migration = {
  name: '0027_organisation_auth',
  area: 'control',
  async up(db, kind) {
    await db.schema.alterTable('organisations').addColumn('auth', types(kind).text).execute()
  },
}
