import type {Log} from '../base/log.ts'
import {type Mailer, MailFault} from '../ports/mail/index.ts'
import type {Store} from '../store/database.ts'
import {dueMails, forgetMails, updateMail} from '../store/mails.ts'
import type {MailsTable} from '../store/tables/alerts.ts'
import type {Job} from './schedule.ts'

const EVERY_MS = 15_000
const MAX_LETTERS = 100
/** A server that fails this often in a row is left alone until the next turn. */
const MAX_FAILURES = 3
const FIRST_DELAY_MS = 30_000
const MAX_DELAY_MS = 3_600_000
/** A mail that was undeliverable for so long is out of date. */
const GIVE_UP_MS = 3 * 86_400_000
const REMEMBER_MS = 30 * 86_400_000

/**
 * Sends the letters that wait. One that is not taken is tried again, later each time, up to three days; nothing else
 * waits for it.
 */
export function mailJob({store, mailer, log, now}: {store: Store; mailer: Mailer; log: Log; now: () => number}): Job {
  return {
    name: 'mail',
    every_ms: EVERY_MS,
    async run({now_ms, lost}) {
      const due = await dueMails(store.db, now_ms, MAX_LETTERS)
      let failures = 0
      let last: unknown
      for (const mail of due) {
        if (lost.aborted || failures >= MAX_FAILURES) break
        try {
          const {id, recipient: to, subject, plain, html} = mail
          await mailer.send({id, to, subject, plain, html})
          await store.write(db =>
            updateMail(db, id, {status: 'sent', error: null, tries: mail.tries + 1, sent_at: isoAt(now())}),
          )
          failures = 0
        } catch (fault) {
          const change = afterFault(mail, fault, now())
          await store.write(db => updateMail(db, mail.id, change))
          if (change.status === 'failed') log.error({fault, mail: mail.id}, 'a letter was given up')
          if (fault instanceof MailFault && fault.is_final) continue
          failures++
          last = fault
        }
      }
      if (due.length > 0) await store.write(db => forgetMails(db, isoAt(now_ms - REMEMBER_MS)))
      if (last !== undefined) throw last
    },
  }
}

function afterFault({tries, created_at}: MailsTable, fault: unknown, now_ms: number): Partial<MailsTable> {
  const error = fault instanceof Error ? fault.message : String(fault)
  const is_over = (fault instanceof MailFault && fault.is_final) || now_ms - Date.parse(created_at) > GIVE_UP_MS
  if (is_over) return {status: 'failed', error, tries: tries + 1}
  return {
    error,
    tries: tries + 1,
    next_try_at_ms: now_ms + Math.min(MAX_DELAY_MS, FIRST_DELAY_MS * 2 ** Math.min(tries, 10)),
  }
}

const isoAt = (ms: number) => new Date(ms).toISOString()
