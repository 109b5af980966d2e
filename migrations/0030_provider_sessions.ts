import {index, type Migration, types} from './support.ts'

/** Sessions that end when their provider says so. Those that are there have no mark, and end by themselves. */
export const providerSessions: Migration = {
  name: '0030_provider_sessions',
  area: 'control',
  async up(db, kind) {
    const {text} = types(kind)
    for (const table of ['sessions', 'login_codes'] as const)
      for (const column of ['idp_session', 'idp_subject'] as const)
        await db.schema.alterTable(table).addColumn(column, text).execute()
    await index(db, kind, 'sessions', ['connection_id', 'idp_session'], {where: 'idp_session is not null'})
    await index(db, kind, 'sessions', ['connection_id', 'idp_subject'], {where: 'idp_subject is not null'})
  },
}
