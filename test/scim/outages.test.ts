import {join} from 'node:path'
import Sqlite from 'better-sqlite3'
import {expect, onTestFinished, test} from 'vitest'
import {openScim} from '../support/scim.ts'

test('a directory reads when to come again while another process holds the database', async () => {
  const {gateway, ask} = await openScim({DB_QUERY_TIMEOUT_MS: '150'})
  onTestFinished(() => gateway.close())
  const other = new Sqlite(join(gateway.folder, 'gateway.db'))
  onTestFinished(() => void other.close())
  other.exec('begin immediate')
  const body = {schemas: ['urn:ietf:params:scim:schemas:core:2.0:User'], userName: 'held@example.com'}
  const held = await ask('POST', '/Users', body)
  expect([held.status, held.headers.get('retry-after'), held.body]).toEqual([
    503,
    '2',
    {
      schemas: ['urn:ietf:params:scim:api:messages:2.0:Error'],
      status: '503',
      detail: 'The database cannot be written now: another process holds it. Nothing was changed.',
    },
  ])
  other.exec('rollback')
  expect((await ask('POST', '/Users', body)).status).toBe(201)
})
