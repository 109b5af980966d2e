import type {Db} from '../database.ts'

/** The slugs of configs or workspaces by their ids; archived ones have theirs still. */
export async function slugsOf(
  db: Db,
  table: 'configs' | 'workspaces',
  ids: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  if (ids.length === 0) return new Map()
  const rows = await db.selectFrom(table).select(['id', 'slug']).where('id', 'in', ids).execute()
  return new Map(rows.map(({id, slug}) => [id, slug]))
}
