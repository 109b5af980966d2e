import {randomBytes} from 'node:crypto'
import {
  closeSync,
  constants,
  fstatSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import {dirname} from 'node:path'
import {CommandFault, EXIT, fileReason} from '../fault.ts'
import {quoted} from '../hint.ts'

const MAX_BYTES = 1024 * 1024
const OTHERS = 0o077

/**
 * The text of a file that its owner alone may use; undefined where there is none. Refuses one that others may read or
 * change, with the `chmod` to type: its key would be no secret, and its addresses could be another's.
 */
export function readPrivate(path: string): string | undefined {
  let file: number
  try {
    // a pipe in its place must not hold the command
    file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw unusable(`${path} cannot be read: ${fileReason(cause)}.`, undefined, cause)
  }
  try {
    const stat = fstatSync(file)
    if (!stat.isFile() || stat.size > MAX_BYTES) throw unusable(`${path} is no file of gateway login.`)
    if (stat.uid !== process.getuid?.() && stat.uid !== 0) throw unusable(`${path} belongs to another user.`)
    if (stat.mode & OTHERS)
      throw unusable(
        `${path} is open to others (mode 0${(stat.mode & 0o777).toString(8)}).`,
        `Close it: chmod 600 ${quoted(path)}`,
      )
    return readFileSync(file, 'utf8')
  } finally {
    closeSync(file)
  }
}

/** Writes a file for its owner alone, whole or not at all; a link that leads to it stays. */
export function writePrivate(path: string, text: string): void {
  try {
    mkdirSync(dirname(path), {recursive: true, mode: 0o700})
    const target = targetOf(path)
    const fresh = `${target}.${randomBytes(6).toString('hex')}.new`
    try {
      const file = openSync(fresh, 'wx', 0o600)
      try {
        writeFileSync(file, text)
        fsyncSync(file)
      } finally {
        closeSync(file)
      }
      renameSync(fresh, target)
    } catch (cause) {
      rmSync(fresh, {force: true})
      throw cause
    }
  } catch (cause) {
    throw unusable(`${path} cannot be written: ${fileReason(cause)}.`, undefined, cause)
  }
}

/** Removes a file; nothing happens where there is none. */
export function removePrivate(path: string): void {
  try {
    rmSync(path, {force: true})
  } catch (cause) {
    throw unusable(`${path} cannot be removed: ${fileReason(cause)}.`, undefined, cause)
  }
}

function targetOf(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    return path
  }
}

function unusable(message: string, next?: string, cause?: unknown): CommandFault {
  return new CommandFault(message, {exit: EXIT.failure, code: 'contexts_file', ...(next && {next}), cause})
}
