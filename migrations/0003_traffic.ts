import {index, type Migration, strict, types} from './support.ts'

/** The ledger, the log, their bodies and hourly sums, and how far the journal is applied. */
export const traffic: Migration = {
  name: '0003_traffic',
  area: 'traffic',
  async up(db, kind) {
    const {text, integer, bytes} = types(kind)
    await strict(
      kind,
      db.schema
        .createTable('traffic.meta')
        .addColumn('key', text, c => c.primaryKey())
        .addColumn('value', text, c => c.notNull()),
    ).execute()
    await strict(
      kind,
      db.schema
        .createTable('traffic.ledger_entries')
        // SQLite: another name of the rowid, which costs nothing
        .addColumn('sequence', integer, c =>
          kind === 'sqlite' ? c.primaryKey() : c.primaryKey().generatedAlwaysAsIdentity(),
        )
        .addColumn('call_id', text, c => c.notNull())
        .addColumn('attempt', integer, c => c.notNull())
        .addColumn('trace_id', text, c => c.notNull())
        .addColumn('organisation_id', text, c => c.notNull())
        .addColumn('workspace_id', text, c => c.notNull())
        .addColumn('api_key_id', text, c => c.notNull())
        .addColumn('user_id', text)
        .addColumn('provider_id', text)
        .addColumn('provider_slug', text)
        .addColumn('integration_id', text)
        .addColumn('config_id', text)
        .addColumn('provider', text, c => c.notNull())
        .addColumn('model', text)
        .addColumn('endpoint', text, c => c.notNull())
        .addColumn('admitted_at', text, c => c.notNull())
        .addColumn('settled_at', text, c => c.notNull())
        .addColumn('outcome', text, c => c.notNull())
        .addColumn('status', integer)
        .addColumn('usage', text, c => c.notNull())
        .addColumn('usage_source', text, c => c.notNull())
        .addColumn('prompt_tokens', integer, c => c.notNull())
        .addColumn('completion_tokens', integer, c => c.notNull())
        .addColumn('cost_nanousd', integer, c => c.notNull())
        .addColumn('unpriced', integer, c => c.notNull())
        .addColumn('delivered', integer, c => c.notNull())
        .addColumn('counter_keys', text, c => c.notNull())
        .addColumn('writer', text, c => c.notNull())
        .addColumn('chain', text, c => c.notNull())
        .addUniqueConstraint('ledger_entries_key', ['call_id', 'attempt']),
    ).execute()
    await index(db, kind, 'traffic.ledger_entries', ['workspace_id', 'admitted_at'])
    await strict(
      kind,
      db.schema
        .createTable('traffic.logs')
        .addColumn('id', text, c => c.notNull().primaryKey())
        .addColumn('call_id', text, c => c.notNull())
        .addColumn('trace_id', text, c => c.notNull())
        .addColumn('span_id', text, c => c.notNull())
        .addColumn('created_at', text, c => c.notNull())
        .addColumn('organisation_id', text, c => c.notNull())
        .addColumn('workspace_id', text, c => c.notNull())
        .addColumn('api_key_id', text, c => c.notNull())
        .addColumn('user_id', text)
        .addColumn('provider_id', text)
        .addColumn('provider_slug', text)
        .addColumn('integration_id', text)
        .addColumn('config_id', text)
        .addColumn('provider', text, c => c.notNull())
        .addColumn('model', text)
        .addColumn('endpoint', text, c => c.notNull())
        .addColumn('status', integer, c => c.notNull())
        .addColumn('prompt_tokens', integer, c => c.notNull())
        .addColumn('completion_tokens', integer, c => c.notNull())
        .addColumn('usage', text, c => c.notNull())
        .addColumn('usage_source', text, c => c.notNull())
        .addColumn('cost_nanousd', integer, c => c.notNull())
        .addColumn('unpriced', integer, c => c.notNull())
        .addColumn('outcome', text, c => c.notNull())
        .addColumn('delivered', integer, c => c.notNull())
        .addColumn('metadata', text, c => c.notNull())
        .addColumn('detail', text, c => c.notNull()),
    ).execute()
    await index(db, kind, 'traffic.logs', ['workspace_id', 'created_at', 'id'])
    await index(db, kind, 'traffic.logs', ['trace_id'])
    // beside SQLite, bodies lie in files
    if (kind === 'postgres') {
      await db.schema
        .createTable('traffic.log_bodies')
        .addColumn('log_id', text, c => c.primaryKey())
        .addColumn('created_at', text, c => c.notNull())
        .addColumn('request_headers', text, c => c.notNull())
        .addColumn('request_body', bytes)
        .addColumn('response_headers', text, c => c.notNull())
        .addColumn('response_body', bytes)
        .addColumn('response_encoding', text)
        .addColumn('cut', integer, c => c.notNull())
        .execute()
    }
    await strict(
      kind,
      db.schema
        .createTable('traffic.usage_hourly')
        .addColumn('hour', text, c => c.notNull())
        .addColumn('organisation_id', text, c => c.notNull())
        .addColumn('workspace_id', text, c => c.notNull())
        .addColumn('api_key_id', text, c => c.notNull())
        .addColumn('provider_slug', text, c => c.notNull())
        .addColumn('provider', text, c => c.notNull())
        .addColumn('model', text, c => c.notNull())
        .addColumn('requests', integer, c => c.notNull())
        .addColumn('failures', integer, c => c.notNull())
        .addColumn('unpriced', integer, c => c.notNull())
        .addColumn('prompt_tokens', integer, c => c.notNull())
        .addColumn('completion_tokens', integer, c => c.notNull())
        .addColumn('cost_nanousd', integer, c => c.notNull())
        .addPrimaryKeyConstraint('usage_hourly_key', [
          'hour',
          'workspace_id',
          'api_key_id',
          'provider_slug',
          'provider',
          'model',
        ]),
    ).execute()
    await strict(
      kind,
      db.schema
        .createTable('traffic.journal_marks')
        .addColumn('writer', text, c => c.primaryKey())
        .addColumn('epoch', integer, c => c.notNull())
        .addColumn('segment', integer, c => c.notNull())
        .addColumn('position', integer, c => c.notNull())
        .addColumn('chain', text, c => c.notNull()),
    ).execute()
  },
}
