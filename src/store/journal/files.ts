import fs from 'node:fs'
import {promisify} from 'node:util'

/** The file system as the journal uses it: one method a system call, so that a test can make each of them fail. */
export interface Files {
  makeFolder(path: string): void
  list(folder: string): string[]
  /** Bytes that this process may still take on the disk of `folder`. */
  freeBytes(folder: string): number
  openSync(path: string, flags: 'r' | 'w' | 'wx+'): number
  closeSync(fd: number): void
  size(fd: number): number
  /** True when the file behind `fd` is the one at `path`. */
  isAt(fd: number, path: string): boolean
  readSync(fd: number, into: Buffer, offset: number, length: number, position: number): number
  /** Bytes written, which may be fewer than requested (core rule 4). */
  writeSync(fd: number, from: Buffer, offset: number, length: number, position: number): number
  renameSync(from: string, to: string): void
  open(path: string, flags: 'wx+'): Promise<number>
  write(fd: number, from: Buffer, offset: number, length: number, position: number): Promise<number>
  datasync(fd: number): Promise<void>
  /** Makes the names in `folder` durable. */
  syncFolder(folder: string): Promise<void>
  remove(path: string): Promise<void>
}

/** The operations that a reader needs. */
export type ReadableFiles = Pick<Files, 'list' | 'openSync' | 'closeSync' | 'size' | 'readSync'>

const open = promisify(fs.open)
const write = promisify(fs.write)
const datasync = promisify(fs.fdatasync)
const sync = promisify(fs.fsync)
const close = promisify(fs.close)
const PRIVATE = 0o600

/** The real file system. Files are the owner's alone, for they hold the contents of calls. */
export const nodeFiles: Files = {
  makeFolder: path => void fs.mkdirSync(path, {recursive: true, mode: 0o700}),
  list: folder => fs.readdirSync(folder),
  freeBytes(folder) {
    const {bavail, bsize} = fs.statfsSync(folder)
    return bavail * bsize
  },
  openSync: (path, flags) => fs.openSync(path, flags, PRIVATE),
  closeSync: fd => fs.closeSync(fd),
  size: fd => fs.fstatSync(fd).size,
  isAt(fd, path) {
    const there = fs.statSync(path, {throwIfNoEntry: false})
    return there !== undefined && there.ino === fs.fstatSync(fd).ino
  },
  readSync: (fd, into, offset, length, position) => fs.readSync(fd, into, offset, length, position),
  writeSync: (fd, from, offset, length, position) => fs.writeSync(fd, from, offset, length, position),
  renameSync: (from, to) => fs.renameSync(from, to),
  open: (path, flags) => open(path, flags, PRIVATE),
  write: async (fd, from, offset, length, position) => (await write(fd, from, offset, length, position)).bytesWritten,
  datasync: fd => datasync(fd),
  async syncFolder(folder) {
    const fd = await open(folder, 'r')
    try {
      await sync(fd)
    } finally {
      await close(fd)
    }
  },
  remove: path => fs.promises.unlink(path),
}
