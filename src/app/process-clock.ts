import {type Clock, type ClockStep, createClock} from '../base/clock.ts'
import type {Log} from '../base/log.ts'
import type {Db} from '../store/database.ts'
import {lastSeen} from '../store/last-seen.ts'

const LOOK_EVERY_MS = 1_000

export interface MonotonicWallClock extends Clock {
  /** Continues from the time that earlier processes saw. */
  goOn(db: Db): Promise<void>
  close(): Promise<void>
}

/** The one clock of this process. Steps of the machine's are reported, each once, and survived. */
export function openClock(options: Parameters<typeof createClock>[0], log: Log): MonotonicWallClock {
  const clock = createClock(options)
  const tell = (step: ClockStep | null) => {
    if (step) log.warn({...step}, sentenceOf(step))
  }
  const timer = setInterval(() => tell(clock.look()), LOOK_EVERY_MS).unref()
  return {
    ...clock,
    async goOn(db) {
      const seen_ms = await lastSeen(db)
      if (seen_ms !== null) tell(clock.seen(seen_ms))
    },
    async close() {
      clearInterval(timer)
    },
  }
}

function sentenceOf({by_ms, ahead_ms}: ClockStep): string {
  const went = `the clock went ${by_ms > 0 ? 'ahead' : 'back'} by ${Math.round(Math.abs(by_ms) / 1000)} s`
  if (ahead_ms > 0)
    return `${went}; windows of limits and ages of answers go on from the time that was seen before, a tenth slower, until it has caught up`
  return by_ms > 0
    ? `${went}, or this machine slept`
    : `${went}, to a time so far off that it was wrong before; it is believed`
}
