import {index, type Migration, strict, types} from './support.ts'

/** Integrations, the workspaces and models they are open to, providers and configs. */
export const catalog: Migration = {
  name: '0002_catalog',
  area: 'control',
  async up(db, kind) {
    const {text, integer, bytes} = types(kind)
    await strict(
      kind,
      db.schema
        .createTable('integrations')
        .addColumn('id', text, c => c.primaryKey())
        .addColumn('slug', text, c => c.notNull())
        .addColumn('organisation_id', text, c => c.notNull().references('organisations.id'))
        .addColumn('workspace_id', text, c => c.references('workspaces.id'))
        .addColumn('name', text, c => c.notNull())
        .addColumn('description', text)
        .addColumn('ai_provider_id', text, c => c.notNull())
        .addColumn('key_sealed', bytes)
        .addColumn('key_masked', text)
        .addColumn('configurations', text, c => c.notNull())
        .addColumn('configurations_sealed', bytes)
        .addColumn('tags', text, c => c.notNull())
        .addColumn('allow_all_models', integer, c => c.notNull())
        .addColumn('global_access_enabled', integer, c => c.notNull())
        .addColumn('global_workspace_access', text)
        .addColumn('trusts_host', integer, c => c.notNull())
        .addColumn('is_hidden', integer, c => c.notNull())
        .addColumn('status', text, c => c.notNull())
        .addColumn('created_at', text, c => c.notNull())
        .addColumn('last_updated_at', text, c => c.notNull()),
    ).execute()
    await index(db, kind, 'integrations', ['organisation_id', 'slug'], {unique: true, where: "status <> 'archived'"})
    await strict(
      kind,
      db.schema
        .createTable('integration_models')
        .addColumn('integration_id', text, c => c.notNull().references('integrations.id'))
        .addColumn('slug', text, c => c.notNull())
        .addColumn('enabled', integer, c => c.notNull())
        .addColumn('is_custom', integer, c => c.notNull())
        .addColumn('is_finetune', integer, c => c.notNull())
        .addColumn('base_model_slug', text)
        .addColumn('pricing_config', text)
        .addColumn('created_at', text, c => c.notNull())
        .addColumn('last_updated_at', text, c => c.notNull())
        .addPrimaryKeyConstraint('integration_models_key', ['integration_id', 'slug']),
    ).execute()
    await strict(
      kind,
      db.schema
        .createTable('integration_workspaces')
        .addColumn('integration_id', text, c => c.notNull().references('integrations.id'))
        .addColumn('workspace_id', text, c => c.notNull().references('workspaces.id'))
        .addColumn('enabled', integer, c => c.notNull())
        .addColumn('usage_limits', text)
        .addColumn('rate_limits', text)
        .addColumn('last_reset_at', text)
        .addColumn('created_at', text, c => c.notNull())
        .addColumn('last_updated_at', text, c => c.notNull())
        .addPrimaryKeyConstraint('integration_workspaces_key', ['integration_id', 'workspace_id']),
    ).execute()
    await strict(
      kind,
      db.schema
        .createTable('providers')
        .addColumn('id', text, c => c.primaryKey())
        .addColumn('slug', text, c => c.notNull())
        .addColumn('organisation_id', text, c => c.notNull().references('organisations.id'))
        .addColumn('workspace_id', text, c => c.notNull().references('workspaces.id'))
        .addColumn('integration_id', text, c => c.notNull().references('integrations.id'))
        .addColumn('name', text, c => c.notNull())
        .addColumn('note', text)
        .addColumn('is_virtual_key', integer, c => c.notNull())
        .addColumn('usage_limits', text)
        .addColumn('rate_limits', text)
        .addColumn('tags', text, c => c.notNull())
        .addColumn('status', text, c => c.notNull())
        .addColumn('expires_at', text)
        .addColumn('last_reset_at', text)
        .addColumn('created_at', text, c => c.notNull())
        .addColumn('last_updated_at', text, c => c.notNull()),
    ).execute()
    await index(db, kind, 'providers', ['workspace_id', 'slug'], {unique: true, where: "status <> 'archived'"})
    await index(db, kind, 'providers', ['integration_id'])
    await strict(
      kind,
      db.schema
        .createTable('configs')
        .addColumn('id', text, c => c.primaryKey())
        .addColumn('slug', text, c => c.notNull().unique())
        .addColumn('organisation_id', text, c => c.notNull().references('organisations.id'))
        .addColumn('workspace_id', text, c => c.notNull().references('workspaces.id'))
        .addColumn('name', text, c => c.notNull())
        .addColumn('is_default', integer, c => c.notNull())
        .addColumn('status', text, c => c.notNull())
        .addColumn('version_id', text, c => c.notNull())
        .addColumn('version', integer, c => c.notNull())
        .addColumn('config', text, c => c.notNull())
        .addColumn('secrets_sealed', bytes)
        .addColumn('owner_id', text)
        .addColumn('updated_by', text)
        .addColumn('created_at', text, c => c.notNull())
        .addColumn('last_updated_at', text, c => c.notNull()),
    ).execute()
    await index(db, kind, 'configs', ['workspace_id', 'created_at'])
    await strict(
      kind,
      db.schema
        .createTable('config_versions')
        .addColumn('id', text, c => c.primaryKey())
        .addColumn('config_id', text, c => c.notNull().references('configs.id'))
        .addColumn('version', integer, c => c.notNull())
        .addColumn('config', text, c => c.notNull())
        .addColumn('updated_by', text)
        .addColumn('created_at', text, c => c.notNull()),
    ).execute()
    await index(db, kind, 'config_versions', ['config_id', 'version'], {unique: true})
  },
}
