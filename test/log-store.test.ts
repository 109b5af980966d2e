import {spawn} from 'node:child_process'
import {once} from 'node:events'
import {mkdtempSync, readFileSync, rmSync} from 'node:fs'
import {tmpdir} from 'node:os'
import {join, resolve} from 'node:path'
import {createInterface} from 'node:readline'
import Sqlite from 'better-sqlite3'
import {describe, expect, onTestFinished, test} from 'vitest'
import {PACKS_FOLDER} from '../src/store/bodies/index.ts'
import {listPacks} from '../src/store/bodies/packs.ts'
import {run} from './cli/support.ts'
import {startTwin, type Twin} from './support/clouds/log-store.ts'
import {startGateway, type TestGateway, WORKSPACE_KEY} from './support/gateway.ts'
import {KINDS, testStore} from './support/stores.ts'

const S3_KEY = {kind: 's3', id: 'AKIDEXAMPLE', secret: 'canary-secret-of-the-bucket', region: 'us-east-1'} as const
const SOON = {timeout: 20_000, interval: 50}
const LONG_MS = 60_000
const asking = (text: string) => ({model: '@demo/echo', messages: [{role: 'user', content: text}]})

async function twinOf(): Promise<{twin: Twin; env: Record<string, string>}> {
  const twin = await startTwin(S3_KEY)
  onTestFinished(() => twin.close())
  const env = {
    LOG_STORE: 's3_custom',
    LOG_STORE_BASEPATH: `${twin.url}/bucket`,
    LOG_STORE_ACCESS_KEY: S3_KEY.id,
    LOG_STORE_SECRET_KEY: S3_KEY.secret,
    LOG_STORE_CONNECTION_BACKOFF_MS: '100',
    LOG_STORE_CONNECTION_TIMEOUT_MS: '2000',
  }
  return {twin, env}
}

async function gatewayOn(kind: 'sqlite' | 'postgres', env: Record<string, string>): Promise<TestGateway> {
  const more: Record<string, string> = {}
  if (kind === 'postgres') {
    const {options, close} = await testStore(kind)
    onTestFinished(() => close())
    if (options.kind !== 'postgres' || !('connectionString' in options.connection))
      throw new Error('a store of another kind')
    more.DATABASE_URL = options.connection.connectionString
    more.GATEWAY_SEALING_KEY = Buffer.alloc(32, 3).toString('base64')
  }
  const gateway = await startGateway({...env, ...more})
  onTestFinished(() => gateway.close())
  return gateway
}

const ask = async (gateway: TestGateway, text: string): Promise<string> => {
  expect((await gateway.chat(asking(text))).status).toBe(200)
  return (await gateway.logs())[0]!.id as string
}
const told = (gateway: TestGateway, text: string) => gateway.lines.filter(line => line.includes(text))
const metric = async ({url}: TestGateway, name: string) =>
  Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(await (await fetch(`${url}/metrics`)).text())?.[1])

describe.each(KINDS)('a log store, on %s', kind => {
  test(
    'has the bodies of calls a little later, and gives them back',
    async () => {
      const {twin, env} = await twinOf()
      const gateway = await gatewayOn(kind, {...env, LOG_STORE_FILE_PATH_FORMAT: 'v2'})
      const id = await ask(gateway, 'kept elsewhere')
      await expect.poll(() => [...twin.objects.keys()], SOON).toHaveLength(1)
      const [[path, object]] = [...twin.objects] as [[string, Buffer]]
      expect(path).toMatch(new RegExp(`^/bucket/30/[0-9a-f-]{36}/[^/]+/\\d{4}/\\d\\d/\\d\\d/\\d\\d/${id}\\.json$`))
      expect(JSON.parse(object.toString())).toMatchObject({
        _id: id,
        log_format: 'v2',
        request: {body: asking('kept elsewhere')},
        response: {body: {object: 'chat.completion'}},
      })
      expect(object.toString()).not.toContain(WORKSPACE_KEY)
      const got = () => twin.received.filter(({method}) => method === 'GET').length
      await expect
        .poll(async () => ((await gateway.admin('GET', `/logs/${id}`)) as {_id: string})._id && got(), SOON)
        .toBe(1)
      const shown = await gateway.admin('GET', `/logs/${id}`)
      expect(shown).toMatchObject({
        log_format: 'v2',
        request: {body: asking('kept elsewhere')},
        metrics: {log_store_file_path_format: 'v2'},
      })
      expect(shown).not.toHaveProperty('log_store_error')
      expect(await metric(gateway, 'gateway_log_store_put_total')).toBe(1)

      const workspace_id = (await gateway.admin<{data: {slug: string}[]}>('GET', '/admin/workspaces')).data[0]!.slug
      const exported = async (requested_data: readonly string[]) => {
        const {id: job} = await gateway.admin<{id: string}>('POST', '/logs/exports', {
          filters: {},
          requested_data,
          workspace_id,
        })
        await gateway.admin('POST', `/logs/exports/${job}/start`)
        const state = () =>
          gateway.admin<{id: string; status: string; description: string}>('GET', `/logs/exports/${job}`)
        await expect.poll(async () => (await state()).status, SOON).not.toBe('in_progress')
        return state()
      }
      const {id: job, status} = await exported(['id', 'request'])
      expect(status).toBe('success')
      expect(readFileSync(join(gateway.folder, 'exports', `${job}.jsonl`), 'utf8')).toBe(
        `${JSON.stringify({id, request: asking('kept elsewhere')})}\n`,
      )

      twin.mood = 503
      const without = await gateway.admin('GET', `/logs/${id}`)
      expect(without).toMatchObject({
        _id: id,
        log_store_error: `The bodies of calls cannot be read now. The log store ${twin.url}/bucket answered 503 (SlowDown).`,
      })
      expect((without.request as object) ?? {}).not.toHaveProperty('body')
      expect(await exported(['request'])).toMatchObject({
        status: 'failed',
        description: expect.stringMatching(/^The bodies of calls cannot be read now\. The log store /),
      })
      expect(gateway.lines.join('\n')).not.toContain(S3_KEY.secret)
    },
    LONG_MS,
  )

  test(
    'that is away loses nothing: calls go on, bodies wait and are read from here, and go there when it is back',
    async () => {
      const {twin, env} = await twinOf()
      await twin.down()
      const gateway = await gatewayOn(kind, env)
      const ids = []
      for (const text of ['one', 'two', 'three']) ids.push(await ask(gateway, text))
      await expect.poll(() => told(gateway, 'the log store takes no bodies now').length, SOON).toBe(1)
      expect(told(gateway, 'the log store takes no bodies now')[0]).toContain('the connection was refused')
      expect(await gateway.admin('GET', `/logs/${ids[1]}`)).toMatchObject({request: {body: asking('two')}})
      await expect.poll(() => metric(gateway, 'gateway_log_store_spool_bytes'), SOON).toBeGreaterThan(0)
      expect(await metric(gateway, 'gateway_log_store_available')).toBe(0)
      await twin.up()
      await expect.poll(() => twin.objects.size, SOON).toBe(3)
      await expect.poll(() => told(gateway, 'the log store takes bodies again').length, SOON).toBe(1)
      expect(await gateway.admin('GET', `/logs/${ids[1]}`)).toMatchObject({
        request: {body: asking('two')},
        log_format: 'v1',
      })
      expect(gateway.lines.join('\n')).not.toContain(S3_KEY.secret)
    },
    LONG_MS,
  )
})

test('a command on the data directory reads bodies from the store too', async () => {
  const {twin, env} = await twinOf()
  const gateway = await gatewayOn('sqlite', env)
  const id = await ask(gateway, 'for the operator')
  await expect.poll(() => twin.objects.size && listPacks(join(gateway.folder, PACKS_FOLDER)).length, SOON).toBe(0)
  const {stdout, code} = await run(['logs', 'show', id, '--data-dir', gateway.folder, '--json'], {env})
  expect([code, JSON.parse(stdout)]).toMatchObject([0, {request: {body: asking('for the operator')}}])
})

test(
  'a kill between the put and its note leaves both copies, and the next process puts it again under the same key',
  async () => {
    const {twin, env} = await twinOf()
    const folder = mkdtempSync(join(tmpdir(), 'gateway-killed-'))
    onTestFinished(() => rmSync(folder, {recursive: true, force: true}))
    const serve = async () => {
      const child = spawn(
        process.execPath,
        ['bin/gateway.ts', 'serve', '--demo', '--port', '0', '--data-dir', folder],
        {
          cwd: resolve(import.meta.dirname, '..'),
          stdio: ['ignore', 'ignore', 'pipe'],
          env: {...process.env, ...env, GATEWAY_BOOTSTRAP_WORKSPACE_KEY: WORKSPACE_KEY},
        },
      )
      onTestFinished(() => void child.kill('SIGKILL'))
      const url = await new Promise<string>((done, failed) => {
        createInterface({input: child.stderr}).on('line', line => {
          const {msg, url} = JSON.parse(line) as {msg: string; url: string}
          if (msg === 'listening') done(url)
        })
        child.once('exit', () => failed(new Error('the gateway ended')))
      })
      return {child, url}
    }
    const first = await serve()
    twin.judge = ({method}) => {
      if (method === 'PUT') first.child.kill('SIGKILL')
      return 'up'
    }
    for (const text of ['one', 'two']) {
      const body = JSON.stringify(asking(text))
      const headers = {'x-gateway-api-key': WORKSPACE_KEY, 'content-type': 'application/json'}
      expect((await fetch(`${first.url}/v1/chat/completions`, {method: 'POST', body, headers})).status).toBe(200)
    }
    await once(first.child, 'exit')
    await expect.poll(() => twin.objects.size).toBeGreaterThan(0)
    const before = [...twin.objects.keys()]
    const traffic = new Sqlite(join(folder, 'traffic.db'))
    expect(traffic.prepare('select count(*) as n from log_objects').get()).toEqual({n: 0})
    traffic.exec('update workers set lease_until_ms = null, due_at_ms = 0') // as the end of the lease would
    traffic.close()
    expect(listPacks(join(folder, PACKS_FOLDER)).length).toBeGreaterThan(0)
    twin.judge = () => 'up'
    const second = await serve()
    await expect.poll(() => [twin.objects.size, listPacks(join(folder, PACKS_FOLDER)).length], SOON).toEqual([2, 0])
    expect([...twin.objects.keys()]).toEqual(expect.arrayContaining(before))
    const said = [...twin.objects.values()].map(
      object => JSON.parse(object.toString()).request.body.messages[0].content,
    )
    expect(said.sort()).toEqual(['one', 'two'])
    second.child.kill('SIGTERM')
    expect(await once(second.child, 'exit')).toEqual([0, null])
  },
  LONG_MS,
)
