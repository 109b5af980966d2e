import {readFileSync} from 'node:fs'
import {join} from 'node:path'
import Anthropic from '@anthropic-ai/sdk'
import {GoogleGenAI} from '@google/genai'
import OpenAI, {AzureOpenAI} from 'openai'
import {afterAll, beforeAll, describe, expect, test} from 'vitest'
import {startGateway, type TestGateway, WORKSPACE_KEY} from '../support/gateway.ts'
import {type FakeProvider, fakeProvider, type Heard, json} from '../support/provider.ts'

// Each client writes its own path behind the base it is given. People give the gateway's address, or the same with /v1:
// both have to lead to where the vendor documents the operation, and nowhere else.

/** What a client sends behind its base, and where its vendor answers. */
interface Client {
  readonly name: string
  readonly kind: string
  /** Behind the base. */
  readonly path: string
  readonly body: object
  readonly key: (key: string) => Record<string, string>
  /** Where the vendor answers, path and query. */
  readonly at: string
  readonly reply: object
  readonly bases?: readonly string[]
  readonly model?: string
}

const messages = [{role: 'user', content: 'hi'}]
const bearer = (key: string) => ({authorization: `Bearer ${key}`})
const xApiKey = (key: string) => ({'x-api-key': key})
const chat = {
  id: 'c',
  object: 'chat.completion',
  created: 1,
  model: 'gpt-4o',
  choices: [{index: 0, message: {role: 'assistant', content: 'Hi.'}, finish_reason: 'stop'}],
  usage: {prompt_tokens: 9, completion_tokens: 2, total_tokens: 11},
}
const message = {
  id: 'm',
  type: 'message',
  role: 'assistant',
  model: 'claude-sonnet-4-5',
  content: [{type: 'text', text: 'Hi.'}],
  stop_reason: 'end_turn',
  stop_sequence: null,
  usage: {input_tokens: 9, output_tokens: 2},
}
const generated = {
  candidates: [{content: {role: 'model', parts: [{text: 'Hi.'}]}, finishReason: 'STOP', index: 0}],
  usageMetadata: {promptTokenCount: 9, candidatesTokenCount: 2, totalTokenCount: 11},
  modelVersion: 'gemini-2.5-flash',
}
const converse = {
  output: {message: {role: 'assistant', content: [{text: 'Hi.'}]}},
  stopReason: 'end_turn',
  usage: {inputTokens: 9, outputTokens: 2, totalTokens: 11},
}
const cohere = {
  id: 'c',
  message: {role: 'assistant', content: [{type: 'text', text: 'Hi.'}]},
  finish_reason: 'COMPLETE',
  usage: {billed_units: {input_tokens: 9, output_tokens: 2}, tokens: {input_tokens: 9, output_tokens: 2}},
}
const ollama = {
  model: 'llama3.2',
  created_at: '2026-01-01T00:00:00Z',
  message: {role: 'assistant', content: 'Hi.'},
  done: true,
  prompt_eval_count: 9,
  eval_count: 2,
}

const CLIENTS: readonly Client[] = [
  {
    name: 'openai (any language)',
    kind: 'openai',
    path: '/chat/completions',
    body: {model: 'gpt-4o', messages},
    key: bearer,
    at: '/v1/chat/completions',
    reply: chat,
  },
  {
    name: 'anthropic',
    kind: 'anthropic',
    path: '/v1/messages',
    body: {model: 'claude-sonnet-4-5', max_tokens: 9, messages},
    key: xApiKey,
    at: '/v1/messages',
    reply: message,
  },
  {
    name: 'mistralai',
    kind: 'mistral-ai',
    path: '/v1/chat/completions',
    body: {model: 'mistral-small-latest', messages},
    key: bearer,
    at: '/v1/chat/completions',
    reply: {...chat, model: 'mistral-small-latest'},
  },
  {
    name: 'together',
    kind: 'together-ai',
    path: '/v1/chat/completions',
    body: {model: 'meta-llama/Llama-3.3-70B-Instruct-Turbo', messages},
    key: bearer,
    at: '/v1/chat/completions',
    reply: chat,
  },
  {
    name: 'AzureOpenAI',
    kind: 'azure-openai',
    path: '/openai/deployments/gpt-4o/chat/completions?api-version=2024-10-21',
    body: {model: 'gpt-4o', messages},
    key: key => ({'api-key': key}),
    at: '/openai/deployments/gpt-4o/chat/completions?api-version=2024-10-21',
    reply: chat,
  },
  {
    name: 'AzureOpenAI, v1',
    kind: 'azure-openai',
    path: '/openai/v1/chat/completions',
    body: {model: 'gpt-4o', messages},
    key: key => ({'api-key': key}),
    // the version that the integration names
    at: '/openai/deployments/gpt-4o/chat/completions?api-version=2024-10-21',
    reply: chat,
  },
  {
    name: 'AzureOpenAI on another kind',
    kind: 'openai',
    path: '/openai/deployments/gpt-4o/chat/completions?api-version=2024-10-21',
    body: {model: 'gpt-4o', messages},
    key: key => ({'api-key': key}),
    at: '/v1/chat/completions',
    reply: chat,
  },
  {
    name: 'google-genai, v1beta',
    kind: 'google',
    path: '/v1beta/models/gemini-2.5-flash:generateContent',
    body: {contents: [{role: 'user', parts: [{text: 'hi'}]}]},
    key: key => ({'x-goog-api-key': key}),
    at: '/v1beta/models/gemini-2.5-flash:generateContent',
    reply: generated,
    bases: ['', '/v1', '/v1beta'],
  },
  {
    name: 'google-genai, v1',
    kind: 'google',
    path: '/v1/models/gemini-2.5-flash:generateContent',
    body: {contents: [{role: 'user', parts: [{text: 'hi'}]}]},
    key: key => ({'x-goog-api-key': key}),
    // /v1 is the gateway's own; the version is that of the provider's base
    at: '/v1beta/models/gemini-2.5-flash:generateContent',
    reply: generated,
  },
  {
    name: 'google-genai, stream',
    kind: 'google',
    path: '/v1beta/models/gemini-2.5-flash:streamGenerateContent?alt=sse',
    body: {contents: [{role: 'user', parts: [{text: 'hi'}]}]},
    key: key => ({'x-goog-api-key': key}),
    at: '/v1beta/models/gemini-2.5-flash:streamGenerateContent?alt=sse',
    reply: generated,
    bases: ['', '/v1', '/v1beta'],
  },
  {
    name: 'boto3, converse',
    kind: 'bedrock',
    path: '/model/amazon.nova-lite-v1%3A0/converse',
    body: {messages: [{role: 'user', content: [{text: 'hi'}]}]},
    key: bearer,
    at: '/model/amazon.nova-lite-v1%3A0/converse',
    reply: converse,
  },
  {
    name: 'cohere, v2',
    kind: 'cohere',
    path: '/v2/chat',
    body: {model: 'command-a-03-2025', messages},
    key: bearer,
    at: '/v2/chat',
    reply: cohere,
  },
  {
    name: 'ollama',
    kind: 'ollama',
    path: '/api/chat',
    body: {model: 'llama3.2', messages, stream: false},
    key: bearer,
    at: '/api/chat',
    reply: ollama,
  },
  {
    name: 'huggingface_hub',
    kind: 'huggingface',
    path: '/chat/completions',
    body: {model: 'meta-llama/Llama-3.3-70B-Instruct', messages},
    key: bearer,
    at: '/v1/chat/completions',
    reply: chat,
  },
]

let provider: FakeProvider
let gateway: TestGateway
const documented = {at: '', reply: {}}
beforeAll(async () => {
  provider = await fakeProvider((received: Heard, response) => {
    if (received.path === documented.at) return json(response, documented.reply)
    json(response, {error: `nothing is at ${received.path}`}, 404)
  })
  gateway = await startGateway({TRUSTED_CUSTOM_HOSTS: '127.0.0.1'})
  const root = provider.url.replace(/\/v1$/, '')
  const aws = {
    aws_auth_type: 'accessKey',
    aws_region: 'us-east-1',
    aws_access_key_id: 'AKIAIOSFODNN7EXAMPLE',
    aws_secret_access_key: 'x'.repeat(40),
  }
  const hosts: Readonly<Record<string, object>> = {
    'azure-openai': {custom_host: `${root}/openai`, azure_resource_name: 'r', azure_api_version: '2024-10-21'},
    google: {custom_host: `${root}/v1beta`},
    bedrock: {custom_host: root, ...aws},
    cohere: {custom_host: `${root}/v2`},
    ollama: {custom_host: root},
  }
  for (const kind of new Set(CLIENTS.map(({kind}) => kind)))
    await gateway.provider(kind, kind, provider.url, {configurations: {custom_host: provider.url, ...hosts[kind]}})
})
afterAll(async () => {
  await gateway.close()
  await provider.close()
})

describe('every client’s path, from each base that people give it', () => {
  const cases = CLIENTS.flatMap(client =>
    (client.bases ?? ['', '/v1']).map(base => [client.name, base, client] as const),
  )
  test.each(cases)('%s from G%s', async (_, base, client) => {
    Object.assign(documented, client)
    provider.received.length = 0
    const reply = await fetch(gateway.url + base + client.path, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'x-gateway-provider': `@${client.kind}`,
        ...client.key(WORKSPACE_KEY),
      },
      body: JSON.stringify(client.body),
    })
    const text = await reply.text()
    expect([reply.status, provider.received.map(({path}) => path)], text).toEqual([200, [client.at]])
    const [row] = await gateway.logs()
    expect([row!.total_units, row!.response_status_code]).toEqual([11, 200])
  })
})

describe('real clients, from the gateway’s address and from the same with /v1', () => {
  const hi = 'hi'
  const headersFor = (kind: string) => ({'x-gateway-provider': `@${kind}`})
  const REAL: readonly (readonly [name: string, client: string, call: (base: string) => Promise<unknown>])[] = [
    [
      'openai',
      'openai (any language)',
      async base => {
        const client = new OpenAI({
          baseURL: base,
          apiKey: WORKSPACE_KEY,
          defaultHeaders: headersFor('openai'),
          maxRetries: 0,
        })
        return (await client.chat.completions.create({model: 'gpt-4o', messages: [{role: 'user', content: hi}]}))
          .choices[0]!.message.content
      },
    ],
    [
      'AzureOpenAI',
      'AzureOpenAI',
      async base => {
        const client = new AzureOpenAI({
          endpoint: base,
          apiKey: WORKSPACE_KEY,
          apiVersion: '2024-10-21',
          deployment: 'gpt-4o',
          defaultHeaders: headersFor('azure-openai'),
          maxRetries: 0,
        })
        return (await client.chat.completions.create({model: 'gpt-4o', messages: [{role: 'user', content: hi}]}))
          .choices[0]!.message.content
      },
    ],
    [
      '@anthropic-ai/sdk',
      'anthropic',
      async base => {
        const client = new Anthropic({
          baseURL: base,
          apiKey: WORKSPACE_KEY,
          defaultHeaders: headersFor('anthropic'),
          maxRetries: 0,
        })
        const {content} = await client.messages.create({
          model: 'claude-sonnet-4-5',
          max_tokens: 9,
          messages: [{role: 'user', content: hi}],
        })
        return content[0]!.type === 'text' && content[0]!.text
      },
    ],
    [
      '@google/genai',
      'google-genai, v1beta',
      async base => {
        const client = new GoogleGenAI({
          apiKey: WORKSPACE_KEY,
          httpOptions: {baseUrl: base, headers: headersFor('google')},
        })
        return (await client.models.generateContent({model: 'gemini-2.5-flash', contents: hi})).text
      },
    ],
    [
      '@google/genai, v1',
      'google-genai, v1',
      async base => {
        const client = new GoogleGenAI({
          apiKey: WORKSPACE_KEY,
          apiVersion: 'v1',
          httpOptions: {baseUrl: base, headers: headersFor('google')},
        })
        return (await client.models.generateContent({model: 'gemini-2.5-flash', contents: hi})).text
      },
    ],
  ]
  test.each(REAL.flatMap(([name, client, call]) => ['', '/v1'].map(base => [name, base, client, call] as const)))(
    '%s from G%s',
    async (_, base, name, call) => {
      Object.assign(
        documented,
        CLIENTS.find(client => client.name === name),
      )
      provider.received.length = 0
      expect(await call(gateway.url + base)).toBe('Hi.')
      expect(provider.received.map(({path}) => path)).toEqual([documented.at])
    },
  )
})

test('the documentation says how each kind of client is pointed here', () => {
  const page = readFileSync(join(import.meta.dirname, '../../docs/doors.md'), 'utf8')
  for (const header of ['`Authorization: Bearer KEY`', '`api-key`', '`x-api-key`', '`x-goog-api-key`'])
    expect(page).toContain(header)
})

describe('boto3’s invoke_model', () => {
  const reply = {...message, model: 'claude-sonnet-4-5'}
  const body = JSON.stringify({anthropic_version: 'bedrock-2023-05-31', max_tokens: 9, messages})
  const MODEL = 'anthropic.claude-sonnet-4-5-20250929-v1%3A0'
  const invoke = async (path: string, headers: Record<string, string>) => {
    Object.assign(documented, {at: `/model/${MODEL}/invoke`, reply})
    provider.received.length = 0
    // a Buffer, for fetch gives a text a content type of its own
    const response = await fetch(gateway.url + path, {
      method: 'POST',
      body: Buffer.from(body),
      headers: {authorization: `Bearer ${WORKSPACE_KEY}`, ...headers},
    })
    return [
      response.status,
      (await response.json()) as object,
      provider.received.map(({path: at, body: sent}) => [at, sent.toString()]),
    ]
  }

  test.each(['', '/v1'])('sends no content type, from G%s: its body is JSON', async base => {
    expect(await invoke(`${base}/model/${MODEL}/invoke`, {'x-gateway-provider': '@bedrock'})).toEqual([
      200,
      reply,
      [[`/model/${MODEL}/invoke`, body]],
    ])
    expect((await gateway.logs())[0]).toMatchObject({total_units: 11})
  })

  test.each(['@bedrock/', '%40bedrock%2F'])('takes modelId="%sMODEL"', async slug => {
    expect(await invoke(`/model/${slug}${MODEL}/invoke`, {})).toEqual([200, reply, [[`/model/${MODEL}/invoke`, body]]])
  })
})
