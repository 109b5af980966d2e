import {execFileSync, spawnSync} from 'node:child_process'
import {once} from 'node:events'
import {mkdtempSync, rmSync, statSync, writeFileSync} from 'node:fs'
import {createServer} from 'node:net'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import Sqlite from 'better-sqlite3'
import {afterEach, beforeEach, expect, onTestFinished, test, vi} from 'vitest'
import {createApp} from '../src/app/app.ts'
import {createLog} from '../src/base/log.ts'
import {readSettings} from '../src/settings/index.ts'
import {startGateway, WORKSPACE_KEY} from './support/gateway.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'gateway-app-'))
})
afterEach(() => rmSync(folder, {recursive: true, force: true}))

const log = createLog('silent', 'gateway')
const settingsOf = (env: Record<string, string> = {}) =>
  readSettings({env: {GATEWAY_DATA_DIR: folder, PORT: '0', ...env}}).settings
const ask = {method: 'POST', body: JSON.stringify({model: 'echo', messages: [{role: 'user', content: 'hi'}]})}
const AT_DEMO = {'x-gateway-provider': '@demo', 'content-type': 'application/json'}

test('a second server on one data directory is refused with a sentence, and the first goes on', async () => {
  const first = await startGateway({}, {folder})
  await expect(createApp(settingsOf(), {role: 'server', log})).rejects.toThrow(/another gateway serves from it/)
  expect((await first.call('/v1/chat/completions', {...ask, headers: AT_DEMO})).status).toBe(200)
  await first.close()
})

test('a start that is refused for its data directory leaves no timer', async () => {
  const begun = vi.spyOn(globalThis, 'setInterval')
  onTestFinished(() => begun.mockRestore())
  await expect(createApp(settingsOf(), {role: 'operator', log})).rejects.toThrow(/There is no data directory/)
  expect(begun).not.toHaveBeenCalled()
})

test('a command beside the server writes while calls go on, and the server knows it at once', async () => {
  const gateway = await startGateway({}, {folder})
  const operator = await createApp(settingsOf(), {role: 'operator', log})
  const [workspace] = (
    (await operator.inject({method: 'GET', url: '/v1/admin/workspaces'})).body as {data: {id: string}[]}
  ).data
  const calls = Promise.all(
    Array.from({length: 50}, () => gateway.call('/v1/chat/completions', {...ask, headers: AT_DEMO})),
  )
  const made = await Promise.all(
    Array.from({length: 20}, (_, at) =>
      operator.inject({
        method: 'POST',
        url: '/v1/api-keys/workspace/service',
        body: {name: `k${at}`, workspace_id: workspace!.id, scopes: ['completions.write']},
      }),
    ),
  )
  expect(made.map(({status}) => status)).toEqual(made.map(() => 200))
  expect((await calls).map(({status}) => status)).toEqual(Array.from({length: 50}, () => 200))
  const {id, key} = made[0]!.body as {id: string; key: string}
  const status = async () =>
    (await gateway.call('/v1/chat/completions', {...ask, headers: {...AT_DEMO, 'x-gateway-api-key': key}})).status
  expect(await status()).toBe(200)
  await operator.inject({method: 'DELETE', url: `/v1/api-keys/${id}`})
  await expect.poll(status).toBe(401)
  await operator.close()
  await gateway.close()
})

test('the operator opens no journal, and needs a data directory that is there', async () => {
  await expect(createApp(settingsOf(), {role: 'operator', log})).rejects.toThrow(/There is no data directory/)
  await (await startGateway({}, {folder})).close()
  const before = execFileSync('ls', [join(folder, 'journal')]).toString()
  const operator = await createApp(settingsOf(), {role: 'operator', log})
  expect(execFileSync('ls', [join(folder, 'journal')]).toString()).toBe(before)
  await operator.close()
})

test('what the directory holds is its owner’s alone', async () => {
  await (await startGateway({}, {folder: join(folder, 'new')})).close()
  const mode = (path: string) => statSync(join(folder, 'new', path)).mode & 0o777
  expect([mode('.'), mode('keys/sealing.key'), mode('gateway.db'), mode('traffic.db')]).toEqual([
    0o700, 0o600, 0o600, 0o600,
  ])
})

test('a data directory that cannot be made says so', async () => {
  writeFileSync(join(folder, 'file'), '')
  await expect(
    createApp(settingsOf({GATEWAY_DATA_DIR: join(folder, 'file/sub')}), {role: 'server', log}),
  ).rejects.toThrow(/cannot be written.*--data-dir/)
})

test('a database of a newer version, or sealed with another key, is refused', async () => {
  await (await startGateway({}, {folder})).close()
  const sealing = Buffer.alloc(32, 7).toString('base64')
  await expect(createApp(settingsOf({GATEWAY_SEALING_KEY: sealing}), {role: 'server', log})).rejects.toThrow(
    /sealing key is not the one/,
  )
  const db = new Sqlite(join(folder, 'gateway.db'))
  db.prepare("insert into migrations values ('9999_from_tomorrow', '2030-01-01')").run()
  db.close()
  await expect(createApp(settingsOf(), {role: 'server', log})).rejects.toThrow(/newer version/)
})

test('a write waits for a lock that another process holds, and is made once', async () => {
  const gateway = await startGateway({}, {folder})
  const other = new Sqlite(join(folder, 'gateway.db'))
  other.exec('begin immediate')
  const waiting = gateway.admin('POST', '/integrations', {
    name: 'late',
    slug: 'late',
    ai_provider_id: 'openai',
    key: 'k',
  })
  const called = await gateway.call('/v1/chat/completions', {...ask, headers: AT_DEMO})
  expect(called.status).toBe(200)
  other.exec('rollback')
  other.close()
  await waiting
  const {data} = await gateway.admin<{data: {slug: string}[]}>('GET', '/integrations')
  expect(data.filter(({slug}) => slug === 'late')).toHaveLength(1)
  await gateway.close()
})

test('a port in use is an error with its code', async () => {
  const taken = createServer().listen(0, '127.0.0.1')
  await once(taken, 'listening')
  const {port} = taken.address() as {port: number}
  const app = await createApp(settingsOf({PORT: String(port)}), {role: 'server', log})
  await expect(app.listen()).rejects.toMatchObject({code: 'EADDRINUSE'})
  await app.close()
  taken.close()
})

test('health says what it is, readiness ends with the drain, metrics count calls and name no tenant', async () => {
  const gateway = await startGateway({}, {folder})
  expect(await (await fetch(`${gateway.url}/v1/health`)).json()).toMatchObject({
    status: 'success',
    version: expect.any(String),
  })
  expect((await fetch(`${gateway.url}/livez`)).status).toBe(200)
  expect((await fetch(`${gateway.url}/readyz`)).status).toBe(200)
  await gateway.call('/v1/chat/completions', {...ask, headers: AT_DEMO})
  const text = await (await fetch(`${gateway.url}/metrics`)).text()
  expect(text).toMatch(
    /request_count\{method="POST",endpoint="chatComplete",code="200",provider="demo",stream="0",cacheStatus="DISABLED"\} 1\n/,
  )
  expect(text).not.toContain('ws-shared')
  await gateway.close()
})

test('no secret stands in a file of the data directory or in the log', async () => {
  const gateway = await startGateway({}, {folder})
  const canary = 'canary-of-a-provider-key-0123456789'
  await gateway.admin('POST', '/integrations', {name: 'c', slug: 'c', ai_provider_id: 'openai', key: canary})
  await gateway.call('/v1/chat/completions', {...ask, headers: {...AT_DEMO, authorization: `Bearer ${canary}`}})
  await gateway.app.flushed()
  await gateway.close()
  const grep = spawnSync('grep', ['-rlaF', '-e', canary, '-e', WORKSPACE_KEY, folder], {encoding: 'utf8'})
  expect([grep.status, grep.stdout]).toEqual([1, ''])
  expect(gateway.lines.join('')).not.toContain(canary)
})

test('the data plane and the administration answer the API document of this version', async () => {
  const gateway = await startGateway({}, {folder})
  const document = (await (await fetch(`${gateway.url}/v1/openapi.json`)).json()) as {openapi: string; paths: object}
  expect(document.openapi).toMatch(/^3\./)
  expect(Object.keys(document.paths).length).toBeGreaterThan(20)
  await gateway.close()
})
