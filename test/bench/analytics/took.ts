import {performance} from 'node:perf_hooks'

/** What one question took: on the wall, and of the processor over all threads of this process. */
export interface Took {
  readonly ms: number
  readonly cpu_ms: number
}

export async function timed(work: () => Promise<unknown>): Promise<Took> {
  const [began, cpu] = [performance.now(), process.cpuUsage()]
  await work()
  const {user, system} = process.cpuUsage(cpu)
  return {ms: performance.now() - began, cpu_ms: (user + system) / 1000}
}

/** A line about some of them; the process fails where 95 of 100 take longer than `most_ms`. */
export function judge(what: string, took: readonly Took[], most_ms: number): void {
  const p95 = at(took, 'ms', 0.95)
  const cpu = `processor ${at(took, 'cpu_ms', 0.5).toFixed(0)} and ${at(took, 'cpu_ms', 0.95).toFixed(0)} ms`
  const verdict = p95 <= most_ms ? `within ${most_ms} ms` : `TOO SLOW: at most ${most_ms} ms`
  console.log(
    `${what}: median ${at(took, 'ms', 0.5).toFixed(0)} ms, p95 ${p95.toFixed(0)} ms (${cpu}) of ${took.length}, ${verdict}`,
  )
  if (p95 > most_ms) process.exitCode = 1
}

function at(took: readonly Took[], by: keyof Took, share: number): number {
  const sorted = took.map(each => each[by]).sort((one, other) => one - other)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))]!
}
