import type {KeptEntry, KeptFilter} from '../../schema/cache.ts'
import type {Page, Paged} from '../../schema/paging.ts'

/** True for an entry that a filter means, where no database compares. */
export function isMeant(
  entry: Pick<KeptEntry, 'workspace_id' | 'digest' | 'model' | 'namespace'>,
  {workspace_ids, digest, model, namespace}: KeptFilter,
): boolean {
  return (
    workspace_ids.includes(entry.workspace_id) &&
    (digest === undefined || entry.digest === digest) &&
    (model === undefined || entry.model === model) &&
    (namespace === undefined || entry.namespace === namespace)
  )
}

export function keptPage(rows: readonly KeptEntry[], {current_page, page_size}: Page): Paged<KeptEntry> {
  const from = current_page * page_size
  return {total: rows.length, rows: rows.slice(from, from + page_size)}
}
