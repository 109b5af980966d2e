import OpenAI, {toFile} from 'openai'
import {afterAll, beforeAll, beforeEach, expect, test} from 'vitest'
import {MODIFIED_S, type Objects, s3} from '../support/clouds/objects.ts'
import {asLines, asRows, chatRow, openaiAt, rowsFile} from '../support/files.ts'
import {startGateway, type TestGateway} from '../support/gateway.ts'
import {type FakeProvider, fakeProvider, type Heard, json} from '../support/provider.ts'

const MODEL = 'anthropic.claude-3-haiku-20240307-v1:0'
const ROLE = 'arn:aws:iam::111122223333:role/batches'
const JOB = 'arn:aws:bedrock:us-east-1:111122223333:model-invocation-job/abc123def456'
const TUNING = `arn:aws:bedrock:us-east-1:111122223333:model-customization-job/${MODEL}/xyz789`

const objects: Objects = new Map()
const parts = new Map<string, Buffer[]>()
const jobs = new Map<string, Record<string, unknown>>()
let on_part = () => {}
let twin: FakeProvider
let gateway: TestGateway

/** Bedrock's control plane beside S3, as the API reference has them. */
function answer(received: Heard, response: Parameters<typeof json>[0]) {
  if (received.path.includes('partNumber=1')) on_part()
  if (s3(objects, parts, received, response)) return
  if (!received.headers.authorization?.includes('/us-east-1/bedrock/aws4_request'))
    return json(response, {message: 'no signature'}, 403)
  const [path] = received.path.split('?', 1)
  const [, kind, id, action] = path!.split('/').map(decodeURIComponent)
  const said = () => JSON.parse(received.body.toString())
  const is_tuning = kind === 'model-customization-jobs'
  if (received.method === 'POST' && id === undefined) {
    const arn = is_tuning ? TUNING : JOB
    jobs.set(arn, {jobArn: arn, ...said()})
    return json(response, {jobArn: arn}, is_tuning ? 201 : 200)
  }
  if (kind === 'model-invocation-jobs')
    return json(response, {invocationJobSummaries: [...jobs.values()].filter(job => job.jobArn === JOB)})
  if (is_tuning && id === undefined)
    return json(response, {modelCustomizationJobSummaries: [...jobs.values()].filter(job => job.jobArn === TUNING)})
  const job = jobs.get(id!)
  if (!job)
    return json(response, {__type: 'ResourceNotFoundException', message: 'The provided job does not exist.'}, 404)
  if (action === 'stop') {
    job.status = 'Stopping'
    return json(response, {})
  }
  json(response, job)
}

beforeAll(async () => {
  twin = await fakeProvider(answer)
  gateway = await startGateway({TRUSTED_CUSTOM_HOSTS: '127.0.0.1'})
  await gateway.provider('bedrock', 'bedrock', twin.url.replace('/v1', ''), {
    configurations: {
      custom_host: twin.url.replace('/v1', ''),
      aws_auth_type: 'accessKey',
      aws_region: 'us-east-1',
      aws_access_key_id: 'AKIDEXAMPLE',
      aws_secret_access_key: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY',
      aws_s3_bucket: 'my-bucket',
    },
  })
})
afterAll(async () => {
  await gateway.close()
  await twin.close()
})
beforeEach(() => {
  objects.clear()
  parts.clear()
  jobs.clear()
  twin.received.length = 0
})

const client = (headers: Record<string, string> = {}) => openaiAt(gateway, '@bedrock', headers)
const row = (custom_id: string, content: string) => chatRow(custom_id, MODEL, content)
const place = (id: string) => decodeURIComponent(id).replace('s3://', '')

test('a batch, from its file to its output', async () => {
  const openai = client()
  const file = await openai.files.create({
    file: await rowsFile([row('a-1', 'Hello'), row('a-2', 'Who?')], 'rows.jsonl'),
    purpose: 'batch',
  })
  expect(file).toMatchObject({object: 'file', purpose: 'batch', filename: 'rows.jsonl', status: 'processed'})
  expect(place(file.id)).toMatch(/^my-bucket\/gateway-files\/batch\/[\w-]+\/rows\.jsonl$/)
  const stored = objects.get(place(file.id))!
  expect(file.bytes).toBe(stored.length)
  expect(asRows(stored.toString())).toEqual([
    {
      recordId: 'a-1',
      modelInput: {
        messages: [{role: 'user', content: [{text: 'Hello'}]}],
        system: [{text: 'Be brief.'}],
        inferenceConfig: {maxTokens: 50},
      },
    },
    {
      recordId: 'a-2',
      modelInput: {
        messages: [{role: 'user', content: [{text: 'Who?'}]}],
        system: [{text: 'Be brief.'}],
        inferenceConfig: {maxTokens: 50},
      },
    },
  ])

  const batch = await openai.batches.create({
    input_file_id: file.id,
    endpoint: '/v1/chat/completions',
    completion_window: '24h',
    metadata: {run: '7'},
    ...({model: MODEL, role_arn: ROLE, provider_options: {timeoutDurationInHours: 48}} as object),
  })
  expect(batch).toMatchObject({
    id: encodeURIComponent(JOB),
    object: 'batch',
    status: 'validating',
    input_file_id: file.id,
    endpoint: '/v1/chat/completions',
    metadata: {run: '7'},
  })
  const created = jobs.get(JOB)!
  expect(created).toMatchObject({
    modelId: MODEL,
    modelInvocationType: 'Converse',
    timeoutDurationInHours: 48,
    roleArn: ROLE,
    inputDataConfig: {s3InputDataConfig: {s3Uri: `s3://${place(file.id)}`, s3InputFormat: 'JSONL'}},
  })
  const output = (created.outputDataConfig as {s3OutputDataConfig: {s3Uri: string}}).s3OutputDataConfig.s3Uri
  expect(output).toMatch(/^s3:\/\/my-bucket\/gateway-files\/batch_output\/[\w-]+\/$/)

  Object.assign(created, {status: 'InProgress', submitTime: '2025-01-02T03:04:05Z'})
  expect(await openai.batches.retrieve(batch.id)).toMatchObject({
    status: 'in_progress',
    created_at: 1_735_787_045,
    output_file_id: null,
  })

  Object.assign(created, {status: 'Completed', endTime: '2025-01-02T04:04:05Z'})
  const folder = `${output.replace('s3://', '')}abc123def456`
  objects.set(
    `${folder}/rows.jsonl.out`,
    asLines([
      {
        recordId: 'a-2',
        modelInput: {messages: []},
        modelOutput: {
          output: {message: {role: 'assistant', content: [{text: 'Nobody.'}]}},
          stopReason: 'end_turn',
          usage: {inputTokens: 9, outputTokens: 3, totalTokens: 12},
        },
      },
      {
        recordId: 'a-1',
        modelInput: {messages: []},
        error: {errorCode: 400, errorMessage: 'Too long.', expired: false, retryable: false},
      },
    ]),
  )
  objects.set(
    `${folder}/manifest.json.out`,
    Buffer.from(
      '{"totalRecordCount":2,"processedRecordCount":2,"successRecordCount":1,"errorRecordCount":1,"inputTokenCount":9,"outputTokenCount":3}',
    ),
  )
  const first_seen = await gateway.call(`/v1/batches/${JOB}/output`, {headers: {'x-gateway-provider': '@bedrock'}})
  expect(asRows(await first_seen.text())).toHaveLength(2)
  // (9 x 0.25 + 3 x 1.25 US dollars a million) / 2
  const charged = async () => (await gateway.logs()).filter(({cost}) => Number(cost) > 0)
  expect(await charged()).toMatchObject([{cost: 0.0003, total_units: 12, ai_model: MODEL}])
  const done = await openai.batches.retrieve(batch.id)
  expect(await charged()).toHaveLength(1)
  expect(done).toMatchObject({
    status: 'completed',
    completed_at: 1_735_790_645,
    request_counts: {total: 2, completed: 1, failed: 1},
    usage: {input_tokens: 9, output_tokens: 3, total_tokens: 12},
  })
  const content = await (await openai.files.content(done.output_file_id!)).text()
  const [second, first] = asRows(content)
  expect(second).toMatchObject({
    custom_id: 'a-2',
    error: null,
    response: {
      status_code: 200,
      body: {
        object: 'chat.completion',
        model: MODEL,
        choices: [{index: 0, message: {role: 'assistant', content: 'Nobody.'}, finish_reason: 'stop'}],
        usage: {prompt_tokens: 9, completion_tokens: 3},
      },
    },
  })
  expect(first).toEqual({
    id: 'batch_req_2',
    custom_id: 'a-1',
    response: null,
    error: {code: '400', message: 'bedrock error: Too long.'},
  })
  const same = await gateway.call(`/v1/batches/${JOB}/output`, {headers: {'x-gateway-provider': '@bedrock'}})
  expect([same.status, same.headers.get('content-type')]).toEqual([200, 'application/octet-stream'])
  expect(asRows(await same.text()).map(each => each.custom_id)).toEqual(['a-2', 'a-1'])

  const listed = await openai.batches.list({limit: 5})
  expect(listed.data.map(each => [each.id, each.status])).toEqual([[batch.id, 'completed']])
})

test('a batch that is cancelled, and one that is not there', async () => {
  const openai = client()
  jobs.set(JOB, {jobArn: JOB, modelId: MODEL, status: 'InProgress'})
  expect(await openai.batches.cancel(encodeURIComponent(JOB))).toMatchObject({
    id: encodeURIComponent(JOB),
    status: 'cancelling',
  })
  const missing = await openai.batches.retrieve(encodeURIComponent(`${JOB}9`)).catch(fault => fault)
  expect(missing).toBeInstanceOf(OpenAI.NotFoundError)
  expect(missing.error).toMatchObject({
    message: 'bedrock error: The provided job does not exist.',
    type: 'ResourceNotFoundException',
  })
})

test('files are listed by pages, retrieved, read and deleted', async () => {
  const openai = client()
  for (const name of ['a.txt', 'b.txt', 'c & d.txt'])
    await openai.files.create({file: await toFile(Buffer.from(`text of ${name}`), name), purpose: 'user_data'})
  objects.set('my-bucket/elsewhere/secret.txt', Buffer.from('not ours'))
  const names: string[] = []
  for await (const file of openai.files.list({limit: 2})) names.push(file.filename)
  expect(names).toEqual(['a.txt', 'b.txt', 'c_d.txt'])
  const {id} = (await openai.files.list({limit: 1})).data[0]!
  expect(await openai.files.retrieve(id)).toMatchObject({
    id,
    bytes: 13,
    created_at: MODIFIED_S,
    purpose: 'user_data',
    filename: 'a.txt',
  })
  expect(await (await openai.files.content(id)).text()).toBe('text of a.txt')
  expect(await openai.files.delete(id)).toEqual({id, object: 'file', deleted: true})
  const gone = await openai.files.retrieve(id).catch(fault => fault)
  expect([gone.status, gone.error.message]).toEqual([404, 'bedrock error: there is no such file'])
  const unread = await openai.files.content(id).catch(fault => fault)
  expect([unread.status, unread.error.message]).toEqual([404, 'bedrock error: The specified key does not exist.'])
})

test('the bucket of the integration is the only one its credentials open', async () => {
  objects.set('other-bucket/secret.txt', Buffer.from('secret'))
  const refused = await client({'x-gateway-aws-s3-bucket': 'other-bucket'})
    .files.content(encodeURIComponent('s3://other-bucket/secret.txt'))
    .catch(fault => fault)
  expect([refused.status, refused.error.message]).toEqual([
    400,
    'The provider bedrock cannot take this request. id: expected a file in the bucket my-bucket.',
  ])
  expect(twin.received).toEqual([])
})

test('a long file goes in parts, and is never held whole', async () => {
  const filler = 'x'.repeat(90_000)
  const rows = 220
  const boundary = 'boundary-of-a-long-form'
  const first_part = new Promise<void>(resolve => {
    on_part = resolve
  })
  async function* form() {
    yield Buffer.from(
      `--${boundary}\r\ncontent-disposition: form-data; name="file"; filename="long.jsonl"\r\ncontent-type: application/jsonl\r\n\r\n`,
    )
    for (let at = 0; at < rows; at++) {
      yield Buffer.from(`${JSON.stringify(row(`r-${at}`, filler))}\n`)
      // Ten megabytes are on their way: the first part has to be there before more is sent.
      if (at === 120) await first_part
    }
    yield Buffer.from(
      `\r\n--${boundary}\r\ncontent-disposition: form-data; name="purpose"\r\n\r\nbatch\r\n--${boundary}--\r\n`,
    )
  }
  const reply = await gateway.call('/v1/files', {
    method: 'POST',
    headers: {'x-gateway-provider': '@bedrock', 'content-type': `multipart/form-data; boundary=${boundary}`},
    ...({body: form(), duplex: 'half'} as object),
  })
  const file = (await reply.json()) as {id: string; bytes: number; purpose: string}
  expect([reply.status, file.purpose]).toEqual([200, 'batch'])
  const stored = objects.get(place(file.id))!
  expect(stored.length).toBe(file.bytes)
  expect(asRows(stored.toString()).map(each => each.recordId)).toEqual(Array.from({length: rows}, (_, at) => `r-${at}`))
  const sizes = twin.received.filter(each => each.path.includes('partNumber')).map(each => each.body.length)
  expect(sizes).toEqual([8 << 20, 8 << 20, stored.length - (16 << 20)])
})

test('a row that cannot be said is refused with its line, and nothing is kept', async () => {
  const bad = {...row('b', 'x'), body: {model: MODEL, messages: [{role: 'nobody', content: 'x'}]}}
  const filler = Array.from({length: 110}, (_, at) => row(`r-${at}`, 'x'.repeat(90_000)))
  for (const before of [[row('a', 'x')], filler]) {
    const refused = await client()
      .files.create({file: await rowsFile([...before, bad], 'rows.jsonl'), purpose: 'batch'})
      .catch(fault => fault)
    expect(refused).toBeInstanceOf(OpenAI.BadRequestError)
    expect(refused.error.message).toContain(`line ${before.length + 1}: messages[0].role`)
    expect([objects.size, parts.size]).toEqual([0, 0])
  }
  const [row_of_log] = await gateway.logs()
  expect(row_of_log).toMatchObject({response_status_code: 400, is_success: false})
})

test('fine-tuning', async () => {
  const openai = client({'x-gateway-provider-model': MODEL})
  const training = {
    messages: [
      {role: 'system', content: 'Be kind.'},
      {role: 'user', content: 'Hi'},
      {role: 'assistant', content: 'Hello!'},
    ],
  }
  const file = await openai.files.create({file: await rowsFile([training], 'train.jsonl'), purpose: 'fine-tune'})
  expect(asRows(objects.get(place(file.id))!.toString())).toEqual([
    {
      system: 'Be kind.',
      messages: [
        {role: 'user', content: 'Hi'},
        {role: 'assistant', content: 'Hello!'},
      ],
    },
  ])
  const job = await openai.fineTuning.jobs.create({
    model: MODEL,
    training_file: file.id,
    suffix: 'kind',
    hyperparameters: {n_epochs: 3, batch_size: 'auto', learning_rate_multiplier: 0.5},
    ...({role_arn: ROLE} as object),
  })
  expect(job).toMatchObject({
    id: encodeURIComponent(TUNING),
    object: 'fine_tuning.job',
    status: 'validating_files',
    training_file: file.id,
  })
  expect(jobs.get(TUNING)).toMatchObject({
    baseModelIdentifier: MODEL,
    customModelName: 'kind',
    roleArn: ROLE,
    hyperParameters: {epochCount: '3', learningRateMultiplier: '0.5'},
    trainingDataConfig: {s3Uri: `s3://${place(file.id)}`},
  })
  Object.assign(jobs.get(TUNING)!, {
    status: 'Completed',
    creationTime: '2025-01-02T03:04:05Z',
    endTime: '2025-01-02T05:04:05Z',
    baseModelArn: `arn:aws:bedrock:us-east-1::foundation-model/${MODEL}`,
    outputModelArn: 'arn:aws:bedrock:us-east-1:111122223333:custom-model/x',
  })
  expect(await openai.fineTuning.jobs.retrieve(job.id)).toMatchObject({
    status: 'succeeded',
    model: MODEL,
    fine_tuned_model: 'arn:aws:bedrock:us-east-1:111122223333:custom-model/x',
    hyperparameters: {n_epochs: 3, batch_size: 'auto', learning_rate_multiplier: 0.5},
    finished_at: 1_735_794_245,
  })
  const all: string[] = []
  for await (const each of openai.fineTuning.jobs.list()) all.push(each.id)
  expect(all).toEqual([job.id])
  Object.assign(jobs.get(TUNING)!, {status: 'InProgress'})
  expect(await openai.fineTuning.jobs.cancel(job.id)).toMatchObject({id: job.id, status: 'running'})
})

test('each call is in the journal and the log once, at no cost, with the place it went to', async () => {
  const before = (await gateway.logs()).length
  jobs.set(JOB, {jobArn: JOB, modelId: MODEL, status: 'InProgress'})
  await client().batches.retrieve(encodeURIComponent(JOB))
  const rows = await gateway.logs()
  expect(rows.length).toBe(before + 1)
  expect(rows[0]).toMatchObject({response_status_code: 200, cost: 0, ai_org: 'bedrock'})
})
