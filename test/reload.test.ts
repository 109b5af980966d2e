import {mkdtempSync, rmSync} from 'node:fs'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {connect as connectTls} from 'node:tls'
import {expect, onTestFinished, test} from 'vitest'
import {createApp} from '../src/app/app.ts'
import type {App} from '../src/app/root.ts'
import {createLog, type Log} from '../src/base/log.ts'
import {readSettings, type Settings, SettingsFault} from '../src/settings/index.ts'
import {until} from './generators/life-of-call/cells.ts'
import {Client} from './generators/life-of-call/client.ts'
import {pem} from './support/realtime.ts'
import {CERTIFICATE, PRIVATE_KEY} from './support/tls.ts'

const OTHER = [pem('models.pem'), pem('models.key.pem')] as const

async function serving(env: Record<string, string> = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'gateway-reload-'))
  const read = (more: Record<string, string>): Settings =>
    readSettings({env: {GATEWAY_DATA_DIR: folder, PORT: '0', ...env, ...more}}).settings
  const log: Log = createLog('info', 'gateway', () => undefined)
  const app: App = await createApp(read({}), {role: 'server', log})
  const {url} = await app.listen()
  onTestFinished(async () => {
    await app.drain()
    await app.close()
    rmSync(folder, {recursive: true, force: true})
  })
  return {app, url, log, read}
}

test('settings that may change are taken over, the others wait for a restart, and the same ones change nothing', async () => {
  const {app, url, log, read} = await serving()
  expect(app.reload(read({}))).toEqual({taken: [], need_restart: []})
  const next = read({LOG_LEVEL: 'error', CLIENT_HEAD_TIMEOUT_MS: '300', DRAIN_TIMEOUT_MS: '700', SERVICE_NAME: 'other'})
  expect(app.reload(next)).toEqual({
    taken: ['DRAIN_TIMEOUT_MS', 'CLIENT_HEAD_TIMEOUT_MS', 'LOG_LEVEL'],
    need_restart: ['SERVICE_NAME'],
  })
  expect([log.level, app.settings.drain_timeout_ms, app.settings.service_name]).toEqual(['error', 700, 'gateway'])
  const client = new Client(url)
  client.send('GET /livez HTTP/1.1\r\n')
  expect(await until(() => client.status === 408)).toBe(true)
})

test('a new certificate is shown to who connects, open connections go on, and a wrong pair changes nothing', async () => {
  const {app, url, log, read} = await serving({TLS_KEY: PRIVATE_KEY, TLS_CERT: CERTIFICATE})
  const [first, is_open] = await shown(url)
  expect(() => app.reload(read({TLS_CERT: OTHER[0], LOG_LEVEL: 'error'}))).toThrow(SettingsFault)
  expect([(await shown(url))[0], log.level]).toEqual([first, 'info'])
  expect(app.reload(read({TLS_CERT: OTHER[0], TLS_KEY: OTHER[1]})).taken).toEqual(['TLS_KEY', 'TLS_CERT'])
  expect((await shown(url))[0]).not.toBe(first)
  expect(is_open()).toBe(true)
  expect(() => app.reload(readSettings({env: {GATEWAY_DATA_DIR: app.settings.data_dir, PORT: '0'}}).settings)).toThrow(
    'restart',
  )
})

/** The certificate that is shown to a new connection, and whether that is still open. */
function shown(url: string): Promise<[fingerprint: string, is_open: () => boolean]> {
  return new Promise((resolve, reject) => {
    const socket = connectTls({port: Number(new URL(url).port), host: '127.0.0.1', rejectUnauthorized: false}, () => {
      resolve([socket.getPeerCertificate().fingerprint256, () => !socket.destroyed])
    })
    socket.on('error', reject)
  })
}
