import {join} from 'node:path'
import {performance} from 'node:perf_hooks'
import {setTimeout as sleep} from 'node:timers/promises'
import {Agent, request} from 'undici'
import {median} from '../rounds.ts'
import {SMALL} from '../scenarios.ts'
import {administer, callHeaders, gatewayCommand, provideAt, serve} from '../subjects/gateway.ts'
import {startProvider} from '../subjects/provider.ts'
import {FROM_MS, iso, SPAN_MS} from './fill.ts'

const ROUNDS = 5
const SECONDS = 8
const PER_S = 100
/** What a call costs beyond the provider's own time, 99 of 100, while graphs are drawn: to the same while none is. */
const MAX_TIMES = 2
const TIME = `time_of_generation_min=${iso(FROM_MS)}&time_of_generation_max=${iso(FROM_MS + SPAN_MS - 1)}`
const OF_ROWS = `&metadata=${encodeURIComponent('{"team":"blue"}')}`

interface Round {
  readonly direct: number
  readonly idle: number
  readonly busy: number
}

/**
 * Calls at a steady pace through a gateway on a filled data directory, in turn with and without two clients that draw
 * graphs one after the other, one from sums and one from rows; and at the provider itself.
 */
export async function callsBeside(folder: string, data_dir: string): Promise<void> {
  const provider = await startProvider({folder, processors: undefined, load_processors: undefined})
  const {origin, program} = await serve(gatewayCommand(false), data_dir)
  const agent = new Agent({connections: 16})
  try {
    const slug = `bench-${Date.now()}`
    await provideAt(origin, slug, provider.origin)
    const direct = {url: provider.url, headers: {}}
    const ours = {url: `${origin}/v1/chat/completions`, headers: callHeaders(slug)}
    await paced(agent, ours, 2)
    const rounds: Round[] = []
    let graphs = 0
    for (let round = 0; round < ROUNDS; round++) {
      const own = await paced(agent, direct, SECONDS)
      const idle = await paced(agent, ours, SECONDS)
      const drawn = draw(origin)
      const busy = await paced(agent, ours, SECONDS)
      graphs += await drawn.stop()
      rounds.push({direct: at(own, 0.99), idle: at(idle, 0.99), busy: at(busy, 0.99)})
    }
    tell(rounds, graphs)
  } finally {
    await agent.close()
    await program.stop()
    await provider.stop()
  }
}

function tell(rounds: readonly Round[], graphs: number): void {
  const idle_ms = median(rounds.map(({direct, idle}) => idle - direct))!
  const busy_ms = median(rounds.map(({direct, busy}) => busy - direct))!
  const best_ms = Math.min(...rounds.map(({direct, busy}) => busy - direct))
  const verdict = busy_ms <= MAX_TIMES * idle_ms ? 'ok' : 'ABOVE'
  for (const {direct, idle, busy} of rounds)
    console.log(
      `p99 of a call: provider ${direct.toFixed(2)} ms, gateway ${idle.toFixed(2)} ms, while graphs are drawn ${busy.toFixed(2)} ms`,
    )
  console.log(
    `p99 added, median of ${rounds.length} rounds of ${SECONDS * PER_S} calls: ${idle_ms.toFixed(2)} ms; while ${graphs} graphs were drawn ` +
      `${busy_ms.toFixed(2)} ms (${(busy_ms / idle_ms).toFixed(2)}x, best ${best_ms.toFixed(2)} ms), at most ${MAX_TIMES}x: ${verdict}`,
  )
  if (verdict !== 'ok') process.exitCode = 1
}

/** Calls that begin at even distances, whether or not those before have ended; the milliseconds of each. */
async function paced(
  agent: Agent,
  {url, headers}: {url: string; headers: Record<string, string>},
  seconds: number,
): Promise<number[]> {
  const took: number[] = []
  const calls: Promise<void>[] = []
  const began = performance.now()
  for (let n = 0; n < seconds * PER_S; n++) {
    const due = began + (n * 1000) / PER_S
    const early = due - performance.now()
    if (early > 0) await sleep(early)
    calls.push(call())
  }
  await Promise.all(calls)
  return took

  async function call() {
    const sent = performance.now()
    const {statusCode, body} = await request(url, {
      method: 'POST',
      headers: {...headers, 'content-type': 'application/json'},
      body: SMALL.body,
      dispatcher: agent,
    })
    await body.arrayBuffer()
    if (statusCode !== 200) throw new Error(`a call was answered with ${statusCode}`)
    took.push(performance.now() - sent)
  }
}

/** Draws graphs until it is stopped; says how many. */
function draw(origin: string) {
  let is_over = false
  const admin = administer(origin)
  const ask = async (paths: readonly string[]) => {
    let count = 0
    while (!is_over) await admin('GET', `/analytics/graphs/${paths[count++ % paths.length]}`)
    return count
  }
  const asked = Promise.all([
    ask(['requests', 'cost', 'latency', 'errors/stacks', 'cache/hit-rate'].map(path => `${path}?${TIME}`)),
    ask(['cost', 'latency', 'users'].map(path => `${path}?${TIME}${OF_ROWS}`)),
  ])
  return {
    async stop() {
      is_over = true
      const [sums, rows] = await asked
      return sums + rows
    },
  }
}

function at(took: readonly number[], share: number): number {
  const sorted = took.toSorted((one, other) => one - other)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))]!
}

if (import.meta.main) await callsBeside(join(import.meta.dirname, '../../../.bench'), process.argv[2]!)
