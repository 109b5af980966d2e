import {type Migration, types} from './support.ts'

/** When a person was last taken out of an organisation, or back; null: neither since this is kept. */
export const returnedPeople: Migration = {
  name: '0033_returned_people',
  area: 'control',
  async up(db, kind) {
    await db.schema.alterTable('organisation_users').addColumn('status_changed_at', types(kind).text).execute()
  },
}
