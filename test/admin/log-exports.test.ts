import {existsSync, readdirSync, writeFileSync} from 'node:fs'
import {join} from 'node:path'
import {afterAll, beforeAll, describe, expect, test} from 'vitest'
import {ExportJobs} from '../../src/admin/log-exports/jobs.ts'
import {newTimeId} from '../../src/base/ids.ts'
import {type EXPORT_STATUSES, EXPORTED} from '../../src/schema/log-exports.ts'
import {type Admin, refusal, startAdmin} from '../support/admin.ts'
import {keepBodies} from '../support/bodies.ts'
import {insertLog} from '../support/logs.ts'
import {seedUser} from '../support/people.ts'
import {KINDS} from '../support/stores.ts'

const AT = '2026-03-04T05:00:00.000Z'
const GONE = refusal('AB08', 'No export is known by this id.')
const ALL = [...EXPORTED]

describe.each(KINDS)('exports of the log on %s', kind => {
  let admin: Admin
  const ids: string[] = []
  beforeAll(async () => {
    admin = await startAdmin({kind})
    const here = {organisation_id: admin.organisation_id, workspace_id: admin.workspace_id}
    for (let n = 0; n < 600; n++) {
      const at_ms = Date.parse(AT) + Math.floor(n / 2)
      const id = newTimeId(at_ms)
      ids.unshift(id)
      const row = {
        cost_nanousd: 123_456_701,
        model: n % 2 ? 'odd' : 'even',
        prompt_tokens: n,
        metadata: '{"team":"blue"}',
        last_byte_ms: 12.4,
      }
      await insertLog(admin.store.db, {
        ...here,
        id,
        created_at: new Date(at_ms).toISOString(),
        trace_id: `trace-${n}`,
        ...row,
      })
    }
    const body = {request_headers: '{}', response_headers: '{}', response_encoding: null}
    await keepBodies(
      admin,
      {log_id: ids[0]!, ...body, request_body: Buffer.from('{"model":"odd"}'), response_body: Buffer.from('not json')},
      Date.parse(AT) + 299 + 13,
    )
    const other = await admin.foreign()
    await insertLog(admin.store.db, {
      organisation_id: other.organisation_id,
      workspace_id: other.workspace.id,
      id: newTimeId(Date.parse(AT)),
    })
  })
  afterAll(() => admin.close())

  const draft = async (
    filters: object = {},
    requested_data: readonly string[] = ['id'],
  ): Promise<{id: string; total: number}> => {
    const {status, body} = await admin.asWorkspace('POST', '/v1/logs/exports', {filters, requested_data})
    expect([status, body.object]).toEqual([200, 'export'])
    return body
  }
  const act = (id: string, deed: string) => admin.asWorkspace('POST', `/v1/logs/exports/${id}/${deed}`)
  const shown = async (id: string) => (await admin.asWorkspace('GET', `/v1/logs/exports/${id}`)).body
  const linesOf = async (id: string) => {
    const {body} = await admin.asWorkspace('GET', `/v1/logs/exports/${id}/download`)
    expect(body.signed_url.startsWith(`${admin.url}/v1/logs/exports/${id}/file?signature=`)).toBe(true)
    const sent = await fetch(body.signed_url)
    expect([sent.status, sent.headers.get('content-type')]).toEqual([200, 'application/x-ndjson'])
    const text = await sent.text()
    return text
      .split('\n')
      .slice(0, -1)
      .map(line => JSON.parse(line))
  }

  test('are drafted, started and downloaded, with every field', async () => {
    const {id, total} = await draft({}, ALL)
    expect(total).toBe(600)
    expect(await shown(id)).toEqual({
      id,
      organisation_id: admin.organisation_id,
      filters: {},
      requested_data: ALL,
      status: 'draft' satisfies (typeof EXPORT_STATUSES)[number],
      description: '',
      created_at: '2026-03-04T05:06:07.000Z',
      last_updated_at: '2026-03-04T05:06:07.000Z',
      created_by: expect.any(String),
      workspace_id: admin.workspace_id,
      object: 'export',
    })
    expect((await act(id, 'start')).body).toEqual({message: 'The export was started.', object: 'export'})
    expect(await shown(id)).toMatchObject({status: 'success', description: '600 rows'})
    const rows = await linesOf(id)
    expect(rows.map(row => row.id)).toEqual(ids)
    expect(rows[0]).toEqual({
      id: ids[0],
      trace_id: 'trace-599',
      created_at: '2026-03-04T05:00:00.299Z',
      request: {model: 'odd'},
      response: 'not json',
      is_success: true,
      ai_org: 'openai',
      ai_model: 'odd',
      req_units: 599,
      res_units: 0,
      total_units: 599,
      request_url: '/v1/chat/completions',
      cost: 12.3456701,
      cost_currency: 'USD',
      response_time: 12,
      response_status_code: 200,
      mode: 'single',
      config: null,
      prompt_slug: null,
      metadata: {team: 'blue'},
    })
    expect([rows[1].request, rows[1].response]).toEqual([null, null])
    expect((await admin.asWorkspace('GET', '/v1/logs/exports')).body).toMatchObject({
      object: 'list',
      total: 1,
      data: [{id}],
    })
  })

  test('hold what their filters find, a page of it where one is said', async () => {
    const {id, total} = await draft({
      ai_model: 'odd',
      total_units_min: 100,
      metadata: {team: 'blue'},
      page_size: 100,
      current_page: 1,
    })
    expect(total).toBe(100)
    await act(id, 'start')
    expect((await linesOf(id)).map(row => row.id)).toEqual(ids.filter((_, at) => at % 2 === 0).slice(100, 200))
    const last = await draft({page_size: 400, current_page: 1})
    expect(last.total).toBe(200)
    await act(last.id, 'start')
    expect((await linesOf(last.id)).length).toBe(200)
  })

  test('change while they are drafts, and are begun once', async () => {
    const {id} = await draft()
    const change = {filters: {ai_model: 'even', cost_max: 0.000001}, requested_data: ['id', 'cost']}
    expect((await admin.asWorkspace('PUT', `/v1/logs/exports/${id}`, change)).body).toEqual({
      id,
      total: 0,
      object: 'export',
    })
    expect(await shown(id)).toMatchObject({filters: change.filters, requested_data: ['id', 'cost']})
    for (const deed of ['cancel']) expect((await act(id, deed)).status).toBe(400)
    expect((await admin.asWorkspace('GET', `/v1/logs/exports/${id}/download`)).status).toBe(400)
    await act(id, 'start')
    expect((await act(id, 'start')).body).toEqual(
      refusal('AB01', 'exportId: expected a draft, or an export that failed or was stopped; this one is success.'),
    )
    expect((await admin.asWorkspace('PUT', `/v1/logs/exports/${id}`, change)).status).toBe(400)
    expect(await linesOf(id)).toEqual([])
  })

  test('are opened by their address alone, for an hour, and by no other', async () => {
    const [{id}, other] = [await draft(), await draft()]
    await act(id, 'start')
    await act(other.id, 'start')
    const {signed_url} = (await admin.asWorkspace('GET', `/v1/logs/exports/${id}/download`)).body
    const gone = async (url: string) => expect([(await fetch(url)).status, url]).toEqual([404, url])
    await gone(signed_url.replace(id, other.id))
    await gone(`${signed_url.slice(0, -2)}AA`)
    await gone(signed_url.replace(/signature=.*/, 'signature=x'))
    admin.at('2026-03-04T06:06:06.999Z')
    expect((await fetch(signed_url)).status).toBe(200)
    admin.at('2026-03-04T06:06:07.000Z')
    await gone(signed_url)
    admin.at('2026-03-04T05:06:07.000Z')
  })

  test('that were cut off are written anew by the next process; those called off are not', async () => {
    const {id} = await draft()
    await admin.store.db
      .updateTable('log_exports')
      .set({status: 'in_progress', run: 'dead'})
      .where('id', '=', id)
      .execute()
    const folder = join(admin.folder, 'exports')
    writeFileSync(join(folder, `${id}.part`), '{"id":"half')
    const {store, bodies, now} = admin.services
    const jobs = new ExportJobs({
      folder,
      store,
      reads: store.db,
      bodies,
      now,
      settled: async () => undefined,
      failed: fault => {
        throw fault
      },
      waits: true,
    })
    await jobs.start(id, 'a run that was called off')
    expect((await shown(id)).status).toBe('in_progress')
    await jobs.resume()
    await jobs.start('none', 'none')
    expect(await shown(id)).toMatchObject({status: 'success', description: '600 rows'})
    expect((await linesOf(id)).length).toBe(600)
    expect(readdirSync(folder).filter(name => name.endsWith('.part'))).toEqual([])
  })

  test('that are cancelled stop, and can be started again', async () => {
    const {id} = await draft()
    await admin.store.db
      .updateTable('log_exports')
      .set({status: 'in_progress', run: 'now'})
      .where('id', '=', id)
      .execute()
    expect((await act(id, 'cancel')).body).toEqual({message: 'The export was stopped.', object: 'export'})
    expect((await shown(id)).status).toBe('stopped')
    await act(id, 'start')
    expect((await shown(id)).status).toBe('success')
    expect(existsSync(join(admin.folder, 'exports', `${id}.jsonl`))).toBe(true)
  })

  test('refuse what is not valid, naming it', async () => {
    const refused = async (body: object, words: string) => {
      const said = await admin.asWorkspace('POST', '/v1/logs/exports', body)
      expect([said.status, said.body.data.errorCode]).toEqual([400, 'AB01'])
      expect(said.body.data.message).toContain(words)
    }
    await refused({requested_data: ['id']}, 'filters')
    await refused({filters: {}}, 'requested_data')
    await refused({filters: {}, requested_data: []}, 'requested_data')
    await refused({filters: {}, requested_data: ['colour']}, 'requested_data')
    await refused({filters: {colour: 1}, requested_data: ['id']}, 'colour')
    await refused({filters: {status_code: '99'}, requested_data: ['id']}, 'status_code')
    await refused({filters: {time_of_generation_min: 'soon'}, requested_data: ['id']}, 'time_of_generation_min')
    await refused({filters: {page_size: 50_001}, requested_data: ['id']}, 'page_size')
    await refused({filters: {}, requested_data: ['id'], colour: 1}, 'colour')
  })

  test('are their workspace’s and scope’s; a foreign one is not found', async () => {
    const {id} = await draft()
    const other = await admin.foreign()
    const place = {organisation_id: admin.organisation_id, workspace_id: admin.workspace_id}
    const none = await admin.seedKey(place, {scopes: ['logs.list']})
    const deeds = [
      ['GET', ''],
      ['PUT', '', {filters: {}}],
      ['POST', '/start'],
      ['POST', '/cancel'],
      ['GET', '/download'],
    ] as const
    for (const [method, end, body] of deeds) {
      const path = `/v1/logs/exports/${id}${end}`
      for (const key of [other.key.key, other.admin.key]) {
        const said = await admin.send(key, method, path, body)
        expect([path, said.status, said.body]).toEqual([path, 404, GONE])
      }
      expect((await admin.send(none.key, method, path, body)).body.data.errorCode).toBe('AB03')
    }
    expect((await admin.send(other.key.key, 'GET', '/v1/logs/exports')).body.total).toBe(0)
    const person = await seedUser(admin, 'member', {[admin.workspace_id]: 'manager'})
    const ann = await admin.seedKey(place, {kind: 'workspace-user', user_id: person.id, scopes: ['logs.export']})
    expect((await admin.send(ann.key, 'GET', `/v1/logs/exports/${id}`)).status).toBe(404)
  })
})

test('exports are refused where they are switched off', async () => {
  const admin = await startAdmin({env: {DATA_EXPORTS_ENABLED: 'OFF'}})
  try {
    for (const path of ['', '/x', '/x/download', '/x/file?signature=x']) {
      const {status, body} = await admin.asAdmin('GET', `/v1/logs/exports${path}`)
      expect([path, status, body]).toEqual([
        path,
        403,
        refusal('AB03', 'This part of the service is switched off here: DATA_EXPORTS_ENABLED=OFF.'),
      ])
    }
  } finally {
    await admin.close()
  }
})
