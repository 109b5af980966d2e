import {execFileSync, spawn, spawnSync} from 'node:child_process'
import {generateKeyPairSync, type KeyObject, X509Certificate} from 'node:crypto'
import {once} from 'node:events'
import {mkdtempSync, readFileSync, writeFileSync} from 'node:fs'
import {createServer as createHttps} from 'node:https'
import type {AddressInfo} from 'node:net'
import {join} from 'node:path'
import {checkServerIdentity, connect, createServer} from 'node:tls'
import {describe, expect, inject, onTestFinished, test} from 'vitest'
import {readHosts} from '../../../src/base/certificates/hosts.ts'
import {keyId, makeAuthority, makeServerCertificate, type Validity} from '../../../src/base/certificates/make.ts'
import {
  type Authority,
  checkServerCertificate,
  isIssuedBy,
  readAuthority,
  readCertificates,
  readKey,
} from '../../../src/base/certificates/read.ts'

const DAY_MS = 86_400_000
const NOW_MS = Math.floor(Date.now() / 1000) * 1000
const HOSTS = ['gateway.example.com', '*.münchen.example', '10.0.0.5', '127.0.0.1', '2001:db8::1']
const folder = mkdtempSync(join(inject('run_folder'), 'certificates-'))

const SERIAL = Buffer.alloc(16, 0xa5)
const keys = () => generateKeyPairSync('ec', {namedCurve: 'P-256'})
const pemOf = (key: KeyObject) => key.export({type: 'pkcs8', format: 'pem'}) as string
const from = (days: number): Validity => ({begins_ms: NOW_MS - 3_600_000, ends_ms: NOW_MS + days * DAY_MS})

function authority(name = 'Gateway CA', validity = from(3650)): Authority & {readonly pem: string} {
  const {privateKey} = keys()
  const pem = makeAuthority({name, key: privateKey, serial: SERIAL, ...validity})
  return {pem, ...readAuthority({certificate: pem, key: pemOf(privateKey)}, {certificate: 'ca.crt', key: 'ca.key'})}
}

function server(issuer: Authority, hosts = HOSTS, validity = from(397), serial: Uint8Array = SERIAL) {
  const {publicKey, privateKey} = keys()
  const pem = makeServerCertificate({hosts: readHosts(hosts), public_key: publicKey, issuer, serial, ...validity})
  return {pem, key: privateKey, read: readCertificates(pem, 'server.crt')[0]!}
}

function openssl(...args: string[]) {
  const {stdout, stderr, status} = spawnSync('openssl', args, {encoding: 'utf8', input: ''})
  return {status, output: stdout + stderr}
}
const has_openssl = spawnSync('openssl', ['version']).status === 0

/** Writes texts into files, and gives their paths. */
function files<Name extends string>(texts: Readonly<Record<Name, string>>): Record<Name, string> {
  const place = mkdtempSync(join(folder, 'files-'))
  const entries = Object.entries<string>(texts).map(([name, text]) => {
    const path = join(place, name)
    writeFileSync(path, text)
    return [name, path]
  })
  return Object.fromEntries(entries) as Record<Name, string>
}

describe('a certificate', () => {
  const ca = authority('Gateway CA ü')
  const leaf = server(ca)

  test('is read again as it was made', () => {
    expect(ca.certificate).toMatchObject({name: 'Gateway CA ü', hosts: [], has_others: false, ...from(3650)})
    expect(leaf.read).toMatchObject({name: 'gateway.example.com', has_others: false, ...from(397)})
    expect(leaf.read.hosts.map(({text}) => text)).toEqual([
      'gateway.example.com',
      '*.xn--mnchen-3ya.example',
      '10.0.0.5',
      '127.0.0.1',
      '2001:db8::1',
    ])
    expect(leaf.read.serial).toBe(`25${'A5'.repeat(15)}`)
    expect(leaf.read.fingerprint).toBe(new X509Certificate(leaf.pem).fingerprint256)
  })

  test('is of its authority, for its key and its hosts alone', () => {
    const {x509} = leaf.read
    expect([x509.ca, ca.certificate.x509.ca]).toEqual([false, true])
    expect([
      isIssuedBy(x509, ca.certificate.x509),
      isIssuedBy(x509, authority('Gateway CA ü').certificate.x509),
    ]).toEqual([true, false])
    // the names and the identifier of the authority are no proof: its signature is
    const forged = server({...ca, key: keys().privateKey})
    expect([
      forged.read.x509.checkIssued(ca.certificate.x509),
      isIssuedBy(forged.read.x509, ca.certificate.x509),
    ]).toEqual([true, false])
    expect(() => checkServerCertificate(leaf.read, ca, leaf.key)).not.toThrow()
    expect(() => checkServerCertificate(leaf.read, ca, keys().privateKey)).toThrow('does not hold')
    expect(() => checkServerCertificate(leaf.read, authority(), leaf.key)).toThrow('does not hold')
    expect(() => checkServerCertificate({...leaf.read, hosts: readHosts(['b.example'])}, ca, leaf.key)).toThrow(
      'does not hold',
    )
    const named = {subject: {CN: 'x'}, subjectaltname: x509.subjectAltName} as Parameters<typeof checkServerIdentity>[1]
    expect(checkServerIdentity('a.xn--mnchen-3ya.example', named)).toBeUndefined()
    expect(checkServerIdentity('attacker.example', named)).toBeInstanceOf(Error)
  })

  test('has a positive serial of 16 bytes at most, whatever the random bytes are', () => {
    const serialOf = (bytes: Uint8Array) => server(ca, HOSTS, from(1), bytes).read.serial
    expect(serialOf(Buffer.alloc(16, 0xff))).toBe(`7F${'FF'.repeat(15)}`)
    expect(serialOf(Buffer.alloc(16))).toBe('01')
    expect(serialOf(Buffer.from([0x80, 0, ...Buffer.alloc(14, 0x90)]))).toBe('90'.repeat(14))
    expect(() => serialOf(Buffer.alloc(8))).toThrow('16 random bytes')
  })

  test.each([
    ['1999-12-31T23:59:59Z', '2049-12-31T23:59:59Z'],
    ['1970-01-01T00:00:00Z', '2050-01-01T00:00:00Z'],
    ['2050-06-01T00:00:00Z', '9999-12-31T23:59:59Z'],
    ['2100-02-28T23:59:59Z', '2100-03-01T00:00:00Z'],
  ])('is valid from %s to %s in both forms of a time', (begins, ends) => {
    const validity = {begins_ms: Date.parse(begins), ends_ms: Date.parse(ends)}
    const {read, pem} = server(ca, HOSTS, validity)
    expect(read).toMatchObject(validity)
    if (!has_openssl) return
    const {crt} = files({crt: pem})
    const {output} = openssl('x509', '-in', crt, '-noout', '-dates', '-dateopt', 'iso_8601')
    const words = (time: string) => time.replace('T', ' ')
    expect(output).toBe(`notBefore=${words(begins)}\nnotAfter=${words(ends)}\n`)
  })

  test('that ends before it begins, or after the year 9999, is not made', () => {
    const ends = (begins_ms: number, ends_ms: number) => () => server(ca, HOSTS, {begins_ms, ends_ms})
    expect(ends(NOW_MS, NOW_MS)).toThrow('ends after it begins')
    expect(ends(NOW_MS, Date.parse('9999-12-31T23:59:59Z') + 1000)).toThrow('before the year 10000')
    expect(ends(NOW_MS, Number.NaN)).toThrow('ends after it begins')
    expect(() => server(ca, [])).toThrow('one host at least')
  })

  test('of a name longer than a common name may be has it among the alternative names, as critical', () => {
    const name = `${'a'.repeat(60)}.example.com`
    const {read, pem} = server(ca, [name])
    expect([read.name, read.x509.subject, read.x509.checkHost(name)]).toEqual(['', undefined, name])
    if (has_openssl)
      expect(openssl('x509', '-in', files({crt: pem}).crt, '-noout', '-text').output).toContain(
        'X509v3 Subject Alternative Name: critical',
      )
  })
})

describe('what is read', () => {
  const ca = authority()
  const files_of = {certificate: 'ca.crt', key: 'ca.key'}

  test.each(['', 'nothing', '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n', 'x'.repeat(100_000)])(
    '%.20j is no certificate',
    text => {
      expect(() => readCertificates(text, 'ca.crt')).toThrow('ca.crt holds no certificate in PEM form.')
    },
  )

  test('a chain is read in its order', () => {
    const {pem, read} = server(ca)
    expect(readCertificates(pem + ca.pem, 'server.crt').map(({serial, name}) => [serial, name])).toEqual([
      [read.serial, 'gateway.example.com'],
      [ca.certificate.serial, 'Gateway CA'],
    ])
  })

  test('an authority is one, with its own key of the curve P-256', () => {
    const leaf = server(ca)
    const rsa = pemOf(generateKeyPairSync('rsa', {modulusLength: 2048}).privateKey)
    const read = (certificate: string, key: string) => () => readAuthority({certificate, key}, files_of)
    expect(read(leaf.pem, pemOf(leaf.key))).toThrow('ca.crt is the certificate of no authority.')
    expect(read(ca.pem, pemOf(keys().privateKey))).toThrow('ca.key is not the key of ca.crt.')
    for (const key of [rsa, 'nothing', pemOf(ca.key).slice(0, 100)])
      expect(read(ca.pem, key)).toThrow('ca.key holds no private key of the curve P-256')
    expect(() => readKey('-----BEGIN PRIVATE KEY-----\nc2VjcmV0\n-----END PRIVATE KEY-----', 'k')).not.toThrow('c2Vj')
  })

  test.runIf(has_openssl)('an authority of openssl issues too, by its own name and identifier', () => {
    const {key} = files({key: pemOf(keys().privateKey)})
    const subject = '/C=DE/O=Example/CN=Example CA'
    const made = execFileSync('openssl', ['req', '-x509', '-new', '-key', key, '-subj', subject, '-days', '30'], {
      encoding: 'utf8',
    })
    const issuer = readAuthority({certificate: made, key: readFileSync(key, 'utf8')}, files_of)
    const {pem} = server(issuer, HOSTS, from(20))
    const {crt, root} = files({crt: pem, root: made})
    expect(issuer.certificate.name).toBe('Example CA')
    expect(openssl('verify', '-CAfile', root, crt)).toEqual({status: 0, output: `${crt}: OK\n`})
  })

  test.runIf(has_openssl)('names that are not made here are seen', () => {
    const {key} = files({key: pemOf(keys().privateKey)})
    const names = 'subjectAltName=DNS:a.example,DNS:a_b.example,email:a@example.com,URI:https://a.example,IP:10.0.0.5'
    const made = execFileSync('openssl', ['req', '-x509', '-new', '-key', key, '-subj', '/O=none', '-addext', names], {
      encoding: 'utf8',
    })
    const [read] = readCertificates(made, 'server.crt')
    expect(read).toMatchObject({name: '', has_others: true})
    expect(read!.hosts.map(({text}) => text)).toEqual(['a.example', '10.0.0.5'])
  })
})

describe.runIf(has_openssl)('openssl', () => {
  const ca = authority()
  const leaf = server(ca)
  const {root, crt, key} = files({root: ca.pem, crt: leaf.pem + ca.pem, key: pemOf(leaf.key)})
  const verify = (...more: string[]) => openssl('verify', '-x509_strict', '-CAfile', root, ...more, crt)

  test.each([
    [['-purpose', 'sslserver'], 0],
    [['-purpose', 'sslclient'], 2],
    [['-verify_hostname', 'gateway.example.com'], 0],
    [['-verify_hostname', 'a.xn--mnchen-3ya.example'], 0],
    [['-verify_hostname', 'a.b.xn--mnchen-3ya.example'], 2],
    [['-verify_hostname', 'attacker.example'], 2],
    [['-verify_ip', '10.0.0.5'], 0],
    [['-verify_ip', '2001:db8::1'], 0],
    [['-verify_ip', '10.0.0.6'], 2],
  ])('verifies with %j as %d', (more, status) => {
    expect(verify(...more).status).toBe(status)
  })

  test('neither an authority below it nor a certificate of a server may issue one', () => {
    const mid_key = pemOf(keys().privateKey)
    const {ca_key, mid} = files({ca_key: pemOf(ca.key), mid: mid_key})
    const subject = ['-subj', '/CN=Below', '-days', '30', '-CA', root, '-CAkey', ca_key]
    const below = execFileSync('openssl', ['req', '-x509', '-new', '-key', mid, ...subject], {encoding: 'utf8'})
    const issuer = readAuthority({certificate: below, key: mid_key}, {certificate: 'below', key: 'key'})
    const {x509} = leaf.read
    const forger = {...ca, key: leaf.key, subject: subjectOf(x509), key_id: keyId(x509.publicKey)}
    for (const [by, chain, words] of [
      [issuer, below, 'path length constraint exceeded'],
      [forger, leaf.pem, 'invalid CA certificate'],
    ] as const) {
      const {forged, between} = files({forged: server(by, ['forged.example'], from(20)).pem, between: chain})
      const {status, output} = openssl('verify', '-CAfile', root, '-untrusted', between, forged)
      expect({status, output}).toEqual({status: 2, output: expect.stringContaining(words)})
    }
  })

  test('reads each field', () => {
    const text = (path: string) => openssl('x509', '-in', path, '-noout', '-text').output.replaceAll(/ *\n */g, '\n')
    for (const words of [
      'Version: 3 (0x2)',
      'Signature Algorithm: ecdsa-with-SHA256',
      'Issuer: CN = Gateway CA',
      'Subject: CN = Gateway CA',
      'NIST CURVE: P-256',
      'X509v3 Basic Constraints: critical\nCA:TRUE, pathlen:0',
      'X509v3 Key Usage: critical\nCertificate Sign, CRL Sign',
      'X509v3 Subject Key Identifier:',
    ])
      expect(text(root)).toContain(words)
    for (const words of [
      'Issuer: CN = Gateway CA',
      'Subject: CN = gateway.example.com',
      'X509v3 Basic Constraints: critical\nCA:FALSE',
      'X509v3 Key Usage: critical\nDigital Signature\n',
      'X509v3 Extended Key Usage:\nTLS Web Server Authentication\n',
      'X509v3 Subject Alternative Name:\nDNS:gateway.example.com, DNS:*.xn--mnchen-3ya.example, IP Address:10.0.0.5',
    ])
      expect(text(crt)).toContain(words)
    const id = (path: string, name: string) =>
      new RegExp(`X509v3 ${name} Key Identifier:\\n(?:keyid:)?([\\dA-F:]{59})`).exec(text(path))?.[1]
    expect(id(crt, 'Authority')).toBe(id(root, 'Subject'))
    expect(id(crt, 'Subject')).not.toBe(id(root, 'Subject'))
  })

  test('writes the same bytes again: the encoding is DER', () => {
    for (const [path, name] of [
      [root, 'ca'],
      [crt, 'crt'],
    ] as const) {
      const again = openssl('x509', '-in', path).output
      expect([name, again]).toEqual([name, name === 'ca' ? ca.pem : leaf.pem])
    }
  })

  test('a client of openssl, and one of Node, accept a server that has it', async () => {
    const accepting = createServer({key: pemOf(leaf.key), cert: leaf.pem + ca.pem}, socket => socket.end('hello'))
    accepting.listen(0, '127.0.0.1')
    await once(accepting, 'listening')
    onTestFinished(() => void accepting.close())
    const {port} = accepting.address() as AddressInfo
    const client = spawn('openssl', [
      ...['s_client', '-connect', `127.0.0.1:${port}`, '-CAfile', root, '-verify_return_error'],
      ...['-verify_hostname', 'gateway.example.com', '-servername', 'gateway.example.com', '-no-CAstore'],
    ])
    client.stdin.end()
    let output = ''
    client.stdout.on('data', part => (output += part))
    await once(client, 'close')
    expect(output).toContain('Verify return code: 0 (ok)')
    expect(output).toContain('Verified peername: gateway.example.com')
    expect([key.length > 0, await seenBy(port, ca.pem, '127.0.0.1')]).toEqual([true, leaf.read.fingerprint])
    await expect(seenBy(port, authority().pem, '127.0.0.1')).rejects.toThrow(/self-signed|unable to verify/)
    await expect(seenBy(port, ca.pem, '127.0.0.1', 'attacker.example')).rejects.toThrow('does not match')
  })
})

test('fetch accepts the server by a name of it once the authority is trusted', async () => {
  const ca = authority()
  const leaf = server(ca, ['localhost'])
  const https = createHttps({key: pemOf(leaf.key), cert: leaf.pem + ca.pem}, (_, reply) => void reply.end('hello'))
  https.listen(0, 'localhost')
  await once(https, 'listening')
  onTestFinished(() => void https.close())
  const {port} = https.address() as AddressInfo
  const script = `fetch('https://localhost:${port}/')
    .then(reply => reply.text())
    .then(console.log, fault => console.log(fault.cause.code))`
  const fetched = async (env: Record<string, string>) => {
    const child = spawn(process.execPath, ['-e', script], {env: {...process.env, ...env}})
    let output = ''
    child.stdout.on('data', part => (output += part))
    await once(child, 'close')
    return output.trim()
  }
  expect(await fetched({NODE_EXTRA_CA_CERTS: files({trusted: ca.pem}).trusted})).toBe('hello')
  expect(await fetched({})).toMatch(/SELF_SIGNED|UNABLE/)
})

/** The subject of a certificate as DER, as openssl reads it. */
function subjectOf({raw, subject}: X509Certificate): Buffer {
  const name = subject.replace('CN=', '')
  const at = raw.indexOf(name)
  // SEQUENCE, SET, SEQUENCE and the identifier are before the text
  return raw.subarray(at - 13, at + name.length)
}

/** The fingerprint that a client of Node sees, which trusts `ca` alone. */
function seenBy(port: number, ca: string, host: string, servername?: string): Promise<string> {
  return new Promise((done, failed) => {
    const socket = connect({port, host, ca, ...(servername && {servername})}, () => {
      done(socket.getPeerCertificate().fingerprint256)
      socket.destroy()
    })
    socket.on('error', failed)
  })
}
