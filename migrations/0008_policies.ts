import {index, type Migration, strict, types} from './support.ts'

/** Policies of usage and of rates, and when the usage of one of their entities was set to zero by hand. */
export const policies: Migration = {
  name: '0008_policies',
  area: 'control',
  async up(db, kind) {
    const {text} = types(kind)
    await strict(
      kind,
      db.schema
        .createTable('policies')
        .addColumn('id', text, c => c.primaryKey())
        .addColumn('kind', text, c => c.notNull())
        .addColumn('organisation_id', text, c => c.notNull().references('organisations.id'))
        .addColumn('workspace_id', text, c => c.notNull().references('workspaces.id'))
        .addColumn('name', text)
        .addColumn('conditions', text, c => c.notNull())
        .addColumn('group_by', text, c => c.notNull())
        .addColumn('type', text, c => c.notNull())
        .addColumn('unit', text)
        .addColumn('terms', text, c => c.notNull())
        .addColumn('status', text, c => c.notNull())
        .addColumn('created_at', text, c => c.notNull())
        .addColumn('last_updated_at', text, c => c.notNull()),
    ).execute()
    await index(db, kind, 'policies', ['workspace_id', 'kind', 'created_at'])
    await strict(
      kind,
      db.schema
        .createTable('policy_resets')
        .addColumn('policy_id', text, c => c.notNull().references('policies.id'))
        .addColumn('value_key', text, c => c.notNull())
        .addColumn('reset_at', text, c => c.notNull())
        .addPrimaryKeyConstraint('policy_resets_key', ['policy_id', 'value_key']),
    ).execute()
  },
}

/**
 * What the entities of policies used, added up as entries arrive: by the day, a day that was reset by hand from then on
 * by itself; and for rates the last window alone.
 */
export const policyUsage: Migration = {
  name: '0008_policy_usage',
  area: 'traffic',
  async up(db, kind) {
    const {text, integer} = types(kind)
    await strict(
      kind,
      db.schema
        .createTable('traffic.policy_usage')
        .addColumn('policy_id', text, c => c.notNull())
        .addColumn('entity_id', text, c => c.notNull())
        .addColumn('since_at', text, c => c.notNull())
        .addColumn('value_key', text, c => c.notNull())
        .addColumn('used', integer, c => c.notNull())
        .addPrimaryKeyConstraint('policy_usage_key', ['policy_id', 'entity_id', 'since_at']),
    ).execute()
    await strict(
      kind,
      db.schema
        .createTable('traffic.policy_windows')
        .addColumn('policy_id', text, c => c.notNull())
        .addColumn('entity_id', text, c => c.notNull())
        .addColumn('since_at', text, c => c.notNull())
        .addColumn('value_key', text, c => c.notNull())
        .addColumn('used', integer, c => c.notNull())
        .addPrimaryKeyConstraint('policy_windows_key', ['policy_id', 'entity_id']),
    ).execute()
  },
}
