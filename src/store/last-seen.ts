import type {Db} from './database.ts'

/**
 * The latest time that this database knows a gateway saw: of its last entry and its last job; epoch milliseconds, null
 * when it has neither.
 */
export async function lastSeen(db: Db): Promise<number | null> {
  const entry = await db
    .selectFrom('traffic.ledger_entries')
    .select('settled_at as at')
    .orderBy('sequence', 'desc')
    .limit(1)
    .executeTakeFirst()
  const job = await db
    .selectFrom('traffic.workers')
    .select(e => e.fn.max('started_at').as('at'))
    .executeTakeFirst()
  const times = [entry?.at, job?.at].flatMap(at => (at ? [Date.parse(at)] : [])).filter(Number.isFinite)
  return times.length > 0 ? Math.max(...times) : null
}
