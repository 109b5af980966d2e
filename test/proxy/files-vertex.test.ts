import OpenAI, {toFile} from 'openai'
import {afterAll, beforeAll, beforeEach, expect, test} from 'vitest'
import {gcs, MODIFIED_S, type Objects} from '../support/clouds/objects.ts'
import {asLines, asRows, chatRow, openaiAt, rowsFile} from '../support/files.ts'
import {startGateway, type TestGateway} from '../support/gateway.ts'
import {type FakeProvider, fakeProvider, type Heard, json} from '../support/provider.ts'

const PARENT = '/v1/projects/my-project/locations/us-central1'
const NUMBER = '3814889423749775360'
const objects: Objects = new Map()
const jobs = new Map<string, Record<string, unknown>>()
let twin: FakeProvider
let gateway: TestGateway

/** Jobs of Vertex AI beside Cloud Storage, as their references have them. */
function answer(received: Heard, response: Parameters<typeof json>[0]) {
  if (gcs(objects, received, response)) return
  const {pathname} = new URL(received.path, 'http://vertex')
  const [, kind, number, action] =
    /^\/v1\/projects\/my-project\/locations\/us-central1\/(\w+)(?:\/(\d+))?(?::(\w+))?$/.exec(pathname) ?? []
  if (kind === undefined)
    return json(response, {error: {code: 404, message: `no ${pathname}`, status: 'NOT_FOUND'}}, 404)
  const key = `${kind}/${number ?? NUMBER}`
  if (received.method === 'POST' && number === undefined) {
    const name = `${PARENT.slice(4)}/${key}`
    jobs.set(key, {
      ...JSON.parse(received.body.toString()),
      name,
      state: 'JOB_STATE_PENDING',
      createTime: '2025-01-02T03:04:05.123456Z',
    })
    return json(response, jobs.get(key))
  }
  if (number === undefined)
    return json(response, {[kind]: [...jobs].filter(([each]) => each.startsWith(`${kind}/`)).map(([, job]) => job)})
  const job = jobs.get(key)
  if (!job) return json(response, {error: {code: 404, message: 'The job does not exist.', status: 'NOT_FOUND'}}, 404)
  if (action === 'cancel') {
    job.state = 'JOB_STATE_CANCELLING'
    return json(response, {})
  }
  json(response, job)
}

beforeAll(async () => {
  twin = await fakeProvider(answer)
  gateway = await startGateway({TRUSTED_CUSTOM_HOSTS: '127.0.0.1'})
  const custom_host = twin.url.replace('/v1', '')
  const settings = {
    custom_host,
    vertex_auth_type: 'basic',
    vertex_region: 'us-central1',
    vertex_project_id: 'my-project',
  }
  await gateway.provider('vertex', 'vertex-ai', custom_host, {configurations: settings})
})
afterAll(async () => {
  await gateway.close()
  await twin.close()
})
beforeEach(() => {
  objects.clear()
  jobs.clear()
})

const client = (headers: Record<string, string> = {}) =>
  openaiAt(gateway, '@vertex', {'x-gateway-vertex-storage-bucket-name': 'my-bucket', ...headers})
const row = chatRow
const place = (id: string) => decodeURIComponent(id).replace('gs://', '')

test('a batch for Gemini, from its file to its output', async () => {
  const openai = client()
  const rows = [row('a-1', 'gemini-2.5-flash', 'Hello'), row('Frage Ä/2', 'gemini-2.5-flash', 'Who?')]
  const file = await openai.files.create({file: await rowsFile(rows, 'rows.jsonl'), purpose: 'batch'})
  expect(place(file.id)).toMatch(/^my-bucket\/gateway-files\/batch\/[\w-]+\/rows\.jsonl$/)
  const stored = asRows(objects.get(place(file.id))!.toString())
  expect(stored).toMatchObject([
    {
      request: {
        systemInstruction: {parts: [{text: 'Be brief.'}]},
        contents: [{role: 'user', parts: [{text: 'Hello'}]}],
        generationConfig: {maxOutputTokens: 50},
        labels: {'gateway-custom-id': 'a-1'},
      },
    },
    {
      request: {
        contents: [{role: 'user', parts: [{text: 'Who?'}]}],
        labels: {'gateway-custom-id-hex-0': '4672616765 c3842f32'.replace(' ', '20')},
      },
    },
  ])
  const batch = await openai.batches.create({
    input_file_id: file.id,
    endpoint: '/v1/chat/completions',
    completion_window: '24h',
    ...({model: 'gemini-2.5-flash'} as object),
  })
  expect(batch).toMatchObject({
    id: NUMBER,
    status: 'validating',
    input_file_id: file.id,
    created_at: 1_735_787_045,
    output_file_id: null,
  })
  const created = jobs.get(`batchPredictionJobs/${NUMBER}`)!
  expect(created).toMatchObject({
    model: 'publishers/google/models/gemini-2.5-flash',
    inputConfig: {instancesFormat: 'jsonl', gcsSource: {uris: [`gs://${place(file.id)}`]}},
    outputConfig: {
      predictionsFormat: 'jsonl',
      gcsDestination: {
        outputUriPrefix: expect.stringMatching(/^gs:\/\/my-bucket\/gateway-files\/batch_output\/[\w-]+\/output$/),
      },
    },
  })
  const unready = await gateway.call(`/v1/batches/${NUMBER}/output`, {headers: {'x-gateway-provider': '@vertex'}})
  expect(unready.status).toBe(400)
  const folder = 'my-bucket/gateway-files/batch_output/1/output/prediction-model-2025-01-02T03:20:00Z'
  Object.assign(created, {
    state: 'JOB_STATE_SUCCEEDED',
    endTime: '2025-01-02T04:04:05Z',
    outputInfo: {gcsOutputDirectory: `gs://${folder}`},
    completionStats: {successfulCount: '1', failedCount: '1'},
  })
  const response = {
    candidates: [{content: {role: 'model', parts: [{text: 'Hi.'}]}, finishReason: 'STOP'}],
    usageMetadata: {promptTokenCount: 5, candidatesTokenCount: 2, totalTokenCount: 7},
    modelVersion: 'gemini-2.5-flash',
  }
  objects.set(
    `${folder}/predictions.jsonl`,
    asLines([
      {status: 'Bad Request: {"error": "too long"}', request: stored[1].request, response: {}},
      {status: '', processed_time: '2025-01-02T03:30:00Z', request: stored[0].request, response},
    ]),
  )
  const done = await openai.batches.retrieve(batch.id)
  expect(done).toMatchObject({
    status: 'completed',
    completed_at: 1_735_790_645,
    request_counts: {total: 2, completed: 1, failed: 1},
  })
  const output = asRows(await (await openai.files.content(done.output_file_id!)).text())
  expect(output).toMatchObject([
    {custom_id: 'Frage Ä/2', response: null, error: {message: 'vertex-ai error: Bad Request: {"error": "too long"}'}},
    {
      custom_id: 'a-1',
      error: null,
      response: {
        status_code: 200,
        body: {
          object: 'chat.completion',
          choices: [{message: {content: 'Hi.'}, finish_reason: 'stop'}],
          usage: {prompt_tokens: 5, completion_tokens: 2},
        },
      },
    },
  ])
  const same = await gateway.call(`/v1/batches/${NUMBER}/output`, {headers: {'x-gateway-provider': '@vertex'}})
  expect(asRows(await same.text()).map(each => each.custom_id)).toEqual(['Frage Ä/2', 'a-1'])
  // (5 x 0.30 + 2 x 2.50 US dollars a million) / 2
  const charged = (await gateway.logs()).filter(({cost}) => Number(cost) > 0)
  expect(charged).toMatchObject([{cost: 0.000325, total_units: 7, ai_model: 'gemini-2.5-flash'}])
})

test('a batch for Claude keeps its ids, and one for an open model its rows', async () => {
  const openai = client()
  const rows = [
    row('a-1', 'anthropic.claude-sonnet-4@20250514', 'Hello'),
    row('b-1', 'meta.llama-3.3-70b-instruct-maas', 'Hello'),
  ]
  const file = await openai.files.create({file: await rowsFile(rows, 'rows.jsonl'), purpose: 'batch'})
  const [claude, llama] = asRows(objects.get(place(file.id))!.toString())
  expect(claude).toMatchObject({
    custom_id: 'a-1',
    request: {anthropic_version: 'vertex-2023-10-16', max_tokens: 50, messages: [{role: 'user'}]},
  })
  expect(claude.request.model).toBeUndefined()
  expect(llama).toEqual({...rows[1], body: {...rows[1]!.body, model: 'meta.llama-3.3-70b-instruct-maas'}})
  await openai.batches.create({
    input_file_id: file.id,
    endpoint: '/v1/chat/completions',
    completion_window: '24h',
    ...({model: 'anthropic.claude-sonnet-4@20250514'} as object),
  })
  const job = jobs.get(`batchPredictionJobs/${NUMBER}`)!
  expect(job.model).toBe('publishers/anthropic/models/claude-sonnet-4@20250514')
  Object.assign(job, {state: 'JOB_STATE_SUCCEEDED', outputInfo: {gcsOutputDirectory: 'gs://my-bucket/out'}})
  const response = {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'claude-sonnet-4',
    content: [{type: 'text', text: 'Hi.'}],
    stop_reason: 'end_turn',
    usage: {input_tokens: 5, output_tokens: 2},
  }
  objects.set(
    'my-bucket/out/predictions.jsonl',
    asLines([{custom_id: 'a-1', request: claude.request, response, status: ''}]),
  )
  const {output_file_id} = await openai.batches.retrieve(NUMBER)
  expect(asRows(await (await openai.files.content(output_file_id!)).text())).toMatchObject([
    {custom_id: 'a-1', response: {body: {choices: [{message: {content: 'Hi.'}}], usage: {prompt_tokens: 5}}}},
  ])
})

test('batches are listed and cancelled; one that is not there says so with the status of the provider', async () => {
  const openai = client()
  jobs.set(`batchPredictionJobs/${NUMBER}`, {
    name: `x/batchPredictionJobs/${NUMBER}`,
    state: 'JOB_STATE_RUNNING',
    model: 'publishers/google/models/m',
  })
  expect((await openai.batches.list()).data.map(({id, status}) => [id, status])).toEqual([[NUMBER, 'in_progress']])
  expect(await openai.batches.cancel(NUMBER)).toMatchObject({id: NUMBER, status: 'cancelling'})
  const missing = await openai.batches.retrieve('42').catch(fault => fault)
  expect(missing).toBeInstanceOf(OpenAI.NotFoundError)
  expect(missing.error).toMatchObject({message: 'vertex-ai error: The job does not exist.', type: 'NOT_FOUND'})
})

test('files are listed, retrieved, read and deleted', async () => {
  const openai = client()
  for (const name of ['a.txt', 'b.txt', 'c.txt'])
    await openai.files.create({file: await toFile(Buffer.from(`text of ${name}`), name), purpose: 'assistants'})
  const names: string[] = []
  for await (const file of openai.files.list({limit: 1, purpose: 'assistants'})) names.push(file.filename)
  expect(names).toEqual(['a.txt', 'b.txt', 'c.txt'])
  const {id} = (await openai.files.list({limit: 1})).data[0]!
  expect(await openai.files.retrieve(id)).toMatchObject({id, bytes: 13, created_at: MODIFIED_S, purpose: 'assistants'})
  expect(await (await openai.files.content(id)).text()).toBe('text of a.txt')
  expect(await openai.files.delete(id)).toMatchObject({id, deleted: true})
  const gone = await openai.files.content(id).catch(fault => fault)
  expect([gone.status, gone.error.message]).toEqual([
    404,
    expect.stringContaining('vertex-ai error: No such object: my-bucket/'),
  ])
})

test('without a bucket nothing is uploaded, and the header is named', async () => {
  const refused = await client({'x-gateway-vertex-storage-bucket-name': ''})
    .files.create({file: await toFile(Buffer.from('x'), 'a.txt'), purpose: 'user_data'})
    .catch(fault => fault)
  expect([refused.status, refused.error.message]).toEqual([400, expect.stringContaining('vertex_storage_bucket_name')])
  expect(objects.size).toBe(0)
})

test('fine-tuning', async () => {
  const openai = client()
  const messages = [
    {role: 'system', content: 'Be kind.'},
    {role: 'user', content: 'Hi'},
    {role: 'assistant', content: 'Hello!'},
  ]
  const file = await openai.files.create({file: await rowsFile([{messages}], 'train.jsonl'), purpose: 'fine-tune'})
  expect(asRows(objects.get(place(file.id))!.toString())).toEqual([
    {
      systemInstruction: {parts: [{text: 'Be kind.'}]},
      contents: [
        {role: 'user', parts: [{text: 'Hi'}]},
        {role: 'model', parts: [{text: 'Hello!'}]},
      ],
    },
  ])
  const job = await openai.fineTuning.jobs.create({
    model: 'gemini-2.0-flash-001',
    training_file: file.id,
    suffix: 'kind',
    method: {type: 'supervised', supervised: {hyperparameters: {n_epochs: 4}}},
  })
  expect(job).toMatchObject({
    id: NUMBER,
    status: 'queued',
    model: 'gemini-2.0-flash-001',
    training_file: file.id,
    hyperparameters: {n_epochs: 4},
  })
  const made = jobs.get(`tuningJobs/${NUMBER}`)!
  expect(made).toMatchObject({
    baseModel: 'gemini-2.0-flash-001',
    tunedModelDisplayName: 'kind',
    supervisedTuningSpec: {trainingDatasetUri: `gs://${place(file.id)}`, hyperParameters: {epochCount: '4'}},
  })
  Object.assign(made, {
    state: 'JOB_STATE_SUCCEEDED',
    endTime: '2025-01-02T05:04:05Z',
    tunedModel: {
      model: 'projects/1/locations/us-central1/models/7',
      endpoint: 'projects/1/locations/us-central1/endpoints/9',
    },
    tuningDataStats: {supervisedTuningDataStats: {totalBillableTokenCount: '1234'}},
  })
  expect(await openai.fineTuning.jobs.retrieve(job.id)).toMatchObject({
    status: 'succeeded',
    fine_tuned_model: 'endpoints.9',
    trained_tokens: 1234,
    finished_at: 1_735_794_245,
  })
  expect((await openai.fineTuning.jobs.list()).data.map(({id}) => id)).toEqual([NUMBER])
  Object.assign(made, {state: 'JOB_STATE_RUNNING'})
  expect(await openai.fineTuning.jobs.cancel(job.id)).toMatchObject({id: NUMBER, status: 'running'})
})
