import {type CreateTableBuilder, sql} from 'kysely'
import {index, type Kind, type Migration, strict, types} from './support.ts'

/**
 * What analytics read: sums of the log by the hour, a sketch of its latencies, feedback, and columns that rows are
 * summed by. Nothing is counted anew: hours that were over before are read from their rows.
 */
export const analytics: Migration = {
  name: '0012_analytics',
  area: 'traffic',
  async up(db, kind) {
    const {text, integer, real} = types(kind)
    for (const [name, type] of [
      ['duration_ms', integer],
      ['cache_status', text],
      ['retry_count', integer],
      ['is_rescued', integer],
    ] as const) {
      await db.schema.alterTable('traffic.logs').addColumn(name, type).execute()
    }
    await index(db, kind, 'traffic.logs', ['workspace_id', 'is_rescued', 'created_at'], {where: 'is_rescued = 1'})
    await clustered(
      kind,
      db.schema
        .createTable('traffic.log_hourly')
        .addColumn('workspace_id', text, c => c.notNull())
        .addColumn('grain', integer, c => c.notNull())
        .addColumn('hour', text, c => c.notNull())
        .addColumn('api_key_id', text, c => c.notNull())
        .addColumn('provider_slug', text, c => c.notNull())
        .addColumn('provider', text, c => c.notNull())
        .addColumn('model', text, c => c.notNull())
        .addColumn('config_id', text, c => c.notNull())
        .addColumn('status', integer, c => c.notNull())
        .addColumn('cache_status', text, c => c.notNull())
        .addColumn('requests', integer, c => c.notNull())
        .addColumn('successes', integer, c => c.notNull())
        .addColumn('prompt_tokens', integer, c => c.notNull())
        .addColumn('completion_tokens', integer, c => c.notNull())
        .addColumn('cost_nanousd', integer, c => c.notNull())
        .addColumn('duration_ms', integer, c => c.notNull())
        .addPrimaryKeyConstraint('log_hourly_key', [
          'workspace_id',
          'grain',
          'hour',
          'api_key_id',
          'provider_slug',
          'provider',
          'model',
          'config_id',
          'status',
          'cache_status',
        ]),
    ).execute()
    await index(db, kind, 'traffic.log_hourly', ['hour'])
    await clustered(
      kind,
      db.schema
        .createTable('traffic.log_latencies')
        .addColumn('workspace_id', text, c => c.notNull())
        .addColumn('grain', integer, c => c.notNull())
        .addColumn('hour', text, c => c.notNull())
        .addColumn('provider', text, c => c.notNull())
        .addColumn('model', text, c => c.notNull())
        .addColumn('bucket', integer, c => c.notNull())
        .addColumn('requests', integer, c => c.notNull())
        .addPrimaryKeyConstraint('log_latencies_key', ['workspace_id', 'grain', 'hour', 'provider', 'model', 'bucket']),
    ).execute()
    await index(db, kind, 'traffic.log_latencies', ['hour'])
    await strict(
      kind,
      db.schema
        .createTable('traffic.feedback')
        .addColumn('id', text, c => c.primaryKey().notNull())
        .addColumn('organisation_id', text, c => c.notNull())
        .addColumn('workspace_id', text, c => c.notNull())
        .addColumn('trace_id', text, c => c.notNull())
        .addColumn('api_key_id', text)
        .addColumn('user_id', text)
        .addColumn('source', text, c => c.notNull())
        .addColumn('value', integer, c => c.notNull())
        .addColumn('weight', real, c => c.notNull())
        .addColumn('metadata', text, c => c.notNull())
        .addColumn('created_at', text, c => c.notNull())
        .addColumn('last_updated_at', text, c => c.notNull()),
    ).execute()
    await index(db, kind, 'traffic.feedback', ['workspace_id', 'created_at'])
    await index(db, kind, 'traffic.feedback', ['trace_id'])
    // the first hour of which all rows are in the sums
    const {rows} = await sql<{last: string | null}>`select max(created_at) as last from traffic.logs`.execute(db)
    const last = rows[0]?.last ?? null
    const from = last === null ? '' : new Date((Math.floor(Date.parse(last) / HOUR_MS) + 1) * HOUR_MS).toISOString()
    await sql`insert into traffic.meta (key, value) values ('log_hourly_from', ${from})`.execute(db)
  },
}

const HOUR_MS = 3_600_000

/** The objects of administration that go with it. */
export const analyticsObjects: Migration = {
  name: '0012_analytics_objects',
  area: 'control',
  async up(db, kind) {
    const {text, integer} = types(kind)
    await strict(
      kind,
      db.schema
        .createTable('log_exports')
        .addColumn('id', text, c => c.primaryKey().notNull())
        .addColumn('organisation_id', text, c => c.notNull().references('organisations.id'))
        .addColumn('workspace_id', text, c => c.notNull().references('workspaces.id'))
        .addColumn('filters', text, c => c.notNull())
        .addColumn('visible', text, c => c.notNull())
        .addColumn('requested_data', text, c => c.notNull())
        .addColumn('status', text, c => c.notNull())
        .addColumn('run', text)
        .addColumn('rows', integer)
        .addColumn('error', text)
        .addColumn('created_by', text, c => c.notNull())
        .addColumn('user_id', text)
        .addColumn('created_at', text, c => c.notNull())
        .addColumn('last_updated_at', text, c => c.notNull()),
    ).execute()
    await index(db, kind, 'log_exports', ['organisation_id', 'created_at'])
    await strict(
      kind,
      db.schema
        .createTable('saved_filters')
        .addColumn('id', text, c => c.primaryKey().notNull())
        .addColumn('organisation_id', text, c => c.notNull().references('organisations.id'))
        .addColumn('workspace_id', text, c => c.notNull().references('workspaces.id'))
        .addColumn('name', text, c => c.notNull())
        .addColumn('filters', text, c => c.notNull())
        .addColumn('created_by', text)
        .addColumn('created_at', text, c => c.notNull())
        .addColumn('last_updated_at', text, c => c.notNull()),
    ).execute()
    await index(db, kind, 'saved_filters', ['workspace_id', 'name'], {unique: true})
  },
}

/** Rows that lie in the order of their key: a range of hours is one stretch of the file. */
function clustered<T extends string, C extends string>(
  kind: Kind,
  table: CreateTableBuilder<T, C>,
): CreateTableBuilder<T, C> {
  return kind === 'sqlite' ? table.modifyEnd(sql`strict, without rowid`) : table
}
