import {execFileSync, spawn} from 'node:child_process'
import {once} from 'node:events'
import {copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync} from 'node:fs'
import {connect, createServer} from 'node:net'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {setTimeout as turn} from 'node:timers/promises'

const SLAPD = '/usr/sbin/slapd'
const MODULES = '/usr/lib/ldap'
const SCHEMAS = '/etc/ldap/schema'

/** Tests with a real directory are left out where there is none, unless TEST_SLAPD=required. */
export const NO_SLAPD = !existsSync(SLAPD) && process.env.TEST_SLAPD !== 'required'
if (NO_SLAPD)
  console.warn(`tests with a real directory are left out: ${SLAPD} is not there (Debian: slapd, ldap-utils)`)

export interface Slapd {
  /** `ldaps:` with TLS, else `ldap:`; the server listens at both, and takes StartTLS where it has TLS. */
  readonly url: string
  readonly plain_url: string
  readonly base: string
  readonly admin_dn: string
  readonly admin_password: string
  /** The authority of its certificate, which is for `localhost` alone; null without TLS. */
  readonly ca_pem: string | null
  /** Adds entries, or changes them where the text has `changetype`. */
  add(ldif: string): void
  stop(): Promise<void>
}

export interface SlapdOptions {
  readonly tls: boolean
  /** PEM files of a certificate for `localhost`; without them one is made. */
  readonly certificate?: {readonly ca_file: string; readonly server_file: string; readonly key_file: string}
}

/** A directory on loopback, in a folder of its own, with overlays for memberOf and password policies. */
export async function startSlapd({tls, certificate}: SlapdOptions): Promise<Slapd> {
  const folder = mkdtempSync(join(tmpdir(), 'gateway-slapd-'))
  mkdirSync(join(folder, 'data'))
  const [base, admin_password] = ['dc=example,dc=test', 'admin-secret']
  const admin_dn = `cn=admin,${base}`
  if (certificate) {
    const files = {
      'ca.pem': certificate.ca_file,
      'server.pem': certificate.server_file,
      'server.key': certificate.key_file,
    }
    for (const [name, file] of Object.entries(files)) copyFileSync(file, join(folder, name))
  } else if (tls) makeCertificate(folder, 'localhost')
  writeFileSync(join(folder, 'slapd.conf'), configOf(folder, {base, admin_dn, admin_password, tls}))
  const [plain, secure] = [await freePort(), await freePort()]
  const plain_url = `ldap://localhost:${plain}`
  const listening = [`ldap://127.0.0.1:${plain}`, ...(tls ? [`ldaps://127.0.0.1:${secure}`] : [])]
  const server = spawn(SLAPD, ['-f', join(folder, 'slapd.conf'), '-h', listening.join(' '), '-d', '0'], {stdio: 'pipe'})
  let stderr = ''
  server.stderr.on('data', chunk => {
    stderr += chunk
  })
  const ended = once(server, 'exit')
  const kill = () => void server.kill('SIGKILL')
  process.once('exit', kill)
  const stop = async () => {
    kill()
    await ended
    process.off('exit', kill)
    rmSync(folder, {recursive: true, force: true})
  }
  const add = (ldif: string) => {
    const options = ['-x', '-H', `ldap://127.0.0.1:${plain}`, '-D', admin_dn, '-w', admin_password]
    const command = /^changetype:/m.test(ldif) ? 'ldapmodify' : 'ldapadd'
    execFileSync(command, options, {input: `${ldif.trim()}\n`, stdio: ['pipe', 'ignore', 'pipe']})
  }
  try {
    const gone = ended.then(() => Promise.reject(new Error(`slapd ended: ${stderr}`)))
    await Promise.race([gone, answering(plain, () => server.exitCode === null)])
    gone.catch(() => undefined)
    add(FOUNDATION)
  } catch (fault) {
    await stop().catch(() => undefined)
    throw fault
  }
  return {
    url: tls ? `ldaps://localhost:${secure}` : plain_url,
    plain_url,
    base,
    admin_dn,
    admin_password,
    ca_pem: tls ? readFileSync(join(folder, 'ca.pem'), 'utf8') : null,
    add,
    stop,
  }
}

const FOUNDATION = `
dn: dc=example,dc=test
objectClass: dcObject
objectClass: organization
dc: example
o: Example

dn: ou=people,dc=example,dc=test
objectClass: organizationalUnit
ou: people

dn: ou=groups,dc=example,dc=test
objectClass: organizationalUnit
ou: groups

dn: ou=policies,dc=example,dc=test
objectClass: organizationalUnit
ou: policies

dn: cn=default,ou=policies,dc=example,dc=test
objectClass: device
objectClass: pwdPolicy
cn: default
pwdAttribute: userPassword
pwdMustChange: TRUE
pwdLockout: TRUE
pwdMaxFailure: 5
pwdLockoutDuration: 300
`

/** A certificate for `hostname` and its key, by an authority of its own: ca.pem, server.pem, server.key in `folder`. */
export function makeCertificate(folder: string, hostname: string): void {
  const openssl = (...options: string[]) => execFileSync('openssl', options, {cwd: folder, stdio: 'ignore'})
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-x509', '-days', '30']
  openssl('req', ...key, '-subj', '/CN=Test authority', '-keyout', 'ca.key', '-out', 'ca.pem')
  const signed = ['-CA', 'ca.pem', '-CAkey', 'ca.key', '-addext', `subjectAltName=DNS:${hostname}`]
  const leaf = ['-addext', 'basicConstraints=critical,CA:FALSE', '-keyout', 'server.key', '-out', 'server.pem']
  openssl('req', ...key, ...signed, '-subj', `/CN=${hostname}`, ...leaf)
}

interface Config {
  readonly base: string
  readonly admin_dn: string
  readonly admin_password: string
  readonly tls: boolean
}

function configOf(folder: string, {base, admin_dn, admin_password, tls}: Config): string {
  const at = (name: string) => join(folder, name)
  return [
    ...['core', 'cosine', 'inetorgperson'].map(name => `include ${SCHEMAS}/${name}.schema`),
    `modulepath ${MODULES}`,
    ...['back_mdb', 'memberof', 'ppolicy'].map(name => `moduleload ${name}`),
    `pidfile ${at('slapd.pid')}`,
    ...(tls ? [`TLSCertificateFile ${at('server.pem')}`, `TLSCertificateKeyFile ${at('server.key')}`] : []),
    'database mdb',
    'maxsize 104857600',
    `suffix "${base}"`,
    `rootdn "${admin_dn}"`,
    `rootpw ${admin_password}`,
    `directory ${at('data')}`,
    'dbnosync',
    'index objectClass,uid,mail eq',
    'overlay memberof',
    'overlay ppolicy',
    `ppolicy_default "cn=default,ou=policies,${base}"`,
    'ppolicy_use_lockout',
    '',
  ].join('\n')
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  await once(server, 'close')
  if (address === null || typeof address === 'string') throw new Error('no port')
  return address.port
}

/** Resolves once the port takes connections, or the server is no longer running. */
async function answering(port: number, is_running: () => boolean): Promise<void> {
  const takes = () =>
    new Promise<boolean>(resolve => {
      const socket = connect(port, '127.0.0.1', () => resolve(true))
      socket.on('error', () => resolve(false))
      socket.on('connect', () => socket.destroy())
    })
  while (is_running() && !(await takes())) await turn(20)
}
