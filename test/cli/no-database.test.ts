import {mkdtempSync, rmSync} from 'node:fs'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {expect, onTestFinished, test} from 'vitest'
import {silentPostgres} from '../support/silent-postgres.ts'
import {run} from './support.ts'

function serve(DATABASE_URL: string, more: Record<string, string> = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'gateway-test-'))
  onTestFinished(() => rmSync(folder, {recursive: true, force: true}))
  const env = {
    DATABASE_URL,
    GATEWAY_SEALING_KEY: Buffer.alloc(32, 5).toString('base64'),
    DB_QUERY_TIMEOUT_MS: '100',
    ...more,
  }
  return run(['serve', '--data-dir', folder, '--port', '0'], {env})
}

test('a start without its database says what is wrong and which setting to mend, and ends', async () => {
  const {code, stderr} = await serve('postgres://someone@127.0.0.1:1/gateway')
  expect([code, stderr]).toEqual([
    1,
    'gateway: PostgreSQL does not answer: nothing listens at its address. Start PostgreSQL, or mend DATABASE_URL (or DB_HOST and DB_PORT).\n',
  ])
})

test('a start over a database that says nothing ends in time', async () => {
  const server = await silentPostgres()
  onTestFinished(() => server.close())
  const {code, stderr} = await serve(server.url)
  expect(code).toBe(1)
  expect(stderr).toContain('PostgreSQL does not answer: no answer came within 100 ms.')
  const offered = await serve(server.url, {DB_SSL: 'PREFERRED'})
  expect([offered.code, offered.stderr]).toEqual([1, expect.stringContaining('PostgreSQL does not answer')])
})
