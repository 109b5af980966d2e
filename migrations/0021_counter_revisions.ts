import {sql} from 'kysely'
import type {Migration} from './support.ts'

/**
 * A counter that was restored from the ledger has a revision, another after each restoration and correction, so that
 * what it was found to differ by is put right once. Those that are there were restored before, and are restored again.
 */
export const counterRevisions: Migration = {
  name: '0021_counter_revisions',
  area: 'traffic',
  async up(db, kind) {
    if (kind === 'sqlite') return // its counters are in memory
    await sql`create sequence traffic.counter_revisions`.execute(db)
    await sql`alter table traffic.counters add column revision bigint`.execute(db)
    await sql`update traffic.counters set revision = nextval('traffic.counter_revisions') where key like 'tokens/budget/%' or key like 'cost/budget/%'`.execute(
      db,
    )
  },
}
