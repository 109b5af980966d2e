import {randomBytes} from 'node:crypto'
import {mkdtempSync, rmSync} from 'node:fs'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {setTimeout as sleep} from 'node:timers/promises'
import {expect} from 'vitest'
import {ADMIN_KEY, startGateway, type TestGateway} from '../../support/gateway.ts'
import {type Line, openLine} from '../../support/line.ts'
import {onServer} from '../../support/stores.ts'

/** What stores have in these tests. */
export const DEADLINE_MS = 200
/** Within which an answer counts as in time, on a machine that does much else. */
export const IN_TIME_MS = 12 * DEADLINE_MS
export const STALE_S = 1

export interface Reply {
  readonly status: number
  readonly retry_after: string | null
  readonly text: string
  readonly took_ms: number
}

/** A gateway, and the way between it and the store. */
export interface OutageWorld {
  readonly line: Line
  readonly gateway: TestGateway
  call(key: string): Promise<Reply>
  get(path: string): Promise<Reply>
  /** Changes something of the administration, or tries to. */
  post(path: string, body: object): Promise<Reply>
  readonly workspace_id: string
  readonly folder: string
  /** How many calls were answered with 200. */
  readonly answered: number
  /** How many calls of the log were, once it can be read. */
  logged(): Promise<number>
  /** A new key that no process knows yet; with a limit of tokens where one is given. */
  key(limit?: object): Promise<{readonly id: string; readonly key: string}>
  /**
   * Calls until it is let in, and is known from then on: what was written before is looked at, and forgotten, no more.
   */
  know(key: string): Promise<void>
  metric(name: string): Promise<number>
  /** Starts a gateway on the same data. */
  start(): Promise<TestGateway>
  /** Forgets the gateway, which is closed by now, and has `again` in its place. */
  replace(again: TestGateway): void
  close(): Promise<void>
}

/** By then a process has looked at what it wrote itself. */
const LOOKED_MS = 800
const SEALING_KEY = Buffer.alloc(32, 5).toString('base64')

/** Over PostgreSQL by a line; `url` leads there without it. */
export async function overPostgres(server_url: string): Promise<OutageWorld & {readonly url: string}> {
  const name = `gateway_test_${randomBytes(6).toString('hex')}`
  await onServer(`create database ${name}`)
  const url = Object.assign(new URL(server_url), {pathname: `/${name}`}).href
  // the first start migrates, which takes longer than these deadlines allow on a slow machine
  await (await startGateway({DATABASE_URL: url, GATEWAY_SEALING_KEY: SEALING_KEY})).close()
  const line = await openLine(url, {usual_port: 5432})
  const world = await worldOf(line, {DATABASE_URL: line.url, GATEWAY_SEALING_KEY: SEALING_KEY})
  return {
    ...world,
    get gateway() {
      return world.gateway
    },
    get answered() {
      return world.answered
    },
    url,
    async close() {
      await world.close()
      await onServer(`drop database ${name} with (force)`)
    },
  }
}

/** Over SQLite, with its counters and cache in Redis by a line. */
export async function overRedis(server_url: string): Promise<OutageWorld> {
  const line = await openLine(server_url, {usual_port: 6379})
  return worldOf(line, {REDIS_URL: line.url})
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
  const call = async (key: string) => {
    const reply = await replyOf(() => gateway.chat(BODY, {'x-gateway-provider': '@demo', 'x-gateway-api-key': key}))
    if (reply.status === 200) answered++
    return reply
  }
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
    async know(key) {
      await sleep(LOOKED_MS)
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
      let text = ''
      await expect
        .poll(async () => {
          const reply = await get(`/v1/logs?page_size=1000&workspace_id=${workspace!.id}`)
          text = reply.text
          return reply.status
        })
        .toBe(200)
      return (JSON.parse(text) as {data: {response_status_code: number}[]}).data.filter(
        row => row.response_status_code === 200,
      ).length
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

const BODY = {model: 'echo', max_tokens: 10, messages: [{role: 'user', content: 'hi'}]}

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
