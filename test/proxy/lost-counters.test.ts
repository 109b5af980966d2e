import {type ChildProcess, spawn} from 'node:child_process'
import {randomBytes} from 'node:crypto'
import {once} from 'node:events'
import {mkdtempSync, rmSync} from 'node:fs'
import {createServer} from 'node:net'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {expect, onTestFinished, test} from 'vitest'
import {startGateway, type TestGateway} from '../support/gateway.ts'
import {onServer} from '../support/stores.ts'

const database = process.env.TEST_DATABASE_URL
/** Where a Redis is named there is a program of that name, too. */
const has_redis = process.env.TEST_REDIS_URL !== undefined

test.runIf(database && has_redis)(
  'after Redis was killed under load and came back empty, counters of two gateways equal the ledger within seconds',
  async () => {
    const name = `gateway_test_${randomBytes(6).toString('hex')}`
    await onServer(`create database ${name}`)
    onTestFinished(() => onServer(`drop database ${name} with (force)`))
    const port = await freePort()
    let redis = await startRedis(port)
    onTestFinished(() => void redis.kill('SIGKILL'))
    const env = {
      DATABASE_URL: Object.assign(new URL(database!), {pathname: `/${name}`}).href,
      REDIS_URL: `redis://127.0.0.1:${port}`,
      GATEWAY_SEALING_KEY: Buffer.alloc(32, 5).toString('base64'),
    }
    const gateways: TestGateway[] = []
    for (let n = 0; n < 2; n++) {
      const folder = mkdtempSync(join(tmpdir(), 'gateway-test-'))
      const gateway = await startGateway(env, {folder})
      gateways.push(gateway)
      onTestFinished(async () => {
        await gateway.close()
        rmSync(folder, {recursive: true, force: true})
      })
    }
    const [first] = gateways as [TestGateway]
    const [workspace] = (await first.admin<{data: {id: string}[]}>('GET', '/admin/workspaces')).data
    const keys = await Promise.all(
      (['compatible', 'strict'] as const).map(enforcement =>
        first.admin<{id: string; key: string}>('POST', '/api-keys/workspace/service', {
          name: enforcement,
          workspace_id: workspace!.id,
          scopes: ['completions.write'],
          usage_limits: {type: 'tokens', credit_limit: 1_000_000, enforcement},
        }),
      ),
    )
    const answered = keys.map(() => 0)
    let is_over = false
    const lanes = gateways.flatMap(gateway =>
      keys.map(async ({key}, place) => {
        while (!is_over) {
          const body = {model: 'echo', max_tokens: 10, messages: [{role: 'user', content: 'hello there'}]}
          const reply = await gateway.chat(body, {'x-gateway-provider': '@demo', 'x-gateway-api-key': key})
          const said = (await reply.json()) as {usage?: {total_tokens: number}}
          if (reply.status === 200) answered[place]! += said.usage!.total_tokens
          else expect([reply.status, place]).toEqual([503, 1]) // what is strict lets nothing through meanwhile
        }
      }),
    )
    await new Promise(done => setTimeout(done, 1_000))
    redis.kill('SIGKILL')
    await once(redis, 'exit')
    redis = await startRedis(port)
    await new Promise(done => setTimeout(done, 3_000))
    is_over = true
    await Promise.all(lanes)
    const used = async () => {
      const {data} = await first.admin<{data: {entity: string; name: string; used: number}[]}>(
        'GET',
        `/limits?workspace_id=${workspace!.id}`,
      )
      return keys.map(
        (_, place) => data.find(row => row.entity === 'key' && row.name === ['compatible', 'strict'][place])!.used,
      )
    }
    const began = performance.now()
    await expect.poll(used, {timeout: 40_000, interval: 100}).toEqual(answered)
    expect(answered.every(tokens => tokens > 0)).toBe(true)
    console.log(
      `counters equal the ledger ${Math.round(performance.now() - began)} ms after the load; ${answered.join(' and ')} tokens`,
    )
  },
  120_000,
)

async function startRedis(port: number): Promise<ChildProcess> {
  const child = spawn(
    'redis-server',
    ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no'],
    {
      stdio: ['ignore', 'pipe', 'ignore'],
    },
  )
  await new Promise<void>((resolve, reject) => {
    child.once('error', reject)
    child.stdout!.on('data', (text: Buffer) => {
      if (text.toString().includes('eady to accept')) resolve()
    })
  })
  return child
}

async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  await new Promise<void>(resolve => server.close(() => resolve()))
  if (!address || typeof address === 'string') throw new Error('no port')
  return address.port
}
