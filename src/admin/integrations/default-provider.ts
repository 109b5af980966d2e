import {newId} from '../../base/ids.ts'
import type {Db} from '../../store/database.ts'
import {globalIntegrations} from '../../store/integrations.ts'
import {globalAccess, insertProvider, providerSlugTaken} from '../../store/providers.ts'
import type {IntegrationsTable} from '../../store/tables/catalog.ts'
import {freeSlug} from '../slugs.ts'

/**
 * Makes the provider by which a workspace uses an integration. It is called `slug`, which must be free there; without
 * one it is called as the integration is, and where that is taken, nearly so. Its slug.
 */
export async function makeDefaultProvider(
  db: Db,
  integration: Pick<IntegrationsTable, 'id' | 'slug' | 'name' | 'organisation_id'>,
  {
    workspace_id,
    slug,
    now,
  }: {readonly workspace_id: string; readonly slug: string | null | undefined; readonly now: string},
): Promise<string> {
  const isTaken = (slug: string) => providerSlugTaken(db, workspace_id, slug)
  const called =
    slug ?? ((await isTaken(integration.slug)) ? await freeSlug('', integration.name, 10, isTaken) : integration.slug)
  await insertProvider(db, {
    id: newId(),
    slug: called,
    organisation_id: integration.organisation_id,
    workspace_id,
    integration_id: integration.id,
    name: integration.name,
    note: null,
    is_virtual_key: 0,
    usage_limits: null,
    rate_limits: null,
    tags: '{}',
    status: 'active',
    expires_at: null,
    last_reset_at: null,
    created_at: now,
    last_updated_at: now,
  })
  return called
}

/**
 * Gives a new workspace a provider of every integration that is open to all. For the operation that creates workspaces.
 */
export async function offerGlobalIntegrations(
  db: Db,
  workspace: {readonly id: string; readonly organisation_id: string},
  now: string,
) {
  for (const integration of await globalIntegrations(db, workspace.organisation_id)) {
    const {create_default_provider, default_provider_slug} = globalAccess(integration.global_workspace_access)
    if (!create_default_provider) continue
    const clash = default_provider_slug !== null && (await providerSlugTaken(db, workspace.id, default_provider_slug))
    const slug = clash ? null : default_provider_slug
    await makeDefaultProvider(db, integration, {workspace_id: workspace.id, slug, now})
  }
}
