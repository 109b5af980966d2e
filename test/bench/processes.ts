import {type ChildProcess, spawn} from 'node:child_process'
import {readdirSync, readFileSync} from 'node:fs'
import {type AddressInfo, connect, createServer} from 'node:net'
import {setTimeout as sleep} from 'node:timers/promises'

/** A program that a benchmark started. It does not outlive this process. */
export interface Program {
  readonly pid: number
  /** What it said on stderr, the last 4 KB of it. */
  said(): string
  readonly running: boolean
  readonly ended: Promise<void>
  /** Sends SIGTERM, and SIGKILL when it is still there after `patience_ms`. */
  stop(patience_ms?: number): Promise<void>
  /** Sends SIGKILL: nothing in it runs any more. */
  kill(): Promise<void>
}

export interface ProgramOptions {
  readonly env?: Readonly<Record<string, string>>
  readonly folder?: string
  /** Processors it may run on, as `taskset -c` takes them. */
  readonly processors?: string | undefined
}

const programs = new Set<ChildProcess>()
const killAll = () => {
  for (const child of programs) child.kill('SIGKILL')
}
process.on('exit', killAll)

/** Ends this process with all its programs on SIGINT and SIGTERM, which would leave them behind. */
export function endOnSignals(): void {
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => process.exit(1))
}

export function start(
  [file, ...words]: readonly [string, ...string[]],
  {env = {}, folder, processors}: ProgramOptions = {},
): Program {
  const [command, args] = processors ? ['taskset', ['-c', processors, file, ...words]] : [file, words]
  const child = spawn(command, args, {env: {...process.env, ...env}, cwd: folder, stdio: ['ignore', 'ignore', 'pipe']})
  programs.add(child)
  let said = ''
  child.stderr!.on('data', (part: Buffer) => {
    said = (said + part).slice(-4096)
  })
  let running = true
  const ended = new Promise<void>(resolve => {
    const end = () => {
      running = false
      programs.delete(child)
      resolve()
    }
    child.on('exit', end)
    child.on('error', error => {
      said += error.message
      end()
    })
  })
  return {
    pid: child.pid ?? 0,
    said: () => said,
    get running() {
      return running
    },
    ended,
    async stop(patience_ms = 10_000) {
      child.kill('SIGTERM')
      const late = setTimeout(() => child.kill('SIGKILL'), patience_ms)
      await ended
      clearTimeout(late)
    },
    async kill() {
      child.kill('SIGKILL')
      await ended
    },
  }
}

/** Runs a program to its end; gives what it said on stdout. Throws with what it said on stderr when it fails. */
export async function run(
  words: readonly [string, ...string[]],
  {env = {}, folder, processors}: ProgramOptions = {},
): Promise<string> {
  const [command, args] = processors ? ['taskset', ['-c', processors, ...words]] : [words[0], words.slice(1)]
  const child = spawn(command, args, {env: {...process.env, ...env}, cwd: folder, stdio: ['ignore', 'pipe', 'pipe']})
  programs.add(child)
  const parts = {out: '', err: ''}
  child.stdout.on('data', (part: Buffer) => {
    parts.out += part
  })
  child.stderr.on('data', (part: Buffer) => {
    parts.err += part
  })
  const code = await new Promise<number | null>((resolve, reject) => {
    child.on('error', reject)
    child.on('close', resolve)
  }).finally(() => programs.delete(child))
  if (code !== 0) throw new Error(`${words[0]} ended with ${code}: ${(parts.err || parts.out).slice(-2000)}`)
  return parts.out
}

/**
 * Waits until something listens on a port of loopback. Throws with the program's words when it ends before, or after
 * `patience_ms`.
 */
export async function listens(port: number, program: Program, patience_ms = 15_000): Promise<void> {
  const late = performance.now() + patience_ms
  while (program.running && performance.now() < late) {
    const reached = await new Promise<boolean>(resolve => {
      const socket = connect(port, '127.0.0.1', () => {
        socket.destroy()
        resolve(true)
      }).on('error', () => resolve(false))
    })
    if (reached) return
    await sleep(5)
  }
  throw new Error(`nothing listens on port ${port}: ${program.said().trim() || 'it said nothing'}`)
}

/** A port of loopback that nothing listens on now. */
export async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const {port} = server.address() as AddressInfo
  await new Promise(resolve => server.close(resolve))
  return port
}

/**
 * Processor time that a process and its children took so far, in microseconds, over all threads. Linux counts it per
 * thread in nanoseconds (`schedstat`; docs.kernel.org/scheduler/sched-stats.html); a thread that has ended is no longer
 * in it.
 */
export function cpuUs(pid: number): number {
  return familyOf(pid)
    .flatMap(threadsOf)
    .reduce((us, thread) => us + Number(readOr(`${thread}/schedstat`, '0').split(' ', 1)[0]) / 1000, 0)
}

/** How often the threads of a process and its children went to sleep so far, and so were woken. */
export function wakeups(pid: number): number {
  return familyOf(pid)
    .flatMap(threadsOf)
    .reduce(
      (sum, thread) =>
        sum + Number(/^voluntary_ctxt_switches:\s+(\d+)/m.exec(readOr(`${thread}/status`, ''))?.[1] ?? 0),
      0,
    )
}

/** Resident memory of a process and its children, in megabytes (10^6 bytes). */
export function rssMb(pid: number): number {
  return (
    familyOf(pid).reduce(
      (sum, each) => sum + Number(/VmRSS:\s+(\d+)/.exec(readOr(`/proc/${each}/status`, ''))?.[1] ?? 0),
      0,
    ) * 0.001024
  )
}

function familyOf(pid: number): number[] {
  const children = threadsOf(pid).flatMap(thread =>
    readOr(`${thread}/children`, '').trim().split(' ').filter(Boolean).map(Number),
  )
  return [pid, ...children.flatMap(familyOf)]
}

/** The folders of a process's threads below /proc. */
function threadsOf(pid: number): string[] {
  try {
    return readdirSync(`/proc/${pid}/task`).map(thread => `/proc/${pid}/task/${thread}`)
  } catch {
    return [] // it ended in between
  }
}

function readOr(file: string, otherwise: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return otherwise
  }
}
