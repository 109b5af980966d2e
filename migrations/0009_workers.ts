import {sql} from 'kysely'
import {index, type Migration, strict, types} from './support.ts'

/**
 * Who does the work in the background, and from when on what is deleted in time is kept whole: the ledger is held
 * against log rows and hourly sums from there on. A database that is upgraded has deleted up to its oldest row.
 */
export const workers: Migration = {
  name: '0009_workers',
  area: 'traffic',
  async up(db, kind) {
    const {text, integer} = types(kind)
    await strict(
      kind,
      db.schema
        .createTable('traffic.workers')
        .addColumn('name', text, c => c.notNull())
        .addColumn('process', text, c => c.notNull())
        .addColumn('holder', text)
        .addColumn('lease_until_ms', integer)
        .addColumn('due_at_ms', integer, c => c.notNull())
        .addColumn('started_at', text)
        .addColumn('ended_at', text)
        .addColumn('duration_ms', integer)
        .addColumn('error', text)
        .addColumn('runs', integer, c => c.notNull())
        .addColumn('failures', integer, c => c.notNull())
        .addPrimaryKeyConstraint('workers_key', ['name', 'process']),
    ).execute()
    const entered = sql`(select max(admitted_at) from traffic.ledger_entries), '0000'`
    const oldest_log = sql`(select created_at from traffic.logs order by id limit 1)`
    const oldest_hour = sql`(select hour from traffic.usage_hourly order by hour limit 1)`
    await sql`insert into traffic.meta (key, value) values ('kept_from/logs', coalesce(${oldest_log}, ${entered}))`.execute(
      db,
    )
    await sql`insert into traffic.meta (key, value) values ('kept_from/hours', coalesce(${oldest_hour}, ${entered}))`.execute(
      db,
    )
  },
}

/** What was told of budgets and expiries, so that nothing is told twice, and the letters that wait to be sent. */
export const alerts: Migration = {
  name: '0009_alerts',
  area: 'control',
  async up(db, kind) {
    const {text, integer} = types(kind)
    await strict(
      kind,
      db.schema
        .createTable('alerts')
        .addColumn('entity', text, c => c.notNull())
        .addColumn('entity_id', text, c => c.notNull())
        .addColumn('about', text, c => c.notNull())
        .addColumn('state', text, c => c.notNull())
        .addColumn('last_updated_at', text, c => c.notNull())
        .addPrimaryKeyConstraint('alerts_key', ['entity', 'entity_id', 'about']),
    ).execute()
    await strict(
      kind,
      db.schema
        .createTable('mails')
        .addColumn('id', text, c => c.primaryKey())
        .addColumn('recipient', text, c => c.notNull())
        .addColumn('subject', text, c => c.notNull())
        .addColumn('plain', text, c => c.notNull())
        .addColumn('html', text, c => c.notNull())
        .addColumn('created_at', text, c => c.notNull())
        .addColumn('next_try_at_ms', integer, c => c.notNull())
        .addColumn('tries', integer, c => c.notNull())
        .addColumn('status', text, c => c.notNull())
        .addColumn('error', text)
        .addColumn('sent_at', text),
    ).execute()
    await index(db, kind, 'mails', ['status', 'next_try_at_ms'])
  },
}
