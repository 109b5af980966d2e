import {constants} from 'node:fs'
import {type FileHandle, open} from 'node:fs/promises'
import {dirname} from 'node:path'
import type {After} from '../../base/delay.ts'
import {DELIVERY_MS, SinkFault, type SinkTarget} from './target.ts'

const {O_RDWR, O_APPEND, O_CREAT, O_NONBLOCK} = constants
const OWNER_ONLY = 0o600
const LINE_FEED = 10

/**
 * Adds lines to a file, which is opened for each delivery: one that was renamed or removed meanwhile is made again. The
 * lines are on the disk when it resolves.
 */
export function fileTarget(path: string, after: After): SinkTarget {
  /** A disk that hangs holds one thread, and no more of them. */
  let pending: Promise<void> | undefined
  return {
    async deliver(lines) {
      if (pending) throw new SinkFault('the file system has not answered yet')
      const work = append(path, Buffer.from(lines.map(line => `${line}\n`).join('')))
      pending = work.finally(() => {
        pending = undefined
      })
      pending.catch(() => undefined)
      let cancel = () => {}
      const late = new Promise<never>((_, reject) => {
        cancel = after(DELIVERY_MS, () => reject(new SinkFault('the file system does not answer')))
      })
      try {
        await Promise.race([pending, late])
      } finally {
        cancel()
      }
    },
  }
}

async function append(path: string, bytes: Buffer): Promise<void> {
  let file: FileHandle | undefined
  try {
    // a pipe without a reader would hold the open back
    file = await open(path, O_RDWR | O_APPEND | O_CREAT | O_NONBLOCK, OWNER_ONLY)
    const state = await file.stat()
    if (!state.isFile()) throw new SinkFault('it is no file')
    const begins_inside = state.size > 0 && !(await endsWithLine(file, state.size))
    await write(file, begins_inside ? Buffer.concat([Buffer.of(LINE_FEED), bytes]) : bytes)
    await file.sync()
    if (state.size === 0) await syncFolder(dirname(path))
  } catch (fault) {
    if (fault instanceof SinkFault) throw fault
    throw new SinkFault(`the file cannot be written (${(fault as NodeJS.ErrnoException).code ?? 'unknown'})`, {
      cause: fault,
    })
  } finally {
    await file?.close()
  }
}

/** A line that was cut off (the disk was full) is left as it is, and the next one is a line of its own. */
async function endsWithLine(file: FileHandle, size: number): Promise<boolean> {
  const last = Buffer.alloc(1)
  const {bytesRead} = await file.read(last, 0, 1, size - 1)
  return bytesRead === 0 || last[0] === LINE_FEED
}

async function write(file: FileHandle, bytes: Buffer): Promise<void> {
  for (let at = 0; at < bytes.length; ) {
    const {bytesWritten} = await file.write(bytes, at, bytes.length - at)
    at += bytesWritten
  }
}

/** A new name is on the disk when its folder is. */
async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r')
  try {
    await folder.sync()
  } finally {
    await folder.close()
  }
}
