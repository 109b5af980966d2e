import {afterAll, beforeAll, describe, expect, test} from 'vitest'
import {newId} from '../../src/base/ids.ts'
import {type Admin, refusal, startAdmin} from '../support/admin.ts'
import {KINDS} from '../support/stores.ts'

const DAY = 'start_time=2026-03-04T00:00:00Z&end_time=2026-03-05T00:00:00Z'

describe.each(KINDS)('the audit log on %s', kind => {
  let admin: Admin
  let made: {id: string; slug: string}
  beforeAll(async () => {
    admin = await startAdmin({kind})
    made = (await admin.asAdmin('POST', '/v1/admin/workspaces', {name: 'Blue'})).body
    admin.at('2026-03-04T05:06:08.000Z')
    await admin.asWorkspace('PUT', `/v1/admin/workspaces/${admin.workspace_id}`, {description: 'x'})
    admin.at('2026-03-05T05:00:00.000Z')
    await admin.asAdmin('PUT', `/v1/admin/workspaces/${made.id}`, {name: 'Green'})
  })
  afterAll(() => admin.close())

  const read = async (query: string) => (await admin.asAdmin('GET', `/v1/audit-logs?${query}`)).body
  const names = async (query: string) =>
    (await read(query)).records.map((row: {uri: string; method: string}) => `${row.method} ${row.uri}`)

  test('shows writes of the time asked for, newest first, with secrets masked', async () => {
    const {records, total, object} = await read(DAY)
    expect([total, object]).toEqual([2, 'analytics-graph'])
    expect(records[1]).toEqual({
      id: expect.any(String),
      timestamp: '2026-03-04T05:06:07.000Z',
      method: 'POST',
      uri: '/v1/admin/workspaces',
      request_id: expect.any(String),
      request_body: '{"name":"Blue"}',
      query_params: null,
      request_headers: expect.stringContaining('"x-gateway-api-key":"***"'),
      user_id: expect.any(String),
      user_type: 'api_key',
      organisation_id: admin.organisation_id,
      workspace_id: made.id,
      response_status_code: 200,
      resource_type: 'workspace',
      resource_id: made.id,
      action: 'create',
      client_ip: '127.0.0.1',
      country: null,
      changes: null,
      sequence: 1,
      chain: expect.stringMatching(/^[0-9a-f]{64}$/),
    })
    expect(records[0]).toMatchObject({method: 'PUT', workspace_id: admin.workspace_id})
  })

  test('is narrowed by what its rows hold', async () => {
    const all = 'start_time=2026-01-01T00:00:00Z&end_time=2027-01-01T00:00:00Z'
    const [first, second, third] = [
      `PUT /v1/admin/workspaces/${made.id}`,
      `PUT /v1/admin/workspaces/${admin.workspace_id}`,
      'POST /v1/admin/workspaces',
    ]
    expect(await names(all)).toEqual([first, second, third])
    expect(await names(`${all}&method=PUT`)).toEqual([first, second])
    expect(await names(`${all}&workspace_id=${made.slug}&action=update`)).toEqual([first])
    expect(await names(`${all}&uri=/v1/admin/workspaces`)).toEqual([third])
    expect(await names(`${all}&response_status_code=404`)).toEqual([])
    expect(await names(`${all}&country=SE`)).toEqual([])
    expect(await names(`${all}&page_size=1&current_page=1`)).toEqual([second])
    expect(
      await names(`${all}&organisation_id=${admin.organisation_id}&resource_type=workspace&user_type=api_key`),
    ).toHaveLength(3)
  })

  test('is of the own organisation alone, and for admin keys alone', async () => {
    const foreign = await admin.foreign()
    expect((await admin.send(foreign.admin.key, 'GET', `/v1/audit-logs?${DAY}`)).body.total).toBe(0)
    const asked = [`organisation_id=${foreign.organisation_id}`, `organisation_id=${newId()}`].map(
      async query => (await admin.asAdmin('GET', `/v1/audit-logs?${DAY}&${query}`)).text,
    )
    expect(new Set(await Promise.all(asked))).toEqual(
      new Set([JSON.stringify(refusal('AB08', 'No organisation is known by this id.'))]),
    )
    expect((await admin.asAdmin('GET', `/v1/audit-logs?${DAY}&workspace_id=${foreign.workspace.id}`)).status).toBe(404)
    expect((await admin.asWorkspace('GET', `/v1/audit-logs?${DAY}`)).status).toBe(403)
  })

  test('needs a time, with a zone', async () => {
    expect(await read('end_time=2026-03-05T00:00:00Z')).toEqual(
      refusal('AB01', 'query parameter start_time: is required (a string).'),
    )
    expect((await read(`${DAY}&page_size=101`)).data.message).toBe('query parameter page_size: must be at most 100.')
    expect((await read('start_time=yesterday&end_time=2026-03-05T00:00:00Z')).data.errorCode).toBe('AB01')
  })

  test('reads empty while AUDIT_LOGS_ENABLED is OFF', async () => {
    const off = await startAdmin({kind, env: {AUDIT_LOGS_ENABLED: 'OFF'}})
    expect((await off.asAdmin('GET', `/v1/audit-logs?${DAY}`)).body).toEqual({
      records: [],
      total: 0,
      object: 'analytics-graph',
    })
    await off.close()
  })
})
