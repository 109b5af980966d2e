import {type ChildProcess, spawn} from 'node:child_process'
import {once} from 'node:events'
import {mkdtempSync, rmSync} from 'node:fs'
import {tmpdir} from 'node:os'
import {join, resolve} from 'node:path'
import {setTimeout as sleep} from 'node:timers/promises'
import {createApp} from '../../../src/app/app.ts'
import type {App} from '../../../src/app/root.ts'
import {createLog} from '../../../src/base/log.ts'
import {databaseSettings, readSettings} from '../../../src/settings/index.ts'
import {openStore, type StoreOptions} from '../../../src/store/dialect/index.ts'
import {latePorts, PORTS_ARE_LATE} from '../../support/late-ports.ts'
import {type Double, openDouble} from './double.ts'

export const ADMIN_KEY = 'gk-life-admin-key-of-at-least-32-characters'
const WORKSPACE_KEY = 'gk-life-workspace-key-of-at-least-32-characters'
const PROGRAM = resolve(import.meta.dirname, '../../../bin/gateway.ts')

/** What stands of one call: rows of the log, and attempts in the ledger. */
export interface Recorded {
  /** Their statuses. */
  readonly rows: readonly number[]
  /** Their outcomes. */
  readonly entries: readonly string[]
}

/** A gateway with all it talks to; what a test may know of it comes over sockets, or stands in its database. */
export interface GatewaySetup {
  readonly url: string
  readonly folder: string
  readonly double: Double
  /** A key with a strict limit that lets one call of its kind go at a time. */
  key(): Promise<string>
  recorded(trace_id: string): Promise<Recorded>
  /** One value of /metrics. */
  metric(name: string): Promise<number>
  /** Has it stop as a signal does; resolves to the milliseconds that took, to the last file closed. */
  stop(): Promise<number>
  /** Starts again on the same data. */
  again(): Promise<void>
  close(): Promise<void>
}

/** A gateway in a process of its own. */
export interface ProcessWorld extends GatewaySetup {
  kill(signal: NodeJS.Signals): void
  /** Resolves to the exit code, or the signal that ended it. */
  readonly ended: Promise<number | string>
  said(): string
}

const ENV = {
  PORT: '0',
  GATEWAY_BOOTSTRAP_ADMIN_KEY: ADMIN_KEY,
  GATEWAY_BOOTSTRAP_WORKSPACE_KEY: WORKSPACE_KEY,
  TRUSTED_CUSTOM_HOSTS: '127.0.0.1',
}

/** A gateway in this process. */
export async function worldHere(env: Readonly<Record<string, string>>): Promise<GatewaySetup> {
  const double = await openDouble()
  const folder = mkdtempSync(join(tmpdir(), 'gateway-life-'))
  const all = {...ENV, GATEWAY_DATA_DIR: folder, AZURE_AUTHORITY_HOST: double.url, ...env}
  const {settings} = readSettings({env: all})
  let app: App | undefined
  let url = ''
  const again = async () => {
    app = await createApp(settings, {
      role: 'server',
      log: createLog('silent', 'gateway', () => undefined),
      ...(PORTS_ARE_LATE && {ports: latePorts}),
    })
    url = (await app.listen()).url
  }
  const stop = async () => {
    const stopping = app
    app = undefined
    const began = performance.now()
    await stopping?.drain()
    await stopping?.close()
    return performance.now() - began
  }
  await again()
  await furnish(url, double)
  return {
    ...{folder, double, stop, again, key: () => keyAt(url), metric: name => metricAt(url, name)},
    get url() {
      return url
    },
    async recorded(trace_id) {
      await app?.flushed()
      return recordedIn(all, trace_id)
    },
    async close() {
      await stop()
      await double.close()
      rmSync(folder, {recursive: true, force: true})
    },
  }
}

/** A gateway in a process of its own, as an operator starts it. */
export async function worldApart(env: Readonly<Record<string, string>>): Promise<ProcessWorld> {
  const double = await openDouble()
  const folder = mkdtempSync(join(tmpdir(), 'gateway-life-'))
  const all = {...ENV, GATEWAY_DATA_DIR: folder, AZURE_AUTHORITY_HOST: double.url, ...env}
  let child: ChildProcess
  let said = ''
  let url = ''
  let ended: Promise<number | string>
  const start = async () => {
    said = ''
    const started = spawn(process.execPath, [PROGRAM, 'serve'], {
      env: {PATH: process.env.PATH, ...all},
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    child = started
    ended = once(started, 'exit').then(([code, signal]) => (code ?? signal) as number | string)
    const hear = (text: Buffer) => {
      said += text
    }
    started.stdout.on('data', hear)
    started.stderr.on('data', hear)
    for (const until = Date.now() + 30_000; ; await sleep(20)) {
      const found = /"url":"([^"]+)","msg":"listening"/.exec(said)?.[1]
      if (found) {
        url = found
        return
      }
      if (Date.now() > until || started.exitCode !== null) throw new Error(`gateway serve does not listen: ${said}`)
    }
  }
  await start()
  await furnish(url, double)
  return {
    ...{folder, double, key: () => keyAt(url), metric: name => metricAt(url, name), said: () => said},
    get url() {
      return url
    },
    get ended() {
      return ended
    },
    kill: signal => void child.kill(signal),
    again: start,
    async stop() {
      const began = performance.now()
      child.kill('SIGTERM')
      await ended
      return performance.now() - began
    },
    async recorded(trace_id) {
      return recordedIn(all, trace_id)
    },
    async close() {
      child.kill('SIGKILL')
      await ended
      await double.close()
      rmSync(folder, {recursive: true, force: true})
    },
  }
}

async function administer<T>(url: string, method: string, path: string, body?: unknown): Promise<T> {
  const reply = await fetch(`${url}/v1${path}`, {
    method,
    headers: {'x-gateway-api-key': ADMIN_KEY, 'content-type': 'application/json'},
    ...(body === undefined ? {} : {body: JSON.stringify(body)}),
  })
  if (!reply.ok) throw new Error(`${method} ${path} answers ${reply.status}: ${await reply.text()}`)
  return (await reply.json()) as T
}

async function workspaceAt(url: string): Promise<string> {
  return (await administer<{data: {id: string}[]}>(url, 'GET', '/admin/workspaces')).data[0]!.id
}

async function furnish(url: string, double: Double) {
  const id = await workspaceAt(url)
  for (const [slug, custom_host] of [
    ['main', `${double.url}/v1`],
    ['second', `${double.url}/v1`],
    ['silent', double.silent_url],
  ]) {
    const integration = {name: slug, slug, ai_provider_id: 'openai', key: 'sk-upstream', configurations: {custom_host}}
    await administer(url, 'POST', '/integrations', integration)
    await administer(url, 'PUT', `/integrations/${slug}/workspaces`, {
      workspaces: [{id, enabled: true, default_provider_slug: slug}],
    })
  }
}

async function keyAt(url: string): Promise<string> {
  const body = {
    name: 'life',
    workspace_id: await workspaceAt(url),
    scopes: ['completions.write'],
    usage_limits: {type: 'tokens', credit_limit: 1100, enforcement: 'strict'},
  }
  return (await administer<{key: string}>(url, 'POST', '/api-keys/workspace/service', body)).key
}

async function metricAt(url: string, name: string): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text()
  return Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1])
}

async function recordedIn(env: Readonly<Record<string, string>>, trace_id: string): Promise<Recorded> {
  const {settings} = readSettings({env})
  const database = databaseSettings(settings)
  const options: StoreOptions = database
    ? {kind: 'postgres', ...database}
    : {kind: 'sqlite', folder: settings.data_dir, role: 'operator', binding: undefined}
  const store = await openStore(options)
  try {
    const rows = await store.db.selectFrom('traffic.logs').select('status').where('trace_id', '=', trace_id).execute()
    const entries = await store.db
      .selectFrom('traffic.ledger_entries')
      .select('outcome')
      .where('trace_id', '=', trace_id)
      .execute()
    return {rows: rows.map(({status}) => Number(status)), entries: entries.map(({outcome}) => outcome)}
  } finally {
    await store.close()
  }
}
