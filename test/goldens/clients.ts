import {existsSync, readdirSync, readFileSync} from 'node:fs'
import {join} from 'node:path'
import {headersFor, PATHS} from './fixtures.ts'
import {type Reply, stream, whole} from './provider.ts'
import type {Row, RowAsk} from './scene.ts'

type Json = Record<string, unknown>

const ROOT = join(import.meta.dirname, '../fixtures')
const read = (...path: string[]) => JSON.parse(readFileSync(join(ROOT, ...path), 'utf8'))

/** A turn of a conversation as its client asks it, and as a chat provider says it. */
interface Turn {
  readonly asked: Json
  readonly said: Json
  readonly finish: string
  readonly usage: Json | null
  readonly chunks?: readonly {readonly delta?: Json; readonly finish_reason?: string; readonly usage?: Json}[]
}

/** Clients of other words (`test/fixtures/messages`, `responses`) at a provider of chats. */
export function clientRows(): Readonly<Record<string, readonly Row[]>> {
  return Object.fromEntries(
    (['messages', 'responses'] as const).map(words => [
      `clients of ${words}`,
      readdirSync(join(ROOT, words)).map(file => {
        const turn = read(words, file) as Turn
        return {
          name: `${words} ${file.replace('.json', '')}`,
          asks: [
            {
              path: `/v1/${words}`,
              headers: {'x-gateway-provider': '@a'},
              body: {model: 'gpt-4o-mini', ...turn.asked, ...(turn.chunks && {stream: true})},
            },
          ],
          a: [chatOf(turn)],
        }
      }),
    ]),
  )
}

function chatOf({said, finish, usage, chunks}: Turn): Reply {
  const of = {id: 'chatcmpl-abc', created: 1, model: 'm-1'}
  if (!chunks)
    return whole({...of, object: 'chat.completion', choices: [{index: 0, message: said, finish_reason: finish}], usage})
  const events = chunks.map(({delta, finish_reason = null, usage: used}) => ({
    ...{...of, object: 'chat.completion.chunk'},
    choices: delta ? [{index: 0, delta, finish_reason}] : [],
    ...(used && {usage: used}),
  }))
  return stream([...events.map(event => `data: ${JSON.stringify(event)}\n\n`), 'data: [DONE]\n\n'])
}

const MULTIPART = {'content-type': 'multipart/form-data; boundary=B'}
/** What OpenAI's own routes are asked for, where the fixture has the answer alone. */
const ASKED: Readonly<Record<string, Partial<RowAsk>>> = {
  chatComplete: {body: {model: 'gpt-4o-mini', messages: [{role: 'user', content: 'hi'}]}},
  complete: {body: {model: 'gpt-4o-mini', prompt: 'hi'}},
  createModelResponse: {path: '/v1/responses', body: {model: 'gpt-4o-mini', input: 'hi'}},
  createSpeech: {
    path: '/v1/audio/speech',
    body: {model: 'gpt-4o-mini-tts', input: 'hi', voice: 'alloy', stream_format: 'sse'},
  },
  createTranscription: {
    path: '/v1/audio/transcriptions',
    headers: MULTIPART,
    body: '--B\r\ncontent-disposition: form-data; name="model"\r\n\r\ngpt-4o-transcribe\r\n--B--\r\n',
  },
  embed: {body: {model: 'text-embedding-3-small', input: 'hi'}},
  imageEdit: {
    path: '/v1/images/edits',
    headers: MULTIPART,
    body: '--B\r\ncontent-disposition: form-data; name="model"\r\n\r\ngpt-image-1\r\n--B--\r\n',
  },
  imageGenerate: {body: {model: 'gpt-image-1', prompt: 'A fox'}},
  listFiles: {method: 'GET', path: '/v1/files'},
  messages: {
    path: '/v1/messages',
    headers: {'x-gateway-provider': '@claude'},
    body: {model: 'claude-sonnet-4-5', max_tokens: 9, messages: [{role: 'user', content: 'hi'}]},
  },
  moderate: {path: '/v1/moderations', body: {input: 'hi'}},
  ocr: {path: '/v1/ocr', body: {model: 'mistral-ocr-latest', document: {}}},
  proxy: {path: '/v1/proxy/some/where', body: {model: 'm'}},
  rerank: {body: {model: 'rerank-v3.5', query: 'q', documents: ['a']}},
}

/** The answers of providers that speak OpenAI's words. */
export function openaiRows(): Readonly<Record<string, readonly Row[]>> {
  const rows = readdirSync(join(ROOT, 'openai')).flatMap(endpoint =>
    readdirSync(join(ROOT, 'openai', endpoint)).flatMap(name => {
      const {body, ...ask} = ASKED[endpoint]!
      const streams = readdirSync(join(ROOT, 'openai', endpoint, name)).includes('events.txt')
      const bytes = readFileSync(join(ROOT, 'openai', endpoint, name, streams ? 'events.txt' : 'reply.json'))
      return {
        name: `${endpoint} ${name}`,
        asks: [
          {
            path: PATHS[endpoint] ?? '',
            ...ask,
            headers: {'x-gateway-provider': '@a', ...ask.headers},
            ...(body !== undefined && {body: streams && typeof body === 'object' ? {...body, stream: true} : body}),
          },
        ],
        a: [streams ? stream([bytes]) : whole(bytes)],
      }
    }),
  )
  return {openai: rows}
}

interface OperationCase {
  readonly name: string
  readonly endpoint: string
  readonly id?: string
  readonly query?: string
  readonly body?: Json
  readonly form?: readonly (readonly string[])[]
  readonly told?: {readonly bytes?: number}
  readonly context?: {readonly options?: Json; readonly model?: string}
  readonly calls?: readonly {
    readonly path: string
    readonly reply?: {
      readonly status?: number
      readonly headers?: Record<string, string>
      readonly json?: unknown
      readonly text?: string
    }
  }[]
}

const OPERATIONS: Readonly<Record<string, readonly [method: string, path: string]>> = {
  uploadFile: ['POST', '/v1/files'],
  listFiles: ['GET', '/v1/files'],
  retrieveFile: ['GET', '/v1/files/ID'],
  deleteFile: ['DELETE', '/v1/files/ID'],
  retrieveFileContent: ['GET', '/v1/files/ID/content'],
  createBatch: ['POST', '/v1/batches'],
  listBatches: ['GET', '/v1/batches'],
  retrieveBatch: ['GET', '/v1/batches/ID'],
  cancelBatch: ['POST', '/v1/batches/ID/cancel'],
  getBatchOutput: ['GET', '/v1/batches/ID/output'],
  createFinetune: ['POST', '/v1/fine_tuning/jobs'],
  listFinetunes: ['GET', '/v1/fine_tuning/jobs'],
  retrieveFinetune: ['GET', '/v1/fine_tuning/jobs/ID'],
  cancelFinetune: ['POST', '/v1/fine_tuning/jobs/ID/cancel'],
}

/** Calls that come to several calls (`operations.json`), but for those that go on to a place outside. */
export function operationRows(): Readonly<Record<string, readonly Row[]>> {
  const folders = readdirSync(ROOT).filter(folder => existsSync(join(ROOT, folder, 'operations.json')))
  return Object.fromEntries(
    folders.map(folder => {
      const {provider, cases} = read(folder, 'operations.json') as {provider: string; cases: readonly OperationCase[]}
      const near = cases.filter(({calls = []}) => !calls.some(({path}) => path.startsWith('https:')))
      return [`files and jobs of ${folder}`, near.map((operation, at) => operationRow(provider, operation, at))]
    }),
  )
}

function operationRow(
  provider: string,
  {name, endpoint, id = '', query, body, form, context, calls = []}: OperationCase,
  at: number,
): Row {
  const [method, path] = OPERATIONS[endpoint]!
  const {'content-type': json, ...headers} = headersFor(provider, context?.options ?? {})
  return {
    name: `${at + 1} ${endpoint}: ${name}`,
    asks: [
      {
        method,
        path: `${path.replace('ID', encodeURIComponent(id))}${query ? `?${query}` : ''}`,
        headers: {...headers, ...(form ? MULTIPART : body ? {'content-type': json!} : {})},
        ...(body && {body: {...body, ...(context?.model && {model: context.model})}}),
        ...(form && {body: formOf(form)}),
      },
    ],
    a: calls.map(({reply: {status = 200, headers: said = {}, json: value, text} = {}}) =>
      whole(text ?? value ?? {}, {status, headers: said}),
    ),
  }
}

function formOf(parts: readonly (readonly string[])[]): string {
  const texts = parts.map(([name, value, file]) => {
    const as_file = file === undefined ? '' : `; filename="${file}"\r\ncontent-type: text/plain`
    return `--B\r\ncontent-disposition: form-data; name="${name}"${as_file}\r\n\r\n${value}\r\n`
  })
  return `${texts.join('')}--B--\r\n`
}
