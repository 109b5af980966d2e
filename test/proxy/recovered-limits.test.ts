import {randomBytes} from 'node:crypto'
import {mkdtempSync, rmSync} from 'node:fs'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import pg from 'pg'
import {afterAll, beforeAll, describe, expect, test} from 'vitest'
import {createLog} from '../../src/base/log.ts'
import type {Counters} from '../../src/ports/counters/index.ts'
import {openCounters} from '../../src/ports/counters/open.ts'
import {counterTable} from '../../src/store/counters.ts'
import {ownDataDir} from '../../src/store/data-dir.ts'
import {openStore, type StoreOptions} from '../../src/store/dialect/index.ts'
import {startRecords} from '../../src/workers/records.ts'
import {startGateway, type TestGateway} from '../support/gateway.ts'
import {intent} from '../support/records.ts'
import {onServer} from '../support/stores.ts'

const database = process.env.TEST_DATABASE_URL
const redis = process.env.TEST_REDIS_URL
const HELD = 'cut-off-1'

const STORES: [string, string | undefined][] = [['PostgreSQL', undefined]]
if (redis) STORES.push(['Redis', redis])

/** A gateway that dies in the middle of a call, over counters that outlive it. */
describe.skipIf(!database).each(STORES)('counters in %s', (_, REDIS_URL) => {
  const name = `gateway_test_${randomBytes(6).toString('hex')}`
  const folder = mkdtempSync(join(tmpdir(), 'gateway-test-'))
  const url = database ? Object.assign(new URL(database), {pathname: `/${name}`}).href : ''
  const env: Record<string, string> = {
    DATABASE_URL: url,
    GATEWAY_SEALING_KEY: Buffer.alloc(32, 5).toString('base64'),
    ...(REDIS_URL ? {REDIS_URL} : {}),
  }
  const options: StoreOptions = {kind: 'postgres', connection: {connectionString: url}, pool_size: 2}

  beforeAll(async () => {
    await onServer(`create database ${name}`)
  })
  afterAll(async () => {
    await onServer(`drop database ${name} with (force)`)
    rmSync(folder, {recursive: true, force: true})
  })

  test('count what the start charges for the attempt that was cut off, in place of what it held', async () => {
    const first = await startGateway(env, {folder})
    const [compatible, strict] = [await keyOf(first, 'compatible'), await keyOf(first, 'strict')]
    for (const key of [compatible, strict]) {
      const body = {model: 'echo', max_tokens: 10, messages: [{role: 'user', content: 'hi'}]}
      expect((await first.chat(body, {'x-gateway-provider': '@demo', 'x-gateway-api-key': key})).status).toBe(200)
    }
    await first.app.flushed()
    const keys = await counterKeys(url)
    await first.close()

    const store = await openStore(options)
    const counters = await openCounters({redis_url: REDIS_URL, table: counterTable(store.db), now: Date.now})
    const before = await counters.read(keys)
    const held = {
      key: keys[1]!,
      label: '',
      type: 'cost',
      mode: 'strict',
      amount: 9_000,
      limit: 10n ** 12n,
      ends_at_ms: Number.POSITIVE_INFINITY,
      rebuilds: true,
    } as const
    expect(await counters.reserve(`${HELD}/hold/1`, [held], Date.now() + 60_000)).toMatchObject({outcome: 'taken'})
    await dieWith(store, folder, options, [
      intent({call_id: 'cut-off-0', counter_keys: [keys[0]!], hold_nanousd: 5_000}),
      intent({call_id: HELD, counter_keys: [keys[1]!], held_keys: [keys[1]!], hold_nanousd: 6_000}),
    ])

    const second = await startGateway(env, {folder})
    expect(await counters.read(keys)).toEqual([before[0]! + 5_000n, before[1]! + 6_000n])
    await second.close()
    const third = await startGateway(env, {folder})
    expect(await counters.read(keys)).toEqual([before[0]! + 5_000n, before[1]! + 6_000n])
    await third.close()
    await closed(counters, store)
  })
})

async function keyOf(gateway: TestGateway, enforcement: string): Promise<string> {
  const [workspace] = (await gateway.admin<{data: {id: string}[]}>('GET', '/admin/workspaces')).data
  const body = {
    name: enforcement,
    workspace_id: workspace!.id,
    scopes: ['completions.write'],
    usage_limits: {type: 'cost', credit_limit: 1000, enforcement},
  }
  return (await gateway.admin<{key: string}>('POST', '/api-keys/workspace/service', body)).key
}

/** Of the entries, in their order. */
async function counterKeys(url: string): Promise<string[]> {
  const client = new pg.Client({connectionString: url})
  await client.connect()
  const {rows} = await client.query('select counter_keys from traffic.ledger_entries order by admitted_at, sequence')
  await client.end()
  return rows.flatMap(({counter_keys}) => JSON.parse(counter_keys) as string[])
}

/** Leaves intents in the journal of a data directory, as a process does that dies. */
async function dieWith(
  store: Awaited<ReturnType<typeof openStore>>,
  folder: string,
  store_options: StoreOptions,
  intents: readonly ReturnType<typeof intent>[],
) {
  const directory = ownDataDir(folder)
  const settings = {log_retention_days: 90, log_body_retention_days: 30, metrics_retention_days: 365}
  const records = await startRecords({
    directory,
    store_options,
    store,
    log: createLog('silent', 'gateway', () => undefined),
    now: Date.now,
    settings,
  })
  for (const each of intents) expect(await new Promise(done => records.recorder.begin(each, done))).toBe(undefined)
  await records.close()
  directory.release()
}

async function closed(counters: Counters, store: Awaited<ReturnType<typeof openStore>>) {
  await counters.close()
  await store.close()
}
