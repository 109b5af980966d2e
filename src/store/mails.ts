import type {Db} from './database.ts'
import type {MailsTable} from './tables/alerts.ts'

export type NewMail = Pick<MailsTable, 'id' | 'recipient' | 'subject' | 'plain' | 'html'>

/** Puts letters where the job finds them that sends. */
export async function postMails(db: Db, mails: readonly NewMail[], now_ms: number) {
  if (mails.length === 0) return
  const waiting = {
    created_at: new Date(now_ms).toISOString(),
    next_try_at_ms: now_ms,
    tries: 0,
    status: 'waiting',
    error: null,
    sent_at: null,
  } as const
  await db
    .insertInto('mails')
    .values(mails.map(mail => ({...mail, ...waiting})))
    .execute()
}

/** Puts a letter there that waits until `due_at_ms`, unless one of its id is there; true where it did. */
export async function postMailOnce(db: Db, mail: NewMail, due_at_ms: number, now_ms: number): Promise<boolean> {
  const created_at = new Date(now_ms).toISOString()
  const {numInsertedOrUpdatedRows} = await db
    .insertInto('mails')
    .values({
      ...{...mail, created_at, next_try_at_ms: due_at_ms, tries: 0},
      ...{status: 'waiting', error: null, sent_at: null},
    })
    .onConflict(conflict => conflict.column('id').doNothing())
    .executeTakeFirst()
  return Number(numInsertedOrUpdatedRows ?? 0) > 0
}

/** Holds a letter until the end of the transaction: no other writes it meanwhile. */
export async function holdMail(db: Db, id: string) {
  await db.updateTable('mails').set({id}).where('id', '=', id).execute()
}

/** Letters that are to be sent now, the longest waiting first. */
export function dueMails(db: Db, now_ms: number, most: number): Promise<MailsTable[]> {
  return db
    .selectFrom('mails')
    .selectAll()
    .where('status', '=', 'waiting')
    .where('next_try_at_ms', '<=', now_ms)
    .orderBy('next_try_at_ms')
    .orderBy('id')
    .limit(most)
    .execute()
}

export async function updateMail(db: Db, id: string, change: Partial<MailsTable>) {
  await db.updateTable('mails').set(change).where('id', '=', id).execute()
}

/** Forgets letters that were sent or given up before then. */
export async function forgetMails(db: Db, before: string) {
  await db.deleteFrom('mails').where('status', '<>', 'waiting').where('created_at', '<', before).execute()
}
