import type {Db} from '../database.ts'

export interface SlugAndName {
  readonly slug: string
  readonly name: string
}

/** The slugs and names of configs or workspaces by their ids; archived ones have theirs still. */
export async function slugsAndNames(
  db: Db,
  table: 'configs' | 'workspaces',
  ids: readonly string[],
): Promise<ReadonlyMap<string, SlugAndName>> {
  if (ids.length === 0) return new Map()
  const rows = await db.selectFrom(table).select(['id', 'slug', 'name']).where('id', 'in', ids).execute()
  return new Map(rows.map(({id, ...row}) => [id, row]))
}
