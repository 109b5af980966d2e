import {randomBytes} from 'node:crypto'
import {mkdtempSync, rmSync} from 'node:fs'
import {createServer} from 'node:http'
import type {AddressInfo} from 'node:net'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {openStore} from '../../../src/store/dialect/index.ts'
import {verifyLedger} from '../../../src/store/ledger/index.ts'
import {startGateway, type TestGateway} from '../../support/gateway.ts'
import {onServer} from '../../support/stores.ts'
import type {HostileRequest} from './fields.ts'

const {TEST_DATABASE_URL: database_url, TEST_REDIS_URL: redis_url} = process.env

export type Place = 'sqlite' | 'postgres' | 'postgres and redis'

/** Where rows and counters may be kept in this run. */
export const PLACES: readonly Place[] = [
  'sqlite',
  ...(database_url ? (['postgres'] as const) : []),
  ...(database_url && redis_url ? (['postgres and redis'] as const) : []),
]

const TOKENS = 100

/**
 * A gateway with two workspaces: of one whose calls are hostile, and of a tenant whose limits, ledger and start are to
 * stay as they are.
 */
export async function openHouse(place: Place) {
  const folder = mkdtempSync(join(tmpdir(), 'gateway-hostile-'))
  const database = `gateway_test_${randomBytes(6).toString('hex')}`
  const at_server = place === 'sqlite' ? '' : Object.assign(new URL(database_url!), {pathname: `/${database}`}).href
  if (at_server) await onServer(`create database ${database}`)
  const env: Record<string, string> = {
    TRUSTED_CUSTOM_HOSTS: '127.0.0.1',
    ...(at_server && {DATABASE_URL: at_server, GATEWAY_SEALING_KEY: randomBytes(32).toString('base64')}),
    ...(place === 'postgres and redis' && {REDIS_URL: redis_url!}),
  }
  const provider = await openProvider()
  let gateway: TestGateway = await startGateway(env, {folder})
  await gateway.provider('main', 'openai', provider.url)
  const [attacked] = (await gateway.admin<{data: {id: string}[]}>('GET', '/admin/workspaces')).data
  const policy = {workspace_id: attacked!.id, conditions: [{key: 'metadata.team', value: '*'}]}
  const groups = [['metadata._user'], ['model'], ['metadata.team', 'metadata._user'], ['metadata.__proto__']]
  for (const keys of groups) {
    const group_by = keys.map(key => ({key}))
    await gateway.admin('POST', '/policies/usage-limits', {
      ...policy,
      group_by,
      type: 'tokens',
      credit_limit: 1_000_000_000,
    })
    await gateway.admin('POST', '/policies/rate-limits', {
      ...policy,
      group_by,
      type: 'requests',
      unit: 'rpm',
      value: 1_000_000,
    })
  }
  const tenant = await gateway.admin<{id: string}>('POST', '/admin/workspaces', {name: 'Tenant'})
  const keyWith = async (limits: object) =>
    (
      await gateway.admin<{key: string}>('POST', '/api-keys/workspace/service', {
        name: randomBytes(4).toString('hex'),
        workspace_id: tenant.id,
        scopes: ['completions.write'],
        ...limits,
      })
    ).key
  const rate = await keyWith({rate_limits: [{type: 'requests', unit: 'rpd', value: 1}]})
  const budget = await keyWith({usage_limits: {type: 'tokens', credit_limit: TOKENS}})
  const strict = await keyWith({usage_limits: {type: 'tokens', credit_limit: 100_000_000, enforcement: 'strict'}})
  const own = {'x-gateway-provider': 'openai', 'x-gateway-custom-host': provider.url, authorization: 'Bearer sk-own'}
  const ofTenant = async (key: string) => {
    const body = JSON.stringify({model: 'gpt-4o-mini', max_tokens: 20, messages: [{role: 'user', content: 'x'}]})
    const headers = {'content-type': 'application/json', ...own, 'x-gateway-api-key': key}
    const reply = await gateway.call('/v1/chat/completions', {method: 'POST', body, headers})
    await reply.arrayBuffer()
    return reply.status
  }
  return {
    provider,
    /** Uses up what is to stay used up. */
    async useUp() {
      for (const key of [rate, budget]) for (let status = 200; status === 200; ) status = await ofTenant(key)
    },
    /** The status of each of the tenant's keys: used up, used up, and open. */
    tenant: async () => [await ofTenant(rate), await ofTenant(budget), await ofTenant(strict)],
    /** 0 where the connection ended without an answer. */
    async ask({method = 'POST', path, headers, body}: HostileRequest): Promise<number> {
      try {
        const given = {'x-gateway-provider': '@main', ...headers}
        const reply = await gateway.call(path, {method, headers: given, ...(body !== undefined && {body})})
        await reply.arrayBuffer()
        return reply.status
      } catch {
        return 0
      }
    },
    /** Lines of the process log that a store is in trouble. */
    faults: () => gateway.lines.filter(line => /"level":"?(?:error|50)/.test(line)),
    async restart() {
      await gateway.close()
      gateway = await startGateway(env, {folder})
    },
    /** What `gateway ledger verify` finds, and how many attempts the ledger has. */
    async verified() {
      await gateway.app.flushed()
      const store = await openStore(
        at_server
          ? {kind: 'postgres', connection: {connectionString: at_server}, pool_size: 1}
          : {kind: 'sqlite', folder, role: 'operator'},
      )
      const {breaks, entries, set_aside} = await verifyLedger(store)
      await store.close()
      return {breaks, entries, set_aside: set_aside.records}
    },
    async close() {
      await gateway.close()
      await provider.close()
      if (at_server) await onServer(`drop database ${database} with (force)`)
      rmSync(folder, {recursive: true, force: true})
    },
  }
}

/** Answers every request alike; counts them. */
async function openProvider() {
  const usual = `{"prompt_tokens":${TOKENS - 10},"completion_tokens":10,"total_tokens":${TOKENS}}`
  const provider = {calls: 0, usage: usual, usual, url: '', close: (): Promise<void> => Promise.resolve()}
  const server = createServer((request, response) => {
    request.resume()
    request.on('end', () => {
      provider.calls++
      const message = '{"role":"assistant","content":"hi"}'
      response
        .writeHead(200, {'content-type': 'application/json'})
        .end(
          `{"id":"c","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,"message":${message},"finish_reason":"stop"}],"usage":${provider.usage}}`,
        )
    })
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  provider.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`
  provider.close = async () => {
    server.closeAllConnections()
    await new Promise<void>(resolve => server.close(() => resolve()))
  }
  return provider
}
