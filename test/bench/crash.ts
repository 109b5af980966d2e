import {execFile} from 'node:child_process'
import {mkdtempSync, rmSync} from 'node:fs'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {setTimeout as sleep} from 'node:timers/promises'
import {promisify} from 'node:util'
import {type Audit, audit, rowFaults} from './crash/audit.ts'
import {budgetFaults, openBudget} from './crash/budget.ts'
import {startLoad} from './crash/clients.ts'
import {countingProvider} from './crash/provider.ts'
import {answerTool, serveTools, startToolLoad, type WaitingCall} from './crash/tool-clients.ts'
import {countingServers} from './crash/tool-servers.ts'
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
  /** Calls of tools among them. */
  readonly tools: number
  /** Calls of tools that waited for an answer when their gateway was killed. */
  readonly cut_questions: number
}

const MIN_MS = 5
const MAX_MS = 400
const MAX_THOUGHT_MS = 20
/** Of tools; those of models are more. */
const TOOL_CLIENTS = 4

/**
 * Kills a gateway under load with SIGKILL, starts it again on the same data directory, `rounds` times, and in the end
 * holds its ledger against what clients and provider know:
 * every attempt that the provider finished has exactly one entry; every entry matches an attempt that the provider
 * received, or is `recovered`; no id stands there twice; a call whose answer the client had in full is not `recovered`;
 * the hourly sums are the entries', and so is the budget of the key; `gateway ledger verify` holds. Some calls are
 * retried, some fall back to another target, some streams are left by their clients. Calls of tools of MCP servers of
 * both eras are held against the same; some have a question, and its answer comes to the next process: a call that the
 * killed one held is lost, the state of a modern server is good, and neither makes a second call.
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
  const servers = await countingServers(() => random() * MAX_THOUGHT_MS)
  const whole: string[] = []
  const whole_tools: string[] = []
  const cut: string[] = []
  let waiting: readonly WaitingCall[] = []
  let cut_questions = 0
  let sent = 0
  let served: Served | undefined
  try {
    for (let round = 0; round < rounds; round++) {
      served = await serve(command, data_dir)
      if (round === 0) {
        await provide(served.origin, provider.origin)
        await provideAt(served.origin, 'second', `${provider.origin}/second`)
        await openBudget(served.origin)
        await serveTools(served.origin, servers)
      }
      cut.push(...(await answerLate(served.origin, waiting)))
      const load = startLoad(served.origin, CALL_HEADERS, clients, `crash-${seed}-${round}`)
      const tools = startToolLoad(served.origin, CALL_HEADERS, TOOL_CLIENTS, `crash-${seed}-${round}`)
      await Promise.race([load.first, load.ended])
      await Promise.race([sleep(MIN_MS + random() * (MAX_MS - MIN_MS)), load.ended])
      await Promise.race([provider.keepNext(), load.ended]) // so that each kill cuts off one call at least
      await Promise.race([sleep(random() * MAX_THOUGHT_MS), load.ended])
      if (!served.program.running) throw new Error(`the gateway ended by itself: ${served.program.said()}`)
      await served.program.kill()
      await Promise.all([load.ended, tools.ended])
      whole.push(...load.whole)
      whole_tools.push(...tools.whole)
      waiting = tools.waiting
      cut_questions += waiting.length
      sent += load.sent.length + tools.sent.length
      progress?.(round + 1)
    }
    served = await serve(command, data_dir) // recovers what the last kill cut off
    const budget = await budgetFaults(served.origin, data_dir)
    await served.program.stop()
    const received = new Map([...provider.received, ...servers.received])
    const finished = new Map([...provider.finished, ...servers.finished])
    const {faults, ...audited} = audit(data_dir, {received, finished, whole: [...whole, ...whole_tools]})
    const of_rows = rowFaults(data_dir, {received: servers.received, whole: whole_tools})
    const broken = await verifyFaults(command, data_dir)
    return {
      rounds,
      sent,
      received: sum(received),
      finished: sum(finished),
      whole: whole.length + whole_tools.length,
      tools: whole_tools.length,
      cut_questions,
      ...audited,
      faults: [...faults, ...of_rows, ...cut, ...budget, ...broken],
    }
  } finally {
    await served?.program.kill()
    await provider.close()
    await servers.close()
    rmSync(data_dir, {recursive: true, force: true})
  }
}

/** Answers questions of the process before. Gives sentences of answers that are not as they should be. */
async function answerLate(origin: string, waiting: readonly WaitingCall[]): Promise<readonly string[]> {
  const faults = await Promise.all(
    waiting.map(async call => {
      const message = await answerTool(origin, CALL_HEADERS, call)
      const code = message?.error?.code
      // the process that was killed may have taken the round of a modern server's state
      const is_right = call.era === 'legacy' ? code === -32603 : message?.result !== undefined || code === -32602
      return is_right ? [] : [`${call.marker} (${call.era}): a late answer is answered ${JSON.stringify(message)}`]
    }),
  )
  return faults.flat()
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
