import type {Store} from '../store/database.ts'
import {dropEndedSessions} from '../store/sessions.ts'
import {dropEndedSignIns} from '../store/sign-ins.ts'
import type {Job} from './schedule.ts'

/** How long an ended session is still there to be looked at. */
const SESSION_DAYS = 90
const DAY_MS = 86_400_000

/** Deletes sign-ins, codes and sessions that are over. */
export function signInsJob({store}: {readonly store: Store}): Job {
  return {
    name: 'sign-in-retention',
    every_ms: 3_600_000,
    async run({now_ms}) {
      await store.write(async db => {
        await dropEndedSignIns(db, new Date(now_ms).toISOString())
        await dropEndedSessions(db, new Date(now_ms - SESSION_DAYS * DAY_MS).toISOString())
      })
    },
  }
}
