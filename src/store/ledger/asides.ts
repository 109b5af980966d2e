import type {Db} from '../database.ts'
import type {LedgerBreak, SetAsideSums} from './report.ts'

/**
 * Records that were set aside: those kept beside the journal are reported, and when one could not be kept, data is
 * lost.
 */
export async function countAsides(db: Db): Promise<{report: SetAsideSums; breaks: readonly LedgerBreak[]}> {
  const rows = await db
    .selectFrom('traffic.set_aside')
    .select(e => [
      e.fn.countAll<number>().as('records'),
      e.fn.max('set_aside_at').as('last_at'),
      'is_charged',
      'is_kept',
    ])
    .groupBy(['is_charged', 'is_kept'])
    .execute()
  const count = (of: readonly {readonly records: number}[]) => of.reduce((sum, {records}) => sum + Number(records), 0)
  const lost = count(rows.filter(({is_kept}) => !is_kept))
  const last_at = rows.reduce<string | null>(
    (last, row) => (last === null || row.last_at > last ? row.last_at : last),
    null,
  )
  const text = `${lost} ${lost === 1 ? 'record' : 'records'} of the journal could be neither entered nor kept.`
  return {
    report: {records: count(rows), uncharged: count(rows.filter(({is_charged}) => !is_charged)), last_at},
    breaks: lost > 0 ? [{kind: 'record', writer: null, entry: null, text}] : [],
  }
}
