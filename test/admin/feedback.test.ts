import {afterAll, beforeAll, describe, expect, test} from 'vitest'
import type {LogBodies, Settlement} from '../../src/schema/records.ts'
import {type Admin, refusal, startAdmin} from '../support/admin.ts'
import {callAt, openFlush} from '../support/flushed.ts'
import {KINDS} from '../support/stores.ts'

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/

describe.each(KINDS)('what is said of traces on %s', kind => {
  let admin: Admin
  let flush: Awaited<ReturnType<typeof openFlush>>
  beforeAll(async () => {
    admin = await startAdmin({kind})
    flush = await openFlush({store: admin.store, options: admin.options})
  })
  afterAll(async () => {
    await flush?.close()
    await admin?.close()
  })
  const of = (trace: string) =>
    admin.store.db.selectFrom('traffic.feedback').selectAll().where('trace_id', '=', trace).execute()

  test('feedback is kept, one or several, and changed', async () => {
    const one = await admin.asWorkspace('POST', '/v1/feedback', {
      trace_id: 't-1',
      value: 5,
      metadata: {why: 'x'.repeat(200), n: 1},
    })
    expect([one.status, one.body]).toEqual([
      200,
      {status: 'success', message: expect.any(String), feedback_ids: [expect.stringMatching(UUID)]},
    ])
    const several = await admin.asWorkspace('POST', '/v1/feedback', [
      {trace_id: 't-2', value: -10, weight: 0},
      {trace_id: 't-2', value: 10, weight: 0.25},
    ])
    expect(several.body.feedback_ids.length).toBe(2)
    const [row] = await of('t-1')
    expect(row).toMatchObject({value: 5, weight: 1, source: 'api', workspace_id: admin.workspace_id})
    expect(JSON.parse(row!.metadata)).toEqual({why: 'x'.repeat(128), n: '1'})
    const [id] = one.body.feedback_ids
    const changed = await admin.asWorkspace('PUT', `/v1/feedback/${id}`, {value: -1, weight: 0.5})
    expect(changed.body).toEqual({status: 'success', message: expect.any(String), feedback_ids: [id]})
    expect((await of('t-1'))[0]).toMatchObject({value: -1, weight: 0.5, metadata: '{}'})
  })

  test('feedback is refused that is none, all of it or nothing', async () => {
    for (const body of [
      {value: 1},
      {trace_id: 't-3'},
      {trace_id: 't-3', value: 11},
      {trace_id: 't-3', value: 1.5},
      {trace_id: 't-3', value: 1, weight: 1.1},
      {trace_id: 't-3', value: 1, colour: 'red'},
      {trace_id: '', value: 1},
      [],
      [{trace_id: 't-3', value: 1}, {trace_id: 't-3'}],
    ]) {
      const {status, body: said} = await admin.asWorkspace('POST', '/v1/feedback', body)
      expect([body, status, said.data.errorCode]).toEqual([body, 400, 'AB01'])
    }
    expect(await of('t-3')).toEqual([])
    const gone = await admin.asWorkspace('PUT', '/v1/feedback/none', {value: 1})
    expect([gone.status, gone.body]).toEqual([404, refusal('AB08', 'No feedback is known by this id.')])
    expect((await admin.asWorkspace('PUT', '/v1/feedback/none', {})).status).toBe(400)
  })

  test('feedback is of workspace keys alone, and of their workspace', async () => {
    expect((await admin.asAdmin('POST', '/v1/feedback', {trace_id: 't', value: 1})).body.data.errorCode).toBe('AB03')
    const other = await admin.foreign()
    const {feedback_ids} = (await admin.send(other.key.key, 'POST', '/v1/feedback', {trace_id: 't-4', value: 1})).body
    expect((await admin.asWorkspace('PUT', `/v1/feedback/${feedback_ids[0]}`, {value: 2})).status).toBe(404)
    expect((await of('t-4'))[0]!.value).toBe(1)
  })

  test('a trace is a tree of spans; a ring of parents ends nowhere', async () => {
    const here = {organisation_id: admin.organisation_id, workspace_id: admin.workspace_id, trace_id: 'tree'}
    const span = (second: number, span_id: string, parent_span_id: string | null, given: Partial<Settlement> = {}) =>
      callAt({
        ...here,
        ...given,
        at: `2026-03-04T05:00:0${second}.000Z`,
        log: {span_id, parent_span_id, span_name: span_id, last_byte_ms: 10},
      })
    await flush.apply(
      span(1, 'root', null),
      span(2, 'child', 'root', {outcome: 'failed'}),
      span(3, 'child', 'root'),
      span(4, 'orphan', 'gone'),
      span(5, 'ring-a', 'ring-b'),
      span(6, 'ring-b', 'ring-a'),
    )
    await admin.asWorkspace('POST', '/v1/feedback', {trace_id: 'tree', value: 4, weight: 0.5})
    const {status, body} = await admin.asWorkspace('GET', '/v1/traces/tree')
    expect(status).toBe(200)
    const shape = (nodes: {span_id: string; logs: unknown[]; children: never[]}[]): unknown =>
      nodes.map(({span_id, logs, children}) => [span_id, logs.length, shape(children)])
    expect(shape(body.spans)).toEqual([
      ['root', 1, [['child', 2, []]]],
      ['orphan', 1, []],
      ['ring-a', 1, []],
      ['ring-b', 1, []],
    ])
    const {spans, feedback, ...trace} = body
    expect(trace).toEqual({
      trace_id: 'tree',
      requests: 6,
      error_count: 1,
      cost: 6 * 0.01035,
      total_tokens: 6 * 370,
      latency: 60,
      first_at: '2026-03-04T05:00:01.000Z',
      last_at: '2026-03-04T05:00:06.000Z',
      is_cut: false,
      object: 'trace',
    })
    expect(feedback).toEqual([expect.objectContaining({value: 4, weight: 0.5, weighted: 2, source: 'api'})])
    expect((await admin.asWorkspace('GET', '/v1/traces')).body).toMatchObject({
      total: 1,
      data: [{trace_id: 'tree', requests: 6}],
    })
    expect((await admin.asWorkspace('GET', '/v1/spans?trace_id=tree&page_size=1')).body).toMatchObject({
      total: 6,
      data: [{span_id: 'ring-b'}],
      summary: {requests: 6, total_tokens: 2220, avg_latency: 10},
    })
    const other = await admin.foreign()
    expect((await admin.send(other.key.key, 'GET', '/v1/traces/tree')).body).toEqual(
      refusal('AB08', 'No trace is known by this id.'),
    )
    expect((await admin.send(other.key.key, 'GET', '/v1/traces')).body.total).toBe(0)
  })

  test('filters are saved under a name of their workspace, by its slug or id', async () => {
    const filters = {status_code: '429', ai_model: 'm'}
    const {status, body} = await admin.asAdmin('POST', '/v1/saved-filters', {
      name: 'Mine',
      filters,
      workspace_id: admin.workspace_slug,
    })
    expect([status, body]).toEqual([200, {id: expect.stringMatching(UUID), object: 'saved-filter'}])
    const path = `/v1/saved-filters/${body.id}`
    expect((await admin.asWorkspace('GET', path)).body).toEqual({
      id: body.id,
      name: 'Mine',
      filters,
      workspace_id: admin.workspace_id,
      workspace_slug: admin.workspace_slug,
      created_by: expect.any(String),
      created_at: '2026-03-04T05:06:07.000Z',
      last_updated_at: '2026-03-04T05:06:07.000Z',
      object: 'saved-filter',
    })
    expect((await admin.asWorkspace('POST', '/v1/saved-filters', {name: 'Mine', filters})).status).toBe(409)
    for (const bad of [
      {name: 'x'},
      {filters},
      {name: 'x', filters: {colour: 'red'}},
      {name: 'x', filters: {status_code: 'x'}},
    ])
      expect((await admin.asWorkspace('POST', '/v1/saved-filters', bad)).body.data.errorCode).toBe('AB01')
    expect((await admin.asWorkspace('PUT', path, {name: 'Ours'})).body).toEqual({})
    expect((await admin.asAdmin('GET', `/v1/saved-filters?workspace_id=${admin.workspace_id}`)).body).toMatchObject({
      total: 1,
      data: [{name: 'Ours', filters}],
    })
    const other = await admin.foreign()
    for (const method of ['GET', 'PUT', 'DELETE'])
      expect((await admin.send(other.key.key, method, path, method === 'PUT' ? {name: 'x'} : undefined)).status).toBe(
        404,
      )
    expect((await admin.asWorkspace('DELETE', path)).body).toEqual({})
    expect((await admin.asWorkspace('GET', path)).status).toBe(404)
  })

  test('calls that were made elsewhere come into the log, priced, masked, and into no ledger', async () => {
    const told: {row: Settlement; bodies: LogBodies | null}[] = []
    Object.assign(admin.services, {
      insert_log: (row: Settlement, bodies: LogBodies | null) => void told.push({row, bodies}),
    })
    const request = {
      url: 'https://api.openai.com/v1/chat/completions?key=sk-canary-1',
      headers: {authorization: 'Bearer sk-canary-2', 'content-type': 'application/json'},
      provider: 'openai',
      body: {model: 'gpt-4o-mini', messages: [{role: 'user', content: 'hi'}]},
    }
    const response = {
      response_time: 321,
      body: {model: 'gpt-4o-mini', usage: {prompt_tokens: 1000, completion_tokens: 1000, total_tokens: 2000}},
    }
    const metadata = {trace_id: 'elsewhere', span_name: 'ask', user: 'ann', team: 'blue'}
    const said = await admin.asWorkspace('POST', '/v1/logs', {request, response, metadata})
    expect([said.status, said.text]).toEqual([200, '"ok"'])
    expect(
      (
        await admin.asWorkspace('POST', '/v1/logs', [
          {request, response},
          {request, response},
        ])
      ).status,
    ).toBe(200)
    expect(told.length).toBe(3)
    const [{row, bodies}] = told as [(typeof told)[number]]
    await flush.apply(row)
    // 0.15 and 0.60 US dollars a million
    expect((await admin.asWorkspace('GET', '/v1/logs?trace_id=elsewhere')).body.data).toEqual([
      expect.objectContaining({
        ai_org: 'openai',
        ai_model: 'gpt-4o-mini',
        total_units: 2000,
        cost: 0.075,
        response_time: 321,
        span_name: 'ask',
      }),
    ])
    expect(row.log!.metadata).toEqual({_user: 'ann', team: 'blue'})
    expect(JSON.stringify([row, bodies!.request_headers])).not.toContain('sk-canary')
    expect(
      await admin.store.db
        .selectFrom('traffic.ledger_entries')
        .select('call_id')
        .where('call_id', '=', row.call_id)
        .execute(),
    ).toEqual([])
    for (const bad of [
      {request},
      {response},
      {request: {...request, body: undefined}, response},
      {request, response, colour: 1},
      [],
    ])
      expect((await admin.asWorkspace('POST', '/v1/logs', bad)).body.data.errorCode).toBe('AB01')
    expect((await admin.asAdmin('POST', '/v1/logs', {request, response})).body.data.errorCode).toBe('AB03')
  })
})
