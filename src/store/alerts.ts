import type {Db} from './database.ts'

/** The owner and the subject of an alert. */
export interface AlertKey {
  readonly entity: string
  readonly entity_id: string
  readonly about: string
}

/** The alerts so far, by `alertName`; JSON texts. */
export async function readAlerts(db: Db): Promise<ReadonlyMap<string, string>> {
  const rows = await db.selectFrom('alerts').select(['entity', 'entity_id', 'about', 'state']).execute()
  return new Map(rows.map(row => [alertName(row), row.state]))
}

export function alertName({entity, entity_id, about}: AlertKey): string {
  return `${entity}/${entity_id}/${about}`
}

/** Writes the alerts of now over what was read before; false when another process was faster. */
export async function writeAlert(
  db: Db,
  key: AlertKey,
  before: string | null,
  state: string,
  now: string,
): Promise<boolean> {
  if (before === null) {
    const {numInsertedOrUpdatedRows} = await db
      .insertInto('alerts')
      .values({...key, state, last_updated_at: now})
      .onConflict(conflict => conflict.columns(['entity', 'entity_id', 'about']).doNothing())
      .executeTakeFirst()
    return (numInsertedOrUpdatedRows ?? 0n) > 0n
  }
  const {numUpdatedRows} = await db
    .updateTable('alerts')
    .set({state, last_updated_at: now})
    .where('entity', '=', key.entity)
    .where('entity_id', '=', key.entity_id)
    .where('about', '=', key.about)
    .where('state', '=', before)
    .executeTakeFirst()
  return numUpdatedRows > 0
}
