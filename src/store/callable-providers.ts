import type {Db} from './database.ts'

/** The providers of a workspace that calls may go to, each with its kind and its integration. */
export function callableProviders(db: Db, workspace_id: string) {
  return db
    .selectFrom('providers as p')
    .innerJoin('integrations as i', 'i.id', 'p.integration_id')
    .select(['p.slug', 'i.ai_provider_id', 'i.id as integration_id', 'i.allow_all_models'])
    .where('p.workspace_id', '=', workspace_id)
    .where('p.status', '=', 'active')
    .where('i.status', '=', 'active')
    .orderBy('p.slug')
    .execute()
}
