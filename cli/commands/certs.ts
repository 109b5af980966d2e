import {Argument, type Command} from 'commander'
import type {Authority, ReadCertificate} from '../../src/base/certificates/read.ts'
import type {CertificateFolder} from '../certificate-folder.ts'
import {
  type CertificateRow,
  type CertsWork,
  issue,
  type Library,
  newAuthority,
  noAuthority,
  noCertificate,
  pemOf,
  rowOf,
  withFolder,
} from '../certificates.ts'
import {CommandFault, EXIT, usageFault} from '../fault.ts'
import {readDuration, readWhole} from '../option-parsers.ts'
import {group, leaf} from '../options.ts'
import type {TableColumn} from '../table.ts'

/** `gateway certs`: an authority of the operator's own, and the certificate that the gateway serves with. */
export function certs(): Command {
  return group('certs', 'Certificates of an authority of your own, for https without internet', [
    init(),
    create(),
    renew(),
    list(),
    show(),
    trust(),
  ])
}

const DEFAULT_DAYS = 397

function init(): Command {
  return leaf('init', 'Make the certificate authority', [
    'gateway certs init',
    'gateway certs init --name "Example CA" --days 1825',
  ])
    .option('--name <name>', 'its name, as browsers list it', 'Gateway CA')
    .option('--days <n>', 'how long it is valid', '3650')
    .action((options: {readonly name: string; readonly days: string}, self: Command) =>
      withFolder(self, ({session, folder, lib, typed}) => {
        const {print, world} = session
        const name = options.name.trim()
        if (!/^[^\p{C}\p{Zl}\p{Zp}]{1,64}$/u.test(name))
          throw usageFault('--name is a name of 1 to 64 characters, none of them a control character.')
        const days = readWhole(options.days, '--days', 1, lib.MAX_AUTHORITY_DAYS)
        const {privateKey} = lib.generateKeyPairSync('ec', {namedCurve: 'P-256'})
        const made = lib.makeAuthority({
          name,
          key: privateKey,
          serial: lib.randomBytes(16),
          ...lib.authorityValidity(world.now(), days),
        })
        folder.writeAuthority({certificate: made, key: pemOf(privateKey)})
        const {ca_crt, ca_key} = folder.paths
        const [certificate] = lib.readCertificates(made, ca_crt)
        const row = rowOf('ca', certificate!, {session, folder, lib})
        print.made(
          row,
          ca_crt,
          [
            `Made the certificate authority ${name}, valid until ${row.ends_at.slice(0, 10)}.`,
            `SHA-256 fingerprint: ${row.fingerprint_sha256}`,
            `${ca_crt} is for every machine that connects. ${ca_key} signs certificates: keep it secret.`,
            `Next: ${typed('certs create')} HOST`,
          ].join('\n'),
        )
      }),
    )
}

function create(): Command {
  return leaf('create', 'Make the certificate of the server, in place of the one before', [
    'gateway certs create gateway.example.com',
    "gateway certs create gateway.internal '*.gateway.internal' 10.0.0.5 --days 90",
  ])
    .argument('<host...>', 'host names and IP addresses under which the gateway is reached')
    .option('--days <n>', 'how long it is valid, but not longer than its authority', String(DEFAULT_DAYS))
    .action((names: string[], options: {readonly days: string}, self: Command) =>
      withFolder(self, work => {
        const {session, folder, lib} = work
        const hosts = lib.readHosts(names)
        const days = readWhole(options.days, '--days', 1, lib.MAX_SERVER_DAYS)
        const before = replacedIn(work)
        const authority = folder.authority()
        const row = rowOf('server', issue(work, {hosts, days, authority}), work)
        const {print} = session
        print.made(row, row.file, createdText(row, before, work, authority))
      }),
    )
}

/** The certificate that is replaced; undefined where there is none, or it cannot be read. */
function replacedIn({folder, lib}: CertsWork): ReadCertificate | undefined {
  try {
    return folder.current()?.certificate
  } catch (cause) {
    if (cause instanceof lib.CertificateFault) return undefined
    throw cause
  }
}

function createdText(
  row: CertificateRow,
  before: ReadCertificate | undefined,
  {folder, lib}: CertsWork,
  authority: Authority,
): string {
  const {server_key, server_crt, ca_crt} = folder.paths
  const names = before?.hosts.map(({text}) => text).join(', ')
  return [
    `Made a certificate for ${validText(row, authority)}.`,
    ...(names && names !== row.names.join(', ') ? [`It replaces the one for ${names}.`] : []),
    '',
    'Settings that make the gateway serve https from its next start:',
    `  TLS_KEY_FILE=${server_key}`,
    `  TLS_CERT_FILE=${server_crt}`,
    RELOAD,
    '',
    `Machines that connect must trust ${ca_crt}. Copy it there, and type in its folder:`,
    ...lib.trustLines(),
  ].join('\n')
}

const RELOAD = 'A gateway that has them already takes the new certificate when it gets SIGHUP: systemctl reload gateway'

function validText({names, ends_at}: CertificateRow, {certificate}: Authority): string {
  const too = Date.parse(ends_at) === certificate.ends_ms ? ', when its authority ends too' : ''
  return `${names.join(', ')}, valid until ${ends_at.slice(0, 10)}${too}`
}

function renew(): Command {
  return leaf('renew', 'Make the certificate of the server again when it ends soon; for a timer', [
    'gateway certs renew',
    'gateway certs renew --within 60d',
  ])
    .option('--within <time>', 'how long before its end: 12h, 30d or 2w', '30d')
    .option('--days <n>', 'how long the new one is valid (default: as long as the one before)')
    .action((options: {readonly within: string; readonly days?: string}, self: Command) =>
      withFolder(self, work => {
        const {session, folder, lib, typed} = work
        const {print, world} = session
        const within_ms = readDuration(options.within, '--within')
        const current = folder.current()
        if (!current) throw noCertificate(typed)
        const {certificate} = current
        const given = options.days === undefined ? undefined : readWhole(options.days, '--days', 1, lib.MAX_SERVER_DAYS)
        lib.checkBegun(world.now(), certificate, 'The certificate')
        const before = rowOf('server', certificate, work)
        const ca = folder.authorityCertificate()
        const is_good = current.key && ca && lib.isIssuedBy(certificate.x509, ca.x509)
        if (is_good && certificate.ends_ms - world.now() > within_ms)
          return print.done(
            {...before, renewed: false},
            `The certificate is valid until ${before.ends_at.slice(0, 10)} (${before.days_left} days): nothing to do.`,
          )
        const authority = folder.authority()
        if (is_good && certificate.ends_ms === authority.certificate.ends_ms) throw endsWithAuthority(before, typed)
        if (certificate.has_others) throw othersIn(before, typed)
        const days = given ?? daysOf(current, lib)
        const row = rowOf('server', issue(work, {hosts: certificate.hosts, days, authority}), work)
        print.done(
          {...row, renewed: true},
          [
            `Renewed the certificate for ${validText(row, authority)}.`,
            'A gateway that serves takes it when it gets SIGHUP: systemctl reload gateway',
          ].join('\n'),
        )
      }),
    )
}

/** As long as the one before, unless that one was cut short by the end of its authority. */
function daysOf({certificate, chain}: NonNullable<ReturnType<CertificateFolder['current']>>, lib: Library): number {
  if (chain.some(({ends_ms}) => ends_ms === certificate.ends_ms)) return DEFAULT_DAYS
  const days = Math.floor((certificate.ends_ms - certificate.begins_ms) / lib.DAY_MS)
  return Math.min(Math.max(days, 1), lib.MAX_SERVER_DAYS)
}

function othersIn({file}: CertificateRow, typed: CertsWork['typed']): CommandFault {
  return new CommandFault(`${file} has names that gateway certs does not make.`, {
    exit: EXIT.failure,
    code: 'certificate',
    next: `Name those that the new one is for: ${typed('certs create')} HOST`,
  })
}

function endsWithAuthority({ends_at}: CertificateRow, typed: CertsWork['typed']): CommandFault {
  return new CommandFault(
    `The certificate authority ends on ${ends_at.slice(0, 10)}, and no certificate is valid for longer.`,
    {exit: EXIT.refused, code: 'authority_ends', next: newAuthority(typed)},
  )
}

export const CERTIFICATE_COLUMNS: readonly TableColumn<CertificateRow>[] = [
  {title: 'kind', value: row => row.kind, whole: true},
  {title: 'names', value: row => [row.name, ...row.names.filter(name => name !== row.name)].join(', ')},
  {title: 'state', value: row => row.state},
  {title: 'begins', value: row => row.begins_at.slice(0, 10), optional: 1},
  {title: 'ends', value: row => row.ends_at.slice(0, 10)},
  {title: 'days left', value: row => row.days_left, align: 'right'},
  {title: 'serial', value: row => row.serial, whole: true, optional: 2},
  {title: 'sha-256', value: row => row.fingerprint_sha256, whole: true, optional: 3},
]

function list(): Command {
  return leaf('list', 'List the authority and the certificate of the server', [
    'gateway certs list',
    'gateway certs list --json',
  ]).action((_: object, self: Command) =>
    withFolder(self, work => {
      const {session, folder} = work
      const [ca, current] = [folder.authorityCertificate(), folder.current()]
      const rows = [
        ...(ca ? [rowOf('ca', ca, work)] : []),
        ...(current ? [rowOf('server', current.certificate, work)] : []),
      ]
      session.print.list({object: 'list', total: rows.length, data: rows}, rows, CERTIFICATE_COLUMNS)
    }),
  )
}

function show(): Command {
  return leaf('show', 'Show a certificate: names, fingerprint, validity, files', [
    'gateway certs show',
    'gateway certs show ca',
  ])
    .addArgument(new Argument('[which]', 'ca or server').choices(['server', 'ca']).default('server'))
    .action((which: 'server' | 'ca', _: object, self: Command) =>
      withFolder(self, work => {
        const {session, folder, typed} = work
        const found = which === 'ca' ? folder.authorityCertificate() : folder.current()?.certificate
        if (!found) throw which === 'ca' ? noAuthority(typed) : noCertificate(typed)
        const row = rowOf(which, found, work)
        session.print.view(row, row)
      }),
    )
}

function trust(): Command {
  return leaf('trust', "Print the authority's certificate, which machines that connect must trust", [
    'gateway certs trust',
    'gateway certs trust > gateway-ca.crt',
  ]).action((_: object, self: Command) =>
    withFolder(self, work => {
      const {session, folder, lib, typed} = work
      const {print, world} = session
      const ca = folder.authorityCertificate()
      if (!ca) throw noAuthority(typed)
      const {ca_crt} = folder.paths
      if (print.json) return print.json_reply({...rowOf('ca', ca, work), certificate: ca.pem, steps: lib.TRUST_STEPS})
      world.stdout.write(ca.pem)
      print.note(
        [
          '',
          `This is ${ca_crt}. Copy it to the machines that connect, and type in its folder:`,
          ...lib.trustLines(),
        ].join('\n'),
      )
    }),
  )
}
