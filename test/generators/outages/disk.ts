import {join} from 'node:path'
import {setTimeout as sleep} from 'node:timers/promises'
import Sqlite from 'better-sqlite3'
import {type Files, nodeFiles} from '../../../src/store/journal/files.ts'
import {DEATHS, dyingStore} from '../../support/dying-store.ts'

/** The states of the disk under a data directory. `locked`: another process holds the locks of its databases. */
export const DISK_STATES = ['full', 'read-only', 'slow', 'locked'] as const
export type DiskState = (typeof DISK_STATES)[number]

/** How much later a slow disk has what was written: the system takes it at once, and syncs it then. */
export const SLOW_MS = 200
/** A lock that comes and goes is free for so long. */
const FREE_MS = 80

const CODES = {full: 'ENOSPC', 'read-only': 'EROFS'} as const
const DEATH = {full: 'a disk that is full', 'read-only': 'a store that may only be read'} as const

/** The disk of a data directory, as this process finds it. Threads of it meet the locks alone. */
export interface Disk {
  become(state: DiskState | 'well'): Promise<void>
  /** Takes the data directory as another gateway does, until the next state. */
  lockFolder(): void
  /** Puts everything back. */
  restore(): Promise<void>
}

/** `has_databases`: SQLite's are in the folder, too. */
export function openDisk(folder: string, {has_databases}: {has_databases: boolean}): Disk {
  let state: DiskState | 'well' = 'well'
  const real: Files = {...nodeFiles}
  const dying = has_databases ? dyingStore(/./) : null
  let locks: Sqlite.Database[] = []
  let holding: Promise<void> = Promise.resolve()

  const refuses = (...states: readonly DiskState[]) => {
    if ((state === 'full' || state === 'read-only') && states.includes(state))
      throw Object.assign(new Error(`${CODES[state]}: of the test`), {code: CODES[state]})
  }
  const late = async () => void (state === 'slow' && (await sleep(SLOW_MS)))
  Object.assign(nodeFiles, {
    async open(path, flags) {
      refuses('full', 'read-only')
      await late()
      return real.open(path, flags)
    },
    openSync(path, flags) {
      if (flags !== 'r') refuses('full', 'read-only')
      return real.openSync(path, flags)
    },
    async write(...given) {
      refuses('read-only')
      return real.write(...given)
    },
    writeSync(...given) {
      refuses('read-only')
      return real.writeSync(...given)
    },
    async datasync(file) {
      await late()
      return real.datasync(file)
    },
    renameSync(...given) {
      refuses('read-only')
      real.renameSync(...given)
    },
    async remove(path) {
      refuses('read-only')
      return real.remove(path)
    },
  } satisfies Partial<Files>)

  async function hold() {
    const taken = locks.filter(lock => taking(lock))
    await sleep(SLOW_MS)
    for (const lock of taken) if (lock.inTransaction) lock.exec('rollback')
    await sleep(FREE_MS)
  }

  async function holdOnAndOff() {
    while (state === 'slow') await hold()
  }

  async function letGo() {
    await holding
    for (const lock of locks) lock.close()
    locks = []
  }

  return {
    async become(next) {
      dying?.lives()
      state = next
      await letGo()
      const death = next === 'full' || next === 'read-only' ? DEATH[next] : undefined
      if (death) dying?.dies(DEATHS.find(({name}) => name === death)!, 0)
      if (!has_databases || (next !== 'slow' && next !== 'locked')) return
      locks = ['gateway.db', 'traffic.db'].map(name => new Sqlite(join(folder, name), {timeout: 0}))
      if (next === 'slow') holding = holdOnAndOff()
      else for (const lock of locks) while (!taking(lock)) await sleep(5)
    },
    lockFolder() {
      const lock = new Sqlite(join(folder, 'run', 'serve.lock.db'))
      lock.exec('begin exclusive')
      locks.push(lock)
    },
    async restore() {
      state = 'well'
      await letGo()
      dying?.restore()
      Object.assign(nodeFiles, real)
    },
  }
}

/** Takes the lock of a database; false where another has it now. */
function taking(lock: Sqlite.Database): boolean {
  try {
    lock.exec('begin immediate')
    return true
  } catch {
    return false
  }
}
