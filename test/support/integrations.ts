import type {IntegrationsTable} from '../../src/store/tables/catalog.ts'

const AT = '2026-03-01T00:00:00.000Z'

/** The row of an integration of an organisation, open to all of its workspaces and models. */
export function integrationRow(
  row: Pick<IntegrationsTable, 'id' | 'organisation_id'> & Partial<IntegrationsTable>,
): IntegrationsTable {
  return {
    slug: row.id,
    workspace_id: null,
    name: row.id,
    description: null,
    ai_provider_id: 'openai',
    key_sealed: null,
    key_masked: null,
    configurations: '{}',
    configurations_sealed: null,
    tags: '{}',
    allow_all_models: 1,
    global_access_enabled: 1,
    global_workspace_access: null,
    trusts_host: 0,
    is_hidden: 0,
    secret_mappings: '[]',
    status: 'active',
    created_at: AT,
    last_updated_at: AT,
    ...row,
  }
}
