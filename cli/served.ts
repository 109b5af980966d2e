import {chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync} from 'node:fs'
import {join, resolve} from 'node:path'

/** The note of a serving gateway for the commands of its user: its data directory, and its address. */
export interface Served {
  readonly data_dir: string
  readonly url: string
  readonly pid: number
  /** ISO 8601 UTC. */
  readonly started_at: string
}

type Environment = Readonly<Record<string, string | undefined>>

/** The folders of notes: of this login, else of the user; the first is written to. */
function foldersOf({XDG_RUNTIME_DIR, XDG_STATE_HOME, HOME}: Environment): string[] {
  const state = XDG_STATE_HOME || (HOME ? join(HOME, '.local', 'state') : '')
  return [XDG_RUNTIME_DIR, state].flatMap(folder =>
    folder?.startsWith('/') ? [join(folder, 'gateway', 'served')] : [],
  )
}

/**
 * Leaves a note of what is served, and gives what takes it away. Nothing hangs on it: where it cannot be written there
 * is none.
 */
export function leaveNote(env: Environment, served: Served): () => void {
  for (const folder of foldersOf(env)) {
    const path = join(folder, `${served.pid}.json`)
    try {
      mkdirSync(folder, {recursive: true, mode: 0o700})
      rmSync(path, {force: true})
      writeFileSync(path, `${JSON.stringify({...served, data_dir: resolve(served.data_dir)})}\n`, {
        mode: 0o600,
        flag: 'wx',
      })
      chmodSync(path, 0o600)
      return () => rmSync(path, {force: true})
    } catch {
      // a folder of another user's, or none that can be written: the next may do
    }
  }
  return () => undefined
}

/**
 * The directories that are served here now, each once. A note counts if it is this user's or root's, its process lives
 * and holds the lock of the directory; any other is removed.
 */
export async function runningGateways(env: Environment): Promise<Served[]> {
  const found = new Map<string, Served>()
  for (const folder of foldersOf(env)) {
    for (const name of namesIn(folder)) {
      const path = join(folder, name)
      const note = readNote(path)
      if (!note) continue
      if (isAlive(note.pid) && (await isServed(note.data_dir))) found.set(note.data_dir, note)
      else rmSync(path, {force: true})
    }
  }
  return [...found.values()].sort((one, other) => one.data_dir.localeCompare(other.data_dir))
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder).filter(name => /^\d+\.json$/.test(name))
  } catch {
    return []
  }
}

/** A note of anybody else's could send root's commands elsewhere: it is not read. */
function readNote(path: string): Served | undefined {
  try {
    const {uid, size} = statSync(path)
    if ((uid !== process.getuid?.() && uid !== 0) || size > MAX_BYTES) return undefined
    const {data_dir, url, pid, started_at} = JSON.parse(readFileSync(path, 'utf8')) as Served
    const is_whole = typeof data_dir === 'string' && data_dir.startsWith('/') && Number.isSafeInteger(pid) && pid > 0
    return is_whole ? {data_dir, url: String(url), pid, started_at: String(started_at)} : undefined
  } catch {
    return undefined
  }
}

const MAX_BYTES = 65_536

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (cause) {
    return (cause as NodeJS.ErrnoException).code === 'EPERM'
  }
}

/** True while a gateway serves from the directory. */
export async function isServed(data_dir: string): Promise<boolean> {
  if (!existsSync(join(data_dir, 'run', 'serve.lock.db'))) return false
  const [{isOwned}, {sqliteBinding}] = await Promise.all([
    import('../src/store/data-dir.ts'),
    import('../src/base/runtime.ts'),
  ])
  return isOwned(data_dir, sqliteBinding())
}
