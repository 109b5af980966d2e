import Anthropic, {APIError} from '@anthropic-ai/sdk'
import OpenAI from 'openai'
import {afterAll, beforeAll, beforeEach, describe, expect, test} from 'vitest'
import {list as kinds} from '../../src/providers/registry.ts'
import {startGateway, type TestGateway, WORKSPACE_KEY} from '../support/gateway.ts'
import {type Answer, type FakeProvider, fakeProvider, json} from '../support/provider.ts'

let provider: FakeProvider
let gateway: TestGateway

const OTHERS = {oai: 'openai', groq: 'groq', mis: 'mistral-ai', gem: 'google'} as const
const ALL = [...Object.keys(OTHERS), 'ant']

beforeAll(async () => {
  provider = await fakeProvider()
  const origin = provider.url.replace(/\/v1$/, '')
  gateway = await startGateway({TRUSTED_CUSTOM_HOSTS: '127.0.0.1'})
  for (const [slug, kind] of Object.entries(OTHERS))
    await gateway.provider(slug, kind, kind === 'google' ? origin : provider.url)
  await gateway.provider('ant', 'anthropic', provider.url)
})
afterAll(async () => {
  await gateway.close()
  await provider.close()
})
beforeEach(() => {
  provider.received.length = 0
  provider.answer(answer)
})

const CREATED_S = 1_700_000_000
const CREATED = '2023-11-14T22:13:20Z'
const file_of_openai = {id: 'f_1', object: 'file', bytes: 3, created_at: CREATED_S, filename: 'a.pdf', purpose: 'batch'}
const file_of_google = {
  name: 'files/f_1',
  displayName: 'a.pdf',
  sizeBytes: '3',
  createTime: CREATED,
  mimeType: 'application/pdf',
}
const file_of_anthropic = {
  id: 'f_1',
  type: 'file',
  filename: 'a.pdf',
  mime_type: 'application/pdf',
  size_bytes: 3,
  created_at: CREATED,
  downloadable: true,
}
const model_of_openai = {id: 'm-1', object: 'model', created: CREATED_S, owned_by: 'x'}
const model_of_anthropic = {type: 'model', id: 'm-1', display_name: 'm-1', created_at: CREATED}

/** Each kind of provider in its own words, by where the call came. */
const answer: Answer = ({method, path, headers}, response) => {
  const [plain] = path.split('?')
  if (plain!.includes('missing')) return json(response, {error: {message: 'No such thing', code: 'x'}}, 404)
  if (headers['x-api-key'] !== undefined) return json(response, ofAnthropic(method, plain!))
  if (headers['x-goog-api-key'] !== undefined) return json(response, ofGoogle(method, plain!))
  if (plain!.endsWith('/content')) return response.writeHead(200, {'content-type': 'application/pdf'}).end('%PDF')
  return json(response, ofOpenai(method, plain!))
}

function ofOpenai(method: string, path: string): object {
  if (method === 'DELETE') return {id: 'f_1', object: 'file', deleted: true}
  if (path.endsWith('/files') && method === 'GET')
    return {object: 'list', data: [file_of_openai], has_more: true, total: 1}
  if (path.endsWith('/models')) return {object: 'list', data: [model_of_openai]}
  return path.includes('/models/') ? model_of_openai : file_of_openai
}

function ofGoogle(method: string, path: string): object {
  if (method === 'DELETE') return {}
  if (path.endsWith('/files') && method === 'GET') return {files: [file_of_google]}
  if (path.endsWith('/models')) return {models: [{name: 'models/m-1', displayName: 'm-1'}]}
  return path.includes('/upload/') ? {file: file_of_google} : file_of_google
}

function ofAnthropic(method: string, path: string): object {
  if (method === 'DELETE') return {id: 'f_1', type: 'file_deleted', own: 1}
  if (path.endsWith('/files') && method === 'GET') return {data: [{...file_of_anthropic, own: 1}], has_more: false}
  if (path.endsWith('/models')) return {data: [model_of_anthropic], has_more: false}
  return path.includes('/models/') ? {...model_of_anthropic, own: 1} : {...file_of_anthropic, own: 1}
}

const client = (slug: string) =>
  new Anthropic({
    apiKey: WORKSPACE_KEY,
    baseURL: gateway.url,
    maxRetries: 0,
    defaultHeaders: {'x-gateway-provider': `@${slug}`},
  })

const version = {'anthropic-version': '2023-06-01'}
async function get(slug: string, path: string, headers: Record<string, string> = {}, method = 'GET') {
  const response = await gateway.call(path, {method, headers: {'x-gateway-provider': `@${slug}`, ...headers}})
  return {status: response.status, body: (await response.json()) as Record<string, unknown>}
}

describe('fact 9: files and models of another kind in Anthropic’s words, for its own client', () => {
  test.each(Object.keys(OTHERS))('%s: a list of files', async slug => {
    const page = await client(slug).beta.files.list({limit: 5})
    expect(page.data).toMatchObject([
      {id: expect.any(String), type: 'file', filename: 'a.pdf', size_bytes: 3, created_at: CREATED},
    ])
    const {body} = await get(slug, '/v1/files', version)
    expect(Object.keys(body)).toEqual(['data', 'has_more', 'first_id', 'last_id', 'next_page'])
    expect([body.first_id, body.last_id]).toEqual([page.data[0]!.id, page.data[0]!.id])
  })

  test.each(['oai', 'groq', 'mis'])('%s: one file, its content and its end', async slug => {
    expect(await client(slug).beta.files.retrieveMetadata('f_1')).toMatchObject(file_of_anthropic)
    expect(await client(slug).beta.files.delete('f_1')).toMatchObject({id: 'f_1', type: 'file_deleted'})
    const content = await client(slug).beta.files.download('f_1')
    expect(await content.text()).toBe('%PDF')
  })

  test.each(Object.keys(OTHERS))('%s: an upload, with the purpose that its form lacks', async slug => {
    const uploaded = await client(slug).beta.files.upload({file: new File(['abc'], 'a.pdf', {type: 'application/pdf'})})
    expect(uploaded).toMatchObject({type: 'file', filename: 'a.pdf', size_bytes: 3, created_at: CREATED})
    const left = provider.received.map(({body}) => body.toString('latin1')).join('')
    expect(left).toContain('abc')
    if (slug === 'gem') return
    const {headers, body} = provider.received.at(-1)!
    const form = await new Response(new Uint8Array(body), {
      headers: {'content-type': headers['content-type']!},
    }).formData()
    expect([form.get('purpose'), await (form.get('file') as File).text()]).toEqual(['user_data', 'abc'])
  })

  test.each(['oai', 'gem'])('%s: models, one and all', async slug => {
    expect((await client(slug).models.list()).data).toMatchObject([{type: 'model', id: 'm-1'}])
    expect(await client(slug).models.retrieve('m-1')).toMatchObject({type: 'model', id: 'm-1', display_name: 'm-1'})
    await expect(client(slug).models.retrieve('none')).rejects.toMatchObject({status: 404, error: {type: 'error'}})
  })

  test.each(['oai', 'gem', 'mis'])('%s: errors of the provider are in its envelope', async slug => {
    const fault = await client(slug)
      .beta.files.retrieveMetadata('missing')
      .catch((error: unknown) => error as InstanceType<typeof APIError>)
    expect(fault).toBeInstanceOf(APIError)
    expect(fault).toMatchObject({status: 404, error: {type: 'error', error: {type: 'not_found_error'}}})
    expect(String((fault as Error).message)).toContain('No such thing')
  })

  test('a list goes on where its client says', async () => {
    await get('oai', '/v1/files?limit=1&after_id=f_1&beta=true', version)
    await get('oai', '/v1/files?page=f_2', version)
    expect(provider.received.map(({path}) => path)).toEqual(['/v1/files?limit=1&after=f_1', '/v1/files?after=f_2'])
  })

  test.each([
    ['a list', []],
    ['no object', 'text'],
    ['a file without an id', {data: [{filename: 'x'}]}],
  ])('what is no reply of files, but %s, is 502', async (_, reply) => {
    provider.answer((_, response) => json(response, reply))
    const {status, body} = await get('oai', '/v1/files', version)
    expect([status, body.type]).toEqual([502, 'error'])
  })

  test('a hostile reply stays a reply', async () => {
    const data = [{id: 'f', bytes: -1, created_at: 1e300, filename: 7, purpose: {}}]
    provider.answer((_, response) => json(response, {data, has_more: 'yes'}))
    expect((await get('oai', '/v1/files', version)).body).toEqual({
      data: [
        {
          id: 'f',
          type: 'file',
          filename: '',
          mime_type: 'application/octet-stream',
          size_bytes: 0,
          created_at: '1970-01-01T00:00:00Z',
          downloadable: true,
        },
      ],
      has_more: false,
      first_id: 'f',
      last_id: 'f',
      next_page: null,
    })
  })
})

/** What each answers, by operation and header: `own` is the provider's own bytes. */
const OPERATIONS: readonly (readonly [method: string, path: string, with_header: string, without: string])[] = [
  ['GET', '/v1/files', 'anthropic', 'openai'],
  ['GET', '/v1/files/f_1', 'anthropic', 'openai'],
  ['DELETE', '/v1/files/f_1', 'anthropic', 'openai'],
  ['GET', '/v1/models', 'anthropic', 'openai'],
  ['GET', '/v1/models/m-1', 'anthropic', 'openai'],
]

describe('fact 9: by kind, operation and header', () => {
  const cases = ALL.flatMap(slug =>
    OPERATIONS.flatMap(([method, path, with_header, without]) => [
      [slug, method, path, 'with', with_header, version] as const,
      [slug, method, path, 'without', without, {}] as const,
    ]),
  )
  test.each(cases)('@%s %s %s %s the header is in the words of %s', async (slug, method, path, _, words, headers) => {
    const {status, body} = await get(slug, path, headers, method)
    expect(status).toBe(200)
    const first = (Array.isArray(body.data) ? body.data[0] : body) as Record<string, unknown>
    if (words === 'openai') expect(first.object).toMatch(/^(file|model)$/)
    else expect(first.type).toMatch(/^(file|model|file_deleted)$/)
    // of Anthropic's own kind its client gets its bytes, but for the list of models, which is cut
    if (slug === 'ant' && words === 'anthropic' && path !== '/v1/models') expect(first.own).toBe(1)
  })

  test.each(
    Object.keys(OTHERS).flatMap(slug =>
      [
        '/v1/messages/batches',
        '/v1/messages/batches/b_1',
        '/v1/messages/batches/b_1/results',
        '/v1/skills',
        '/v1/skills/s_1/versions',
      ].map(path => [slug, path] as const),
    ),
  )('@%s %s is 501 in Anthropic’s envelope, with what to do', async (slug, path) => {
    const {status, body} = await get(slug, path, version)
    const remedy = path.includes('batches')
      ? 'Use /v1/batches there, or name a provider whose API is Anthropic’s.'
      : 'Name a provider whose API is Anthropic’s.'
    const kind = OTHERS[slug as keyof typeof OTHERS]
    const message = `The provider ${kind} has no ${path} in Anthropic’s words. ${remedy}`
    expect([status, body, provider.received]).toEqual([501, {type: 'error', error: {type: 'api_error', message}}, []])
  })

  test.each(['/v1/messages/batches', '/v1/skills'])(
    '%s passes to Anthropic’s kind, and to any below /v1/proxy',
    async path => {
      expect((await get('ant', path, version)).status).toBe(200)
      expect((await get('oai', path.replace('/v1/', '/v1/proxy/'), version)).status).toBe(200)
    },
  )

  test('every other kind of the catalogue refuses batches of Anthropic, whatever it needs to be reached', async () => {
    const passes: string[] = []
    for (const {slug, available} of kinds()) {
      if (!available) continue
      const headers = {...version, 'x-gateway-provider': slug, authorization: 'Bearer key-of-nobody'}
      const response = await gateway.call('/v1/messages/batches', {
        headers: {...headers, 'x-gateway-custom-host': provider.url},
      })
      const text = await response.text()
      if (response.status !== 501) passes.push(`${slug} ${response.status} ${text.slice(0, 80)}`)
    }
    expect(passes.map(each => each.split(' ')[0])).toEqual(['anthropic', 'claude-platform-aws'])
  })

  test('OpenAI’s own client reads a model of any kind', async () => {
    for (const slug of ALL) {
      const openai = new OpenAI({
        apiKey: WORKSPACE_KEY,
        baseURL: `${gateway.url}/v1`,
        maxRetries: 0,
        defaultHeaders: {'x-gateway-provider': `@${slug}`},
      })
      expect(await openai.models.retrieve('m-1')).toMatchObject({id: 'm-1', object: 'model'})
    }
  })

  test('a key that is none is refused in Anthropic’s envelope on its paths', async () => {
    for (const path of ['/v1/files', '/v1/models', '/v1/skills']) {
      const response = await fetch(gateway.url + path, {headers: {...version, 'x-api-key': 'none'}})
      expect([response.status, ((await response.json()) as {type: string}).type]).toEqual([401, 'error'])
    }
  })

  test.each([
    ['a.pdf', 446],
    ['size_bytes', 446],
    ['b.pdf', 200],
  ])('guardrails of every route judge what the client gets: %s', async (word, expected) => {
    const hook = {'default.contains': {words: [word], operator: 'none'}, deny: true, every_route: true}
    const config = JSON.stringify({provider: '@oai', output_guardrails: [hook]})
    expect((await get('oai', '/v1/files', {...version, 'x-gateway-config': config})).status).toBe(expected)
  })
})
