import {execFile} from 'node:child_process'
import {mkdtempSync, rmSync} from 'node:fs'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {setTimeout as sleep} from 'node:timers/promises'
import {promisify} from 'node:util'
import {type Audit, audit} from './crash/audit.ts'
import {budgetFaults, openBudget} from './crash/budget.ts'
import {startLoad} from './crash/clients.ts'
import {countingProvider} from './crash/provider.ts'
import {CALL_HEADERS, gatewayCommand, provide, provideAt, type Served, serve} from './subjects/gateway.ts'

export interface CrashOptions {
  readonly rounds: number
  /** Chooses the moments; what falls on them is the machine's choice. */
  readonly seed?: number
  readonly clients?: number
  readonly is_binary?: boolean
  readonly progress?: (round: number) => void
}

export interface CrashReport extends Audit {
  readonly rounds: number
  readonly sent: number
  readonly received: number
  readonly finished: number
  /** Calls whose answer the client had in full. */
  readonly whole: number
}

const MIN_MS = 5
const MAX_MS = 400
const MAX_THOUGHT_MS = 20

/**
 * Kills a gateway under load with SIGKILL, starts it again on the same data directory, `rounds` times, and in the end
 * holds its ledger against what clients and provider know:
 * every attempt that the provider finished has exactly one entry; every entry matches an attempt that the provider
 * received, or is `recovered`; no id stands there twice; a call whose answer the client had in full is not `recovered`;
 * the hourly sums are the entries', and so is the budget of the key; `gateway ledger verify` holds. Some calls are
 * retried, some fall back to another target, some streams are left by their clients.
 */
export async function crashRounds({
  rounds,
  seed = 1,
  clients = 12,
  is_binary = false,
  progress,
}: CrashOptions): Promise<CrashReport> {
  const command = gatewayCommand(is_binary)
  const random = randomFrom(seed)
  const data_dir = mkdtempSync(join(tmpdir(), 'gateway-crash-'))
  const provider = await countingProvider(() => random() * MAX_THOUGHT_MS)
  const whole: string[] = []
  let sent = 0
  let served: Served | undefined
  try {
    for (let round = 0; round < rounds; round++) {
      served = await serve(command, data_dir)
      if (round === 0) {
        await provide(served.origin, provider.origin)
        await provideAt(served.origin, 'second', `${provider.origin}/second`)
        await openBudget(served.origin)
      }
      const load = startLoad(served.origin, CALL_HEADERS, clients, `crash-${seed}-${round}`)
      await Promise.race([load.first, load.ended])
      await Promise.race([sleep(MIN_MS + random() * (MAX_MS - MIN_MS)), load.ended])
      await Promise.race([provider.keepNext(), load.ended]) // so that each kill cuts off one call at least
      await Promise.race([sleep(random() * MAX_THOUGHT_MS), load.ended])
      if (!served.program.running) throw new Error(`the gateway ended by itself: ${served.program.said()}`)
      await served.program.kill()
      await load.ended
      whole.push(...load.whole)
      sent += load.sent.length
      progress?.(round + 1)
    }
    served = await serve(command, data_dir) // recovers what the last kill cut off
    const budget = await budgetFaults(served.origin, data_dir)
    await served.program.stop()
    const {received, finished} = provider
    const {faults, ...audited} = audit(data_dir, {received, finished, whole})
    const broken = await verifyFaults(command, data_dir)
    return {
      rounds,
      sent,
      received: sum(received),
      finished: sum(finished),
      whole: whole.length,
      ...audited,
      faults: [...faults, ...budget, ...broken],
    }
  } finally {
    await served?.program.kill()
    await provider.close()
    rmSync(data_dir, {recursive: true, force: true})
  }
}

/** What `gateway ledger verify` finds: the chain of the entries, the sums, the rows of the log. */
async function verifyFaults(
  [file, ...words]: readonly [string, ...string[]],
  data_dir: string,
): Promise<readonly string[]> {
  return promisify(execFile)(file, [...words, 'ledger', 'verify', '--data-dir', data_dir]).then(
    () => [],
    ({stderr}: {readonly stderr: string}) => [`ledger verify: ${stderr.trim()}`],
  )
}

const sum = (counts: ReadonlyMap<string, number>) => [...counts.values()].reduce((all, each) => all + each, 0)

/** Numbers from 0 to 1 that a seed decides (mulberry32). */
function randomFrom(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
