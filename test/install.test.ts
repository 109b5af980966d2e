import {spawnSync} from 'node:child_process'
import {createHash} from 'node:crypto'
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import {tmpdir} from 'node:os'
import {join, resolve} from 'node:path'
import {afterEach, beforeEach, describe, expect, test} from 'vitest'

const script = resolve(import.meta.dirname, '../install.sh')
/** Stands for the executable: all that install.sh asks of it is its version. */
const STAND_IN = '#!/bin/sh\necho 9.8.7\n'
let folder: string
let release: string
let prefix: string
let data: string

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'gateway-install-'))
  release = join(folder, 'release')
  prefix = join(folder, 'prefix')
  data = join(folder, 'data')
  mkdirSync(release)
  cpSync(script, join(release, 'install.sh'))
  put(STAND_IN)
})

afterEach(() => rmSync(folder, {recursive: true, force: true}))

describe('without a service', () => {
  test('the executable and a private data directory are put in place, and how to start is said', () => {
    const {status, stdout} = install('--no-service')
    expect(stdout).toContain(`installed ${prefix}/bin/gateway (version 9.8.7)`)
    expect(stdout).toContain(`start the gateway with: ${prefix}/bin/gateway serve --data-dir ${data}`)
    expect(status).toBe(0)
    expect(readFileSync(join(prefix, 'bin/gateway'), 'utf8')).toBe(STAND_IN)
    expect(modeOf(join(prefix, 'bin/gateway'))).toBe('755')
    expect(modeOf(data)).toBe('700')
  })

  test('commands are told where the data is and whose, and no more when it is uninstalled', () => {
    install('--no-service')
    const told = readFileSync(join(folder, 'client.yaml'), 'utf8')
    expect(told).toMatch(new RegExp(`^data_dir: ${data}$`, 'm'))
    expect(told).toMatch(/^user: \S+$/m)
    sh(['--prefix', prefix, '--data-dir', data, '--uninstall'])
    expect(existsSync(join(folder, 'client.yaml'))).toBe(false)
  })

  test('a second run changes nothing, and a new executable replaces the old one', () => {
    install('--no-service')
    const before = statSync(join(prefix, 'bin/gateway')).ino
    expect(install('--no-service').stdout).toContain('unchanged')
    expect(statSync(join(prefix, 'bin/gateway')).ino).toBe(before)
    put(STAND_IN.replace('9.8.7', '9.9.0'))
    expect(install('--no-service').stdout).toContain('installed')
    expect(statSync(join(prefix, 'bin/gateway')).ino).not.toBe(before)
  })

  test('an executable that is not the one in SHA256SUMS is refused, and nothing is installed', () => {
    writeFileSync(join(release, 'gateway'), `${STAND_IN}echo more\n`)
    const {status, stderr} = install('--no-service')
    expect(stderr).toMatch(
      /gateway has the SHA-256 [0-9a-f]{64}, but .*SHA256SUMS says [0-9a-f]{64}; nothing was installed/,
    )
    expect(status).toBe(1)
    expect([existsSync(prefix), existsSync(data)]).toEqual([false, false])
  })

  test.each([
    ['missing', () => rmSync(join(release, 'SHA256SUMS')), /SHA256SUMS is missing/],
    [
      'silent about it',
      () => writeFileSync(join(release, 'SHA256SUMS'), `${'0'.repeat(64)}  other\n`),
      /does not name gateway/,
    ],
  ])('an executable is refused when SHA256SUMS is %s', (_, spoil, sentence) => {
    spoil()
    const {status, stderr} = install('--no-service')
    expect(stderr).toMatch(sentence)
    expect(status).toBe(1)
    expect(existsSync(prefix)).toBe(false)
  })

  test('an executable for another processor is refused', () => {
    put('not a program')
    expect(install('--no-service')).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('does not run on this machine'),
    })
    expect(existsSync(prefix)).toBe(false)
  })

  test('no executable and no sources: the reason is said', () => {
    rmSync(join(release, 'gateway'))
    expect(install('--no-service')).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('no executable lies beside'),
    })
  })

  test('uninstalling keeps the data, and doing it twice is no error', () => {
    install('--no-service')
    writeFileSync(join(data, 'gateway.db'), 'rows')
    expect(install('--uninstall')).toMatchObject({
      status: 0,
      stdout: expect.stringContaining(`kept the data in ${data}`),
    })
    expect([existsSync(join(prefix, 'bin/gateway')), existsSync(join(data, 'gateway.db'))]).toEqual([false, true])
    expect(install('--uninstall')).toMatchObject({status: 0, stdout: expect.stringContaining('nothing installed')})
  })

  test('purging removes a data directory, and nothing that is not one', () => {
    install('--no-service')
    writeFileSync(join(data, 'letters.txt'), 'dear')
    expect(install('--uninstall', '--purge')).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('it was left alone'),
    })
    expect(existsSync(join(data, 'letters.txt'))).toBe(true)
    writeFileSync(join(data, 'gateway.db'), 'rows')
    expect(install('--uninstall', '--purge').status).toBe(0)
    expect(existsSync(data)).toBe(false)
  })
})

describe('the command line', () => {
  test('--help explains every option', () => {
    const {status, stdout} = sh(['--help'])
    expect(status).toBe(0)
    for (const option of ['--prefix', '--data-dir', '--no-service', '--uninstall', '--purge'])
      expect(stdout).toContain(option)
  })

  test.each([
    [['--colour'], 'unknown option: --colour'],
    [['--prefix'], '--prefix needs a directory'],
    [['--purge'], '--purge goes with --uninstall'],
    [['--data-dir', '/'], 'name a directory of its own'],
    [['--data-dir', '/srv/a b'], 'can stand in this path'],
    [['--data-dir', '/srv/%h'], 'can stand in this path'],
  ])('%j is a wrong command line', (args, sentence) => {
    expect(sh(args)).toMatchObject({status: 2, stderr: expect.stringContaining(sentence)})
  })
})

/**
 * The rest looks into a mount namespace of its own, where the folders of systemd are empty ones and its commands only
 * take notes.
 */
const canUnshare = existsSync('/etc/systemd/system') && spawnSync('unshare', ['-rm', 'true']).status === 0
describe.skipIf(!canUnshare)('with a service', () => {
  test('a hardened unit is written, enabled and started as its own user', () => {
    const {status, stderr, unit, calls} = installService('--prefix', prefix, '--data-dir', data)
    expect(stderr).toBe('')
    expect(status).toBe(0)
    expect(unit).toContain(`ExecStart=${prefix}/bin/gateway serve --data-dir ${data}\n`)
    expect(unit).toContain(`ReadWritePaths=${data}\n`)
    for (const line of [
      'Type=notify',
      'User=gateway',
      'NoNewPrivileges=yes',
      'ProtectSystem=strict',
      'LimitNOFILE=65536',
    ]) {
      expect(unit).toContain(`${line}\n`)
    }
    expect(calls).toEqual([
      expect.stringMatching(/^useradd --system .*gateway$/),
      `chown gateway:gateway ${data}`,
      'systemctl daemon-reload',
      'systemctl enable --quiet gateway.service',
      'systemctl --quiet is-active gateway.service',
      'systemctl restart gateway.service',
    ])
  })

  test('a second run neither writes the unit nor restarts the service', () => {
    const args = `--prefix ${prefix} --data-dir ${data}`
    const {calls} = inNamespace(`sh install.sh ${args} && : >"$NOTES" && sh install.sh ${args}`)
    expect(calls).toEqual([
      'useradd --system --user-group --no-create-home --home-dir '.concat(data, ' --shell /usr/sbin/nologin gateway'),
      `chown gateway:gateway ${data}`,
      'systemctl enable --quiet gateway.service',
      'systemctl start gateway.service',
    ])
  })

  test('uninstalling a trial leaves the file of the gateway that is served', () => {
    const {status} = inNamespace(
      `sh install.sh --prefix ${prefix} --data-dir ${data} && sh install.sh --prefix ${prefix}-trial --no-service --uninstall`,
    )
    expect([status, existsSync(join(folder, 'client.yaml'))]).toEqual([0, true])
  })

  test('uninstalling stops and removes the service, and knows its data directory from the unit', () => {
    const {status, stdout, unit, calls} = inNamespace(
      `sh install.sh --prefix ${prefix} --data-dir ${data} && : >"$NOTES" && sh install.sh --prefix ${prefix} --uninstall --purge`,
    )
    expect(status).toBe(0)
    expect(stdout).toContain(`removed ${data}`)
    expect(unit).toBeUndefined()
    expect(calls).toEqual(['systemctl disable --now --quiet gateway.service', 'systemctl daemon-reload'])
  })
})

function put(program: string): void {
  writeFileSync(join(release, 'gateway'), program)
  chmodSync(join(release, 'gateway'), 0o755)
  writeFileSync(join(release, 'SHA256SUMS'), `${createHash('sha256').update(program).digest('hex')}  gateway\n`)
}

function install(...args: string[]) {
  return sh(['--prefix', prefix, '--data-dir', data, ...args])
}

function sh(args: string[]) {
  return spawnSync('/bin/sh', ['install.sh', ...args], {
    cwd: release,
    encoding: 'utf8',
    env: {...process.env, GATEWAY_CLIENT_FILE: join(folder, 'client.yaml')},
  })
}

function installService(...args: string[]) {
  return inNamespace(`sh install.sh ${args.join(' ')}`)
}

function inNamespace(command: string) {
  const fakes = join(folder, 'fakes')
  const notes = join(folder, 'notes')
  const unit = join(folder, 'unit')
  mkdirSync(fakes)
  for (const name of ['systemctl', 'useradd', 'userdel', 'chown']) {
    writeFileSync(join(fakes, name), `#!/bin/sh\necho "${name} $*" >>"$NOTES"\n`)
    chmodSync(join(fakes, name), 0o755)
  }
  // There is no user "gateway", whatever machine this is.
  writeFileSync(join(fakes, 'id'), '#!/bin/sh\n[ "$1" = -u ] && echo 0\n')
  chmodSync(join(fakes, 'id'), 0o755)
  const whole = `mount -t tmpfs none /etc/systemd/system && mount -t tmpfs none /run && mkdir -p /run/systemd/system && { ${command}; }
    status=$?; cp /etc/systemd/system/gateway.service ${unit} 2>/dev/null; exit $status`
  const env = {
    PATH: `${fakes}:${process.env.PATH}:/usr/sbin:/sbin`,
    NOTES: notes,
    TMPDIR: folder,
    GATEWAY_CLIENT_FILE: join(folder, 'client.yaml'),
  }
  const {status, stdout, stderr} = spawnSync('unshare', ['-rm', '/bin/sh', '-c', whole], {
    cwd: release,
    encoding: 'utf8',
    env,
  })
  const calls = existsSync(notes) ? readFileSync(notes, 'utf8').trim().split('\n') : []
  return {status, stdout, stderr, calls, unit: existsSync(unit) ? readFileSync(unit, 'utf8') : undefined}
}

function modeOf(path: string): string {
  return (statSync(path).mode & 0o777).toString(8)
}
