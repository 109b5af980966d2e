import type {KeyObject} from 'node:crypto'
import {join} from 'node:path'
import {CertificateFault} from '../src/base/certificates/fault.ts'
import {
  type Authority,
  type ReadCertificate,
  readAuthority,
  readCertificates,
  readKey,
} from '../src/base/certificates/read.ts'
import type {CertificateDisk} from './certificate-disk.ts'
import {CommandFault, EXIT, fileReason} from './fault.ts'

/** A certificate and its private key, in PEM form. */
export interface PemPair {
  readonly certificate: string
  readonly key: string
}

/** The certificate that the server shows, as it was read through one look at the link to it. */
export interface CurrentCertificate {
  readonly certificate: ReadCertificate
  /** The certificates that follow it in its file. */
  readonly chain: readonly ReadCertificate[]
  /** Undefined where it cannot be read, or is not the key of the certificate. */
  readonly key: KeyObject | undefined
}

/**
 * The folder of certificates: `ca.key`, `ca.crt`, and a numbered folder for each `server.key` with its `server.crt`.
 * The link `current` names the one in use. It changes in one step, so that no key is there without its certificate.
 */
export interface CertificateFolder {
  readonly paths: CertificatePaths
  /** The authority's certificate; undefined where there is none. */
  authorityCertificate(): ReadCertificate | undefined
  /** The authority with its key; throws CommandFault where there is none, or others may read its key. */
  authority(): Authority
  /** Throws CommandFault where there is one, or a part of one. */
  writeAuthority(pair: PemPair): void
  /** The certificate of the server; undefined where there is none. */
  current(): CurrentCertificate | undefined
  replaceCurrent(pair: PemPair): void
}

export interface CertificatePaths {
  readonly folder: string
  readonly ca_key: string
  readonly ca_crt: string
  readonly server_key: string
  readonly server_crt: string
}

export interface FolderParts {
  readonly disk: CertificateDisk
  readonly pid: number
  isRunning(pid: number): boolean
  /** A command on the same data directory, as it is to be typed. */
  typed(words: string): string
}

const SECRET = 0o600
const PUBLIC = 0o644
const MAX_TRIES = 100

export function certificateFolder(folder: string, parts: FolderParts): CertificateFolder {
  const {disk, pid, typed} = parts
  const paths = pathsIn(folder)
  const temporary = join(folder, `.new-${pid}`)
  const read = (path: string) => present(() => disk.read(path), path)

  /** Removes the remains of processes that ended while they wrote. */
  const sweep = () => {
    for (const name of disk.list(folder)) {
      const owner = Number(/^\.(?:new|current)-(\d{1,10})$/.exec(name)?.[1] ?? Number.NaN)
      if (owner === pid || (owner > 0 && !parts.isRunning(owner))) disk.remove(join(folder, name))
    }
  }
  const writePair = (names: readonly [key: string, certificate: string], {key, certificate}: PemPair) => {
    sweep()
    disk.makeFolder(temporary)
    disk.writeNew(join(temporary, names[0]), key, SECRET)
    disk.writeNew(join(temporary, names[1]), certificate, PUBLIC)
    disk.sync(temporary)
  }
  const moveToNumber = (): number => {
    const least = Math.max(0, ...numbersIn(disk.list(folder))) + 1
    for (let number = least; ; number += 1) {
      try {
        disk.rename(temporary, join(folder, String(number)))
        return number
      } catch (cause) {
        // another command took the number since
        if (!['ENOTEMPTY', 'EEXIST'].includes(codeOf(cause)) || number - least === MAX_TRIES) throw cause
      }
    }
  }
  const currentNumber = (): number | undefined => {
    const target = present(() => disk.readLink(join(folder, 'current')), join(folder, 'current'))
    return target !== undefined && /^\d{1,9}$/.test(target) ? Number(target) : undefined
  }

  return {
    paths,
    authorityCertificate() {
      const file = read(paths.ca_crt)
      return file && readCertificates(file.text, paths.ca_crt)[0]
    },
    authority() {
      const [certificate, key] = [read(paths.ca_crt), read(paths.ca_key)]
      if (!certificate && !key)
        throw missing('There is no certificate authority yet.', `Make one: ${typed('certs init')}`)
      if (!certificate) throw missing(`${paths.ca_key} is there without ${paths.ca_crt}.`, HALF)
      if (!key) throw missing(`${paths.ca_key} is missing.`, 'Put it back from where you keep it.')
      if (key.mode & 0o077)
        throw new CommandFault(`Other users of this machine may read ${paths.ca_key}.`, {
          exit: EXIT.failure,
          code: 'authority',
          next: `If none of them did, type: chmod 600 ${paths.ca_key}`,
        })
      return readAuthority(
        {certificate: certificate.text, key: key.text},
        {certificate: paths.ca_crt, key: paths.ca_key},
      )
    },
    writeAuthority(pair) {
      written(folder, () => {
        if (!isThere(() => disk.list(folder))) disk.makeFolder(folder)
        for (const path of [paths.ca_crt, paths.ca_key]) if (isThere(() => disk.read(path))) throw taken(path, typed)
        writePair(['ca.key', 'ca.crt'], pair)
        try {
          disk.link(join(temporary, 'ca.key'), paths.ca_key)
          disk.link(join(temporary, 'ca.crt'), paths.ca_crt)
        } catch (cause) {
          throw codeOf(cause) === 'EEXIST' ? taken(paths.ca_key, typed) : cause
        }
        disk.sync(folder)
        disk.remove(temporary)
      })
    },
    current() {
      const number = currentNumber()
      if (number === undefined) return undefined
      const [crt, key_file] = [join(folder, String(number), 'server.crt'), join(folder, String(number), 'server.key')]
      const file = read(crt)
      if (!file) return undefined
      const [certificate, ...chain] = readCertificates(file.text, crt)
      return {certificate: certificate!, chain, key: keyOf(read(key_file)?.text ?? '', key_file, certificate!)}
    },
    replaceCurrent(pair) {
      written(folder, () => {
        writePair(['server.key', 'server.crt'], pair)
        const before = currentNumber()
        const number = moveToNumber()
        const link = join(folder, `.current-${pid}`)
        disk.symlink(String(number), link)
        disk.rename(link, join(folder, 'current'))
        disk.sync(folder)
        // the one before stays, for a reader that is between its two files
        for (const old of numbersIn(disk.list(folder)))
          if (old < number && old < (before ?? number)) disk.remove(join(folder, String(old)))
      })
    },
  }
}

const HALF = 'An interrupted init leaves this: move it elsewhere, or put the certificate back if machines trust it.'

function pathsIn(folder: string): CertificatePaths {
  return {
    folder,
    ca_key: join(folder, 'ca.key'),
    ca_crt: join(folder, 'ca.crt'),
    server_key: join(folder, 'current', 'server.key'),
    server_crt: join(folder, 'current', 'server.crt'),
  }
}

function numbersIn(names: readonly string[]): number[] {
  return names.filter(name => /^[1-9]\d{0,8}$/.test(name)).map(Number)
}

function keyOf(pem: string, file: string, {x509}: ReadCertificate): KeyObject | undefined {
  try {
    const key = readKey(pem, file)
    return x509.checkPrivateKey(key) ? key : undefined
  } catch (cause) {
    if (cause instanceof CertificateFault) return undefined
    throw cause
  }
}

/** Reads from a path; undefined where there is nothing. */
function present<T>(look: () => T, path: string): T | undefined {
  try {
    return look()
  } catch (cause) {
    if (codeOf(cause) === 'ENOENT') return undefined
    throw new CommandFault(`${path} cannot be read: ${fileReason(cause)}.`, {
      exit: EXIT.failure,
      code: 'file',
      next: OWNER,
      cause,
    })
  }
}

function isThere(look: () => unknown): boolean {
  try {
    look()
    return true
  } catch (cause) {
    if (codeOf(cause) === 'ENOENT') return false
    throw cause
  }
}

const OWNER = 'Run the command as the user the data directory belongs to.'
const CLOSED: readonly string[] = ['EACCES', 'EPERM', 'EROFS']

/** Writes; a folder that cannot be written is a fault that names it. */
function written(folder: string, work: () => void) {
  try {
    work()
  } catch (cause) {
    const code = codeOf(cause)
    if (cause instanceof CommandFault || code === 'ENOSPC' || code === 'EDQUOT') throw cause
    if (!/^E[A-Z]+$/.test(code)) throw cause
    throw new CommandFault(`${folder} cannot be written${CLOSED.includes(code) ? '' : ` (${code})`}.`, {
      exit: EXIT.failure,
      code: 'file',
      next: code === 'EROFS' ? 'Its file system is read-only.' : OWNER,
      cause,
    })
  }
}

function taken(path: string, typed: FolderParts['typed']): CommandFault {
  return new CommandFault(`${path} is there already and is left as it is.`, {
    exit: EXIT.refused,
    code: 'exists',
    next: `${typed('certs list')} shows what there is. To begin again, move ca.key and ca.crt elsewhere first.`,
  })
}

function missing(message: string, next: string): CommandFault {
  return new CommandFault(message, {exit: EXIT.not_found, code: 'no_authority', next})
}

function codeOf(cause: unknown): string {
  return cause instanceof Error ? String((cause as NodeJS.ErrnoException).code ?? '') : ''
}
