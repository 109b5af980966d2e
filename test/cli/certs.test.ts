import {spawn, spawnSync} from 'node:child_process'
import {createPrivateKey, X509Certificate} from 'node:crypto'
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import {tmpdir} from 'node:os'
import {join, resolve} from 'node:path'
import {createInterface} from 'node:readline'
import {connect} from 'node:tls'
import {beforeEach, describe, expect, onTestFinished, test} from 'vitest'
import {type CertificateDisk, certificateDisk} from '../../cli/certificate-disk.ts'
import {certificateFolder} from '../../cli/certificate-folder.ts'
import {NOW_MS, run, type Surroundings} from './support.ts'

const ROOT = resolve(import.meta.dirname, '../..')
const DAY_MS = 86_400_000

let data: string
let certs: string
beforeEach(() => {
  data = mkdtempSync(join(tmpdir(), 'gateway-certs-'))
  certs = join(data, 'certs')
  mkdirSync(join(data, 'keys'))
  onTestFinished(() => rmSync(data, {recursive: true, force: true}))
})

const gateway = (words: string | readonly string[], around: Surroundings = {}) =>
  run(['certs', ...(typeof words === 'string' ? words.split(' ') : words), '--data-dir', data], around)
/** What a command answers with --json. */
async function json(words: string, around: Surroundings = {}) {
  const {code, stdout, stderr} = await gateway(`${words} --json`, around)
  expect({words, code, stderr}).toEqual({words, code: 0, stderr: ''})
  return JSON.parse(stdout) as Record<string, unknown>
}
const at = (days: number): Surroundings => ({now_ms: NOW_MS + days * DAY_MS})
const textOf = (...path: string[]) => readFileSync(join(certs, ...path), 'utf8')
const modeOf = (...path: string[]) => (statSync(join(certs, ...path)).mode & 0o777).toString(8)
/** Throws where the key and the certificate that a reader finds are no pair. */
function pair(): string {
  const [certificate, ca] = textOf('current', 'server.crt').match(/-----BEGIN[^-]*-----[^-]*-----END[^-]*-----/g)!
  const x509 = new X509Certificate(certificate!)
  const key = createPrivateKey(textOf('current', 'server.key'))
  expect([x509.checkPrivateKey(key), x509.verify(new X509Certificate(ca!).publicKey)]).toEqual([true, true])
  return x509.serialNumber
}

describe('certs init', () => {
  test('makes an authority whose key only its owner reads, whatever the umask is', async () => {
    const before = process.umask(0o077)
    onTestFinished(() => void process.umask(before))
    const {code, stdout, stderr} = await gateway(['init', '--name', 'Example CA', '--days', '30'])
    expect({code, stderr}).toEqual({code: 0, stderr: ''})
    expect(stdout).toContain('Made the certificate authority Example CA, valid until 2026-04-03.\n')
    expect(stdout).toContain(`Next: gateway certs create --data-dir ${data} HOST\n`)
    expect([modeOf('ca.key'), modeOf('ca.crt'), modeOf()]).toEqual(['600', '644', '700'])
    expect(readdirSync(certs).toSorted()).toEqual(['ca.crt', 'ca.key'])
    const {ca, subject, fingerprint256} = new X509Certificate(textOf('ca.crt'))
    expect([ca, subject]).toEqual([true, 'CN=Example CA'])
    expect(stdout).toContain(`SHA-256 fingerprint: ${fingerprint256}\n`)
    expect(stdout + stderr).not.toContain('PRIVATE')
  })

  test('leaves an authority that is there as it is, and a half of one too', async () => {
    await json('init')
    const kept = textOf('ca.crt') + textOf('ca.key')
    const again = await gateway('init')
    expect([again.code, again.stderr]).toEqual([4, expect.stringContaining('is there already and is left as it is.')])
    expect(textOf('ca.crt') + textOf('ca.key')).toBe(kept)
    for (const [gone, code] of [
      ['ca.crt', 3],
      ['ca.key', 3],
    ] as const) {
      const text = textOf(gone)
      rmSync(join(certs, gone))
      expect([(await gateway('init')).code, existsSync(join(certs, gone))]).toEqual([4, false])
      expect(await gateway('create a.example')).toMatchObject({code, stdout: '', stderr: expect.stringContaining(gone)})
      writeFileSync(join(certs, gone), text, {mode: 0o600})
    }
    expect((await gateway('create a.example')).code).toBe(0)
  })

  test.each([
    [['--name', ''], '--name is a name of 1 to 64 characters'],
    [['--name', 'a\nb'], '--name is a name'],
    [['--name', 'a\u202eb'], '--name is a name'],
    [['--name', 'x'.repeat(65)], '--name is a name'],
    [['--days', '0'], '--days 0 is not a whole number from 1 to 36500.'],
    [['--days', '36501'], '--days 36501 is not a whole number'],
  ])('%j is refused', async (words, sentence) => {
    const {code, stderr} = await gateway(['init', ...words])
    expect([code, stderr]).toEqual([2, expect.stringContaining(sentence)])
    expect(existsSync(certs)).toBe(false)
  })

  test('a name of 64 letters is taken', async () => {
    expect(await json(`init --name ${'ü'.repeat(64)}`)).toMatchObject({name: 'ü'.repeat(64)})
  })
})

describe('certs create', () => {
  test('makes a certificate of the hosts, and says what to set and what to trust', async () => {
    await json('init')
    const {code, stdout, stderr} = await gateway('create Gateway.example.com *.münchen.example 10.0.0.5 ::1')
    expect({code, stderr}).toEqual({code: 0, stderr: ''})
    const names = 'gateway.example.com, *.xn--mnchen-3ya.example, 10.0.0.5, ::1'
    for (const words of [
      `Made a certificate for ${names}, valid until 2027-04-05.\n`,
      `\n  TLS_KEY_FILE=${certs}/current/server.key\n  TLS_CERT_FILE=${certs}/current/server.crt\n`,
      'systemctl reload gateway',
      `Machines that connect must trust ${certs}/ca.crt.`,
      'update-ca-certificates',
      'update-ca-trust',
      'certutil -addstore -f Root ca.crt',
      'security add-trusted-cert',
      'Firefox',
    ])
      expect(stdout).toContain(words)
    expect([modeOf('current', 'server.key'), modeOf('current', 'server.crt')]).toEqual(['600', '644'])
    expect(new X509Certificate(textOf('current', 'server.crt')).keyUsage).toEqual(['1.3.6.1.5.5.7.3.1'])
    expect(textOf('current', 'server.crt').endsWith(textOf('ca.crt'))).toBe(true)
    pair()
  })

  test('replaces the one before in one step, and keeps only that beside it', async () => {
    await json('init')
    const serials = new Set<string>()
    for (const host of ['a.example', 'b.example', 'c.example', 'd.example']) {
      await json(`create ${host}`)
      serials.add(pair())
    }
    expect(serials.size).toBe(4)
    expect(readdirSync(certs).toSorted()).toEqual(['3', '4', 'ca.crt', 'ca.key', 'current'])
    expect(readlinkSync(join(certs, 'current'))).toBe('4')
    expect((await gateway('create e.example')).stdout).toContain('It replaces the one for d.example.\n')
    expect((await gateway('create e.example --quiet')).stdout).toBe(`${certs}/current/server.crt\n`)
  })

  test('is not valid for longer than its authority', async () => {
    await json('init --days 10')
    expect((await gateway('create a.example')).stdout).toContain('valid until 2026-03-14, when its authority ends too.')
    const {begins_at, ends_at} = await json('create a.example --days 9')
    expect([begins_at, ends_at]).toEqual(['2026-03-04T04:06:07.000Z', '2026-03-13T05:06:07.000Z'])
    const late = await gateway('create a.example', at(10))
    expect([late.code, late.stderr]).toEqual([
      4,
      expect.stringContaining(`The certificate authority ended on 2026-03-14. Move ca.key and ca.crt elsewhere`),
    ])
  })

  test.each([
    'a\nb',
    'gateway.example.com\0.attacker.example',
    '../x',
    'https://a.example',
    'a'.repeat(64),
    `${'a.'.repeat(5000)}example`,
    '*',
    '1.2.3',
    'ａ/b',
    ' ',
  ])('refuses %.30j, and names it in one line', async host => {
    await json('init')
    const {code, stdout, stderr} = await gateway(['create', 'fine.example', host])
    expect([code, stdout]).toEqual([2, ''])
    expect(stderr).toMatch(/^gateway: ".{0,90}"? is no host name and no IP address\. Expected [^\n]*\n$/)
    expect(stderr).toContain(JSON.stringify(host.slice(0, 40)).slice(0, -1))
    expect(readdirSync(certs).toSorted()).toEqual(['ca.crt', 'ca.key'])
  })

  test('a lifetime that browsers refuse is refused', async () => {
    await json('init')
    expect(await gateway('create a.example --days 825')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('--days 825 is not a whole number from 1 to 824.'),
    })
    const {begins_at, ends_at} = await json('create a.example --days 824')
    expect((Date.parse(String(ends_at)) - Date.parse(String(begins_at))) / DAY_MS).toBeLessThanOrEqual(825)
  })

  test('without an authority it says how to make one', async () => {
    expect(await gateway('create a.example')).toEqual({
      code: 3,
      stdout: '',
      stderr: `gateway: There is no certificate authority yet. Make one: gateway certs init --data-dir ${data}\n`,
    })
  })

  test.each([0o644, 0o640, 0o604, 0o660])('a key of the authority with the mode %o is not used', async mode => {
    await json('init')
    chmodSync(join(certs, 'ca.key'), mode)
    const {code, stderr} = await gateway('create a.example')
    expect([code, stderr]).toEqual([1, expect.stringContaining(`type: chmod 600 ${certs}/ca.key\n`)])
    expect(existsSync(join(certs, 'current'))).toBe(false)
    chmodSync(join(certs, 'ca.key'), 0o400)
    expect((await gateway('create a.example')).code).toBe(0)
  })

  test('a key that is not the one of the authority is not used, and nothing of it is repeated', async () => {
    await json('init')
    writeFileSync(join(certs, 'ca.key'), 'canary')
    const {code, stderr} = await gateway('create a.example')
    expect([code, stderr]).toEqual([1, expect.stringContaining('holds no private key of the curve P-256')])
    expect(stderr).not.toContain('canary')
  })

  test.each([
    ['1970-01-01T00:00:10Z', 'The certificate authority is valid from 2026-03-04'],
    ['2026-03-03T00:00:00Z', 'The certificate authority is valid from 2026-03-04'],
    ['2100-01-01T00:00:00Z', 'The certificate authority ended on 2036-03-01.'],
    ['9100-01-01T00:00:00Z', 'The certificate authority ended on 2036-03-01.'],
  ])('with the clock at %s it makes none', async (time, sentence) => {
    await json('init')
    const {code, stderr} = await gateway('create a.example', {now_ms: Date.parse(time)})
    expect([code > 0, stderr]).toEqual([true, expect.stringMatching(/clock|ended/)])
    if (!time.startsWith('1970')) expect(stderr).toContain(sentence)
    expect(existsSync(join(certs, 'current'))).toBe(false)
  })

  test('with the clock of 1970 no authority is made', async () => {
    const {code, stderr} = await gateway('init', {now_ms: 10_000})
    expect([code, stderr]).toEqual([
      1,
      'gateway: The clock of this machine shows 1970-01-01, which cannot be right. Set the clock, and try again.\n',
    ])
    expect(existsSync(certs)).toBe(false)
  })
})

describe('certs renew', () => {
  test('renews what ends within the time, with the same names and lifetime and a new key', async () => {
    await json('init')
    const made = await json('create b.example a.example 10.0.0.5 --days 90')
    const key = textOf('current', 'server.key')
    expect(await json('renew', at(59))).toMatchObject({renewed: false, serial: made.serial, days_left: 31})
    expect((await gateway('renew', at(59))).stdout).toBe(
      'The certificate is valid until 2026-06-02 (31 days): nothing to do.\n',
    )
    expect(textOf('current', 'server.key')).toBe(key)
    const renewed = await json('renew', at(61))
    expect(renewed).toMatchObject({renewed: true, names: ['b.example', 'a.example', '10.0.0.5'], days_left: 90})
    expect([renewed.serial === made.serial, textOf('current', 'server.key') === key]).toEqual([false, false])
    expect(pair()).toBe(renewed.serial)
    expect(await json('renew --within 1w', at(61 + 82))).toMatchObject({renewed: false})
    expect(await json('renew --within 2w --days 10', at(61 + 82))).toMatchObject({renewed: true, days_left: 10})
    expect(await json('renew', at(1000))).toMatchObject({renewed: true, state: 'active'})
  })

  test('renews what another authority issued, and what has lost its key', async () => {
    await json('init --days 20')
    await json('create a.example')
    rmSync(join(certs, '1', 'server.key'))
    expect(await json('renew --within 1d')).toMatchObject({renewed: true})
    pair()
    for (const name of ['ca.key', 'ca.crt']) rmSync(join(certs, name))
    const gone = await gateway('renew')
    expect([gone.code, gone.stderr]).toEqual([3, expect.stringContaining('There is no certificate authority yet.')])
    await json('init')
    // the one before ended with its authority, which says nothing of how long this one is wanted
    expect(await json('renew')).toMatchObject({renewed: true, names: ['a.example'], days_left: 397})
    pair()
    for (const name of ['ca.key', 'ca.crt']) rmSync(join(certs, name))
    await json('init')
    expect(await json('renew')).toMatchObject({renewed: true, days_left: 397})
    pair()
    expect(await json('renew')).toMatchObject({renewed: false})
  })

  test('does not make the same again each day where the authority itself ends', async () => {
    await json('init --days 20')
    const {serial} = await json('create a.example')
    const {code, stderr} = await gateway('renew')
    expect([code, stderr]).toEqual([
      4,
      expect.stringContaining('The certificate authority ends on 2026-03-24, and no certificate is valid for longer.'),
    ])
    expect(pair()).toBe(serial)
  })

  test('without a certificate, with a broken one, or with a clock before it nothing is made', async () => {
    await json('init')
    expect(await gateway('renew')).toMatchObject({
      code: 3,
      stderr: expect.stringContaining(` server yet. Make one: gateway certs create --data-dir ${data} HOST\n`),
    })
    await json('create a.example')
    const early = await gateway('renew', at(-2))
    expect([early.code, early.stderr]).toEqual([1, expect.stringContaining('shows 2026-03-02. Set the clock')])
    writeFileSync(join(certs, '1', 'server.crt'), 'nothing')
    expect(await gateway('renew')).toMatchObject({code: 1, stderr: expect.stringContaining('holds no certificate')})
    expect((await gateway('create a.example')).code).toBe(0)
    for (const words of ['renew --within soon', 'renew --days 0']) expect((await gateway(words)).code).toBe(2)
  })

  test.skipIf(spawnSync('openssl', ['version']).status !== 0)('names of another maker are not lost', async () => {
    await json('init')
    await json('create a.example')
    const names = 'subjectAltName=DNS:a.example,DNS:a_b.example'
    const args = ['req', '-x509', '-new', '-key', join(certs, '1', 'server.key'), '-subj', '/CN=x', '-addext', names]
    const crt = spawnSync('openssl', args, {encoding: 'utf8'}).stdout
    writeFileSync(join(certs, '1', 'server.crt'), crt)
    const {code, stderr} = await gateway('renew', {now_ms: Date.now()})
    expect([code, stderr]).toEqual([1, expect.stringContaining('has names that gateway certs does not make.')])
    expect(textOf('1', 'server.crt')).toBe(crt)
  })
})

describe('certs list, show and trust', () => {
  test('show what there is', async () => {
    expect(await gateway('list')).toEqual({code: 0, stdout: '', stderr: 'There is nothing yet.\n'})
    expect((await gateway('show')).code).toBe(3)
    expect((await gateway('show ca')).code).toBe(3)
    expect((await gateway('trust')).code).toBe(3)
    const ca = await json('init')
    const server = await json('create gateway.example.com 10.0.0.5')
    expect(await json('list')).toEqual({object: 'list', total: 2, data: [ca, server]})
    expect([await json('show'), await json('show ca')]).toEqual([server, ca])
    const x509 = new X509Certificate(textOf('current', 'server.crt'))
    expect(server).toEqual({
      object: 'certificate',
      kind: 'server',
      name: 'gateway.example.com',
      names: ['gateway.example.com', '10.0.0.5'],
      serial: x509.serialNumber,
      fingerprint_sha256: x509.fingerprint256,
      begins_at: '2026-03-04T04:06:07.000Z',
      ends_at: '2027-04-05T05:06:07.000Z',
      days_left: 397,
      state: 'active',
      file: `${certs}/current/server.crt`,
      key_file: `${certs}/current/server.key`,
    })
    const table = (await gateway('list', at(400))).stdout.split('\n')
    expect(table[0]).toMatch(/^KIND +NAMES +STATE +BEGINS +ENDS +DAYS LEFT +SERIAL +SHA-256$/)
    expect(table[2]).toMatch(/^server +gateway\.example\.com, 10\.0\.0\.5 +expired +2026-03-04 +2027-04-05 +-3 /)
    expect((await gateway('show')).stdout).toContain(`fingerprint_sha256  ${x509.fingerprint256}\n`)
    // the authority's key may be kept elsewhere
    rmSync(join(certs, 'ca.key'))
    expect(await json('list')).toMatchObject({total: 2})
    const unknown = await gateway('show else')
    expect([unknown.code, unknown.stdout]).toEqual([2, ''])
  })

  test('the certificate to trust is alone on stdout', async () => {
    await json('init')
    const {stdout, stderr} = await gateway('trust')
    expect(stdout).toBe(textOf('ca.crt'))
    expect(stderr).toContain('update-ca-certificates')
    expect((await gateway('trust --quiet')).stderr).toBe('')
    expect(await json('trust')).toMatchObject({kind: 'ca', certificate: textOf('ca.crt'), steps: expect.any(Array)})
  })

  test('work in a data directory alone', async () => {
    const there = await run(['certs', 'list', '--url', 'http://127.0.0.1:9'])
    expect([there.code, there.stderr]).toEqual([2, expect.stringContaining('Run this on the machine of the gateway')])
    expect((await gateway('list --url http://127.0.0.1:9')).code).toBe(2)
    rmSync(join(data, 'keys'), {recursive: true})
    const {code, stderr} = await gateway('init')
    expect([code, stderr]).toEqual([1, expect.stringContaining(`There is no data directory at ${data}. Make one`)])
    expect(readdirSync(data)).toEqual([])
  })
})

describe('the folder', () => {
  const is_root = process.getuid?.() === 0

  test.runIf(is_root)('made by root belongs to the owner of the data directory', async () => {
    chownSync(data, 65_534, 65_534)
    await json('init')
    await json('create a.example')
    const paths = ['', 'ca.key', 'ca.crt', '1', '1/server.key', '1/server.crt']
    expect(paths.filter(path => statSync(join(certs, path)).uid !== 65_534)).toEqual([])
  })

  test('a new file takes no place of another, and follows no link', () => {
    const [kept, link] = [join(data, 'kept'), join(data, 'link')]
    writeFileSync(kept, 'kept')
    symlinkSync(kept, link)
    for (const path of [kept, link])
      expect(() => certificateDisk().writeNew(path, 'other', 0o644)).toThrow(expect.objectContaining({code: 'EEXIST'}))
    expect(readFileSync(kept, 'utf8')).toBe('kept')
  })

  test('that cannot be written is a fault that says by whom, and a file in its place too', async () => {
    const words = ['bin/gateway.ts', 'certs', 'init', '--data-dir', data]
    chmodSync(data, 0o555)
    const {status, stderr} = spawnSync(process.execPath, words, {
      cwd: ROOT,
      encoding: 'utf8',
      ...(is_root && {uid: 65_534, gid: 65_534}),
    })
    expect([status, stderr]).toEqual([
      1,
      `gateway: ${certs} cannot be written. Run the command as the user the data directory belongs to.\n`,
    ])
    chmodSync(data, 0o755)
    writeFileSync(certs, '')
    expect(await gateway('init')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('cannot be written (ENOTDIR)'),
    })
  })

  test('a create that is interrupted at any step leaves a whole pair, and the next one works', async () => {
    await json('init')
    await json('create a.example')
    const made = {key: textOf('1', 'server.key'), certificate: textOf('1', 'server.crt')}
    let steps = 0
    for (let at_step = 0; ; at_step += 1) {
      const serial = pair()
      const ended = attempt(at_step, folder => folder.replaceCurrent(made))
      if (!ended.interrupted) break
      steps += 1
      pair()
      expect(existsSync(join(certs, 'current', 'server.key'))).toBe(true)
      const {serial: next} = await json('create a.example')
      expect(pair()).toBe(next)
      expect(next).not.toBe(serial)
      expect(readdirSync(certs).filter(name => name.startsWith('.'))).toEqual([])
      expect(readdirSync(certs).filter(name => /^\d+$/.test(name)).length).toBeLessThanOrEqual(3)
    }
    expect(steps).toBeGreaterThan(8)
  })

  test('an init that is interrupted at any step leaves no half of a file, and the next replaces none', async () => {
    await json('init')
    const made = {key: textOf('ca.key'), certificate: textOf('ca.crt')}
    const left = new Set<string>()
    for (let at_step = 0; ; at_step += 1) {
      rmSync(certs, {recursive: true})
      if (!attempt(at_step, folder => folder.writeAuthority(made)).interrupted) break
      const names = existsSync(certs) ? readdirSync(certs).filter(name => !name.startsWith('.')) : []
      left.add(names.toSorted().join())
      for (const name of names) expect(textOf(name)).toBe(name === 'ca.key' ? made.key : made.certificate)
      const {code} = await gateway('init')
      expect([names.length, code]).toEqual([names.length, names.length === 0 ? 0 : 4])
      if (names.length === 0) mkdirSync(certs, {recursive: true})
    }
    expect([...left].toSorted()).toEqual(['', 'ca.crt,ca.key', 'ca.key'])
  })

  test('what another process is writing is left to it, and a number that it took is passed over', async () => {
    await json('init')
    await json('create a.example')
    mkdirSync(join(certs, '.new-77'))
    mkdirSync(join(certs, '.new-78'))
    const disk = certificateDisk()
    let raced = false
    const folder = certificateFolder(certs, {
      pid: 99,
      isRunning: pid => pid === 77,
      typed: words => words,
      disk: {
        ...disk,
        rename(path, to) {
          if (!raced) {
            raced = true
            mkdirSync(to)
            writeFileSync(join(to, 'server.key'), 'of another')
          }
          disk.rename(path, to)
        },
      },
    })
    folder.replaceCurrent({key: textOf('1', 'server.key'), certificate: textOf('1', 'server.crt')})
    expect(readlinkSync(join(certs, 'current'))).toBe('3')
    expect(textOf('2', 'server.key')).toBe('of another')
    expect(readdirSync(certs).filter(name => name.startsWith('.'))).toEqual(['.new-77'])
  })

  /** Works on a disk that does nothing more after so many steps, as if the process had been killed. */
  function attempt(steps: number, work: (folder: ReturnType<typeof certificateFolder>) => void) {
    const whole = certificateDisk()
    let left = steps
    const dying = Object.fromEntries(
      Object.entries(whole).map(([name, step]) => [
        name,
        (...given: never[]) => {
          const changes = !['read', 'readLink', 'list'].includes(name)
          if (changes && left === 0) throw new Error('killed')
          if (changes) left -= 1
          return (step as (...given: never[]) => unknown)(...given)
        },
      ]),
    ) as unknown as CertificateDisk
    const parts = {disk: dying, pid: 4_194_305, isRunning: () => false, typed: (words: string) => words}
    try {
      work(certificateFolder(certs, parts))
      return {interrupted: false}
    } catch (fault) {
      expect((fault as Error).message).toBe('killed')
      return {interrupted: true}
    }
  }
})

test('a gateway that serves shows the renewed certificate after SIGHUP, without a restart', async () => {
  rmSync(data, {recursive: true})
  const now: Surroundings = {now_ms: Date.now()}
  expect((await run(['init', '--data-dir', data], now)).code).toBe(0)
  await json('init', now)
  const made = await json('create localhost 127.0.0.1 --days 10', now)
  // as a service has it: without a terminal, in a session of its own
  const child = spawn(process.execPath, ['bin/gateway.ts', 'serve', '--port', '0', '--data-dir', data], {
    cwd: ROOT,
    detached: true,
    stdio: ['ignore', 'ignore', 'pipe'],
    env: {...process.env, TLS_KEY_FILE: String(made.key_file), TLS_CERT_FILE: String(made.file)},
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  const lines: string[] = []
  const waiting: {readonly words: string; readonly done: (line: string) => void}[] = []
  createInterface({input: child.stderr}).on('line', line => {
    lines.push(line)
    for (const {words, done} of waiting) if (line.includes(words)) done(line)
  })
  const lineWith = (words: string) =>
    new Promise<string>((done, failed) => {
      waiting.push({words, done})
      child.once('exit', () => failed(new Error(lines.join('\n'))))
    })
  const {url} = JSON.parse(await lineWith('"listening"')) as {url: string}
  expect(url).toMatch(/^https:/)
  const shown = () => fingerprintAt(Number(new URL(url).port))
  expect(await shown()).toBe(made.fingerprint_sha256)
  const renewed = await json('renew', now)
  expect(renewed.renewed).toBe(true)
  expect(await shown()).toBe(made.fingerprint_sha256)
  const reloaded = lineWith('settings were read again')
  child.kill('SIGHUP')
  expect(JSON.parse(await reloaded)).toMatchObject({reloaded: ['TLS_KEY', 'TLS_CERT']})
  expect(await shown()).toBe(renewed.fingerprint_sha256)
  expect(renewed.fingerprint_sha256).not.toBe(made.fingerprint_sha256)
}, 60_000)

/** What a client sees that trusts the authority alone, and checks the name. */
function fingerprintAt(port: number): Promise<string> {
  return new Promise((done, failed) => {
    const socket = connect({port, host: '127.0.0.1', servername: 'localhost', ca: textOf('ca.crt')}, () => {
      done(socket.getPeerCertificate().fingerprint256)
      socket.destroy()
    })
    socket.on('error', failed)
  })
}

describe('what stands in the place of a certificate', () => {
  test('a pipe does not hold the command, and a very large file is not read', async () => {
    mkdirSync(certs)
    const ca = join(certs, 'ca.crt')
    writeFileSync(ca, '')
    truncateSync(ca, 3 * 1024 * 1024)
    expect(() => certificateDisk().read(ca)).toThrow(/larger than/)
    rmSync(ca)
    spawnSync('mkfifo', [ca])
    const child = spawnSync(
      process.execPath,
      [
        '--input-type=module',
        '-e',
        `import('${join(ROOT, 'cli/certificate-disk.ts')}').then(each => each.certificateDisk().read('${ca}'))`,
      ],
      {timeout: 10_000, encoding: 'utf8'},
    )
    expect([child.signal, child.status, /is no file/.test(child.stderr)]).toEqual([null, 1, true])
    const {code, stderr} = await gateway('list')
    expect([code, stderr]).toEqual([1, expect.stringContaining('cannot be read')])
  })
})
