import {existsSync, statSync} from 'node:fs'
import {join, resolve} from 'node:path'
import type {Command} from 'commander'
import type {Authority, ReadCertificate} from '../src/base/certificates/read.ts'
import type {CertificateFolder} from './certificate-folder.ts'
import {CommandFault, EXIT, usageFault} from './fault.ts'
import {placeOptions} from './hint.ts'
import {checkDirectory} from './open.ts'
import {type CommandSession, openSession} from './session.ts'

/** A certificate as `--json` prints it. */
export interface CertificateRow {
  readonly object: 'certificate'
  readonly kind: 'ca' | 'server'
  readonly name: string
  readonly names: readonly string[]
  readonly serial: string
  readonly fingerprint_sha256: string
  readonly begins_at: string
  readonly ends_at: string
  readonly days_left: number
  readonly state: string
  readonly file: string
  readonly key_file: string
}

export type Library = Awaited<ReturnType<typeof library>>

/** A command at work in the folder of certificates. */
export interface CertsWork {
  readonly session: CommandSession
  readonly folder: CertificateFolder
  readonly lib: Library
  typed(words: string): string
}

/** Works in the folder of certificates of the data directory; a fault of a certificate is one of the command. */
export async function withFolder(self: Command, work: (parts: CertsWork) => void): Promise<void> {
  const session = await openSession(self)
  const {options, found} = session
  const {settings} = await found()
  if (options.url !== undefined || (settings.url !== undefined && options.dataDir === undefined))
    throw usageFault(
      'Certificates are made in the data directory of the gateway.',
      'Run this on the machine of the gateway, with --data-dir and without --url.',
    )
  const data_dir = resolve(settings.data_dir)
  checkDirectory(data_dir)
  // made by the first start, whichever database it has: a wrong path must not fill with keys
  if (!existsSync(join(data_dir, 'keys')))
    throw new CommandFault(`There is no data directory at ${data_dir}.`, {
      exit: EXIT.failure,
      code: 'data_directory',
      next: `Make one (gateway init --data-dir ${settings.data_dir}), or name the right one with --data-dir.`,
    })
  const lib = await library()
  const typed = (words: string) => `gateway ${words}${placeOptions(options)}`
  const {uid, gid} = statSync(data_dir)
  const folder = lib.certificateFolder(join(data_dir, 'certs'), {
    disk: lib.certificateDisk(process.getuid?.() === 0 && uid !== 0 ? {uid, gid} : undefined),
    pid: process.pid,
    isRunning,
    typed,
  })
  try {
    work({session, folder, lib, typed})
  } catch (cause) {
    if (!(cause instanceof lib.CertificateFault)) throw cause
    throw new CommandFault(cause.message, {
      exit: cause.code === 'host' ? EXIT.usage : EXIT.failure,
      code: cause.code === 'host' ? 'usage' : cause.code,
      ...(cause.next && {next: cause.next}),
      cause,
    })
  }
}

export interface IssueParts {
  readonly hosts: ReadCertificate['hosts']
  readonly days: number
  readonly authority: Authority
}

/** Makes a certificate with a new key, checks it, and puts it in place of the one before. */
export function issue({session, folder, lib, typed}: CertsWork, {hosts, days, authority}: IssueParts): ReadCertificate {
  const now_ms = session.world.now()
  if (now_ms >= authority.certificate.ends_ms)
    throw new CommandFault(
      `The certificate authority ended on ${new Date(authority.certificate.ends_ms).toISOString().slice(0, 10)}.`,
      {exit: EXIT.refused, code: 'authority_ended', next: newAuthority(typed)},
    )
  const {publicKey, privateKey} = lib.generateKeyPairSync('ec', {namedCurve: 'P-256'})
  const made = lib.makeServerCertificate({
    hosts,
    public_key: publicKey,
    issuer: authority,
    serial: lib.randomBytes(16),
    ...lib.serverValidity(now_ms, days, authority.certificate),
  })
  const [certificate] = lib.readCertificates(made, 'What was made')
  lib.checkServerCertificate(certificate!, authority, privateKey)
  folder.replaceCurrent({certificate: made + authority.certificate.pem, key: pemOf(privateKey)})
  return certificate!
}

export function rowOf(
  kind: CertificateRow['kind'],
  {name, hosts, serial, fingerprint, ...validity}: ReadCertificate,
  {session, folder, lib}: Pick<CertsWork, 'session' | 'folder' | 'lib'>,
): CertificateRow {
  const {paths} = folder
  const now_ms = session.world.now()
  return {
    object: 'certificate',
    kind,
    name,
    names: hosts.map(({text}) => text),
    serial,
    fingerprint_sha256: fingerprint,
    begins_at: new Date(validity.begins_ms).toISOString(),
    ends_at: new Date(validity.ends_ms).toISOString(),
    days_left: lib.daysLeft(validity, now_ms),
    state: lib.stateOf(validity, now_ms),
    file: kind === 'ca' ? paths.ca_crt : paths.server_crt,
    key_file: kind === 'ca' ? paths.ca_key : paths.server_key,
  }
}

export function pemOf(key: ReturnType<Library['generateKeyPairSync']>['privateKey']): string {
  return key.export({type: 'pkcs8', format: 'pem'}) as string
}

/** Only here and only now: other commands do not load it. */
async function library() {
  const [crypto, fault, hosts, lifetime, make, read, disk, folder, trusted] = await Promise.all([
    import('node:crypto'),
    import('../src/base/certificates/fault.ts'),
    import('../src/base/certificates/hosts.ts'),
    import('../src/base/certificates/lifetime.ts'),
    import('../src/base/certificates/make.ts'),
    import('../src/base/certificates/read.ts'),
    import('./certificate-disk.ts'),
    import('./certificate-folder.ts'),
    import('./certificate-trust.ts'),
  ])
  const {generateKeyPairSync, randomBytes} = crypto
  return {
    generateKeyPairSync,
    randomBytes,
    ...fault,
    ...hosts,
    ...lifetime,
    ...make,
    ...read,
    ...disk,
    ...folder,
    ...trusted,
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (cause) {
    return (cause as NodeJS.ErrnoException).code === 'EPERM'
  }
}

export function noAuthority(typed: CertsWork['typed']): CommandFault {
  return new CommandFault('There is no certificate authority yet.', {
    exit: EXIT.not_found,
    code: 'no_authority',
    next: `Make one: ${typed('certs init')}`,
  })
}

export function noCertificate(typed: CertsWork['typed']): CommandFault {
  return new CommandFault('There is no certificate of a server yet.', {
    exit: EXIT.not_found,
    code: 'no_certificate',
    next: `Make one: ${typed('certs create')} HOST`,
  })
}

export function newAuthority(typed: CertsWork['typed']): string {
  const command = typed('certs init')
  return `Move ca.key and ca.crt elsewhere, and make another: ${command}. All machines must then trust that one.`
}
