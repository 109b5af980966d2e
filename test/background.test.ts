import {mkdtempSync, rmSync, writeFileSync} from 'node:fs'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {describe, expect, onTestFinished, test} from 'vitest'
import {openBackground} from '../src/app/background.ts'
import {openSources, prepareSources} from '../src/app/price-sources.ts'
import {createLog} from '../src/base/log.ts'
import {toPublicPricing} from '../src/pricing/view.ts'
import {readSettings} from '../src/settings/index.ts'
import {insertIntegration} from '../src/store/integrations.ts'
import {run} from './cli/support.ts'
import {ORGANISATION, spending} from './support/budgets.ts'
import {startGateway} from './support/gateway.ts'
import {integrationRow} from './support/integrations.ts'
import {mailServer} from './support/mail-server.ts'
import {seedUser} from './support/people.ts'
import {policyRow} from './support/policies.ts'
import {testStore} from './support/stores.ts'
import {Timers} from './support/timers.ts'

const MINUTE_MS = 60_000

test('a gateway that serves does its jobs, and says so in /metrics and on the command line', async () => {
  const gateway = await startGateway()
  onTestFinished(() => gateway.close())
  const listed = async () => (await gateway.admin<{data: {name: string; runs: number}[]}>('GET', '/admin/workers')).data
  await expect
    .poll(async () => (await listed()).filter(({runs}) => runs > 0).map(({name}) => name))
    .toEqual([
      'alerts',
      'budgets',
      'certificates',
      'deferred',
      'domain-looks',
      'export-retention',
      'journal-flush',
      'key-expiry',
      'log-retention',
      'mcp-oauth-retention',
      'mcp-session-retention',
      'mcp-sync',
      'reconcile',
      'sign-in-retention',
    ])
  const text = await (await fetch(`${gateway.url}/metrics`)).text()
  expect(text).toContain('gateway_worker_runs_total{worker="log-retention",outcome="ok"} 1')
  expect(text).toMatch(/^gateway_worker_last_success_timestamp_seconds\{worker="alerts"\} \d/m)
  expect(text).not.toContain('worker="mail"')
  const {stdout} = await run(['workers', '--data-dir', gateway.folder, '--json'])
  expect(JSON.parse(stdout)).toMatchObject({total: 14})
})

test('where the settings name a place with prices, each process asks it again', async () => {
  const gateway = await startGateway({MODEL_CONFIGS_PRICING_LOG_STORE_PATH: priceFolder()})
  onTestFinished(() => gateway.close())
  const listed = async () =>
    (await gateway.admin<{data: {name: string; runs: number; holder: string}[]}>('GET', '/admin/workers')).data
  await expect
    .poll(async () => (await listed()).find(({name}) => name === 'price-refresh'))
    .toMatchObject({runs: 1, failures: 0})
})

test('prices of providers that integrations name are read again within the hour after they changed, without a call', async () => {
  const database = await testStore('sqlite')
  const {store} = database
  const {target} = await spending(database)
  const folder = priceFolder()
  const write = (cents: number) =>
    writeFileSync(
      join(folder, 'openai.json'),
      JSON.stringify({m: {pricing_config: {pay_as_you_go: {request_token: {price: cents}}}}}),
    )
  let now_ms = Date.parse('2026-03-04T12:00:00.000Z')
  const log = createLog('info', 'gateway', () => {})
  const open = (env: Record<string, string>) =>
    openSources({settings: readSettings({env}).settings, db: store.db, log, now: () => now_ms})
  const {pricing, refreshes, close: closeSources} = await open({MODEL_CONFIGS_PRICING_LOG_STORE_PATH: folder})
  const none = await open({})
  onTestFinished(async () => {
    await closeSources()
    await none.close()
    await target.close()
    await database.close()
  })
  expect(none.refreshes).toEqual([])
  await insertIntegration(store.db, integrationRow({id: 'i-1', organisation_id: ORGANISATION}))
  write(1)
  await prepareSources(pricing, store.db)
  const price = () => toPublicPricing(pricing.lookup('openai', 'm')!, now_ms).pay_as_you_go.request_token?.price
  expect(price()).toBe(1)
  write(2)
  now_ms += 3_600_000
  for (const refresh of refreshes) await refresh()
  expect(price()).toBe(2)
})

function priceFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'prices-'))
  onTestFinished(() => rmSync(folder, {recursive: true}))
  return folder
}

const HOURLY: readonly string[] = [
  'log-retention',
  'sign-in-retention',
  'mcp-oauth-retention',
  'mcp-session-retention',
  'domain-looks',
]

describe('what goes on beside calls', () => {
  async function setUp(env: Record<string, string> = {}) {
    const database = await testStore('sqlite')
    const {store} = database
    const spent = await spending(database)
    const timers = new Timers(Date.parse('2026-03-04T12:00:00.000Z'))
    const lines: string[] = []
    const log = createLog('info', 'gateway', line => void lines.push(line))
    const {settings} = readSettings({env})
    const opened: {close(): Promise<void>}[] = [database, spent.target]
    onTestFinished(async () => {
      for (const each of opened.reverse()) await each.close()
    })
    const start = (given: Partial<Parameters<typeof openBackground>[0]> = {}) => {
      const records = {flushed: async () => {}, retain: async () => true}
      const background = openBackground({settings, store, records, log, now: timers.now, after: timers.after, ...given})
      return background
    }
    /** Lets a minute pass, and waits until every job was done in it. */
    const minute = async (background: ReturnType<typeof start>) => {
      const runs = () => background.schedule.counts().map(each => each.runs)
      const before = runs()
      await timers.pass(MINUTE_MS, async () => {})
      await expect
        .poll(async () => {
          await timers.pass(0, async () => {})
          return runs().every(
            (count, at) => count > before[at]! || HOURLY.includes(background.schedule.counts()[at]!.name),
          )
        })
        .toBe(true)
    }
    return {...spent, store, lines, start, minute}
  }

  test('a budget is told of by mail once, through a restart', async () => {
    const {received, settings} = await mailServer()
    const env = {
      SMTP_HOST: '127.0.0.1',
      SMTP_PORT: String(settings.port),
      SMTP_FROM: settings.from,
      SMTP_TLS_CA: settings.ca!,
    }
    const {key, spend, start, minute, statusOf, lines} = await setUp(env)
    await key('blue', {credit_limit: 1}, {alert_emails: JSON.stringify(['someone@example.com'])})
    await spend('blue', 1, '2026-03-04T11:00:00.000Z')
    const first = start()
    for (let n = 0; n < 3; n++) await minute(first)
    expect(received.map(({to, text}) => [to, /^Subject: (.*)$/m.exec(text)?.[1]])).toEqual([
      [['someone@example.com'], 'The API key blue has used up its budget'],
    ])
    expect(await statusOf('blue')).toBe('exhausted')
    await first.close()
    const second = start()
    for (let n = 0; n < 3; n++) await minute(second)
    await second.close()
    expect(received).toHaveLength(1)
    expect(lines.filter(line => line.includes('a budget is used up'))).toHaveLength(1)
  })

  test('people are told of budgets of keys and of policies, unless policies are off', async () => {
    const {store, key, spend, start, minute} = await setUp({SMTP_HOST: '127.0.0.1', SMTP_FROM: 'a@example.com'})
    const mailer = {send: async () => {}, close: async () => {}} as never
    const services = {now: () => new Date('2026-03-01T00:00:00.000Z')} as never
    await seedUser({store, services, organisation_id: ORGANISATION}, 'owner', {}, {email: 'owner@example.com'})
    await key('blue', {credit_limit: 1}, {alert_emails: JSON.stringify(['someone@example.com'])})
    await spend('blue', 1, '2026-03-04T11:00:00.000Z')
    await store.db
      .insertInto('policies')
      .values(policyRow('p-1', {credit_limit: 1}))
      .execute()
    await store.db
      .insertInto('traffic.policy_usage')
      .values({
        policy_id: 'p-1',
        entity_id: 'e',
        since_at: '2026-03-04T00:00:00.000Z',
        value_key: 'metadata._user:bob',
        used: 1e9,
      })
      .execute()
    const told = async () => {
      const rows = await store.db.selectFrom('mails').select(['recipient', 'subject']).execute()
      return rows.map(({recipient, subject}) => `${recipient}: ${subject}`).sort()
    }
    const of_key = 'The API key blue has used up its budget'
    const without = start({
      mailer,
      settings: readSettings({env: {POLICY_ENABLED: 'OFF', SMTP_HOST: '127.0.0.1', SMTP_FROM: 'a@example.com'}})
        .settings,
    })
    await minute(without)
    await without.close()
    expect(await told()).toEqual([`owner@example.com: ${of_key}`, `someone@example.com: ${of_key}`])
    const background = start({mailer})
    await minute(background)
    await background.close()
    expect(await told()).toContain('owner@example.com: The policy team (metadata._user:bob) has used up its budget')
    expect(await told()).toHaveLength(3)
  })

  test('with usage limits off a key stands as active and nobody is told; with the audit log off people are told, and nothing is recorded', async () => {
    const smtp = {SMTP_HOST: '127.0.0.1', SMTP_FROM: 'a@example.com'}
    const {store, key, spend, start, minute, statusOf} = await setUp(smtp)
    const mailer = {send: async () => {}, close: async () => {}} as never
    await key('blue', {credit_limit: 1}, {status: 'exhausted', alert_emails: JSON.stringify(['someone@example.com'])})
    await spend('blue', 1, '2026-03-04T11:00:00.000Z')
    const left = async () => [
      (await store.db.selectFrom('mails').select('subject').execute()).length,
      (await store.db.selectFrom('audit_logs').select('id').execute()).length,
    ]
    const minuteWith = async (env: Record<string, string>) => {
      const background = start({mailer, settings: readSettings({env: {...smtp, ...env}}).settings})
      await minute(background)
      await background.close()
    }
    await minuteWith({USAGE_LIMITS_ENABLED: 'OFF'})
    expect([await left(), await statusOf('blue')]).toEqual([[0, 0], 'active'])
    await minuteWith({AUDIT_LOGS_ENABLED: 'OFF'})
    expect([await left(), await statusOf('blue')]).toEqual([[1, 0], 'exhausted'])
  })

  test('prices are brought up to date where somebody can do it, and one that fails keeps nobody from it', async () => {
    const {start, minute} = await setUp()
    const done: string[] = []
    const refreshPrices = [
      async () => {
        throw new Error('no route to the proxy')
      },
      async () => void done.push('read'),
    ]
    const background = start({refreshPrices})
    await minute(background).catch(() => undefined)
    expect(done).toEqual(['read'])
    expect(background.schedule.counts()).toContainEqual(
      expect.objectContaining({name: 'price-refresh', runs: 1, failures: 1}),
    )
    await background.close()
  })

  test('templates that cannot be used keep the gateway from starting', async () => {
    const {start} = await setUp({SMTP_HOST: '127.0.0.1', SMTP_FROM: 'a@example.com', EMAIL_TEMPLATES_PATH: '/dev/null'})
    expect(() => start()).toThrow(
      /The template apikey-usage-threshold-alert.txt of EMAIL_TEMPLATES_PATH cannot be read: ENOTDIR/,
    )
  })
})
