import {spawnSync} from 'node:child_process'
import {createHash} from 'node:crypto'
import {once} from 'node:events'
import {chownSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync} from 'node:fs'
import {tmpdir} from 'node:os'
import {join, resolve} from 'node:path'
import {text} from 'node:stream/consumers'
import {afterEach, beforeEach, describe, expect, test} from 'vitest'
import {type Namespace, openNamespace} from './support/namespace.ts'

const dist = resolve(import.meta.dirname, '../dist')
const {version} = JSON.parse(readFileSync(resolve(dist, '../package.json'), 'utf8')) as {version: string}
const MAX_BYTES = 140_000_000
const MAX_START_MS = 150
/** Times what Node needs for nothing: the limit where that alone says that the machine is slow. */
const MAX_START = 5
const URL = 'http://127.0.0.1:8787'

let folder: string
let network: Namespace

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'gateway-binary-'))
  network = await openNamespace()
})

afterEach(async () => {
  await network.close()
  rmSync(folder, {recursive: true, force: true})
})

describe('the executable for this machine', () => {
  const gateway = join(dist, 'gateway')

  test('is one file within its size, and SHA256SUMS and the bill of materials lie beside it', () => {
    expect(statSync(gateway).size).toBeLessThan(MAX_BYTES)
    const sums = readFileSync(join(dist, 'SHA256SUMS'), 'utf8').trim().split('\n')
    expect(sums).toContain(`${createHash('sha256').update(readFileSync(gateway)).digest('hex')}  gateway`)
    expect(sums.join('\n')).toContain('  sbom.cdx.json')
    expect(JSON.parse(readFileSync(join(dist, 'sbom.cdx.json'), 'utf8'))).toMatchObject({bomFormat: 'CycloneDX'})
  })

  test('says its version in an empty folder, with no Node near, and writes nothing', async () => {
    const {code, stdout, stderr} = await network.run([gateway, 'version', '--json'], folder)
    expect({code, stderr}).toEqual({code: 0, stderr: ''})
    expect(JSON.parse(stdout)).toMatchObject({version, platform: 'linux', arch: process.arch, executable: true})
    expect(readdirSync(folder)).toEqual([])
  })

  test(`says its version within ${MAX_START_MS} ms, or within ${MAX_START} times what Node needs to start on a slow machine`, () => {
    // The best of ten: what the executable costs, whatever else the machine is doing.
    const best_ms = (command: string, words: readonly string[]) => {
      const times_ms = Array.from({length: 10}, () => {
        const started = performance.now()
        spawnSync(command, words)
        return performance.now() - started
      })
      return Math.min(...times_ms)
    }
    expect(best_ms(gateway, ['version'])).toBeLessThan(
      Math.max(MAX_START_MS, MAX_START * best_ms(process.execPath, ['-e', '0'])),
    )
  })

  test('serves a call of the demo provider, made with a key of its own, and logs it', async () => {
    const data = join(folder, 'data')
    const server = network.start([gateway, 'serve', '--demo', '--data-dir', data], folder)
    const log = text(server.stderr!)
    expect((await network.fetch(`${URL}/livez`)).status).toBe(200)
    expect((statSync(data).mode & 0o777).toString(8)).toBe('700')

    const made = await network.run([gateway, 'keys', 'create', 'smoke', '--data-dir', data, '--json'], folder)
    expect(made).toMatchObject({code: 0, stderr: ''})
    const {key} = JSON.parse(made.stdout) as {key: string}
    const reply = await network.fetch(`${URL}/v1/chat/completions`, {
      method: 'POST',
      headers: {'content-type': 'application/json', 'x-gateway-api-key': key},
      body: JSON.stringify({model: '@demo/echo', messages: [{role: 'user', content: 'Is anybody there?'}]}),
    })
    expect(reply).toMatchObject({status: 200, body: expect.stringContaining('Is anybody there?')})

    for (const path of ['/docs', '/docs/explorer.js', '/docs/swagger-ui.js', '/docs/swagger-ui.css'])
      expect(await network.fetch(URL + path), path).toMatchObject({
        status: 200,
        body: expect.stringMatching(/swagger-?ui/i),
      })

    expect(settingsOfMalloc(server.pid!)).toEqual(['MALLOC_ARENA_MAX=1'])
    server.kill('SIGTERM')
    expect((await once(server, 'exit'))[0]).toBe(0)
    expect(await log).not.toContain(key)
    const logs = await network.run([gateway, 'logs', 'list', '--data-dir', data, '--json'], folder)
    expect(logs).toMatchObject({code: 0, stderr: ''})
    const listed = JSON.parse(logs.stdout) as {ai_model?: string}[] | {data: {ai_model?: string}[]}
    const rows = Array.isArray(listed) ? listed : listed.data
    expect(rows).toEqual([expect.objectContaining({ai_model: expect.stringContaining('echo')})])
  })

  test('works without HOME, for a user without an entry, in a directory that was removed', () => {
    const data = join(folder, 'data')
    const stranger = ['setpriv', '--reuid', '54321', '--regid', '54321', '--clear-groups', 'env', '-i']
    const reaches = [...stranger.slice(1), '/usr/bin/test', '-x', gateway]
    const can_change = process.getuid?.() === 0 && spawnSync(stranger[0]!, reaches).status === 0
    if (can_change) chownSync(folder, 54_321, 54_321)
    else console.log('skipped: another user cannot run the executable here')
    const gone = 'mkdir gone && cd gone && rmdir "$PWD" && exec "$@"'
    for (const words of [['init'], ['keys', 'list']]) {
      const command = [...(can_change ? stranger : ['env', '-i']), gateway, ...words, '--data-dir', data]
      const {status, stderr} = spawnSync('sh', ['-c', gone, 'sh', ...command], {cwd: folder, encoding: 'utf8'})
      expect([words, status, stderr]).toEqual([words, 0, expect.not.stringMatching(/inside the gateway|^\s+at /m)])
    }
  })

  test('leaves it to the operator how memory is given back', async () => {
    const server = network.start(
      ['/usr/bin/env', 'MALLOC_ARENA_MAX=4', gateway, 'serve', '--data-dir', join(folder, 'data')],
      folder,
    )
    expect((await network.fetch(`${URL}/livez`)).status).toBe(200)
    expect(settingsOfMalloc(server.pid!)).toEqual(['MALLOC_ARENA_MAX=4'])
    server.kill('SIGTERM')
    expect((await once(server, 'exit'))[0]).toBe(0)
  })
})

function settingsOfMalloc(pid: number): readonly string[] {
  const names = readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0')
  return names.filter(each => each.startsWith('MALLOC_')).sort()
}

describe('the executable for arm64, emulated', () => {
  const gateway = join(dist, process.arch === 'arm64' ? 'gateway' : 'gateway-linux-arm64')
  const command = process.arch === 'arm64' ? [gateway] : emulated(gateway)
  if (!command)
    console.log(
      'skipped: qemu-aarch64-static or the arm64 C library (libc6-arm64-cross, libstdc++6-arm64-cross) is not installed',
    )

  test.skipIf(!command && !process.env.CI)('says its version', async () => {
    expect(statSync(gateway).size).toBeLessThan(MAX_BYTES)
    const {code, stdout} = await network.run([...command!, 'version', '--json'], folder)
    expect(code).toBe(0)
    expect(JSON.parse(stdout)).toMatchObject({version, arch: 'arm64', executable: true})
  })

  test.skipIf(!command && !process.env.CI)('comes up, answers, and goes down in order', async () => {
    const server = network.start([...command!, 'serve', '--demo', '--data-dir', join(folder, 'data')], folder)
    expect((await network.fetch(`${URL}/livez`)).status).toBe(200)
    server.kill('SIGTERM')
    expect((await once(server, 'exit'))[0]).toBe(0)
  })
})

function emulated(program: string): readonly string[] | undefined {
  const libraries = '/usr/aarch64-linux-gnu'
  const {stdout} = spawnSync('sh', ['-c', 'command -v qemu-aarch64-static || command -v qemu-aarch64'], {
    encoding: 'utf8',
  })
  return stdout && existsSync(libraries) ? [stdout.trim(), '-L', libraries, program] : undefined
}
