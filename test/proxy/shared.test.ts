import {randomBytes} from 'node:crypto'
import {afterAll, beforeAll, describe, expect, test} from 'vitest'
import {startGateway, type TestGateway} from '../support/gateway.ts'
import {onServer} from '../support/stores.ts'

const database = process.env.TEST_DATABASE_URL
const redis = process.env.TEST_REDIS_URL

/** Two processes' worth of gateway over one PostgreSQL, counters in it or in Redis. */
describe.skipIf(!database).each([
  ['PostgreSQL', undefined],
  ['PostgreSQL and Redis', redis],
])('two gateways over %s', (_, REDIS_URL) => {
  const name = `gateway_test_${randomBytes(6).toString('hex')}`
  const env: Record<string, string> = {
    DATABASE_URL: database ? Object.assign(new URL(database), {pathname: `/${name}`}).href : '',
    GATEWAY_SEALING_KEY: Buffer.alloc(32, 5).toString('base64'),
    ...(REDIS_URL ? {REDIS_URL} : {}),
  }
  let one: TestGateway
  let two: TestGateway

  beforeAll(async () => {
    await onServer(`create database ${name}`)
    one = await startGateway(env)
    two = await startGateway(env)
  })
  afterAll(async () => {
    await one?.close()
    await two?.close()
    await onServer(`drop database ${name} with (force)`)
  })

  const ask = {model: 'echo', messages: [{role: 'user', content: 'hi'}]}
  const AT_DEMO = {'x-gateway-provider': '@demo'}

  test('each knows the calls, keys and logs of the other', async () => {
    expect((await one.chat(ask, AT_DEMO)).status).toBe(200)
    expect((await two.chat(ask, AT_DEMO)).status).toBe(200)
    await one.app.flushed()
    expect(await two.logs()).toHaveLength(2)
  })

  test('a rate limit lets exactly so many through, whichever is asked', async () => {
    const [workspace] = (await one.admin<{data: {id: string}[]}>('GET', '/admin/workspaces')).data
    const body = {
      name: 'shared',
      workspace_id: workspace!.id,
      scopes: ['completions.write'],
      rate_limits: [{type: 'requests', unit: 'rpd', value: 7}],
    }
    const {key} = await one.admin<{key: string}>('POST', '/api-keys/workspace/service', body)
    const replies = await Promise.all(
      Array.from({length: 30}, (_, at) => (at % 2 ? one : two).chat(ask, {...AT_DEMO, 'x-gateway-api-key': key})),
    )
    expect(replies.filter(({status}) => status === 200)).toHaveLength(7)
    expect(replies.filter(({status}) => status === 429)).toHaveLength(23)
  })

  test('a key deleted in one stops working in the other', async () => {
    const [workspace] = (await one.admin<{data: {id: string}[]}>('GET', '/admin/workspaces')).data
    const {id, key} = await one.admin<{id: string; key: string}>('POST', '/api-keys/workspace/service', {
      name: 'brief',
      workspace_id: workspace!.id,
      scopes: ['completions.write'],
    })
    const status = async () => (await two.chat(ask, {...AT_DEMO, 'x-gateway-api-key': key})).status
    expect(await status()).toBe(200)
    await one.admin('DELETE', `/api-keys/${id}`)
    await expect.poll(status, {timeout: 5000}).toBe(401)
  })
})
