import type {Db, Store} from '../database.ts'
import {countAsides} from './asides.ts'
import {verifyChains} from './chains.ts'
import {verifyLogs} from './logs.ts'
import type {AtOnce, LedgerProgress, LedgerReport} from './report.ts'
import {verifySums} from './sums.ts'

export type {LedgerBreak, LedgerProgress, LedgerReport, Recovered, SetAsideSums} from './report.ts'

/**
 * Checks the ledger: the chain of every writer over all entries, then the hourly sums and the rows of the log against
 * their entries, as far back as those are kept. The gateway may keep serving.
 */
export async function verifyLedger(
  store: Store,
  onProgress: (progress: LedgerProgress) => void = () => undefined,
): Promise<LedgerReport> {
  // entries of several writers are committed out of their order, so on PostgreSQL all must be of one moment
  if (store.kind === 'postgres')
    return store.db
      .transaction()
      .setIsolationLevel('repeatable read')
      .execute(db => verify(db, work => work(db), onProgress))
  return verify(store.db, work => store.write(work), onProgress)
}

async function verify(db: Db, atOnce: AtOnce, onProgress: (progress: LedgerProgress) => void): Promise<LedgerReport> {
  const {last} = await db
    .selectFrom('traffic.ledger_entries')
    .select(e => e.fn.max('sequence').as('last'))
    .executeTakeFirstOrThrow()
  const total = Number(last ?? 0)
  const {breaks, ...chains} = await verifyChains(db, done =>
    onProgress({part: 'entries', done, total: Math.max(done, total)}),
  )
  const sums = await verifySums(db, atOnce, (done, all) => onProgress({part: 'sums', done, total: all}))
  const logs = await verifyLogs(db, done => onProgress({part: 'logs', done, total: done}))
  const aside = await countAsides(db)
  const order = breaks.toSorted((one, other) => (one.entry?.sequence ?? Infinity) - (other.entry?.sequence ?? Infinity))
  return {
    ...chains,
    sums: sums.report,
    logs: logs.report,
    set_aside: aside.report,
    breaks: [...order, ...aside.breaks, ...sums.breaks, ...logs.breaks],
  }
}
