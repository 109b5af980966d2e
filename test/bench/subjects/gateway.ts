import {existsSync, rmSync} from 'node:fs'
import {join} from 'node:path'
import {setTimeout as sleep} from 'node:timers/promises'
import Sqlite from 'better-sqlite3'
import {freePort, type Program, start} from '../processes.ts'
import {type Provider, startProvider} from './provider.ts'
import {MissingFault, type Subject, type Surroundings} from './subject.ts'

const root = join(import.meta.dirname, '../../..')
export const EXECUTABLE = join(root, 'dist/gateway')
const ADMIN_KEY = 'gk-bench-admin-key-of-at-least-32-characters'
const WORKSPACE_KEY = 'gk-bench-workspace-key-of-at-least-32-characters'
const MAX_PER_MINUTE = 100_000_000
const READY_PATIENCE_MS = 60_000
const STOP_PATIENCE_MS = 40_000

/** The command that is our gateway: the sources, or the executable. */
export function gatewayCommand(is_binary: boolean): readonly [string, ...string[]] {
  if (is_binary && !existsSync(EXECUTABLE)) throw new MissingFault('dist/gateway is not built (npm run build)')
  return is_binary ? [EXECUTABLE] : [process.execPath, join(root, 'bin/gateway.ts')]
}

/** A served gateway. */
export interface Served {
  readonly origin: string
  readonly program: Program
  /** From the start of the process to its first `200` of /readyz. */
  readonly ready_ms: number
}

/** Starts `gateway serve` on a data directory and waits until it is ready. */
export async function serve(
  command: readonly [string, ...string[]],
  data_dir: string,
  {processors, env = {}}: {processors?: string | undefined; env?: Readonly<Record<string, string>>} = {},
): Promise<Served> {
  const port = await freePort()
  const began = performance.now()
  const program = start([...command, 'serve', '--data-dir', data_dir, '--port', String(port)], {
    processors,
    env: {...env, GATEWAY_BOOTSTRAP_ADMIN_KEY: ADMIN_KEY, GATEWAY_BOOTSTRAP_WORKSPACE_KEY: WORKSPACE_KEY},
  })
  const origin = `http://127.0.0.1:${port}`
  while (program.running && performance.now() - began < READY_PATIENCE_MS) {
    const reply = await fetch(`${origin}/readyz`).catch(() => undefined)
    await reply?.arrayBuffer()
    if (reply?.ok) return {origin, program, ready_ms: performance.now() - began}
    await sleep(5)
  }
  await program.kill()
  throw new Error(`gateway serve is not ready: ${program.said().trim() || 'it said nothing'}`)
}

/** Headers of a call of the key that `provide` made ready, to one of its providers. */
export const callHeaders = (slug: string) =>
  ({authorization: `Bearer ${WORKSPACE_KEY}`, 'x-gateway-provider': `@${slug}`}) as const
export const CALL_HEADERS = callHeaders('mock')

/** The administration of a served gateway, with the rights of an admin key. */
export function administer(origin: string) {
  return async <T>(method: string, path: string, body?: unknown): Promise<T> => {
    const reply = await fetch(`${origin}/v1${path}`, {
      method,
      headers: {'x-gateway-api-key': ADMIN_KEY, 'content-type': 'application/json'},
      ...(body === undefined ? {} : {body: JSON.stringify(body)}),
    })
    if (!reply.ok) throw new Error(`${method} ${path} answers ${reply.status}: ${await reply.text()}`)
    return (await reply.json()) as T
  }
}

/** Makes the provider `@NAME` at `upstream`. */
export async function provideAt(origin: string, name: string, upstream: string, kind = 'openai'): Promise<void> {
  const call = administer(origin)
  const [workspace] = (await call<{data: {id: string}[]}>('GET', '/admin/workspaces')).data
  const configurations = {custom_host: `${upstream}/v1`}
  await call('POST', '/integrations', {name, slug: name, ai_provider_id: kind, key: 'sk-upstream', configurations})
  await call('PUT', `/integrations/${name}/workspaces`, {
    workspaces: [{id: workspace!.id, enabled: true, default_provider_slug: name}],
  })
}

/** Changes every key of the workspace. */
export async function changeKeys(origin: string, change: object): Promise<void> {
  const call = administer(origin)
  const [workspace] = (await call<{data: {id: string}[]}>('GET', '/admin/workspaces')).data
  const {data} = await call<{data: {id: string}[]}>('GET', `/api-keys?workspace_id=${workspace!.id}`)
  for (const {id} of data) await call('PUT', `/api-keys/${id}`, change)
}

/**
 * Makes providers at `upstream` through the administration, by slug and kind, and gives the workspace key a rate limit
 * to count.
 */
export async function provide(
  origin: string,
  upstream: string,
  kinds: Readonly<Record<string, string>> = {mock: 'openai'},
): Promise<void> {
  for (const [slug, kind] of Object.entries(kinds)) await provideAt(origin, slug, upstream, kind)
  await changeKeys(origin, {rate_limits: [{type: 'requests', unit: 'rpm', value: MAX_PER_MINUTE}]})
}

/** What a gateway wrote down of the calls it took. */
export interface Recorded {
  /** Attempts that the provider received. */
  readonly received: number
  readonly entries: number
  readonly log_rows: number
  readonly unpriced: number
  readonly cost_usd: number
}

/** Reads what a data directory holds of its traffic; the gateway must have stopped. */
function readRecorded(data_dir: string): Omit<Recorded, 'received'> {
  const db = new Sqlite(join(data_dir, 'traffic.db'), {readonly: true})
  try {
    const {entries, unpriced, cost} = db
      .prepare(
        'select count(*) entries, coalesce(sum(unpriced), 0) unpriced, coalesce(sum(cost_nanousd), 0) cost from ledger_entries',
      )
      .get() as {entries: number; unpriced: number; cost: number}
    const {log_rows} = db.prepare('select count(*) log_rows from logs').get() as {log_rows: number}
    return {entries, log_rows, unpriced, cost_usd: cost / 1e9}
  } finally {
    db.close()
  }
}

/** Ours, with everything on: key, scope, rate counter, usage, cost, journal, ledger and log. */
export interface Gateway extends Subject {
  /** For this gateway alone: so it is known what a provider received from it. */
  readonly provider: Provider
  /** What it wrote down; it must have stopped. */
  recorded(): Recorded
}

/** Starts ours on an empty data directory, or the executable of an earlier version. */
export async function startGateway(
  around: Omit<Surroundings, 'upstream'>,
  is_binary: boolean,
  before_file?: string,
): Promise<Gateway> {
  const command: readonly [string, ...string[]] = before_file === undefined ? gatewayCommand(is_binary) : [before_file]
  const data_dir = join(around.folder, before_file === undefined ? 'data' : 'data-before')
  rmSync(data_dir, {recursive: true, force: true})
  const provider = await startProvider(around)
  let served: Served | undefined
  let received = 0
  const stop = async () => {
    await served?.program.stop(STOP_PATIENCE_MS)
    received = await provider.chats()
    await provider.stop()
  }
  try {
    served = await serve(command, data_dir, around)
    await provide(served.origin, provider.origin)
  } catch (fault) {
    await stop()
    throw fault
  }
  let stopped: Promise<void> | undefined
  return {
    id: before_file === undefined ? 'ours' : 'before',
    name: before_file !== undefined ? 'gateway before' : is_binary ? 'gateway (executable)' : 'gateway',
    url: `${served.origin}/v1/chat/completions`,
    headers: CALL_HEADERS,
    pid: served.program.pid,
    provider,
    stop() {
      stopped ??= stop()
      return stopped
    },
    recorded: () => ({received, ...readRecorded(data_dir)}),
  }
}
