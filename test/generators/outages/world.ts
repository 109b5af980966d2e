import {randomBytes} from 'node:crypto'
import {mkdtempSync, rmSync} from 'node:fs'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {setTimeout as sleep} from 'node:timers/promises'
import {expect} from 'vitest'
import {ADMIN_KEY, startGateway, type TestGateway} from '../../support/gateway.ts'
import {type Line, openLine} from '../../support/line.ts'
import {migratedDatabase} from '../../support/migrated.ts'
import {onServer} from '../../support/stores.ts'
import {spentIn} from './spent.ts'

/** What stores have in these tests. */
export const DEADLINE_MS = 200
/** Within which an answer counts as in time, on a machine that does much else. */
export const IN_TIME_MS = 12 * DEADLINE_MS
/** Long enough to ask all that a known caller may have meanwhile. */
const STALE_S = 2

export interface Reply {
  readonly status: number
  readonly retry_after: string | null
  readonly text: string
  readonly took_ms: number
}

/** A call as a client makes it: what it sends beside, or in the place of, the usual. */
export interface Asked {
  readonly body?: Readonly<Record<string, unknown>>
  readonly headers?: Readonly<Record<string, string>>
}

/** A gateway, and the way between it and the store. */
export interface OutageWorld {
  readonly line: Line
  readonly gateway: TestGateway
  call(key: string, asked?: Asked): Promise<Reply>
  get(path: string): Promise<Reply>
  /** Changes something of the administration, or tries to. */
  post(path: string, body: object): Promise<Reply>
  readonly workspace_id: string
  readonly folder: string
  /** How many calls were answered with 200, and the tokens in those answers. */
  readonly answered: number
  readonly tokens: number
  /** How many calls of the log were, once it can be read. */
  logged(): Promise<number>
  /** The tokens of the ledger's hourly sums, once they can be read. */
  summed(): Promise<number>
  /** A new key that no process knows yet; with a limit of tokens where one is given. */
  key(limit?: object): Promise<{readonly id: string; readonly key: string}>
  /**
   * Calls until it is let in, and is known from then on: what was written before is looked at, and forgotten, no more.
   */
  know(key: string): Promise<void>
  /** Waits until a process has looked at what it wrote itself. */
  looked(): Promise<unknown>
  metric(name: string): Promise<number>
  /** Starts a gateway on the same data. */
  start(): Promise<TestGateway>
  /** Forgets the gateway, which is closed by now, and has `again` in its place. */
  replace(again: TestGateway): void
  close(): Promise<void>
}

/** By then a process has looked at what it wrote itself. */
const LOOKED_MS = 800
export const SEALING_KEY = Buffer.alloc(32, 5).toString('base64')

/** A database of its own, where a gateway was once; `url` leads there. */
export async function madeDatabase(server_url: string) {
  const name = `gateway_test_${randomBytes(6).toString('hex')}`
  await onServer(`create database ${name} template ${await migratedDatabase()}`)
  const url = Object.assign(new URL(server_url), {pathname: `/${name}`}).href
  // the first start writes much, which takes longer than these deadlines allow on a slow machine
  await (await beside(url)).close()
  return {url, drop: () => onServer(`drop database ${name} with (force)`)}
}

/** Over PostgreSQL by a line; `url` leads there without it. */
export async function overPostgres(server_url: string): Promise<OutageWorld & {readonly url: string}> {
  const {url, drop} = await madeDatabase(server_url)
  const line = await openLine(url, {usual_port: 5432})
  const world = await worldOf(line, {DATABASE_URL: line.url, GATEWAY_SEALING_KEY: SEALING_KEY})
  return Object.defineProperties({...world, url}, {...liveOf(world), close: {value: endOf(world, drop)}})
}

/** Over SQLite, or the PostgreSQL at `server_url`, with its counters and cache in Redis by a line. */
export async function overRedis(redis_url: string, server_url?: string): Promise<OutageWorld> {
  const line = await openLine(redis_url, {usual_port: 6379})
  if (server_url === undefined) return worldOf(line, {REDIS_URL: line.url})
  const {url, drop} = await madeDatabase(server_url)
  const world = await worldOf(line, {REDIS_URL: line.url, DATABASE_URL: url, GATEWAY_SEALING_KEY: SEALING_KEY})
  return Object.defineProperties({...world}, {...liveOf(world), close: {value: endOf(world, drop)}})
}

/** The members of a world that change, for another that is made of it. */
function liveOf(world: OutageWorld): PropertyDescriptorMap {
  return {
    gateway: {get: () => world.gateway},
    answered: {get: () => world.answered},
    tokens: {get: () => world.tokens},
  }
}

const endOf = (world: OutageWorld, drop: () => Promise<void>) => async () => {
  await world.close()
  await drop()
}

/** Another gateway on the same database, that the line does not concern. */
export function beside(url: string): Promise<TestGateway> {
  return startGateway({DATABASE_URL: url, GATEWAY_SEALING_KEY: SEALING_KEY})
}

/** Over a data directory of its own: on SQLite, or with a journal alone where `server_url` names PostgreSQL. */
export async function overFolder(server_url?: string): Promise<Omit<OutageWorld, 'line'>> {
  return server_url === undefined ? worldOf(NO_LINE, {}) : overPostgres(server_url)
}

/** Nothing is between the gateway and its store. */
const NO_LINE: Line = {url: '', become: async () => undefined, cut: () => undefined, close: async () => undefined}

async function worldOf(line: Line, stores: Record<string, string>): Promise<OutageWorld> {
  const folder = mkdtempSync(join(tmpdir(), 'gateway-outage-'))
  const env = {
    ...stores,
    TRUSTED_CUSTOM_HOSTS: '127.0.0.1',
    DB_QUERY_TIMEOUT_MS: String(DEADLINE_MS),
    CALLER_CACHE_MAX_STALE_S: String(STALE_S),
    DRAIN_TIMEOUT_MS: '200',
  }
  const start = () => startGateway(env, {folder, list_timeout_ms: DEADLINE_MS})
  let gateway = await start()
  const [workspace] = (await gateway.admin<{data: {id: string}[]}>('GET', '/admin/workspaces')).data
  const headers = {'x-gateway-api-key': ADMIN_KEY}
  const get = (path: string) => replyOf(() => fetch(gateway.url + path, {headers}))
  let answered = 0
  let tokens = 0
  let texts = 0
  const call = async (key: string, asked: Asked = {}) => {
    const messages = [{role: 'user', content: `hi, for the ${++texts}th time`}]
    const body = {model: 'echo', max_tokens: 10, messages, ...asked.body}
    const sent = {'x-gateway-provider': '@demo', 'x-gateway-api-key': key, ...asked.headers}
    const reply = await replyOf(() => gateway.chat(body, sent))
    if (reply.status === 200) {
      answered++
      tokens += spentIn(reply.text)
    }
    return reply
  }
  const list = async <T>(path: string): Promise<T> => {
    let text = ''
    await expect
      .poll(async () => {
        const reply = await get(path)
        text = reply.text
        return reply.status
      })
      .toBe(200)
    return (JSON.parse(text) as {data: T}).data
  }
  const looked = () => sleep(LOOKED_MS)
  return {
    line,
    get gateway() {
      return gateway
    },
    start,
    replace(again) {
      gateway = again
    },
    call,
    get answered() {
      return answered
    },
    get tokens() {
      return tokens
    },
    looked,
    async know(key) {
      await looked()
      await expect.poll(async () => (await call(key)).status).toBe(200)
    },
    get,
    post: (path, body) =>
      replyOf(() =>
        fetch(gateway.url + path, {
          method: 'POST',
          headers: {...headers, 'content-type': 'application/json'},
          body: JSON.stringify(body),
        }),
      ),
    workspace_id: workspace!.id,
    folder,
    async logged() {
      const path = `/v1/logs?page_size=1000&workspace_id=${workspace!.id}`
      const rows = await list<{response_status_code: number}[]>(path)
      return rows.filter(row => row.response_status_code === 200).length
    },
    async summed() {
      const rows = await list<{total_tokens: number}[]>('/v1/admin/usage?by=model&since=2026-01-01T00:00:00Z')
      return rows.reduce((sum, {total_tokens}) => sum + total_tokens, 0)
    },
    key: (limit = {}) =>
      gateway.admin('POST', '/api-keys/workspace/service', {
        name: `key ${randomBytes(4).toString('hex')}`,
        workspace_id: workspace!.id,
        scopes: ['completions.write'],
        ...limit,
      }),
    async metric(name) {
      const text = await (await fetch(`${gateway.url}/metrics`)).text()
      return Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1])
    },
    async close() {
      await line.become('open')
      await gateway.close()
      await line.close()
      rmSync(folder, {recursive: true, force: true})
    },
  }
}

async function replyOf(send: () => Promise<Response>): Promise<Reply> {
  const started = performance.now()
  const reply = await send()
  const text = await reply.text()
  return {
    status: reply.status,
    retry_after: reply.headers.get('retry-after'),
    text,
    took_ms: performance.now() - started,
  }
}
