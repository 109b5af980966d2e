import type {Log} from '../base/log.ts'
import {expire, expiring} from '../store/budgets.ts'
import type {Store} from '../store/database.ts'
import {type NoticeServices, tell} from './alert-mail.ts'
import type {Job} from './schedule.ts'

/**
 * Keys and providers past their expiry become `expired` without anyone's action, and people get mail: calls are refused
 * from the moment on, so people who can replace them have to know.
 */
export function keyExpiryJob({store, log, ...on}: NoticeServices & {readonly store: Store; readonly log: Log}): Job {
  return {
    name: 'key-expiry',
    every_ms: 60_000,
    async run({now_ms, lost}) {
      const now = new Date(now_ms).toISOString()
      for (const each of await expiring(store.db, now)) {
        if (lost.aborted) return
        const {entity, id, workspace_id, expires_at, alert_emails} = each
        const subject = {...each, alert_emails: alert_emails === null ? [] : (JSON.parse(alert_emails) as string[])}
        const expired = await store.write(async db => {
          if (!(await expire(db, each, now))) return false
          await tell(db, {event: 'expired-alert', subject, facts: {expires_at}}, now_ms, on)
          return true
        })
        if (expired) log.info({entity, id, workspace_id, expires_at}, 'a key has expired')
      }
    },
  }
}
