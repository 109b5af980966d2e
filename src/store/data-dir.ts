import {randomBytes} from 'node:crypto'
import {
  accessSync,
  chmodSync,
  closeSync,
  constants,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  statSync,
  writeSync,
} from 'node:fs'
import {dirname, join, resolve} from 'node:path'
import Sqlite from 'better-sqlite3'
import {CONTROL_FILE} from './dialect/sqlite.ts'

/** A fault of the data directory, in a sentence for the operator with the remedy. */
export class DataDirFault extends Error {}

/** The folder that holds everything of one gateway. */
export interface DataDir {
  readonly folder: string
  readonly journal: string
  readonly backups: string
  /** True when it was made just now, or holds no database yet. */
  readonly is_new: boolean
  /** Gives up ownership; does nothing for a directory that was only looked into. */
  release(): void
}

/**
 * Makes the directory where it is not there (0700) and takes it for this process for life; a second owner is refused
 * (core rule 3).
 */
export function ownDataDir(path: string, binding?: object): DataDir {
  const folder = resolve(path)
  process.umask(0o077) // databases and journal are the owner's alone
  try {
    for (const name of ['run', 'journal', 'backups', 'keys']) makeFolder(join(folder, name))
    accessSync(folder, constants.R_OK | constants.W_OK | constants.X_OK)
  } catch (cause) {
    throw new DataDirFault(
      `The data directory ${folder} cannot be written: ${reason(cause)}. Check its owner and mode, or choose another with --data-dir.`,
      {cause},
    )
  }
  if ((statSync(folder).mode & 0o077) !== 0) chmodSync(folder, 0o700)
  const release = lock(folder, binding)
  return {...parts(folder), is_new: !existsSync(join(folder, CONTROL_FILE)), release}
}

/** With the folders above it. On a read-only file system Node gives ENOENT for that; the system's own word says why. */
function makeFolder(path: string): void {
  try {
    mkdirSync(path, {recursive: true, mode: PRIVATE})
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== 'ENOENT' || dirname(path) === path) throw cause
    makeFolder(dirname(path))
    mkdirSync(path, {mode: PRIVATE})
  }
}

const PRIVATE = 0o700

/** Opens an existing data directory beside its owner; refuses a missing one. */
export function findDataDir(path: string): DataDir {
  const folder = resolve(path)
  if (!existsSync(join(folder, CONTROL_FILE))) {
    throw new DataDirFault(
      `There is no data directory at ${folder}. Make one (gateway init --data-dir ${path}), or name the right one with --data-dir.`,
    )
  }
  return {...parts(folder), is_new: false, release: () => undefined}
}

/**
 * True when another process serves from the directory now. Only reads, so that one that is about to take it is not kept
 * from it.
 */
export function isOwned(folder: string, binding?: object): boolean {
  let db: Sqlite.Database | undefined
  try {
    db = openLock(folder, binding, {readonly: true, fileMustExist: true, timeout: 0})
    db.prepare('select count(*) from sqlite_master').get()
    return false
  } catch (cause) {
    return isBusy(cause)
  } finally {
    db?.close()
  }
}

/**
 * The key that seals stored credentials: 32 bytes in a 0600 file of the directory, made on first use when `make` is
 * set.
 */
export function sealingKey({folder}: DataDir, make: boolean): Buffer {
  const path = join(folder, 'keys', 'sealing.key')
  if (!existsSync(path)) {
    if (!make)
      throw new DataDirFault(
        `The sealing key ${path} is missing. Restore it from where you keep it; stored credentials cannot be read without it.`,
      )
    const file = openSync(path, 'wx', 0o600)
    try {
      writeSync(file, `${randomBytes(32).toString('base64')}\n`)
    } finally {
      closeSync(file)
    }
  }
  const key = Buffer.from(readFileSync(path, 'utf8').trim(), 'base64')
  if (key.length !== 32)
    throw new DataDirFault(
      `The sealing key ${path} does not hold 32 bytes in base64. Restore it from where you keep it.`,
    )
  return key
}

function parts(folder: string) {
  return {folder, journal: join(folder, 'journal'), backups: join(folder, 'backups')}
}

/** An exclusive transaction held for life: the kernel gives it up with the process, however that ends. */
function lock(folder: string, binding?: object): () => void {
  const db = openLock(folder, binding, {timeout: LOOK_MS})
  try {
    db.pragma('journal_mode = DELETE')
    db.exec('begin exclusive')
  } catch (cause) {
    db.close()
    const why = isBusy(cause)
      ? 'another gateway serves from it. Stop that one first, or choose another with --data-dir'
      : reason(cause)
    throw new DataDirFault(`The data directory ${folder} cannot be taken: ${why}.`, {cause})
  }
  return () => db.close()
}

/** Commands that look whether there is an owner read the lock for less than this. */
const LOOK_MS = 200

function openLock(folder: string, binding: object | undefined, options: Sqlite.Options): Sqlite.Database {
  return new Sqlite(join(folder, 'run', 'serve.lock.db'), {
    ...options,
    ...(binding ? {nativeBinding: binding as unknown as string} : {}),
  })
}

const isBusy = (cause: unknown) => cause instanceof Sqlite.SqliteError && cause.code.startsWith('SQLITE_BUSY')

function reason(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause)
}
