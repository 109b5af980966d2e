import {type Expression, type SelectQueryBuilder, type SqlBool, sql} from 'kysely'
import type {Page, Paged} from '../schema/paging.ts'
import type {Db} from './database.ts'

/**
 * True when a write was refused because another row has its place: a unique column, in the words of either database.
 */
export function isTaken(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  return code === '23505' || code === 'SQLITE_CONSTRAINT_UNIQUE' || code === 'SQLITE_CONSTRAINT_PRIMARYKEY'
}

/** The pattern of `like ... escape '\'` that finds `text` anywhere, its `%` and `_` taken literally. */
export function containing(text: string): string {
  return `%${text.replace(/[\\%_]/g, '\\$&')}%`
}

/** True for rows that have `text` in one of the columns, whatever its case. */
export function mentioning(columns: readonly string[], text: string): Expression<SqlBool> {
  const pattern = containing(text)
  const each = columns.map(column => sql`lower(${sql.ref(column)}) like lower(${pattern}) escape '\\'`)
  return sql<SqlBool>`(${sql.join(each, sql` or `)})`
}

/** True for the rows whose slug or id is `named`; `slugFirst` has the one with that slug before the other. */
export function called(named: string): Expression<SqlBool> {
  return sql<SqlBool>`(slug = ${named} or id = ${named})`
}

export function slugFirst(named: string): Expression<number> {
  return sql<number>`case when slug = ${named} then 0 else 1 end`
}

/** The list of `in (...)`, which may not be empty on PostgreSQL: then it holds what no column does. */
export function anyOf<T extends string>(values: readonly T[]): T[] {
  return values.length ? [...values] : ['' as T]
}

/** One page of what a query finds, in its order, and how many there are in all. */
export async function paged<DB, TB extends keyof DB, Row>(
  query: SelectQueryBuilder<DB, TB, Row>,
  {current_page, page_size}: Page,
): Promise<Paged<Row>> {
  const counting = query
    .clearSelect()
    .clearOrderBy()
    .select(e => e.fn.countAll<number>().as('n'))
  const {n} = (await counting.executeTakeFirstOrThrow()) as {n: number}
  const rows = await query
    .limit(page_size)
    .offset(current_page * page_size)
    .execute()
  return {total: Number(n), rows}
}

/** The tables whose new rows may be given the slug of an archived one. */
type SluggedTable = 'workspaces' | 'configs' | 'guardrails' | 'collections' | 'prompts' | 'prompt_partials'

/**
 * Frees the slug that an archived row of the organisation still has: that row goes by its slug and the last of its id
 * from now on.
 */
export async function giveUpSlug(db: Db, table: SluggedTable, organisation_id: string, slug: string) {
  const archived = db
    .selectFrom(table)
    .select(['id'])
    .where('slug', '=', slug)
    .where('organisation_id', '=', organisation_id)
  const row = await archived.where('status', '=', 'archived').executeTakeFirst()
  if (!row) return
  await db
    .updateTable(table)
    .set({slug: `${slug}-${row.id.slice(-6)}`})
    .where('id', '=', row.id)
    .execute()
}
