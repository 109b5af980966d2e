import {brotliCompressSync, gzipSync, zstdCompressSync} from 'node:zlib'
import {afterAll, beforeAll, describe, expect, test} from 'vitest'
import {readLogBody} from '../../src/admin/log-bodies.ts'
import {newTimeId} from '../../src/base/ids.ts'
import {type Admin, refusal, startAdmin} from '../support/admin.ts'
import {keepBodies} from '../support/bodies.ts'
import {insertLog} from '../support/logs.ts'
import {KINDS} from '../support/stores.ts'

const GONE = refusal('AB08', 'No log is known by this id.')
const AT = '2026-03-04T05:00:00.000Z'
const newLogId = () => newTimeId(Date.parse(AT))

describe.each(KINDS)('the log on %s', kind => {
  let admin: Admin
  let red: {id: string; slug: string}
  let config: {id: string; slug: string}
  const full = newLogId()
  const plain = newLogId()
  const elsewhere = newLogId()
  const foreign = newLogId()
  beforeAll(async () => {
    admin = await startAdmin({kind})
    const {db} = admin.store
    const here = {organisation_id: admin.organisation_id, workspace_id: admin.workspace_id}
    red = await admin.seedWorkspace(admin.organisation_id, {slug: 'red', status: 'archived'})
    config = (await admin.asWorkspace('POST', '/v1/configs', {name: 'Mine', config: {provider: 'openai'}})).body.data
    await insertLog(db, {
      ...here,
      id: full,
      created_at: AT,
      trace_id: 'trace-1',
      config_id: config.id,
      provider_slug: 'prod',
      model: 'gpt-5',
      url: '/v1/chat/completions?x=1',
      upstream_url: 'https://api.openai.com/v1/chat/completions',
      retry_count: 2,
      option_path: 'config.targets[1].targets[3]',
      prompt_tokens: 30,
      completion_tokens: 12,
      usage: '{"input_uncached_tokens":30,"output_text_tokens":12}',
      cost_nanousd: 123_456_701,
      metadata: '{"_user":"u-1","team":"blue"}',
      auth_ms: 0.25,
      plan_ms: 0.75,
      connect_ms: 3.5,
      first_byte_ms: 200.5,
      last_byte_ms: 250.5,
      overhead_ms: 1.25,
    })
    await keepBodies(
      admin,
      {
        log_id: full,
        request_headers: '{"x-gateway-api-key":"***","x-portkey-trace-id":"trace-1","content-type":"application/json"}',
        request_body: Buffer.from('{"model":"gpt-5","messages":[]}'),
        response_headers: '{"content-type":"application/json","content-encoding":"gzip"}',
        response_body: gzipSync('{"id":"c-1"}'),
        response_encoding: 'gzip',
      },
      Date.parse(AT) + 260,
    )
    const at = (second: number) => `2026-03-04T05:00:0${second}.000Z`
    await insertLog(db, {
      ...here,
      id: plain,
      created_at: at(1),
      status: 503,
      error: 'gone',
      outcome: 'failed',
      is_stream: true,
      unpriced: 1,
      model: null,
    })
    await insertLog(db, {...here, workspace_id: red.id, id: elsewhere, created_at: at(2)})
    const other = await admin.foreign()
    await insertLog(db, {
      organisation_id: other.organisation_id,
      workspace_id: other.workspace.id,
      id: foreign,
      created_at: at(3),
    })
  })
  afterAll(() => admin.close())

  const found = async (query: string, as = admin.asAdmin) => {
    const {body} = await as('GET', `/v1/logs${query}`)
    return body.data.map?.((row: {id: string}) => row.id) ?? body
  }

  test('shows a row with what was said, secrets masked', async () => {
    const {status, body} = await admin.asWorkspace('GET', `/v1/logs/${full}`)
    expect(status).toBe(200)
    expect(body).toEqual({
      _id: full,
      organisation_id: admin.organisation_id,
      created_at: AT,
      log_format: 'v1',
      is_cut: false,
      request: {
        url: '/v1/chat/completions?x=1',
        method: 'POST',
        headers: {'content-type': 'application/json'},
        gatewayHeaders: {'x-gateway-api-key': '***', 'x-portkey-trace-id': 'trace-1'},
        body: {model: 'gpt-5', messages: []},
      },
      response: {
        status: 200,
        headers: {'content-type': 'application/json', 'content-encoding': 'gzip'},
        body: {id: 'c-1'},
        responseTime: 251,
        lastUsedOptionJsonPath: 'config.targets[1].targets[3]',
      },
      metrics: expect.objectContaining({id: full}),
      finalUntransformedRequest: {
        url: '/v1/chat/completions?x=1',
        method: 'POST',
        headers: {'content-type': 'application/json'},
        body: {model: 'gpt-5', messages: []},
      },
      transformedRequest: {url: 'https://api.openai.com/v1/chat/completions', method: 'POST'},
      originalResponse: {
        url: 'https://api.openai.com/v1/chat/completions',
        method: 'POST',
        headers: {'content-type': 'application/json', 'content-encoding': 'gzip'},
        body: {id: 'c-1'},
      },
    })
    expect(body.metrics).toEqual({
      id: full,
      organisation_id: admin.organisation_id,
      organisation_name: expect.any(String),
      workspace_slug: admin.workspace_slug,
      api_key_id: 'key-1',
      api_key_name: null,
      user_id: null,
      virtual_key: 'prod',
      prompt_id: null,
      prompt_version_id: null,
      prompt_slug: null,
      config: config.slug,
      config_id: config.id,
      config_version_id: null,
      created_at: AT,
      is_success: true,
      ai_org: 'openai',
      ai_model: 'gpt-5',
      endpoint: 'chatComplete',
      req_units: 30,
      res_units: 12,
      total_units: 42,
      usage: {input_uncached_tokens: 30, output_text_tokens: 12},
      usage_source: 'provider',
      cost: 12.3456701,
      cost_currency: 'USD',
      unpriced: false,
      unpriced_units: [],
      mode_unpriced: null,
      usage_unknown: [],
      unanswered: false,
      request_url: 'https://api.openai.com/v1/chat/completions',
      request_method: 'POST',
      response_status_code: 200,
      response_time: 251,
      is_proxy_call: false,
      cache_status: 'DISABLED',
      cache_type: null,
      stream_mode: 0,
      retry_success_count: 2,
      trace_id: 'trace-1',
      span_id: `span-${full}`,
      span_name: null,
      parent_span_id: null,
      internal_trace_id: `call-${full}`,
      mode: 'single',
      last_used_option_index: 3,
      source: 'gateway',
      runtime: null,
      runtime_version: null,
      sdk_version: null,
      log_store_file_path_format: 'v1',
      metadata: {key: ['_user', 'team'], value: ['u-1', 'blue']},
      outcome: 'ok',
      delivered: true,
      error: null,
      warning: null,
      request_parsing_time: 1,
      pre_processing_time: 0,
      cache_processing_time: 0,
      response_parsing_time: 0,
      gateway_processing_time: 1,
      upstream_response_time: 249,
      phases_ms: {auth: 0.25, plan: 0.75, connect: 3.5, first_byte: 200.5, last_byte: 250.5, overhead: 1.25},
    })
  })

  test('shows a row whose bodies are not kept, as far as it goes', async () => {
    const {body} = await admin.asWorkspace('GET', `/v1/logs/${plain}?path_format=v1`)
    expect(body.request).toEqual({url: '/v1/chat/completions', method: 'POST', gatewayHeaders: {}})
    expect(body.response).toEqual({status: 503, responseTime: 0, lastUsedOptionJsonPath: 'config'})
    expect(body.metrics).toMatchObject({
      is_success: false,
      ai_model: null,
      stream_mode: 1,
      unpriced: true,
      error: 'gone',
      outcome: 'failed',
    })
    expect([body.finalUntransformedRequest, body.transformedRequest, body.originalResponse]).toEqual([
      undefined,
      undefined,
      undefined,
    ])
  })

  test('lists the same numbers, newest first', async () => {
    const {body} = await admin.asWorkspace('GET', '/v1/logs')
    expect(body).toMatchObject({object: 'list', total: 2})
    expect(body.data[1]).toEqual((await admin.asWorkspace('GET', `/v1/logs/${full}`)).body.metrics)
    expect(await found('?page_size=1&current_page=1')).toEqual([plain])
  })

  test('shows a workspace key its workspace, an admin key its organisation or the workspace it names', async () => {
    expect(await found('', admin.asWorkspace)).toEqual([plain, full])
    expect(await found('')).toEqual([elsewhere, plain, full])
    for (const name of [`workspace_id=${red.id}`, 'workspace_id=red', 'workspace_slug=red'])
      expect(await found(`?${name}`)).toEqual([elsewhere])
    expect(await found(`?workspace_id=${admin.workspace_slug}`)).toEqual([plain, full])
    expect((await admin.asWorkspace('GET', '/v1/logs?workspace_id=red')).status).toBe(404)
    expect((await admin.asAdmin('GET', `/v1/logs/${elsewhere}`)).body._id).toBe(elsewhere)
  })

  test('knows a row of another workspace or organisation as little as none', async () => {
    const asked = [
      admin.asWorkspace('GET', `/v1/logs/${elsewhere}`),
      admin.asWorkspace('GET', `/v1/logs/${foreign}`),
      admin.asAdmin('GET', `/v1/logs/${foreign}`),
      admin.asAdmin('GET', `/v1/logs/${newLogId()}`),
      admin.asAdmin('GET', `/v1/logs/${full}?workspace_id=red`),
      admin.asAdmin('GET', '/v1/logs/%F0%9F%98%80'),
    ]
    for (const {status, text} of await Promise.all(asked)) expect([status, JSON.parse(text)]).toEqual([404, GONE])
  })

  test.each([
    ['time_of_generation_min=2026-03-04T06:00:01%2B01:00', 'plain'],
    ['time_of_generation_max=2026-03-04T05:00:00Z', 'full'],
    ['total_units_min=42&total_units_max=42', 'full'],
    ['prompt_token_max=0&completion_token_max=0', 'plain'],
    ['cost_min=12.3456701&cost_max=12.3456701', 'full'],
    ['cost_min=12.34567010001', ''],
    ['cost_min=0.0000001', 'full'],
    ['ai_model=gpt-4,gpt-5', 'full'],
    ['ai_org_model=openai__gpt-5', 'full'],
    ['ai_org_model=azure__gpt-5,openai__gpt', ''],
    ['status_code=503,500', 'plain'],
    ['virtual_keys=prod', 'full'],
    ['configs=CONFIG_ID', 'full'],
    ['configs=CONFIG_SLUG,other', 'full'],
    ['configs=other', ''],
    ['api_key_ids=key-1,key-2', 'plain full'],
    ['trace_id=trace-1', 'full'],
    ['span_id=span-none', ''],
    ['metadata=%7B%22team%22:%22blue%22%7D', 'full'],
    ['metadata=%7B%22team%22:%22red%22%7D', ''],
    ['prompt_slug=p', ''],
    ['weighted_feedback_min=-1.5', ''],
  ])('is narrowed by %s', async (query, names) => {
    const filled = query.replace('CONFIG_ID', config.id).replace('CONFIG_SLUG', config.slug)
    const wanted = names.split(' ').filter(Boolean)
    expect(
      (await found(`?${filled}`, admin.asWorkspace)).map((id: string) => (id === full ? 'full' : 'plain')),
    ).toEqual(wanted)
  })

  test.each([
    ['status_code=200,ok', 'query parameter status_code[1]: expected an HTTP status, 100 to 599.'],
    ['ai_org_model=gpt', 'query parameter ai_org_model[0]: expected provider__model.'],
    ['metadata=blue', 'query parameter metadata: must be a JSON object of texts.'],
    ['cost_min=-1', 'query parameter cost_min: must be at least 0.'],
    ['trace_id=%00', 'query parameter trace_id[0]: must hold no NUL character.'],
    ['page_size=1001', 'query parameter page_size: must be at most 1000.'],
    ['modell=x', 'the query: the key modell is not known here'],
  ])('refuses %s', async (query, message) => {
    const {status, body} = await admin.asAdmin('GET', `/v1/logs?${query}`)
    expect(status).toBe(400)
    expect(body.data.message).toContain(message)
  })

  test('is for those with the scope, and waits for calls that have just ended', async () => {
    const lister = await admin.seedKey(admin, {scopes: ['logs.list']})
    const caller = await admin.seedKey(admin, {scopes: ['completions.write']})
    const status = async (key: string, path: string) => (await admin.send(key, 'GET', path)).status
    expect([await status(lister.key, '/v1/logs'), await status(lister.key, `/v1/logs/${full}`)]).toEqual([200, 403])
    expect([await status(caller.key, '/v1/logs'), await status(caller.key, `/v1/logs/${full}`)]).toEqual([403, 200])
    const late = newLogId()
    admin.services.settled = () =>
      insertLog(admin.store.db, {organisation_id: admin.organisation_id, workspace_id: admin.workspace_id, id: late})
    expect((await admin.asWorkspace('GET', `/v1/logs/${late}`)).body._id).toBe(late)
    delete admin.services.settled
  })
})

describe('a kept body', () => {
  const json = Buffer.from(JSON.stringify({said: 'hello'.repeat(500)}))
  const read = (bytes: Uint8Array, encoding: string | null = null) => readLogBody(bytes, encoding)

  test.each([
    ['gzip', gzipSync],
    ['br', brotliCompressSync],
    ['zstd', zstdCompressSync],
    ['GZIP', gzipSync],
  ] as const)('is decoded from %s; of one that was cut, the beginning', async (encoding, encode) => {
    const noise = Buffer.from(Array.from({length: 5000}, (_, at) => String((at * 7919) % 10_007)).join(' '))
    expect(await read(encode(json), encoding)).toEqual(JSON.parse(json.toString()))
    const encoded = encode(noise)
    const beginning = await read(encoded.subarray(0, encoded.length - 4), encoding)
    expect(typeof beginning).toBe('string')
    expect(noise.toString().startsWith(beginning as string)).toBe(true)
  })

  test('is JSON only where it is an object or a list', async () => {
    expect(await read(Buffer.from(' [1]'))).toEqual([1])
    expect(await read(Buffer.from('12'))).toBe('12')
    expect(await read(Buffer.from('{"cut":'))).toBe('{"cut":')
    expect(await read(Buffer.from('data: {}\n\n'))).toBe('data: {}\n\n')
    expect(await read(Buffer.alloc(0))).toBe('')
  })

  test('is shown as it is stored where it cannot be read, or would be too large', async () => {
    const bomb = gzipSync(Buffer.alloc((32 << 20) + 1))
    expect(await read(Buffer.from([1, 2]), 'gzip')).toEqual({content_encoding: 'gzip', base64: 'AQI='})
    expect(await read(Buffer.from([1, 2]), 'compress')).toEqual({content_encoding: 'compress', base64: 'AQI='})
    expect(await read(bomb, 'gzip')).toEqual({content_encoding: 'gzip', base64: bomb.toString('base64')})
  })
})
