import {existsSync, mkdtempSync, readFileSync, rmSync} from 'node:fs'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {expect, onTestFinished, test} from 'vitest'
import {openAuditSinks} from '../src/app/audit-sinks.ts'
import {createLog} from '../src/base/log.ts'
import {readSettings, SettingsFault} from '../src/settings/index.ts'
import {startGateway} from './support/gateway.ts'
import {testStore} from './support/stores.ts'
import {startSyslog} from './support/syslog-server.ts'

test('TL30 a gateway sends what administrators do to each place; one that is down holds back nothing', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'gateway-audit-'))
  onTestFinished(() => rmSync(folder, {recursive: true, force: true}))
  const file = join(folder, 'audit.log')
  const silent = await startSyslog({secure: false})
  silent.manners = 'deaf'
  const away = `syslog+tcp://127.0.0.1:${silent.port}`
  const gateway = await startGateway({AUDIT_SINKS: `file:${file},${away}?format=cef`})
  onTestFinished(() => gateway.close())
  await gateway.provider('one', 'openai', 'http://127.0.0.1:18080/v1')
  const events = () =>
    existsSync(file)
      ? readFileSync(file, 'utf8')
          .split('\n')
          .filter(Boolean)
          .map(line => JSON.parse(line))
      : []
  await expect.poll(() => events().map(({action}) => action), {timeout: 15_000}).toContain('create')
  await expect.poll(() => silent.connections, {timeout: 15_000}).toBe(1)
  await gateway.admin('PUT', '/integrations/one', {name: 'renamed | =', description: 'PLANTED'})
  await expect
    .poll(() => events().at(-1), {timeout: 15_000})
    .toMatchObject({action: 'update', resource_name: 'renamed | =', result: 'success', response_status_code: 200})
  expect(events().at(-1).changed_fields).toContain('name')
  expect(readFileSync(file, 'utf8')).not.toContain('PLANTED')
  const {records} = await gateway.admin<{records: {id: string; chain: string}[]}>(
    'GET',
    '/audit-logs?start_time=2000-01-01T00:00:00Z&end_time=2100-01-01T00:00:00Z',
  )
  expect(events().map(({chain}) => chain)).toEqual(records.map(({chain}) => chain).toReversed())
  for (const [at, {previous_chain}] of events().entries())
    expect(previous_chain).toBe(at === 0 ? '0'.repeat(64) : events()[at - 1].chain)
  const text = await (await fetch(`${gateway.url}/metrics`)).text()
  expect(text).toContain(`gateway_audit_sink_rows_total{sink="file:${file}"} ${records.length}`)
  expect(text).toContain(`gateway_audit_sink_behind_rows{sink="file:${file}"} 0`)
  expect(text).toContain(`gateway_audit_sink_behind_rows{sink="${away}"} ${records.length}`)
  const {data} = await gateway.admin<{data: {name: string}[]}>('GET', '/admin/workers')
  expect(data.map(({name}) => name)).toContain(`audit-sink ${away}`)
  const began = performance.now()
  await gateway.close()
  expect(performance.now() - began).toBeLessThan(5_000)
})

test('files of certificates that cannot be read refuse the start, by their parameter', async () => {
  const {store, close} = await testStore('sqlite')
  onTestFinished(close)
  const log = createLog('silent', 'gateway', () => {})
  const open = (text: string) =>
    openAuditSinks({settings: readSettings({env: {AUDIT_SINKS: text}}).settings, store, log, now: Date.now})
  expect(() => open('syslog+tls://host?ca=/nowhere/ca.pem')).toThrow(SettingsFault)
  expect(() => open('syslog+tls://host?ca=/nowhere/ca.pem')).toThrow(
    'The file of ca of AUDIT_SINKS cannot be read: ENOENT.',
  )
  expect(() => open('syslog+tls://host?ca=/etc/passwd')).toThrow(
    'The file of ca of AUDIT_SINKS holds no PEM certificate.',
  )
  expect(open('syslog+tls://host.invalid').jobs.map(({name}) => name)).toEqual([
    'audit-sink syslog+tls://host.invalid:6514',
  ])
})
