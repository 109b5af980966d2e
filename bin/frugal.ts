import {readlinkSync} from 'node:fs'

/**
 * glibc gives each thread memory of its own and keeps what was freed for next time: after a load that is 30 MB and more which nobody uses. With
 * one arena, trimmed at its end, they go back to the system (mallopt(3)); the threads here seldom allocate at once.
 */
const MALLOC: Readonly<Record<string, string>> = {MALLOC_ARENA_MAX: '1', MALLOC_TRIM_THRESHOLD_: '1000000'}

/** Begins this process anew, under its own number, as glibc reads its settings only then. An operator who sets one of them has chosen. */
export function beginFrugally(): void {
  const {env, execve, pid, execPath, argv0, argv} = process
  if (!execve || Object.keys(MALLOC).some(name => env[name] !== undefined)) return
  if (runs(pid) === execPath) execve(execPath, [argv0, ...argv.slice(2)], {...env, ...MALLOC})
}

/** The program that the system runs: an emulator's own, where there is one, and then it could not begin anew. */
function runs(pid: number): string | undefined {
  try {
    return readlinkSync(`/proc/self/task/${pid}/exe`)
  } catch {
    return undefined // a system without /proc
  }
}
