import {randomBytes} from 'node:crypto'
import {cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync} from 'node:fs'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {createApp} from '../../src/app/app.ts'
import type {App} from '../../src/app/root.ts'
import {createLog} from '../../src/base/log.ts'
import {readSettings} from '../../src/settings/index.ts'
import {latePorts, PORTS_ARE_LATE} from './late-ports.ts'
import {migratedFolder} from './migrated.ts'

export const ADMIN_KEY = 'gk-test-admin-key-of-at-least-32-characters'
export const WORKSPACE_KEY = 'gk-test-workspace-key-of-at-least-32-characters'

export interface LogRow {
  readonly [name: string]: unknown
}

/** A whole gateway on a free port, over a data directory of its own. */
export interface TestGateway {
  readonly url: string
  /** Of MCP_PORT, where it is set. */
  readonly mcp_url?: string
  readonly app: App
  readonly folder: string
  /** Lines of the process log. */
  readonly lines: string[]
  /** Calls with the workspace key. */
  call(path: string, init?: RequestInit & {headers?: Record<string, string>}): Promise<Response>
  /** POSTs a chat to `headers`' provider. */
  chat(body: object, headers?: Record<string, string>): Promise<Response>
  /** An operation with the operator's rights; throws unless it answers 200. */
  admin<T = Record<string, unknown>>(method: string, path: string, body?: unknown): Promise<T>
  /** Makes an integration of `kind` at `custom_host` and its provider `@slug`. */
  provider(slug: string, kind: string, custom_host: string, more?: object): Promise<void>
  /** Rows of the log, newest first, once all calls that ended are in it. */
  logs(): Promise<LogRow[]>
  close(): Promise<void>
}

/** A data directory as a process leaves it that made it, and did nothing else yet. */
async function fillFolder(folder: string) {
  cpSync(await migratedFolder(), folder, {recursive: true})
  mkdirSync(join(folder, 'keys'), {mode: 0o700})
  writeFileSync(join(folder, 'keys', 'sealing.key'), randomBytes(32).toString('base64'), {mode: 0o600})
}

export async function startGateway(
  env: Record<string, string> = {},
  options: {
    folder?: string
    demo?: boolean
    accepts_loss?: boolean
    now?: () => number
    steady?: () => number
    list_timeout_ms?: number
  } = {},
): Promise<TestGateway> {
  const folder = options.folder ?? mkdtempSync(join(tmpdir(), 'gateway-test-'))
  if (!options.folder && !env.DATABASE_URL) await fillFolder(folder)
  const lines: string[] = []
  const {settings} = readSettings({
    env: {
      GATEWAY_DATA_DIR: folder,
      PORT: '0',
      GATEWAY_BOOTSTRAP_ADMIN_KEY: ADMIN_KEY,
      GATEWAY_BOOTSTRAP_WORKSPACE_KEY: WORKSPACE_KEY,
      ...env,
    },
  })
  const log = createLog('trace', 'gateway', line => void lines.push(line))
  const {folder: _, ...given} = options
  const app = await createApp(settings, {
    demo: true,
    ...given,
    role: 'server',
    log,
    ...(PORTS_ARE_LATE && {ports: latePorts}),
  })
  const {url, mcp_url} = await app.listen().catch(async fault => {
    await app.close()
    throw fault
  })
  const admin = async <T>(method: string, path: string, body?: unknown): Promise<T> => {
    const reply = await app.inject({method, url: `/v1${path}`, body})
    if (reply.status !== 200)
      throw new Error(`${method} ${path} answers ${reply.status}: ${JSON.stringify(reply.body)}`)
    return reply.body as T
  }
  const call: TestGateway['call'] = (path, init = {}) =>
    fetch(url + path, {...init, headers: {'x-gateway-api-key': WORKSPACE_KEY, ...init.headers}})
  return {
    url,
    ...(mcp_url !== undefined && {mcp_url}),
    app,
    folder,
    lines,
    call,
    admin,
    chat: (body, headers = {}) =>
      call('/v1/chat/completions', {
        method: 'POST',
        body: JSON.stringify(body),
        headers: {'content-type': 'application/json', ...headers},
      }),
    async provider(slug, kind, custom_host, more = {}) {
      const [workspace] = (await admin<{data: {id: string}[]}>('GET', '/admin/workspaces')).data
      await admin('POST', '/integrations', {
        name: slug,
        slug,
        ai_provider_id: kind,
        key: 'sk-upstream-secret-0123456789',
        configurations: {custom_host},
        ...more,
      })
      await admin('PUT', `/integrations/${slug}/workspaces`, {
        workspaces: [{id: workspace!.id, enabled: true, default_provider_slug: slug}],
      })
    },
    async logs() {
      await app.flushed()
      return (await admin<{data: LogRow[]}>('GET', '/logs?page_size=100')).data
    },
    async close() {
      await app.drain()
      await app.close()
      if (!options.folder) rmSync(folder, {recursive: true, force: true})
    },
  }
}
