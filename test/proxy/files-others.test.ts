import {setImmediate as turn} from 'node:timers/promises'
import {toFile} from 'openai'
import {afterAll, beforeAll, beforeEach, expect, test} from 'vitest'
import {type Objects, s3} from '../support/clouds/objects.ts'
import {asLines, chatRow, openaiAt, rowsFile} from '../support/files.ts'
import {startGateway, type TestGateway} from '../support/gateway.ts'
import {type Answer, type FakeProvider, fakeProvider, json} from '../support/provider.ts'

let gateway: TestGateway
let twin: FakeProvider
const objects: Objects = new Map()
const parts = new Map<string, Buffer[]>()

const AWS = {
  aws_auth_type: 'accessKey',
  aws_region: 'us-east-1',
  aws_access_key_id: 'AKIDEXAMPLE',
  aws_secret_access_key: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY',
  aws_s3_bucket: 'my-bucket',
}
const CLAUDE = 'anthropic.claude-3-haiku-20240307-v1:0'

beforeAll(async () => {
  twin = await fakeProvider()
  gateway = await startGateway({TRUSTED_CUSTOM_HOSTS: '127.0.0.1'})
  const bare = twin.url.replace('/v1', '')
  await gateway.provider('openai', 'openai', twin.url)
  await gateway.provider('groq', 'groq', twin.url)
  await gateway.provider('azure', 'azure-openai', `${bare}/openai`, {
    configurations: {
      custom_host: `${bare}/openai`,
      azure_auth_mode: 'default',
      azure_resource_name: 'r',
      azure_deployment_config: [
        {azure_deployment_name: 'd', azure_api_version: '2024-10-21', azure_model_slug: 'gpt-4o', is_default: true},
      ],
    },
  })
  await gateway.provider('fireworks', 'fireworks-ai', bare, {
    configurations: {custom_host: bare, fireworks_account_id: 'acme'},
  })
  await gateway.provider('bedrock', 'bedrock', bare, {configurations: {...AWS, custom_host: bare}})
  await gateway.provider('listed', 'bedrock', bare, {configurations: {...AWS, custom_host: bare}})
  await gateway.admin('PUT', '/integrations/listed/models', {
    allow_all_models: false,
    models: [{slug: CLAUDE, enabled: true}],
  })
})
afterAll(async () => {
  await gateway.close()
  await twin.close()
})
beforeEach(() => {
  objects.clear()
  parts.clear()
  twin.received.length = 0
})

const at = (provider: string, headers: Record<string, string> = {}) => openaiAt(gateway, `@${provider}`, headers)
const asS3: Answer = (received, response) => {
  if (!s3(objects, parts, received, response)) json(response, {message: 'not S3'}, 400)
}
const row = (custom_id: string, model = CLAUDE) => chatRow(custom_id, model, 'x'.repeat(90_000))

test('a provider of OpenAI’s words gives the output of a batch by the batch’s id', async () => {
  twin.answer(({path}, response) => {
    if (path === '/v1/batches/batch_1')
      return json(response, {id: 'batch_1', status: 'completed', output_file_id: 'file-2'})
    if (path === '/v1/batches/batch_2')
      return json(response, {id: 'batch_2', status: 'in_progress', output_file_id: null})
    if (path === '/v1/files/file-2/content') return void response.writeHead(200).end('{"custom_id":"a"}\n')
    json(response, {error: {message: 'No such batch.', type: 'invalid_request_error', param: 'id', code: null}}, 404)
  })
  for (const provider of ['openai', 'groq']) {
    const ask = (id: string) =>
      gateway.call(`/v1/batches/${id}/output`, {headers: {'x-gateway-provider': `@${provider}`}})
    const done = await ask('batch_1')
    expect([done.status, await done.text()]).toEqual([200, '{"custom_id":"a"}\n'])
    expect((await ask('batch_2')).status).toBe(400)
    const missing = await ask('batch_3')
    expect([missing.status, await missing.json()]).toEqual([
      404,
      {error: {message: 'No such batch.', type: 'invalid_request_error', param: 'id', code: null}, provider},
    ])
  }
  expect(twin.received.every(({headers}) => headers.authorization === 'Bearer sk-upstream-secret-0123456789')).toBe(
    true,
  )
})

test('at Azure OpenAI files and batches belong to the resource, and are said at their version', async () => {
  twin.answer(({path}, response) => {
    if (path.startsWith('/openai/batches/b1?'))
      return json(response, {id: 'b1', status: 'completed', output_file_id: 'f2'})
    if (path.startsWith('/openai/files/f2/content?')) return void response.writeHead(200).end('row\n')
    json(response, {id: 'x', object: 'list', data: []})
  })
  const azure = at('azure')
  await azure.files.create({file: await toFile(Buffer.from('{}'), 'a.jsonl'), purpose: 'batch'})
  await azure.files.list()
  await azure.batches.create({input_file_id: 'f1', endpoint: '/v1/chat/completions', completion_window: '24h'})
  await azure.batches.cancel('b1')
  await azure.fineTuning.jobs.create({model: 'gpt-4o', training_file: 'f1'})
  const output = await gateway.call('/v1/batches/b1/output', {headers: {'x-gateway-provider': '@azure'}})
  expect(await output.text()).toBe('row\n')
  expect(twin.received.map(({method, path}) => `${method} ${path}`)).toEqual([
    'POST /openai/files?api-version=2024-10-21',
    'GET /openai/files?api-version=2024-10-21',
    'POST /openai/batches?api-version=2024-10-21',
    'POST /openai/batches/b1/cancel?api-version=2024-10-21',
    'POST /openai/fine_tuning/jobs?api-version=2024-10-21',
    'GET /openai/batches/b1?api-version=2024-10-21',
    'GET /openai/files/f2/content?api-version=2024-10-21',
  ])
  expect(twin.received.every(({headers}) => headers['api-key'] === 'sk-upstream-secret-0123456789')).toBe(true)
})

test('a place that the provider signs is asked without credentials, and judged as a caller’s host', async () => {
  const answer =
    (url: string): Answer =>
    ({path}, response) =>
      path.startsWith('/signed')
        ? void response.writeHead(200).end('rows')
        : json(response, {filenameToSignedUrls: {a: url}})
  twin.answer(answer(`http://127.0.0.1:${twin.port}/signed?sig=1`))
  expect(await (await at('fireworks').files.content('file-1')).text()).toBe('rows')
  const [, signed] = twin.received
  expect([signed!.path, signed!.headers.authorization]).toEqual(['/signed?sig=1', undefined])
  twin.answer(answer('http://169.254.169.254/latest/meta-data'))
  const blocked = await at('fireworks')
    .files.content('file-1')
    .catch(fault => fault)
  expect([blocked.status, blocked.error.message]).toEqual([400, expect.stringContaining('metadata')])
  expect(twin.received).toHaveLength(3)
})

test('models that are not allowed are refused in rows, in batches and in headers', async () => {
  twin.answer(asS3)
  const refused = [
    at('listed').files.create({
      file: await rowsFile([row('a'), row('b', 'meta.llama3-8b-instruct-v1:0')]),
      purpose: 'batch',
    }),
    at('listed').batches.create({
      input_file_id: encodeURIComponent('s3://my-bucket/r.jsonl'),
      endpoint: '/v1/chat/completions',
      completion_window: '24h',
      ...({model: 'meta.llama3-8b-instruct-v1:0', role_arn: 'arn:aws:iam::1:role/x'} as object),
    }),
    at('listed', {'x-gateway-provider-model': 'meta.llama3-8b-instruct-v1:0'}).files.list(),
  ]
  for (const fault of await Promise.all(refused.map(each => Promise.resolve(each).catch(error => error)))) {
    expect([fault.status, fault.error.type]).toEqual([412, 'model_not_allowed_error'])
  }
  expect(objects.size).toBe(0)
  const file = await at('listed').files.create({file: await rowsFile([row('a')]), purpose: 'batch'})
  expect(file.object).toBe('file')
})

test('an upload is tried again, and at the next target, where the config says so', async () => {
  let failures = 2
  twin.answer((received, response, request) => {
    if (received.method === 'PUT' && failures-- > 0) {
      const body = '<Error><Code>SlowDown</Code><Message>Please reduce your request rate.</Message></Error>'
      return void response.writeHead(503, {'content-type': 'application/xml'}).end(body)
    }
    asS3(received, response, request)
  })
  const config = JSON.stringify({
    strategy: {mode: 'fallback'},
    targets: [{provider: '@bedrock'}, {provider: '@listed'}],
  })
  const upload = async () =>
    at('bedrock', {'x-gateway-config': config}).files.create({file: await rowsFile([row('a')]), purpose: 'batch'})
  const slow = await upload().catch(fault => fault)
  expect([slow.status, slow.error]).toMatchObject([
    503,
    {message: 'bedrock error: Please reduce your request rate.', type: 'SlowDown'},
  ])
  failures = 1
  const {data, response} = await at('bedrock', {'x-gateway-config': config})
    .files.create({file: await rowsFile([row('a')]), purpose: 'batch'})
    .withResponse()
  expect([data.object, response.headers.get('x-gateway-last-used-option-index')]).toEqual(['file', 'config.targets[1]'])
})

test('a client that leaves in the middle leaves nothing behind', async () => {
  const gone = new AbortController()
  let taken_back: () => void
  const over = new Promise<void>(resolve => {
    taken_back = resolve
  })
  twin.answer((received, response, request) => {
    if (received.path.includes('partNumber=1')) gone.abort()
    asS3(received, response, request)
    if (received.method === 'DELETE') taken_back()
  })
  const boundary = 'cut'
  async function* form() {
    yield Buffer.from(`--${boundary}\r\ncontent-disposition: form-data; name="file"; filename="long.jsonl"\r\n\r\n`)
    for (let at = 0; !gone.signal.aborted; at++) {
      yield asLines([row(`r-${at}`)])
      await turn()
    }
  }
  const sent = gateway.call('/v1/files', {
    method: 'POST',
    signal: gone.signal,
    headers: {'x-gateway-provider': '@bedrock', 'content-type': `multipart/form-data; boundary=${boundary}`},
    ...({body: form(), duplex: 'half'} as object),
  })
  await expect(sent).rejects.toThrow()
  await over
  expect([objects.size, parts.size]).toEqual([0, 0])
})

test.each([
  ['not a form', 'text/plain', 'x', 'multipart'],
  [
    'a form that is cut',
    'multipart/form-data; boundary=b',
    '--b\r\ncontent-disposition: form-data; name="file"; filename="a"\r\n\r\nhalf',
    'last boundary',
  ],
  [
    'a form without a file',
    'multipart/form-data; boundary=b',
    '--b\r\ncontent-disposition: form-data; name="purpose"\r\n\r\nbatch\r\n--b--',
    'no file',
  ],
  ['no form at all', '', '', 'expected a form'],
])('%s is refused', async (_name, type, body, word) => {
  twin.answer(asS3)
  const headers = {'x-gateway-provider': '@bedrock', ...(type && {'content-type': type})}
  const reply = await gateway.call('/v1/files', {method: 'POST', headers, ...(body && {body})})
  expect([reply.status, JSON.stringify(await reply.json())]).toEqual([400, expect.stringContaining(word)])
  expect(objects.size).toBe(0)
})

test('ids that would lead out of their bucket or job are refused before anything is asked', async () => {
  twin.answer(asS3)
  const ids = [
    's3://my-bucket/a/../../other/x',
    's3://my-bucket/..',
    's3://../x',
    'gs://my-bucket/x',
    'plain',
    's3://my-bucket/a\\b',
    's3://my-bucket/\u0000',
  ]
  for (const id of ids) {
    const fault = await at('bedrock')
      .files.retrieve(encodeURIComponent(id))
      .catch(error => error)
    expect([id, fault.status]).toEqual([id, 400])
  }
  for (const id of ['../x', 'a?b', 'arn:aws:bedrock:us-east-1:1:model-invocation-job/../x'])
    expect(
      (
        await at('bedrock')
          .batches.retrieve(encodeURIComponent(id))
          .catch(error => error)
      ).status,
    ).toBe(400)
  expect(twin.received).toEqual([])
})
