import {readlinkSync} from 'node:fs'

/**
 * glibc gives each thread memory of its own and keeps what was freed for next time: after a load that is 30 MB without
 * use. With one arena what one thread freed serves another (mallopt(3)); the threads here seldom allocate at once.
 */
const ONE_ARENA = {MALLOC_ARENA_MAX: '1'}

/**
 * Begins this process again, under its own number, as glibc reads its settings only then. An operator who sets this one
 * has chosen.
 */
export function beginFrugally(): void {
  const {env, execve, pid, execPath, argv0, argv} = process
  if (!execve || env.MALLOC_ARENA_MAX !== undefined) return
  if (runs(pid) === execPath) execve(execPath, [argv0, ...argv.slice(2)], {...env, ...ONE_ARENA})
}

/** The program that the system runs: an emulator's own, where there is one, and then it could not begin again. */
function runs(pid: number): string | undefined {
  try {
    return readlinkSync(`/proc/self/task/${pid}/exe`)
  } catch {
    return undefined // a system without /proc
  }
}
