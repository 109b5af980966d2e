import OpenAI, {toFile} from 'openai'
import {afterAll, beforeAll, beforeEach, expect, test} from 'vitest'
import {asLines, asRows, chatRow, openaiAt, rowsFile} from '../support/files.ts'
import {startGateway, type TestGateway} from '../support/gateway.ts'
import {type FakeProvider, fakeProvider, type Heard, json} from '../support/provider.ts'

const BATCH = 'msgbatch_013Zva2CMHLNnXjNJJKqJ2EF'
const FILE = 'file_011CNha8iCJcU1wXNR6q4V8w'
const MODEL = 'claude-sonnet-4-20250514'
let twin: FakeProvider
let gateway: TestGateway
let batch: Record<string, unknown> | null = null
/** Of the batch that is begun next. */
let batch_id = BATCH
let results: Buffer = Buffer.alloc(0)
let uploaded: Heard | null = null

const metadata = {
  id: FILE,
  type: 'file',
  filename: 'a.txt',
  mime_type: 'text/plain',
  size_bytes: 13,
  created_at: '2025-04-15T18:37:24.100435Z',
  downloadable: false,
}
const missing = {type: 'error', error: {type: 'not_found_error', message: 'No such batch.'}}

/** Message batches and the Files API, as Anthropic documents them. */
function answer(received: Heard, response: Parameters<typeof json>[0]) {
  const path = received.path.replace('/v1', '')
  if (received.headers['x-api-key'] !== 'sk-upstream-secret-0123456789')
    return json(response, {type: 'error', error: {message: 'no key'}}, 401)
  if (received.headers['anthropic-version'] !== '2023-06-01')
    return json(response, {type: 'error', error: {message: 'no version'}}, 400)
  if (path.startsWith('/files') && received.headers['anthropic-beta'] !== 'files-api-2025-04-14')
    return json(response, {type: 'error', error: {type: 'not_found_error', message: 'no beta'}}, 404)
  if (received.method === 'POST' && path === '/messages/batches') {
    const {requests} = JSON.parse(received.body.toString())
    batch = {
      id: batch_id,
      type: 'message_batch',
      processing_status: 'in_progress',
      request_counts: {processing: requests.length, succeeded: 0, errored: 0, canceled: 0, expired: 0},
      created_at: '2025-01-02T03:04:05.100435Z',
      expires_at: '2025-01-03T03:04:05.100435Z',
      ended_at: null,
      cancel_initiated_at: null,
      results_url: null,
    }
    return json(response, batch)
  }
  if (path.startsWith('/messages/batches?'))
    return json(response, {data: batch ? [batch] : [], has_more: false, first_id: null, last_id: null})
  if (path === `/messages/batches/${batch_id}` && batch) return json(response, batch)
  if (path === `/messages/batches/${batch_id}/cancel` && batch) {
    Object.assign(batch, {processing_status: 'canceling', cancel_initiated_at: '2025-01-02T03:05:05Z'})
    return json(response, batch)
  }
  if (path === `/messages/batches/${batch_id}/results`)
    return void response.writeHead(200, {'content-type': 'application/x-jsonl'}).end(results)
  if (received.method === 'POST' && path === '/files') {
    uploaded = received
    return json(response, metadata)
  }
  if (path.startsWith('/files?'))
    return json(response, {data: uploaded ? [metadata] : [], has_more: false, last_id: FILE})
  if (path === `/files/${FILE}` && received.method === 'DELETE') return json(response, {id: FILE, type: 'file_deleted'})
  if (path === `/files/${FILE}` && uploaded) return json(response, metadata)
  if (path === `/files/${FILE}/content`)
    return json(
      response,
      {type: 'error', error: {type: 'invalid_request_error', message: 'This file is not downloadable.'}},
      400,
    )
  json(response, missing, 404)
}

beforeAll(async () => {
  twin = await fakeProvider(answer)
  gateway = await startGateway({TRUSTED_CUSTOM_HOSTS: '127.0.0.1'})
  await gateway.provider('claude', 'anthropic', twin.url)
})
afterAll(async () => {
  await gateway.close()
  await twin.close()
})
beforeEach(() => {
  batch = null
  uploaded = null
  twin.received.length = 0
})

const client = () => openaiAt(gateway, '@claude')
const row = (custom_id: string, content: string) => chatRow(custom_id, MODEL, content)
const upload = async (rows: readonly object[]) => client().files.create({file: await rowsFile(rows), purpose: 'batch'})

test('a batch, from its file to its output', async () => {
  const openai = client()
  const file = await upload([row('a-1', 'Hello'), row('a-2', 'Who?')])
  expect(file).toMatchObject({
    id: expect.stringMatching(/^gw_file_[\da-f-]{36}$/),
    object: 'file',
    purpose: 'batch',
    filename: 'rows.jsonl',
  })
  // Nothing has left yet: the rows go with the batch.
  expect(twin.received).toEqual([])
  expect(await openai.files.retrieve(file.id)).toMatchObject({id: file.id, bytes: file.bytes})

  const created = await openai.batches.create({
    input_file_id: file.id,
    endpoint: '/v1/chat/completions',
    completion_window: '24h',
    metadata: {run: '7'},
  })
  expect(created).toMatchObject({
    id: BATCH,
    status: 'in_progress',
    input_file_id: file.id,
    created_at: 1_735_787_045,
    expires_at: 1_735_873_445,
    request_counts: {total: 2, completed: 0, failed: 0},
    metadata: {run: '7'},
  })
  const asked = {model: MODEL, max_tokens: 50, system: [{type: 'text', text: 'Be brief.'}]}
  expect(JSON.parse(twin.received[0]!.body.toString())).toMatchObject({
    requests: [
      {custom_id: 'a-1', params: {...asked, messages: [{role: 'user', content: [{type: 'text', text: 'Hello'}]}]}},
      {custom_id: 'a-2', params: {...asked, messages: [{role: 'user', content: [{type: 'text', text: 'Who?'}]}]}},
    ],
  })
  expect((await openai.batches.list()).data.map(({id}) => id)).toEqual([BATCH])

  Object.assign(batch!, {
    processing_status: 'ended',
    ended_at: '2025-01-02T04:04:05Z',
    request_counts: {processing: 0, succeeded: 1, errored: 1, canceled: 0, expired: 0},
    results_url: `https://api.anthropic.com/v1/messages/batches/${BATCH}/results`,
  })
  results = asLines([
    {
      custom_id: 'a-2',
      result: {type: 'errored', error: {type: 'error', error: {type: 'invalid_request_error', message: 'Too long.'}}},
    },
    {
      custom_id: 'a-1',
      result: {
        type: 'succeeded',
        message: {
          id: 'msg_1',
          type: 'message',
          role: 'assistant',
          model: MODEL,
          content: [{type: 'text', text: 'Hi.'}],
          stop_reason: 'end_turn',
          usage: {input_tokens: 10, output_tokens: 3},
        },
      },
    },
    {custom_id: 'a-3', result: {type: 'expired'}},
  ])
  const done = await openai.batches.retrieve(BATCH)
  expect(done).toMatchObject({
    status: 'completed',
    completed_at: 1_735_790_645,
    request_counts: {total: 2, completed: 1, failed: 1},
  })
  const output = asRows(await (await openai.files.content(done.output_file_id!)).text())
  expect(output).toMatchObject([
    {custom_id: 'a-2', response: null, error: {code: 'invalid_request_error', message: 'anthropic error: Too long.'}},
    {
      custom_id: 'a-1',
      error: null,
      response: {
        status_code: 200,
        body: {
          object: 'chat.completion',
          model: MODEL,
          choices: [{message: {content: 'Hi.'}, finish_reason: 'stop'}],
          usage: {prompt_tokens: 10, completion_tokens: 3},
        },
      },
    },
    {custom_id: 'a-3', response: null, error: {code: 'expired', message: 'anthropic error: the request was expired'}},
  ])
  expect(await openai.files.retrieve(done.output_file_id!)).toMatchObject({
    purpose: 'batch_output',
    created_at: 1_735_790_645,
  })
  const same = await gateway.call(`/v1/batches/${BATCH}/output`, {headers: {'x-gateway-provider': '@claude'}})
  expect(asRows(await same.text())).toHaveLength(3)
  // (10 x 3 + 3 x 15 US dollars a million) / 2, once
  const charged = (await gateway.logs()).filter(({cost}) => Number(cost) > 0)
  expect(charged).toMatchObject([{cost: 0.00375, total_units: 13, ai_model: MODEL}])
})

test('rows are charged as Anthropic bills them: each model that ran, and what no client’s words can show', async () => {
  batch_id = 'msgbatch_0billed'
  const file = await upload([row('a-1', 'Hello')])
  await client().batches.create({input_file_id: file.id, endpoint: '/v1/chat/completions', completion_window: '24h'})
  Object.assign(batch!, {
    processing_status: 'ended',
    request_counts: {processing: 0, succeeded: 2, errored: 0, canceled: 0, expired: 0},
  })
  Object.assign(batch!, {
    results_url: `https://api.anthropic.com/v1/messages/batches/${batch_id}/results`,
    ended_at: '2025-01-02T04:04:05Z',
  })
  const message = {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: MODEL,
    content: [{type: 'text', text: 'Hi.'}],
    stop_reason: 'end_turn',
  }
  const iterations = [
    {type: 'message', input_tokens: 1000, output_tokens: 100},
    {type: 'compaction', input_tokens: 5000, output_tokens: 50},
  ]
  results = asLines([
    {
      custom_id: 'a-1',
      result: {type: 'succeeded', message: {...message, usage: {input_tokens: 1000, output_tokens: 100, iterations}}},
    },
    {
      custom_id: 'a-2',
      result: {
        type: 'succeeded',
        message: {...message, content: 'no list', usage: {input_tokens: 1000, output_tokens: 100}},
      },
    },
  ])
  await client().batches.retrieve(batch_id)
  // (7000 x 3 + 250 x 15 US dollars a million) / 2
  batch_id = BATCH
  const [charged] = (await gateway.logs()).filter(({cost}) => Number(cost) > 0.1)
  expect(charged).toMatchObject({cost: 1.2375, total_units: 7250, unpriced: false})
})

test('a batch that is cancelled, and one that is not there', async () => {
  const openai = client()
  const file = await upload([row('a-1', 'Hello')])
  await openai.batches.create({input_file_id: file.id, endpoint: '/v1/chat/completions', completion_window: '24h'})
  expect(await openai.batches.cancel(BATCH)).toMatchObject({id: BATCH, status: 'cancelling'})
  const unknown = await openai.batches.retrieve('msgbatch_0').catch(fault => fault)
  expect(unknown).toBeInstanceOf(OpenAI.NotFoundError)
  expect(unknown.error).toMatchObject({message: 'anthropic error: No such batch.', type: 'not_found_error'})
})

test('files of all other purposes go to the Files API', async () => {
  const openai = client()
  const kept = await upload([row('a-1', 'Hello')])
  const file = await openai.files.create({
    file: await toFile(Buffer.from('text of a.txt'), 'a.txt', {type: 'text/plain'}),
    purpose: 'user_data',
  })
  expect(file).toMatchObject({id: FILE, bytes: 13, filename: 'a.txt', created_at: 1_744_742_244, purpose: 'user_data'})
  expect(uploaded!.body.toString()).toMatch(
    /^--(\S+)\r\ncontent-disposition: form-data; name="file"; filename="a\.txt"\r\ncontent-type: text\/plain\r\n\r\ntext of a\.txt\r\n--\1--\r\n$/,
  )
  const ids: string[] = []
  for await (const each of openai.files.list({limit: 1})) ids.push(each.id)
  expect(ids).toContain(FILE)
  expect(ids).toContain(kept.id)
  expect(await openai.files.retrieve(FILE)).toMatchObject({id: FILE, filename: 'a.txt'})
  const closed = await openai.files.content(FILE).catch(fault => fault)
  expect([closed.status, closed.error.message]).toEqual([400, 'anthropic error: This file is not downloadable.'])
  expect(await openai.files.delete(FILE)).toEqual({id: FILE, object: 'file', deleted: true})
  expect(await openai.files.delete(kept.id)).toEqual({id: kept.id, object: 'file', deleted: true})
  const gone = await openai.batches
    .create({input_file_id: kept.id, endpoint: '/v1/chat/completions', completion_window: '24h'})
    .catch(fault => fault)
  expect([gone.status, gone.error.message]).toEqual([
    400,
    expect.stringContaining('input_file_id: no file that was uploaded here'),
  ])
})

test('a row that Anthropic cannot take is refused with its line, and nothing is kept', async () => {
  const before = (await client().files.list()).data.length
  const refused = await upload([row('a-1', 'Hello'), row('not an id', 'Who?')]).catch(fault => fault)
  expect([refused.status, refused.error.message]).toEqual([400, expect.stringContaining('line 2: custom_id')])
  expect((await client().files.list()).data.length).toBe(before)
})

test('fine-tuning, which Anthropic has not, is refused naming both', async () => {
  const refused = await client()
    .fineTuning.jobs.create({model: MODEL, training_file: 'x'})
    .catch(fault => fault)
  expect([refused.status, refused.error.message]).toEqual([
    400,
    'The provider anthropic does not offer POST /fine_tuning/jobs.',
  ])
})
