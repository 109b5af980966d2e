import type {Db} from './database.ts'

/** The time in which failures of a key count: until its end, which is the name of this time as well. */
export interface FailureTime {
  readonly now: string
  readonly expires_at: string
}

/**
 * One failure more, where there are fewer than `most`; says the end of the time in which it counts, which began with
 * the first of it. Null: there are as many. One statement, so that of several processes none counts past it.
 */
export async function addFailure(
  db: Db,
  key: string,
  {now, expires_at, most}: FailureTime & {readonly most: number},
): Promise<string | null> {
  const row = await db
    .insertInto('sign_in_failures')
    .values({key, count: 1, expires_at})
    .onConflict(conflict =>
      conflict
        .column('key')
        .doUpdateSet(e => {
          const is_over = e('sign_in_failures.expires_at', '<=', now)
          return {
            count: e
              .case()
              .when(is_over)
              .then(1)
              .else(e('sign_in_failures.count', '+', 1))
              .end(),
            expires_at: e.case().when(is_over).then(expires_at).else(e.ref('sign_in_failures.expires_at')).end(),
          }
        })
        .where(e => e.or([e('sign_in_failures.count', '<', most), e('sign_in_failures.expires_at', '<=', now)])),
    )
    .returning('expires_at')
    .executeTakeFirst()
  return row?.expires_at ?? null
}

/** Takes one failure off the time that ends then; nothing where the count began again since. */
export async function takeFailure(db: Db, key: string, expires_at: string) {
  await db
    .deleteFrom('sign_in_failures')
    .where('key', '=', key)
    .where('expires_at', '=', expires_at)
    .where('count', '<=', 1)
    .execute()
  await db
    .updateTable('sign_in_failures')
    .set(e => ({count: e('count', '-', 1)}))
    .where('key', '=', key)
    .where('expires_at', '=', expires_at)
    .execute()
}

/** How many there are, and until when they count; undefined for none. */
export async function failuresOf(db: Db, key: string): Promise<{count: number; expires_at: string} | undefined> {
  const row = await db
    .selectFrom('sign_in_failures')
    .select(['count', 'expires_at'])
    .where('key', '=', key)
    .executeTakeFirst()
  return row && {count: Number(row.count), expires_at: row.expires_at}
}

/** True while a failure of the time that ends then counts. */
export async function isCounted(db: Db, key: string, expires_at: string): Promise<boolean> {
  const row = await db
    .selectFrom('sign_in_failures')
    .select('count')
    .where('key', '=', key)
    .where('expires_at', '=', expires_at)
    .executeTakeFirst()
  return row !== undefined
}

export async function forgetFailures(db: Db, key: string) {
  await db.deleteFrom('sign_in_failures').where('key', '=', key).execute()
}
