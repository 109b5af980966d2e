import {writeFileSync} from 'node:fs'
import {join} from 'node:path'
import {setTimeout as sleep} from 'node:timers/promises'
import {type LoadOptions, wrk} from './load.ts'
import {rssMb, start} from './processes.ts'
import {SMALL} from './scenarios.ts'
import type {Provider} from './subjects/provider.ts'
import type {Subject} from './subjects/subject.ts'

/** Memory over many calls. */
export interface Soak {
  readonly calls: number
  readonly took_s: number
  /** With the last call. */
  readonly end_mb: number
  /** After the load, when the gateway has come to rest. */
  readonly rss_mb: number
  /**
   * The lowest sample while calls 25-30 % and 95-100 % were made; of 200,000 the 50,000th-60,000th and the
   * 190,000th-200,000th.
   */
  readonly early_mb: number
  readonly late_mb: number
}

const SAMPLE_MS = 25
const PATIENCE_S = 300
/** A gateway gives memory back a minute after it had something to do (src/base/idle-memory.ts). */
const REST_MS = 66_000

/** Sends `calls` calls of 1 KB with 32 clients and watches the memory meanwhile. The provider counts them. */
export async function soak(
  subject: Subject,
  provider: Provider,
  calls: number,
  {folder, processors}: LoadOptions,
): Promise<Soak> {
  const file = join(folder, 'soak.json')
  writeFileSync(file, SMALL.body)
  const before = await provider.chats()
  const began = performance.now()
  const load = start(wrk(subject, file, String(SMALL.clients), PATIENCE_S), {processors})
  const low = {early: Infinity, late: Infinity}
  let made = 0
  while (load.running && made < calls) {
    await sleep(SAMPLE_MS)
    made = (await provider.chats()) - before
    const share = made / calls
    const rss_mb = rssMb(subject.pid)
    if (share >= 0.25 && share <= 0.3) low.early = Math.min(low.early, rss_mb)
    if (share >= 0.95) low.late = Math.min(low.late, rss_mb)
  }
  const took_s = (performance.now() - began) / 1000
  const end_mb = rssMb(subject.pid)
  await load.kill()
  if (made < calls) throw new Error(`the soak made ${made} of ${calls} calls in ${took_s.toFixed(0)} s: ${load.said()}`)
  await sleep(REST_MS)
  return {calls: made, took_s, end_mb, rss_mb: rssMb(subject.pid), early_mb: low.early, late_mb: low.late}
}
