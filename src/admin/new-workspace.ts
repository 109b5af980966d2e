import {newId} from '../base/ids.ts'
import type {Db} from '../store/database.ts'
import type {WorkspacesTable} from '../store/tables/identity.ts'
import {insertWorkspace, workspaceSlugTaken} from '../store/workspaces.ts'
import {offerGlobalIntegrations} from './integrations/default-provider.ts'
import {freeSlug} from './slugs.ts'

/** A workspace of a name alone, as a directory makes it: with the integrations that are open to all. */
export async function makeWorkspace(
  db: Db,
  organisation_id: string,
  name: string,
  now: string,
): Promise<WorkspacesTable> {
  const row: WorkspacesTable = {
    id: newId(),
    slug: await freeSlug('ws-', name, 10, slug => workspaceSlugTaken(db, organisation_id, slug)),
    ...{organisation_id, name, description: null, icon: null, is_default: 0, status: 'active'},
    ...{defaults: null, usage_limits: null, rate_limits: null, created_at: now, last_updated_at: now},
  }
  await insertWorkspace(db, row)
  await offerGlobalIntegrations(db, row, now)
  return row
}
