import type {Kysely} from 'kysely'
import {index, type Kind, type Migration, strict, types} from './support.ts'

const ACTIVE = "status <> 'archived'"

/**
 * Secret references, MCP integrations and servers, deployments, and groups of a directory with the workspaces they are
 * mapped to.
 */
export const registry: Migration = {
  name: '0013_registry',
  area: 'control',
  async up(db, kind) {
    await secretReferences(db, kind)
    await mcpIntegrations(db, kind)
    await mcpServers(db, kind)
    await deployments(db, kind)
    await groups(db, kind)
  },
}

async function secretReferences(db: Kysely<unknown>, kind: Kind) {
  const {text, integer, bytes} = types(kind)
  await strict(
    kind,
    db.schema
      .createTable('secret_references')
      .addColumn('id', text, c => c.primaryKey())
      .addColumn('organisation_id', text, c => c.notNull().references('organisations.id'))
      .addColumn('slug', text, c => c.notNull())
      .addColumn('name', text, c => c.notNull())
      .addColumn('description', text)
      .addColumn('manager_type', text, c => c.notNull())
      .addColumn('auth_config', text, c => c.notNull())
      .addColumn('auth_config_sealed', bytes)
      .addColumn('secret_path', text, c => c.notNull())
      .addColumn('secret_key', text)
      .addColumn('allow_all_workspaces', integer, c => c.notNull())
      .addColumn('tags', text, c => c.notNull())
      .addColumn('status', text, c => c.notNull())
      .addColumn('created_by', text)
      .addColumn('created_at', text, c => c.notNull())
      .addColumn('last_updated_at', text, c => c.notNull()),
  ).execute()
  await index(db, kind, 'secret_references', ['organisation_id', 'created_at'])
  await index(db, kind, 'secret_references', ['organisation_id', 'slug'], {unique: true, where: ACTIVE})
  await strict(
    kind,
    db.schema
      .createTable('allowed_workspaces')
      .addColumn('resource_id', text, c => c.notNull())
      .addColumn('workspace_id', text, c => c.notNull().references('workspaces.id'))
      .addPrimaryKeyConstraint('allowed_workspaces_row', ['resource_id', 'workspace_id']),
  ).execute()
}

async function mcpIntegrations(db: Kysely<unknown>, kind: Kind) {
  const {text, integer, bytes} = types(kind)
  await strict(
    kind,
    db.schema
      .createTable('mcp_integrations')
      .addColumn('id', text, c => c.primaryKey())
      .addColumn('organisation_id', text, c => c.notNull().references('organisations.id'))
      .addColumn('workspace_id', text, c => c.references('workspaces.id'))
      .addColumn('slug', text, c => c.notNull())
      .addColumn('name', text, c => c.notNull())
      .addColumn('description', text)
      .addColumn('url', text, c => c.notNull())
      .addColumn('auth_type', text, c => c.notNull())
      .addColumn('transport', text, c => c.notNull())
      .addColumn('configurations', text, c => c.notNull())
      .addColumn('configurations_sealed', bytes)
      .addColumn('secret_mappings', text, c => c.notNull())
      .addColumn('global_access_enabled', integer, c => c.notNull())
      .addColumn('trusts_host', integer, c => c.notNull())
      .addColumn('metadata', text)
      .addColumn('owner_id', text)
      .addColumn('status', text, c => c.notNull())
      .addColumn('created_at', text, c => c.notNull())
      .addColumn('last_updated_at', text, c => c.notNull()),
  ).execute()
  await index(db, kind, 'mcp_integrations', ['organisation_id', 'created_at'])
  await index(db, kind, 'mcp_integrations', ['organisation_id', 'slug'], {unique: true, where: ACTIVE})
  await strict(
    kind,
    db.schema
      .createTable('mcp_integration_workspaces')
      .addColumn('mcp_integration_id', text, c => c.notNull().references('mcp_integrations.id'))
      .addColumn('workspace_id', text, c => c.notNull().references('workspaces.id'))
      .addColumn('enabled', integer, c => c.notNull())
      .addColumn('created_at', text, c => c.notNull())
      .addColumn('last_updated_at', text, c => c.notNull())
      .addPrimaryKeyConstraint('mcp_integration_workspaces_row', ['mcp_integration_id', 'workspace_id']),
  ).execute()
  await strict(
    kind,
    db.schema
      .createTable('mcp_capabilities')
      .addColumn('mcp_integration_id', text, c => c.notNull().references('mcp_integrations.id'))
      .addColumn('type', text, c => c.notNull())
      .addColumn('name', text, c => c.notNull())
      .addColumn('enabled', integer, c => c.notNull())
      .addColumn('details', text, c => c.notNull())
      .addColumn('created_at', text, c => c.notNull())
      .addColumn('last_updated_at', text, c => c.notNull())
      .addPrimaryKeyConstraint('mcp_capabilities_row', ['mcp_integration_id', 'type', 'name']),
  ).execute()
}

async function mcpServers(db: Kysely<unknown>, kind: Kind) {
  const {text, integer} = types(kind)
  await strict(
    kind,
    db.schema
      .createTable('mcp_servers')
      .addColumn('id', text, c => c.primaryKey())
      .addColumn('organisation_id', text, c => c.notNull().references('organisations.id'))
      .addColumn('workspace_id', text, c => c.notNull().references('workspaces.id'))
      .addColumn('mcp_integration_id', text, c => c.notNull().references('mcp_integrations.id'))
      .addColumn('slug', text, c => c.notNull())
      .addColumn('name', text, c => c.notNull())
      .addColumn('description', text)
      .addColumn('default_user_access', text, c => c.notNull())
      .addColumn('owner_id', text)
      .addColumn('status', text, c => c.notNull())
      .addColumn('created_at', text, c => c.notNull())
      .addColumn('last_updated_at', text, c => c.notNull()),
  ).execute()
  await index(db, kind, 'mcp_servers', ['workspace_id', 'created_at'])
  await index(db, kind, 'mcp_servers', ['mcp_integration_id'])
  await index(db, kind, 'mcp_servers', ['organisation_id', 'slug'], {unique: true, where: ACTIVE})
  await strict(
    kind,
    db.schema
      .createTable('mcp_server_capabilities')
      .addColumn('mcp_server_id', text, c => c.notNull().references('mcp_servers.id'))
      .addColumn('type', text, c => c.notNull())
      .addColumn('name', text, c => c.notNull())
      .addColumn('enabled', integer, c => c.notNull())
      .addPrimaryKeyConstraint('mcp_server_capabilities_row', ['mcp_server_id', 'type', 'name']),
  ).execute()
  await strict(
    kind,
    db.schema
      .createTable('mcp_server_users')
      .addColumn('mcp_server_id', text, c => c.notNull().references('mcp_servers.id'))
      .addColumn('user_id', text, c => c.notNull().references('users.id'))
      .addColumn('enabled', integer, c => c.notNull())
      .addPrimaryKeyConstraint('mcp_server_users_row', ['mcp_server_id', 'user_id']),
  ).execute()
}

async function deployments(db: Kysely<unknown>, kind: Kind) {
  const {text, integer} = types(kind)
  await strict(
    kind,
    db.schema
      .createTable('deployments')
      .addColumn('id', text, c => c.primaryKey())
      .addColumn('organisation_id', text, c => c.notNull().references('organisations.id'))
      .addColumn('slug', text, c => c.notNull())
      .addColumn('name', text, c => c.notNull())
      .addColumn('type', text, c => c.notNull())
      .addColumn('config', text, c => c.notNull())
      .addColumn('allow_all_workspaces', integer, c => c.notNull())
      .addColumn('status', text, c => c.notNull())
      .addColumn('created_at', text, c => c.notNull())
      .addColumn('last_updated_at', text, c => c.notNull()),
  ).execute()
  await index(db, kind, 'deployments', ['organisation_id', 'created_at'])
  await index(db, kind, 'deployments', ['organisation_id', 'slug'], {unique: true, where: ACTIVE})
}

async function groups(db: Kysely<unknown>, kind: Kind) {
  const {text} = types(kind)
  await strict(
    kind,
    db.schema
      .createTable('scim_groups')
      .addColumn('id', text, c => c.primaryKey())
      .addColumn('organisation_id', text, c => c.notNull().references('organisations.id'))
      .addColumn('name', text, c => c.notNull())
      .addColumn('created_at', text, c => c.notNull()),
  ).execute()
  await index(db, kind, 'scim_groups', ['organisation_id', 'name'], {unique: true})
  await strict(
    kind,
    db.schema
      .createTable('scim_mappings')
      .addColumn('id', text, c => c.primaryKey())
      .addColumn('organisation_id', text, c => c.notNull().references('organisations.id'))
      .addColumn('workspace_id', text, c => c.notNull().references('workspaces.id'))
      .addColumn('scim_group_id', text, c => c.notNull().references('scim_groups.id'))
      .addColumn('role', text, c => c.notNull())
      .addColumn('status', text, c => c.notNull())
      .addColumn('created_at', text, c => c.notNull())
      .addColumn('last_updated_at', text, c => c.notNull()),
  ).execute()
  await index(db, kind, 'scim_mappings', ['organisation_id', 'created_at'])
  await index(db, kind, 'scim_mappings', ['scim_group_id', 'workspace_id'], {unique: true, where: ACTIVE})
}
