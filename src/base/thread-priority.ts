import {getPriority, setPriority} from 'node:os'

/**
 * How much lower the threads beside the one that answers are. A core that is full leaves one of them a quarter: more
 * than the thread that writes needs. At 15 it would be a thirtieth, and the journal would grow without bound.
 */
const LOWER_BY = 5
/** The lowest there is. */
const LOWEST = 19

export interface PrioritySystem {
  readonly platform: string
  /** Of the calling thread. */
  readonly get: () => number
  readonly set: (priority: number) => void
}

const HERE: PrioritySystem = {
  platform: process.platform,
  get: () => getPriority(0),
  set: priority => setPriority(0, priority),
}

/**
 * Lets the thread that answers go before the calling one, which writes, reads or sends behind it. To be called once in
 * such a thread, permanently: a priority is raised again only with a right that the gateway does not need. Gives the
 * fault of a system that refuses it; there all threads stay alike.
 *
 * On Linux 0 means the calling thread (setpriority(2), "C library/kernel differences"); elsewhere it means the whole
 * process, the answering thread included, so nothing is done there. Threads inherit it: those of libuv's pool, which
 * sync the journal, are there before the first worker thread starts, as opening the journal uses them.
 */
export function yieldToAnswers({platform, get, set}: PrioritySystem = HERE): Error | undefined {
  if (platform !== 'linux') return undefined
  try {
    set(Math.min(LOWEST, get() + LOWER_BY))
    return undefined
  } catch (fault) {
    return fault instanceof Error ? fault : new Error(String(fault))
  }
}
