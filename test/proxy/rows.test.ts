import {createServer, type Socket} from 'node:net'
import {gzipSync} from 'node:zlib'
import {afterAll, beforeAll, beforeEach, describe, expect, test} from 'vitest'
import type {HookResults} from '../../src/schema/guardrails.ts'
import {json} from '../support/provider.ts'
import {newTrace, type RoutingSetup, startRouting, type Told} from '../support/routing.ts'

let routed: RoutingSetup
let strict: RoutingSetup

beforeAll(async () => {
  routed = await startRouting({GUARDRAIL_MAX_BODY_MB: '1'})
  strict = await startRouting({GUARDRAIL_MAX_BODY_MB: '1', UNREADABLE_BODIES: 'deny'})
})
let files = 0
let stored: Record<string, string> = {}
beforeEach(() => {
  stored = {}
  for (const each of [routed, strict]) {
    each.reset()
    each.a.answer(({path}, response) => {
      const id = /\/files\/([^/]+)\/content$/.exec(path)?.[1]
      if (id === undefined) {
        const made = JSON.stringify(
          path.endsWith('/files') ? {id: `file-${++files}`, object: 'file'} : {id: 'batch-1', object: 'batch'},
        )
        return response.writeHead(200, {'content-type': 'application/json', 'content-length': made.length}).end(made)
      }
      const content = stored[decodeURIComponent(id)]
      if (content === undefined) return json(response, {error: {message: 'no such file'}}, 404)
      response.writeHead(200, {'content-type': 'application/octet-stream'}).end(content)
    })
  }
})
afterAll(() => Promise.all([routed.close(), strict.close()]))

const A = {provider: '@a'}
const hook = (check: object, more: object = {}) => ({...A, input_guardrails: [{...check, ...more}]})
const DENY = hook({'default.contains': {words: ['forbidden'], operator: 'none'}}, {deny: true})
const PII = hook({'default.pii': {redact: true}})
const LONGER = hook({'default.wordCount': {minWords: 2}}, {deny: true})
const MAIL = 'ada@mail.example'
const FORM = 'multipart/form-data; boundary=b'
const field = (name: string, content: string) =>
  `--b\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${content}\r\n`
const file = (content: string, head = '') =>
  `--b\r\ncontent-disposition: form-data; name="file"; filename="rows.jsonl"\r\n${head}\r\n${content}\r\n`
const END = '--b--\r\n'
const upload = (content: string) => field('purpose', 'batch') + file(content) + END

const chat = (content: string, more: object = {}) => ({
  custom_id: 'r',
  method: 'POST',
  url: '/v1/chat/completions',
  body: {model: 'gpt-4o-mini', messages: [{role: 'user', content}]},
  ...more,
})
const row = (content: string, more: object = {}) => JSON.stringify(chat(content, more))
const logged = (result: Pick<Told, 'rows'>) =>
  (result.rows[0] as unknown as {hook_results: HookResults}).hook_results.before_request_hooks

interface Sent {
  readonly path?: string
  readonly type?: string
  readonly headers?: Record<string, string>
  readonly at?: RoutingSetup
  /** Without a content length, in these pieces. */
  readonly chunks?: readonly (string | Buffer)[]
}

async function send(
  config: object,
  body: string | Buffer,
  {path = '/v1/files', type = FORM, headers = {}, at = routed, chunks}: Sent = {},
) {
  const trace_id = newTrace()
  const all = {
    'content-type': type,
    'x-gateway-trace-id': trace_id,
    'x-gateway-config': JSON.stringify(config),
    ...headers,
  }
  const reply = chunks
    ? await at.gateway.call(path, {
        method: 'POST',
        body: streamOf(chunks),
        headers: all,
        duplex: 'half',
      } as RequestInit & {
        headers: Record<string, string>
      })
    : await at.gateway.call(path, {
        method: 'POST',
        body: typeof body === 'string' ? body : new Uint8Array(body),
        headers: all,
      })
  const text = await reply.text()
  const {rows, entries} = await at.recorded(trace_id)
  return {
    status: reply.status,
    text,
    rows,
    entries,
    sent: at.a.received.map(received => received.body.toString()),
    paths: at.a.received.map(received => received.path),
  }
}

function streamOf(chunks: readonly (string | Buffer)[]): ReadableStream<Uint8Array> {
  return new ReadableStream({
    start(controller) {
      for (const chunk of chunks) controller.enqueue(new Uint8Array(Buffer.from(chunk as string)))
      controller.close()
    },
  })
}

const message = (text: string) => (JSON.parse(text) as {error: {message: string}}).error.message

describe('fact 22: rows of a file that is uploaded', () => {
  test('pass as they came where nothing is found', async () => {
    const body = upload(`\ufeff${row('fine')}\r\n\n  \n${row('as well')}`)
    const result = await send(DENY, body)
    expect([result.status, result.sent]).toEqual([200, [body]])
    expect(logged(result)[0]).toMatchObject({verdict: true, deny: true, rows: {judged: 2, failed: 0}})
  })

  test.each([
    ['an upload with its length', {}],
    ['by the path below /proxy', {path: '/v1/proxy/files'}],
    ['in chunks', {chunks: []}],
    ['compressed', {headers: {'content-encoding': 'gzip'}}],
  ] as const)('are denied with their line: %s', async (_, how: Sent) => {
    const body = upload(`${row('fine')}\n${row('it is forbidden')}\n${row('fine')}\n`)
    const is_coded = how.headers !== undefined
    const result = await send(DENY, is_coded ? gzipSync(body) : body, {...how, ...(how.chunks ? {chunks: [body]} : {})})
    expect([result.status, message(result.text)]).toEqual([
      446,
      'The guardrails of this call failed at line 2 of the file; hook_results says which.',
    ])
    expect(result.sent).toEqual([])
    expect(logged(result)[0]).toMatchObject({verdict: false, rows: {failed: 1, line: 2}})
    expect(JSON.stringify(result.rows)).not.toContain('it is forbidden')
    expect(result.text).not.toContain('it is forbidden')
  })

  test('are denied where the call has further targets', async () => {
    const config = {strategy: {mode: 'fallback'}, targets: [DENY, DENY]}
    const result = await send(config, upload(row('forbidden')))
    expect([result.status, result.sent]).toEqual([446, []])
  })

  test('are judged in the words of their route: a check that asks for more than strings judges them', async () => {
    const short = await send(LONGER, upload(`${row('two words')}\n${row('one')}`))
    expect([short.status, message(short.text)]).toEqual([446, expect.stringContaining('line 2 ')])
    expect((await send(LONGER, upload(`${row('two words')}\n${row('and two')}`))).status).toBe(200)
  })

  test.each([
    [
      'an earlier message is no text that is judged',
      JSON.stringify({
        ...chat('x'),
        body: {
          messages: [
            {role: 'user', content: 'forbidden'},
            {role: 'user', content: 'hi'},
          ],
        },
      }),
      200,
    ],
    ['completions', JSON.stringify({url: '/v1/completions', body: {prompt: ['a', 'forbidden']}}), 446],
    ['embeddings', JSON.stringify({url: '/v1/embeddings', body: {input: 'forbidden'}}), 446],
    ['responses', JSON.stringify({url: '/v1/responses', body: {input: [{role: 'user', content: 'forbidden'}]}}), 446],
    [
      'without a route',
      JSON.stringify({custom_id: '1', body: {messages: [{role: 'user', content: 'forbidden'}]}}),
      446,
    ],
    ['for a route that is not guarded', JSON.stringify({url: '/v1/moderations', body: {input: 'forbidden'}}), 446],
    ['of another vendor', JSON.stringify({key: 'r', request: {contents: [{parts: [{text: 'forbidden'}]}]}}), 446],
    [
      'texts of another route than it names',
      JSON.stringify({url: '/v1/embeddings', body: {input: 'hi', messages: [{role: 'user', content: 'forbidden'}]}}),
      446,
    ],
    ['its custom id', row('hi', {custom_id: 'forbidden'}), 446],
    ['escapes', row('x').replace('"x"', '"f\\u006frbidden"'), 446],
    ['a list', '["forbidden"]', 446],
  ])('%s', async (_, line, status) => {
    expect((await send(DENY, upload(`${row('fine')}\n${line}`))).status).toBe(status)
  })

  test.each([
    ['no JSON', 'not json', 'is not JSON'],
    ['two on a line', `${row('a')} ${row('b')}`, 'is not JSON'],
    [
      'a key twice',
      '{"body":{"messages":[]},"body":{"messages":[{"role":"user","content":"x"}]}}',
      'names body more than once',
    ],
    ['too deep', `${'['.repeat(5000)}${']'.repeat(5000)}`, 'is nested too deep'],
  ])('are refused with their line where they can be read in two ways: %s', async (_, line, reason) => {
    const result = await send(DENY, upload(`${row('fine')}\n${line}\n`))
    expect([result.status, message(result.text)]).toEqual([
      400,
      `Line 2 of the file ${reason}, so that guardrails cannot judge it as a row of a batch.`,
    ])
    expect(result.sent).toEqual([])
  })

  test('are refused where they are not UTF-8', async () => {
    const [before, after] = upload(`${row('fine')}\n${row('x')}`).split('"x"')
    const result = await send(
      DENY,
      Buffer.concat([Buffer.from(`${before}"`), Buffer.from([0xff, 0xfe]), Buffer.from(`"${after}`)]),
    )
    expect([result.status, message(result.text)]).toEqual([
      400,
      expect.stringContaining('Line 2 of the file is not UTF-8'),
    ])
  })

  test('a redaction refuses a file whose length was promised, and names its line', async () => {
    const result = await send(PII, upload(`${row('fine')}\n${row(`to ${MAIL}`)}\n`))
    expect([result.status, message(result.text)]).toEqual([
      400,
      expect.stringMatching(/^Guardrails would change line 2 of the file: .*chunked/),
    ])
    expect(result.sent).toEqual([])
    expect(JSON.stringify(result.rows)).not.toContain(MAIL)
  })

  test('a redaction in chunks leaves in the place of its row', async () => {
    const [first, last] = [row('fine'), row('fine too')]
    const result = await send(PII, '', {chunks: [upload(`${first}\n${row(`to ${MAIL}`)}\r\n${last}`)]})
    expect([result.status, result.sent]).toEqual([200, [upload(`${first}\n${row('to <EMAIL_1>')}\r\n${last}`)]])
    expect(logged(result)[0]).toMatchObject({transformed: true, rows: {judged: 3, failed: 0}})
  })

  test('a check that fails and denies nothing is told with its line', async () => {
    const result = await send(
      hook({'default.contains': {words: ['forbidden'], operator: 'none'}}),
      upload(`${row('fine')}\n${row('forbidden')}`),
    )
    expect([result.status, result.sent.length]).toEqual([246, 1])
    expect(JSON.parse(result.text)).toMatchObject({
      hook_results: {before_request_hooks: [{verdict: false, rows: {judged: 2, failed: 1, line: 2}}]},
    })
  })

  test.each([
    ['behind the file', file(row('forbidden')) + field('purpose', 'batch') + END, 446],
    ['nowhere', file(row('forbidden')) + END, 446],
    ['twice', field('purpose', 'vision') + file(row('forbidden')) + field('purpose', 'batch') + END, 400],
    ['before what is no row', field('purpose', 'batch') + file('forbidden') + END, 400],
    ['before what has no form of a row', field('purpose', 'batch') + file('["forbidden"]') + END, 446],
    ['behind what is no row', file('forbidden') + field('purpose', 'batch') + END, 400],
    ['for something else', field('purpose', 'fine-tune') + file('{"messages":[{"content":"forbidden"}]}') + END, 200],
    [
      'behind it, for something else',
      file('{"messages":[{"content":"forbidden"}]}') + field('purpose', 'fine-tune') + END,
      200,
    ],
    [
      'a field behind it is judged',
      field('purpose', 'batch') + file(row('fine')) + field('note', 'forbidden') + END,
      446,
    ],
    [
      'a second file',
      field('purpose', 'batch') + file(row('fine')) + field('x', 'y') + file(row('forbidden')) + END,
      446,
    ],
  ])('the purpose may stand %s', async (_, body, status) => {
    const result = await send(DENY, body)
    expect([result.status, result.sent]).toEqual([status, status === 200 ? [body] : []])
  })

  test('a row that is longer than guardrails read passes, or is denied where the settings say so', async () => {
    const body = upload(`${row('fine')}\n${row('x '.repeat(600_000))}\n${row('fine')}`)
    const result = await send(DENY, body)
    expect([result.status, result.sent.length === 1 && result.sent[0] === body]).toEqual([200, true])
    expect(logged(result)).toContainEqual({
      id: expect.any(String),
      type: 'guardrail',
      skipped: true,
      reason: 'unreadable',
      part: 'file, line 2',
    })
    expect((await send(DENY, body, {at: strict})).status).toBe(446)
  })

  test('a file of many rows is judged to its end', async () => {
    const rows = Array.from({length: 3_000}, (_, at) => row(`number ${at}`))
    const result = await send(DENY, upload(rows.join('\n')))
    expect([result.status, result.sent[0]?.length]).toEqual([200, upload(rows.join('\n')).length])
    expect(logged(result)[0]).toMatchObject({rows: {judged: 3_000}})
    rows.push(row('forbidden'))
    expect(message((await send(DENY, upload(rows.join('\n')))).text)).toContain('line 3001 ')
  })
})

describe('fact 22: a batch of a stored file', () => {
  const make = (input_file_id: string, more: object = {}) =>
    JSON.stringify({input_file_id, endpoint: '/v1/chat/completions', completion_window: '24h', ...more})
  const JSON_SENT = {path: '/v1/batches', type: 'application/json'}

  test('goes on where this gateway judged the file under these guardrails', async () => {
    const {text} = await send(DENY, upload(row('fine')))
    const {id} = JSON.parse(text) as {id: string}
    const result = await send(DENY, make(id), JSON_SENT)
    expect([result.status, result.paths]).toEqual([200, ['/v1/files', '/v1/batches']])
  })

  test.each([
    ['the unified route', '/v1/batches'],
    ['below /proxy', '/v1/proxy/batches'],
  ])('is judged first under others, by %s: what was uploaded under none is fetched', async (_, path) => {
    const fresh = `file-fine-${++files}`
    stored = {'file-x': `${row('fine')}\n${row('forbidden')}\n`, [fresh]: row('fine')}
    const denied = await send(DENY, make('file-x'), {...JSON_SENT, path})
    expect([denied.status, message(denied.text), denied.paths]).toEqual([
      446,
      expect.stringContaining('at line 2 of the file'),
      ['/v1/files/file-x/content'],
    ])
    expect(logged(denied)[0]).toMatchObject({verdict: false, rows: {failed: 1, line: 2}})
    routed.a.received.length = 0
    const fine = await send(DENY, make(fresh), {...JSON_SENT, path})
    expect([fine.status, fine.paths]).toEqual([200, [`/v1/files/${fresh}/content`, '/v1/batches']])
    expect((await send(DENY, make(fresh), {...JSON_SENT, path})).paths.slice(2)).toEqual(['/v1/batches'])
  })

  test('is judged again when its guardrails have changed', async () => {
    const {text} = await send(LONGER, upload(row('is forbidden')))
    const {id} = JSON.parse(text) as {id: string}
    stored[id] = row('is forbidden')
    expect((await send(DENY, make(id), JSON_SENT)).status).toBe(446)
  })

  test('of which a row would be changed is refused', async () => {
    stored['file-m'] = `${row('fine')}\n${row(MAIL)}`
    const result = await send(PII, make('file-m'), JSON_SENT)
    expect([result.status, message(result.text), result.paths.length]).toEqual([
      400,
      expect.stringContaining('line 2 of the file: upload the file again'),
      1,
    ])
  })

  test('is judged by the endpoint that it names, where its rows name none', async () => {
    stored['file-n'] = JSON.stringify({custom_id: '1', body: {messages: [{role: 'user', content: 'one'}]}})
    expect((await send(LONGER, make('file-n'), JSON_SENT)).status).toBe(446)
  })

  test.each([
    ['is not there', 'file-none', {}],
    ['is longer than guardrails read', 'file-long', {}],
    ['stands in a bucket', 's3://bucket/rows.jsonl', {}],
    ['is a blob', 'file-fine', {input_blob: 'https://blobs.example/rows'}],
  ])('is unreadable where its file %s', async (_, id, more) => {
    stored = {'file-long': `${row('fine')}\n`.repeat(10_000), 'file-fine': row('fine')}
    const result = await send(DENY, make(id, more), JSON_SENT)
    expect([result.status, result.paths.at(-1)]).toEqual([200, '/v1/batches'])
    expect(logged(result)).toContainEqual(expect.objectContaining({skipped: true, reason: 'unreadable'}))
    const denied = await send(DENY, make(id, more), {...JSON_SENT, at: strict})
    expect([denied.status, denied.paths.includes('/v1/batches')]).toEqual([446, false])
  })

  test('is not fetched where nothing is attached', async () => {
    expect((await send(A, make('file-x'), JSON_SENT)).paths).toEqual(['/v1/batches'])
  })
})

describe('fact 22: batches whose rows are in their request', () => {
  test.each([
    [
      'Anthropic’s',
      'claude',
      '/v1/messages/batches',
      {
        requests: [
          {custom_id: 'a', params: {messages: [{role: 'user', content: 'hi'}]}},
          {custom_id: 'b', params: {messages: [{role: 'user', content: 'forbidden'}]}},
        ],
      },
    ],
    [
      'Gemini’s',
      'a',
      '/v1/proxy/models/gemini-2.5-flash:batchGenerateContent',
      {batch: {input_config: {requests: {requests: [{request: {contents: [{parts: [{text: 'forbidden'}]}]}}]}}}},
    ],
  ])('%s are judged string by string before any of it leaves', async (_, provider, path, body) => {
    const result = await send({...DENY, provider: `@${provider}`}, JSON.stringify(body), {
      path,
      type: 'application/json',
    })
    expect([result.status, routed.a.received.length + routed.claude.received.length]).toEqual([446, 0])
    const fine = JSON.stringify(body).replace('forbidden', 'fine')
    expect((await send({...DENY, provider: `@${provider}`}, fine, {path, type: 'application/json'})).status).not.toBe(
      446,
    )
  })
})

describe('fact 22: at a provider whose files and batches go by other calls', () => {
  beforeAll(() => routed.gateway.provider('m', 'mistral-ai', routed.a.url))
  const at = (config: object) => ({...config, provider: '@m'})

  test('rows are judged before they are written in its words', async () => {
    const lines = `${row('fine')}\n${row('forbidden')}`
    const denied = await send(at(DENY), upload(lines))
    expect([denied.status, message(denied.text), denied.sent]).toEqual([446, expect.stringContaining('line 2'), []])
    const two = {strategy: {mode: 'fallback'}, targets: [at(DENY), at(DENY)]}
    const by_header = {headers: {'x-gateway-file-purpose': 'batch'}}
    expect((await send(two, file(lines) + END, by_header)).status).toBe(446)
    const changed = await send(at(PII), '', {chunks: [upload(`${row('fine')}\n${row(MAIL)}`)]})
    expect([changed.status, changed.sent.length]).toEqual([200, 1])
    expect(changed.sent[0]).toContain('<EMAIL_1>')
    expect(changed.sent[0]).not.toContain(MAIL)
  })

  test('a stored file is fetched as its own route fetches it', async () => {
    stored = {'file-m1': JSON.stringify({custom_id: '1', body: {messages: [{role: 'user', content: 'forbidden'}]}})}
    const body = JSON.stringify({
      input_file_id: 'file-m1',
      endpoint: '/v1/chat/completions',
      completion_window: '24h',
      model: 'mistral-small',
    })
    const unified = await send(at(DENY), body, {path: '/v1/batches', type: 'application/json'})
    expect([unified.status, unified.paths]).toEqual([446, ['/v1/files/file-m1/content']])
    const own = JSON.stringify({input_files: ['file-m1'], endpoint: '/v1/chat/completions', model: 'mistral-small'})
    const native = await send(at(DENY), own, {path: '/v1/proxy/batch/jobs', type: 'application/json'})
    expect([native.status, native.paths.slice(1)]).toEqual([446, ['/v1/files/file-m1/content']])
  })
})

/** A provider that keeps the bytes of each connection. */
async function listener() {
  const came: Buffer[] = []
  const sockets = new Set<Socket>()
  let is_closed = false
  const server = createServer(socket => {
    sockets.add(socket)
    socket.on('data', bytes => came.push(bytes))
    socket.on('error', () => undefined)
    socket.on('close', () => {
      is_closed = true
    })
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as {port: number}).port}/v1`,
    came: () => Buffer.concat(came).toString(),
    is_closed: () => is_closed,
    close() {
      for (const socket of sockets) socket.destroy()
      return new Promise(resolve => server.close(resolve))
    },
  }
}

describe('fact 22: what reaches the provider of a denied file', () => {
  test('is cut before the row, its last boundary with it, and its connection is destroyed', async () => {
    const provider = await listener()
    try {
      await routed.gateway.provider('raw', 'openai', provider.url)
      const result = await send(
        {...DENY, provider: '@raw'},
        upload(`${row('first')}\n${row('forbidden')}\n${row('last')}`),
      )
      expect(result.status).toBe(446)
      await until(provider.is_closed)
      expect(provider.came()).toContain('first')
      for (const text of ['forbidden', 'last', '--b--']) expect(provider.came()).not.toContain(text)
    } finally {
      await provider.close()
    }
  })

  test('is nothing more when the client leaves in the middle', async () => {
    const provider = await listener()
    try {
      await routed.gateway.provider('left', 'openai', provider.url)
      const trace_id = newTrace()
      const leaving = new AbortController()
      const [first, rest] = upload(`${row('first')}\n${row('second')}`).split('second') as [string, string]
      const asked = routed.gateway.call('/v1/files', {
        method: 'POST',
        signal: leaving.signal,
        duplex: 'half',
        headers: {
          'content-type': FORM,
          'x-gateway-trace-id': trace_id,
          'x-gateway-config': JSON.stringify({...DENY, provider: '@left'}),
        },
        body: new ReadableStream({
          start: controller => controller.enqueue(new Uint8Array(Buffer.from(first))),
        }),
      } as RequestInit & {headers: Record<string, string>})
      const gone = asked.catch(() => 'gone')
      await until(() => provider.came().includes('first'))
      leaving.abort()
      expect(await gone).toBe('gone')
      await until(provider.is_closed)
      expect(provider.came()).not.toContain(rest.slice(-6))
      await until(async () => (await routed.recorded(trace_id)).rows.length > 0)
      expect((await routed.recorded(trace_id)).rows).toMatchObject([{status: 499, outcome: 'aborted'}])
    } finally {
      await provider.close()
    }
  })
})

async function until(is_so: () => boolean | Promise<boolean>): Promise<void> {
  for (let tries = 0; tries < 500 && !(await is_so()); tries++) await new Promise(resolve => setTimeout(resolve, 10))
  expect(await is_so()).toBe(true)
}
