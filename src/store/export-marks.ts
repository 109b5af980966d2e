import type {Store} from './database.ts'
import type {Mark} from './journal/index.ts'

export interface MarkOwner {
  readonly writer: string
  readonly epoch: number
}

/**
 * How far each of `names` has read the journal of a writer. One that is new, or of an older epoch (before a restore),
 * begins at `from`; it is written at once, so that an end of the process loses nothing that follows.
 */
export async function openExportMarks(
  store: Store,
  {writer, epoch}: MarkOwner,
  names: readonly string[],
  from: Mark,
): Promise<ReadonlyMap<string, Mark>> {
  const rows = await store.db.selectFrom('traffic.export_marks').selectAll().where('writer', '=', writer).execute()
  const marks = new Map<string, Mark>()
  for (const name of names) {
    const known = rows.find(row => row.export === name && row.epoch === epoch)
    if (!known) await saveExportMark(store, {writer, epoch}, name, from)
    marks.set(name, known ? {segment: known.segment, position: known.position} : from)
  }
  return marks
}

export async function saveExportMark(
  store: Store,
  {writer, epoch}: MarkOwner,
  name: string,
  {segment, position}: Mark,
): Promise<void> {
  await store.write(db =>
    db
      .insertInto('traffic.export_marks')
      .values({writer, export: name, epoch, segment, position})
      .onConflict(conflict => conflict.columns(['writer', 'export']).doUpdateSet({epoch, segment, position}))
      .execute(),
  )
}
