import {
  closeSync,
  constants,
  fchmodSync,
  fchownSync,
  fstatSync,
  fsyncSync,
  lchownSync,
  linkSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'

/** The steps by which certificates get into their folder; each throws as node:fs does. */
export interface CertificateDisk {
  /** The names in a folder. */
  list(path: string): readonly string[]
  /** A text, with the permissions of the file that it is in. */
  read(path: string): {readonly text: string; readonly mode: number}
  readLink(path: string): string
  /** Makes a folder for its owner alone. */
  makeFolder(path: string): void
  /** Writes a new file through to the disk. */
  writeNew(path: string, text: string, mode: number): void
  /** Gives a file a second name, which must be free. */
  link(path: string, name: string): void
  symlink(target: string, path: string): void
  /** Moves to a place, and replaces the link that may be there. */
  rename(path: string, to: string): void
  /** Removes what may be there, with all that is in it. */
  remove(path: string): void
  /** Writes the names in a folder through to the disk. */
  sync(path: string): void
}

/** A chain of certificates has a hundredth of it. */
const MAX_BYTES = 1024 * 1024

/** The disk of this machine. All that is made belongs to `owner`, where root works for another user. */
export function certificateDisk(owner?: {readonly uid: number; readonly gid: number}): CertificateDisk {
  const own = (path: string) => owner && lchownSync(path, owner.uid, owner.gid)
  return {
    list: path => readdirSync(path),
    readLink: path => readlinkSync(path),
    link: linkSync,
    rename: renameSync,
    remove: path => rmSync(path, {recursive: true, force: true}),
    read: path =>
      // a pipe in its place must not hold the command
      withFile(path, constants.O_RDONLY | constants.O_NONBLOCK, file => {
        const stat = fstatSync(file)
        if (!stat.isFile()) throw unfit('EINVAL', `${path} is no file`)
        if (stat.size > MAX_BYTES) throw unfit('EFBIG', `${path} is larger than ${MAX_BYTES} bytes`)
        return {text: readFileSync(file, 'utf8'), mode: stat.mode & 0o777}
      }),
    makeFolder(path) {
      mkdirSync(path, {mode: 0o700})
      own(path)
    },
    writeNew(path, text, mode) {
      withFile(path, 'wx', file => {
        writeFileSync(file, text)
        // of the open file: its name may be another's by now, where root works in a folder of another user
        fchmodSync(file, mode)
        if (owner) fchownSync(file, owner.uid, owner.gid)
        fsyncSync(file)
      })
    },
    symlink(target, path) {
      symlinkSync(target, path)
      own(path)
    },
    sync: path => withFile(path, 'r', fsyncSync),
  }
}

function unfit(code: string, message: string): Error {
  return Object.assign(new Error(message), {code})
}

function withFile<T>(path: string, flags: string | number, work: (file: number) => T): T {
  const file = openSync(path, flags, 0o600)
  try {
    return work(file)
  } finally {
    closeSync(file)
  }
}
