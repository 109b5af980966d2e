import {gzipSync} from 'node:zlib'
import {afterAll, beforeAll, beforeEach, describe, expect, test} from 'vitest'
import type {HookResults} from '../../src/schema/guardrails.ts'
import {type FakeProvider, fakeProvider, json} from '../support/provider.ts'
import {newTrace, type RoutingSetup, startRouting, type Told} from '../support/routing.ts'

let routed: RoutingSetup
let strict: RoutingSetup

beforeAll(async () => {
  routed = await startRouting({GUARDRAIL_MAX_BODY_MB: '1'})
  strict = await startRouting({GUARDRAIL_MAX_BODY_MB: '1', UNREADABLE_BODIES: 'deny'})
})
beforeEach(() => {
  for (const each of [routed, strict]) {
    each.reset()
    each.a.answer((_, response) => json(response, {object: 'whatever'}))
  }
})
afterAll(() => Promise.all([routed.close(), strict.close()]))

const A = {provider: '@a'}
const DENY = {...A, input_guardrails: [{'default.contains': {words: ['forbidden'], operator: 'none'}, deny: true}]}
const PII = {...A, input_guardrails: [{'default.pii': {redact: true}}]}
const MAIL = 'ada@mail.example'
const JSON_TYPE = 'application/json'
const FORM = 'multipart/form-data; boundary=b'
const field = (name: string, content: string, more = '', head = '') =>
  `--b\r\ncontent-disposition: form-data; name="${name}"${more}\r\n${head}\r\n${content}\r\n`
const end = '--b--\r\n'

const logged = (result: Pick<Told, 'rows'>) => (result.rows[0] as unknown as {hook_results: HookResults}).hook_results

async function ask(
  config: object,
  path: string,
  type: string,
  body: string | Buffer,
  headers: Record<string, string> = {},
  at = routed,
) {
  const trace_id = newTrace()
  const reply = await at.gateway.call(path, {
    method: 'POST',
    body: typeof body === 'string' ? body : new Uint8Array(body),
    headers: {
      'content-type': type,
      'x-gateway-trace-id': trace_id,
      'x-gateway-config': JSON.stringify(config),
      ...headers,
    },
  })
  const text = await reply.text()
  const {rows, entries} = await at.recorded(trace_id)
  return {status: reply.status, text, rows, entries, sent: at.a.received.map(({body}) => body.toString())}
}

/** Each says the word once, whatever door it comes in by. */
const DOORS: readonly (readonly [string, string, string, string])[] = [
  ['pictures', '/v1/images/generations', JSON_TYPE, '{"model":"m","prompt":"a forbidden cat"}'],
  ['speech', '/v1/audio/speech', JSON_TYPE, '{"model":"m","input":"forbidden","voice":"x"}'],
  ['moderations', '/v1/moderations', JSON_TYPE, '{"input":["a","forbidden"]}'],
  ['rerank', '/v1/rerank', JSON_TYPE, '{"model":"m","query":"q","documents":[{"text":"forbidden"}]}'],
  ['documents', '/v1/ocr', JSON_TYPE, '{"model":"m","document":{"document_url":"https://forbidden.example"}}'],
  [
    'a unified path below /proxy, whose last message is judged as on the route itself',
    '/v1/proxy/chat/completions',
    JSON_TYPE,
    '{"messages":[{"role":"user","content":"hi"},{"role":"user","content":"forbidden"}]}',
  ],
  ['an unknown path', '/v1/conversations', JSON_TYPE, '{"items":[{"deep":[{"deeper":"is forbidden"}]}]}'],
  [
    'a native one',
    '/v1/proxy/models/gemini:generateContent',
    JSON_TYPE,
    '{"contents":[{"parts":[{"text":"forbidden"}]}]}',
  ],
  ['escapes', '/v1/proxy/x', JSON_TYPE, '{"a":"f\\u006frbid\\u0064en"}'],
  ['a key', '/v1/proxy/x', JSON_TYPE, '{"forbidden":1}'],
  ['the other of two', '/v1/proxy/x', JSON_TYPE, '{"a":"forbidden","a":"fine"}'],
  ['JSON that stands as a string', '/v1/proxy/x', JSON_TYPE, '{"arguments":"{\\"a\\":\\"f\\\\u006frbidden\\"}"}'],
  ['a list', '/v1/proxy/x', JSON_TYPE, '[["forbidden"]]'],
  ['a string', '/v1/proxy/x', JSON_TYPE, '"forbidden"'],
  ['lines', '/v1/proxy/x', 'application/x-ndjson', '{"a":1}\n{"b":"forbidden"}\n'],
  ['a byte order mark', '/v1/proxy/x', JSON_TYPE, '\ufeff{"a":"forbidden"}'],
  ['another content type', '/v1/proxy/api/generate', 'text/plain', '{"prompt":"f\\u006frbidden"}'],
  [
    'no content type that says anything',
    '/v1/proxy/api/generate',
    'application/octet-stream',
    ' {"prompt":"f\\u006frbidden"}',
  ],
  ['what curl calls it', '/v1/proxy/api/generate', 'application/x-www-form-urlencoded', '{"prompt":"f\\u006frbidden"}'],
  ['a text', '/v1/proxy/x', 'text/plain', 'it is forbidden'],
  ['a browser’s form', '/v1/proxy/x', 'application/x-www-form-urlencoded', 'a=1&b=it+is+f%6Frbidden'],
  ['a name in it', '/v1/proxy/x', 'application/x-www-form-urlencoded', 'a=1&f%6Frbidden=1'],
  ['a form', '/v1/images/edits', FORM, field('model', 'gpt-image-1') + field('prompt', 'a forbidden cat') + end],
  ['a form of an unknown path', '/v1/proxy/videos', FORM, field('prompt', 'forbidden') + end],
  ['a form that is uploaded', '/v1/files', FORM, field('purpose', 'forbidden') + end],
  [
    'JSON in a form',
    '/v1/proxy/x',
    FORM,
    field('body', '{"a":"f\\u006frbidden"}', '', 'content-type: application/json\r\n') + end,
  ],
  ['JSON in a plain field', '/v1/proxy/x', FORM, field('body', ' {"a":"f\\u006frbidden"}') + end],
  ['the name of a field', '/v1/proxy/x', FORM, field('forbidden', '1') + end],
  ['the name of a file', '/v1/proxy/x', FORM, field('file', '1', '; filename="forbidden.txt"') + end],
  [
    'parts of one another',
    '/v1/proxy/upload',
    'multipart/related; boundary=b',
    '--b\r\ncontent-type: application/json\r\n\r\n{"a":"forbidden"}\r\n--b\r\ncontent-type: audio/wav\r\n\r\nRIFF\r\n--b--',
  ],
]

describe('a check that forbids', () => {
  test.each(DOORS)('denies %s before anything leaves', async (_, path, type, body) => {
    const result = await ask(DENY, path, type, body)
    expect([result.status, result.sent]).toEqual([446, []])
    expect(JSON.parse(result.text)).toMatchObject({error: {type: 'hooks_failed'}})
    expect(logged(result).before_request_hooks[0]).toMatchObject({verdict: false, deny: true})
    expect(result.entries).toEqual([])
  })

  test.each(DOORS)('lets %s pass as it came where the word does not stand', async (_, path, type, body) => {
    const fine = body.replace(/f(?:o|\\+u006f|%6F)rbid(?:d|\\u0064)en/, 'permitted')
    const result = await ask(DENY, path, type, fine)
    expect([result.status, result.sent]).toEqual([200, [fine]])
  })

  test.each(DOORS)('denies %s where its body is compressed', async (_, path, type, body) => {
    const result = await ask(DENY, path, type, gzipSync(body), {'content-encoding': 'gzip'})
    expect([result.status, result.sent]).toEqual([446, []])
  })

  test('lets the next target have what it does not deny, though the body was on the wire', async () => {
    const config = {strategy: {mode: 'fallback'}, targets: [DENY, {provider: '@b'}]}
    routed.b.answer((_, response) => json(response, {object: 'whatever'}))
    for (const [type, body] of [
      [JSON_TYPE, '{"a":"forbidden"}'],
      ['text/plain', 'forbidden'],
    ] as const) {
      routed.b.received.length = 0
      const result = await ask(config, '/v1/proxy/x', type, body)
      expect([
        result.status,
        routed.a.received.length,
        routed.b.received.map(received => received.body.toString()),
      ]).toEqual([200, 0, [body]])
    }
  })

  test('denies what is only counted', async () => {
    const body = '{"model":"m","messages":[{"role":"user","content":"forbidden"},{"role":"user","content":"hi"}]}'
    expect((await ask(DENY, '/v1/messages/count_tokens', JSON_TYPE, body)).status).toBe(446)
  })

  test('is not run on base64, whatever its key is', async () => {
    const base64 = Buffer.from('x'.repeat(900)).toString('base64')
    const config = {
      ...A,
      input_guardrails: [{'default.contains': {words: [base64.slice(0, 40)], operator: 'none'}, deny: true}],
    }
    expect((await ask(config, '/v1/proxy/x', JSON_TYPE, `{"picture":"${base64}"}`)).status).toBe(200)
    expect((await ask(config, '/v1/proxy/x', JSON_TYPE, `{"picture":"data:image/png;base64,${base64}"}`)).status).toBe(
      200,
    )
    expect((await ask(config, '/v1/proxy/x', JSON_TYPE, `{"picture":"${base64} "}`)).status).toBe(446)
    expect((await ask(config, '/v1/proxy/x', JSON_TYPE, `{"picture":"${base64.slice(0, 1000)}"}`)).status).toBe(446)
  })
})

describe('a redaction', () => {
  test.each([
    [
      'JSON',
      '/v1/proxy/x',
      JSON_TYPE,
      `{ "a" : "\\u0061 ${MAIL}",\n "n": 1.0, "b":["${MAIL}","x\\/y"]}`,
      '{ "a" : "a <EMAIL_1>",\n "n": 1.0, "b":["<EMAIL_1>","x\\/y"]}',
    ],
    ['a key stays', '/v1/proxy/x', JSON_TYPE, `{"${MAIL}":"${MAIL}"}`, `{"${MAIL}":"<EMAIL_1>"}`],
    [
      'JSON in JSON',
      '/v1/proxy/x',
      JSON_TYPE,
      `{"a":"{\\"b\\": \\"${MAIL}\\"}"}`,
      '{"a":"{\\"b\\": \\"<EMAIL_1>\\"}"}',
    ],
    ['lines', '/v1/proxy/x', 'application/jsonl', `{"a":"${MAIL}"}\n{"b":1}\n`, '{"a":"<EMAIL_1>"}\n{"b":1}\n'],
    ['a text', '/v1/proxy/x', 'text/plain', `write to ${MAIL}`, 'write to <EMAIL_1>'],
    [
      'a browser’s form',
      '/v1/proxy/x',
      'application/x-www-form-urlencoded',
      'a=%20&b=to+ada%40mail.example&c',
      'a=%20&b=to+%3CEMAIL_1%3E&c',
    ],
    [
      'a form',
      '/v1/images/edits',
      FORM,
      field('model', 'gpt-image-1') + field('image', `\0${MAIL}`, '; filename="a.png"') + field('prompt', MAIL) + end,
      field('model', 'gpt-image-1') +
        field('image', `\0${MAIL}`, '; filename="a.png"') +
        field('prompt', '<EMAIL_1>') +
        end,
    ],
    [
      'JSON in a form',
      '/v1/proxy/x',
      FORM,
      field('body', `{"a": "${MAIL}" }`) + end,
      field('body', '{"a": "<EMAIL_1>" }') + end,
    ],
  ])('of %s changes exactly that string', async (_, path, type, body, left) => {
    const result = await ask(PII, path, type, body)
    expect([result.status, result.sent]).toEqual([200, [left]])
    expect(logged(result).before_request_hooks[0]).toMatchObject({verdict: true, transformed: true})
  })

  test('of a form keeps the model that the config sets', async () => {
    const config = {...PII, override_params: {model: 'gpt-image-1-mini'}}
    const result = await ask(
      config,
      '/v1/images/edits',
      FORM,
      field('model', 'gpt-image-1') + field('prompt', MAIL) + end,
    )
    expect(result.sent).toEqual([field('model', 'gpt-image-1-mini') + field('prompt', '<EMAIL_1>') + end])
  })
})

describe('a check that asks for more than strings', () => {
  const hooks = [
    {'default.wordCount': {minWords: 100}, deny: true, id: 'count'},
    {'default.contains': {words: ['needed'], operator: 'all'}, deny: true, id: 'needs'},
    {'default.contains': {words: ['x'], operator: 'none'}, 'default.endsWith': {suffix: 'z'}, deny: true, id: 'both'},
  ]

  test('is skipped with its reason, as a prefix is', async () => {
    const config = {...A, input_guardrails: hooks, input_mutators: [{addPrefix: {prefix: 'now '}, id: 'prefix'}]}
    const result = await ask(config, '/v1/proxy/y', JSON_TYPE, '{"prompt":"a"}')
    expect([result.status, result.sent]).toEqual([200, ['{"prompt":"a"}']])
    const [count, needs, both, prefix] = logged(result).before_request_hooks
    expect([count, needs, prefix]).toEqual([
      {id: 'count', type: 'guardrail', skipped: true, reason: 'not_text'},
      {id: 'needs', type: 'guardrail', skipped: true, reason: 'not_text'},
      {id: 'prefix', type: 'mutator', skipped: true, reason: 'not_text'},
    ])
    expect(both).toMatchObject({
      verdict: true,
      checks: [
        {id: 'default.contains', verdict: true},
        {id: 'default.endsWith', skipped: true, reason: 'not_text'},
      ],
    })
    expect(JSON.stringify(both)).toContain('"skipped":true,"reason":"not_text"')
  })

  describe('of a service', () => {
    let service: FakeProvider

    beforeAll(async () => {
      service = await fakeProvider((_, response) => json(response, {verdict: false}))
    })
    afterAll(() => service.close())

    test('asks it only where the guardrail says so', async () => {
      const guard = (more: object) => ({
        ...A,
        input_guardrails: [{webhook: {webhookURL: service.url, failOnError: true}, deny: true, ...more}],
      })
      expect((await ask(guard({}), '/v1/proxy/y', JSON_TYPE, '{"a":"b"}')).status).toBe(200)
      const result = await ask(guard({every_route: true}), '/v1/proxy/y', JSON_TYPE, '{"a":"b"}')
      expect([result.status, routed.a.received.length]).toEqual([446, 1])
    })
  })
})

describe('what calls itself JSON or a form, and is none', () => {
  test.each([
    ['JSON with comments', JSON_TYPE, '{"a":1 /* "forbidden" */}'],
    ['other quotes', JSON_TYPE, "['forbidden']"],
    ['a form', JSON_TYPE, field('a', 'forbidden') + end],
    ['JSON', FORM, '{"a":"forbidden"}'],
    ['bare line feeds', FORM, (field('a', 'forbidden') + end).replaceAll('\r', '')],
  ])('%s is refused', async (_, type, body) => {
    const result = await ask(DENY, '/v1/proxy/x', type, body)
    expect([result.status, result.sent]).toEqual([400, []])
  })

  test('JSON that is nested deeper than all readers read is refused', async () => {
    const result = await ask(DENY, '/v1/proxy/x', JSON_TYPE, '['.repeat(300) + ']'.repeat(300))
    expect([result.status, result.text.includes('nested deeper than the 256 levels')]).toEqual([400, true])
  })
})

describe('what cannot be read', () => {
  const long = `{"a":"${'long '.repeat(300_000)}"}`
  const UNREAD: readonly (readonly [string, string, string, string | Buffer, string])[] = [
    [
      'a file in a form',
      '/v1/images/edits',
      FORM,
      field('model', 'm') + field('image', '\0', '; filename="a.png"') + end,
      'image',
    ],
    [
      'a field with a coding',
      '/v1/proxy/x',
      FORM,
      field('note', 'Zm9yYmlkZGVu', '', 'content-transfer-encoding: base64\r\n') + end,
      'note',
    ],
    [
      'a field that is no text',
      '/v1/proxy/x',
      FORM,
      field('sound', '\0', '', 'content-type: audio/wav\r\n') + end,
      'sound',
    ],
    ['bytes', '/v1/proxy/x', 'application/octet-stream', Buffer.from([0, 1, 2, 255]), 'body'],
    ['sound', '/v1/proxy/x', 'audio/wav', 'RIFF', 'body'],
    ['a text of another character set', '/v1/proxy/x', 'text/plain; charset=utf-16', 'abc', 'body'],
    ['JSON that is too long', '/v1/proxy/x', JSON_TYPE, long, 'body'],
    [
      'JSON that is too long, on a route of its own',
      '/v1/chat/completions',
      JSON_TYPE,
      `{"messages":[{"role":"user","content":${long.slice(5, -1)}}]}`,
      'body',
    ],
    ['fields that are too long', '/v1/proxy/x', FORM, field('a', long) + end, 'body'],
  ]

  test.each(UNREAD)('%s passes, and the log says what was skipped', async (_, path, type, body, part) => {
    for (const config of [DENY, PII]) {
      routed.a.received.length = 0
      const result = await ask(config, path, type, body)
      expect([result.status, routed.a.received[0]!.body.equals(Buffer.from(body))]).toEqual([200, true])
      expect(logged(result).before_request_hooks.at(-1)).toMatchObject({
        type: 'guardrail',
        skipped: true,
        reason: 'unreadable',
        part,
      })
    }
  })

  test.each(UNREAD)(
    '%s is denied where the settings say so, while a guardrail denies or redacts',
    async (_, path, type, body, part) => {
      for (const config of [DENY, PII]) {
        const result = await ask(config, path, type, body, {}, strict)
        expect([result.status, result.sent]).toEqual([446, []])
        expect(JSON.stringify(JSON.parse(result.text).hook_results)).toContain(
          `"skipped":true,"reason":"unreadable","part":"${part}"`,
        )
      }
      const reports = {...A, input_guardrails: [{'default.contains': {words: ['x'], operator: 'none'}}]}
      const other = {...A, input_guardrails: [{'default.allowedRequestTypes': {blockedTypes: ['embed']}, deny: true}]}
      for (const config of [reports, other, A])
        expect((await ask(config, path, type, body, {}, strict)).status).toBe(200)
    },
  )

  test('of a workspace that denies them is denied, whatever the setting is', async () => {
    const [workspace] = (
      await routed.gateway.admin<{data: {id: string; defaults: {unreadable_bodies?: string}}[]}>(
        'GET',
        '/admin/workspaces',
      )
    ).data
    const set = (unreadable_bodies: string | null) =>
      routed.gateway.admin('PUT', `/admin/workspaces/${workspace!.id}`, {defaults: {unreadable_bodies}})
    const status = async (config: object) => (await ask(config, '/v1/proxy/x', 'audio/wav', 'RIFF')).status
    expect([workspace!.defaults.unreadable_bodies, await status(DENY)]).toEqual([undefined, 200])
    await set('deny')
    const shown = await routed.gateway.admin<{data: object[]}>('GET', '/admin/workspaces')
    expect(shown.data[0]).toMatchObject({defaults: {unreadable_bodies: 'deny'}})
    expect([await status(DENY), await status(PII), await status(A)]).toEqual([446, 446, 200])
    await set(null)
    expect(await status(DENY)).toBe(200)
  })

  test('a picture in a chat does not make it too long', async () => {
    const picture = `data:image/png;base64,${'iVBORw0KGgo'.repeat(150_000)}`
    const chat = (text: string) =>
      JSON.stringify({
        messages: [
          {
            role: 'user',
            content: [
              {type: 'text', text},
              {type: 'image_url', image_url: {url: picture}},
            ],
          },
        ],
      })
    expect((await ask(DENY, '/v1/chat/completions', JSON_TYPE, chat('forbidden'))).status).toBe(446)
    expect((await ask(DENY, '/v1/chat/completions', JSON_TYPE, chat('fine'), {}, strict)).status).toBe(200)
  })

  test('a body that comes in chunks is taken no further than guardrails read, and all of it leaves', async () => {
    async function* chunks() {
      for (let count = 0; count < 30; count++) yield Buffer.from(`{"a":"${'x '.repeat(50_000)}"}\n`)
    }
    const reply = await routed.gateway.call('/v1/proxy/x', {
      method: 'POST',
      body: chunks() as unknown as string,
      headers: {'content-type': 'application/x-ndjson', 'x-gateway-config': JSON.stringify(DENY)},
      duplex: 'half',
    } as RequestInit & {headers: Record<string, string>})
    expect([reply.status, routed.a.received[0]!.body.length]).toEqual([200, 30 * 100_009])
    await reply.text()
  })

  test('without a guardrail nothing is read, and nothing is said', async () => {
    const result = await ask(A, '/v1/proxy/x', JSON_TYPE, '{"a":')
    expect([result.status, result.sent, logged(result)]).toEqual([200, ['{"a":'], undefined])
  })
})

describe('answers', () => {
  const out = (check: object, more: object = {}) => ({...A, output_guardrails: [{...check, deny: true, ...more}]})
  const FORBIDS = {'default.contains': {words: ['forbidden'], operator: 'none'}}
  const REDACTS = {'default.pii': {redact: true}}
  const answered = (body: string, type = JSON_TYPE) =>
    routed.a.answer((_, response) => response.writeHead(200, {'content-type': type}).end(body))
  const get = async (path: string, config: object) => {
    const reply = await routed.gateway.call(path, {headers: {'x-gateway-config': JSON.stringify(config)}})
    return {status: reply.status, text: await reply.text()}
  }

  test.each([
    [
      'JSON',
      '/v1/proxy/models/gemini:generateContent',
      JSON_TYPE,
      '{"candidates":[{"content":{"parts":[{"text":"is f\\u006frbidden"}]}}]}',
    ],
    ['a list', '/v1/proxy/x', JSON_TYPE, '[{"text":"forbidden"}]'],
    [
      'lines',
      '/v1/proxy/api/chat',
      'application/x-ndjson',
      '{"message":{"content":"a"}}\n{"message":{"content":"forbidden"}}\n',
    ],
    ['a text', '/v1/audio/transcriptions', 'text/plain; charset=utf-8', 'what is forbidden'],
    ['subtitles', '/v1/audio/translations', 'text/vtt', 'WEBVTT\n\n00:00 --> 00:01\nforbidden'],
    ['a document', '/v1/ocr', JSON_TYPE, '{"pages":[{"markdown":"forbidden"}]}'],
  ])('%s that a check forbids is 446 in its place', async (_, path, type, body) => {
    answered(body, type)
    const form = /audio/.test(path)
    const result = await ask(
      out(FORBIDS),
      path,
      form ? FORM : JSON_TYPE,
      form ? field('model', 'whisper-1') + end : '{"model":"m"}',
    )
    expect([result.status, result.text.includes('rbidden')]).toEqual([446, true])
    expect(JSON.parse(result.text)).toMatchObject({error: {type: 'hooks_failed'}})
    expect(logged(result).after_request_hooks).toMatchObject([{verdict: false, deny: true}])
  })

  test('are redacted where the string stands, every other byte as it came', async () => {
    answered(`{ "a" : "${MAIL}", "n": 1.0 }`)
    const result = await ask(out(REDACTS), '/v1/proxy/x', JSON_TYPE, '{}')
    expect(result.text.startsWith('{ "a" : "<EMAIL_1>", "n": 1.0 ')).toBe(true)
    answered(`write to ${MAIL}`, 'text/plain')
    expect((await ask(out(REDACTS), '/v1/audio/transcriptions', FORM, field('model', 'm') + end)).text).toBe(
      'write to <EMAIL_1>',
    )
  })

  test('of lists, files and metadata are judged where the guardrail says every_route', async () => {
    answered('{"data":[{"name":"forbidden"}]}')
    expect((await get('/v1/proxy/threads', out(FORBIDS))).status).toBe(200)
    expect((await get('/v1/files/file-1', out(FORBIDS))).status).toBe(200)
    expect((await get('/v1/proxy/threads', out(FORBIDS, {every_route: true}))).status).toBe(446)
    expect((await get('/v1/files/file-1', out(FORBIDS, {every_route: true}))).status).toBe(446)
  })

  test('that were made in the background are judged when they are fetched', async () => {
    answered(
      '{"object":"response","status":"completed","output":[{"type":"message","content":[{"type":"output_text","text":"forbidden"}]}]}',
    )
    expect((await get('/v1/responses/resp_1', out(FORBIDS))).status).toBe(446)
  })

  test('that are no text pass, and the log says so', async () => {
    for (const type of ['audio/mpeg', 'application/vnd.amazon.eventstream', 'application/octet-stream']) {
      answered('\0forbidden', type)
      const result = await ask(out(FORBIDS), '/v1/proxy/x', JSON_TYPE, '{}')
      expect([type, result.status, result.text]).toEqual([type, 200, '\0forbidden'])
      expect(logged(result).after_request_hooks).toMatchObject([{skipped: true, reason: 'unreadable', part: 'body'}])
    }
  })

  test('that are long are not held back to tell results of their requests', async () => {
    const sound = Buffer.alloc(9 << 20, 'x')
    for (const type of ['audio/mpeg', JSON_TYPE]) {
      routed.a.answer((_, response) =>
        response.writeHead(200, {'content-type': type, 'content-length': String(sound.length)}).end(sound),
      )
      const reply = await routed.gateway.call('/v1/audio/speech', {
        method: 'POST',
        body: '{"model":"m","input":"fine"}',
        headers: {'content-type': JSON_TYPE, 'x-gateway-config': JSON.stringify(DENY)},
      })
      expect([reply.status, (await reply.arrayBuffer()).byteLength]).toEqual([200, sound.length])
    }
  })

  describe('that are streamed', () => {
    const events = (...texts: string[]) =>
      texts.map(text => `data: ${JSON.stringify({candidates: [{content: {parts: [{text}]}}]})}\n\n`).join('')
    const stream = (body: string) => answered(body, 'text/event-stream')
    const path = '/v1/proxy/models/gemini:streamGenerateContent?alt=sse'

    test.each(['window', 'buffer'] as const)('%s: what is forbidden does not leave', async stream_mode => {
      stream(events('a fine beginning ', 'it is forbidden ', 'and goes on'))
      const result = await ask(out(FORBIDS, {stream_mode}), path, JSON_TYPE, '{}')
      expect(result.text).not.toContain('is forbidden')
      expect(result.text).not.toContain('goes on')
      expect(logged(result).after_request_hooks).toMatchObject([{verdict: false, stream_mode}])
    })

    test.each(['window', 'buffer'] as const)('%s: what is redacted leaves without it', async stream_mode => {
      stream(events('a fine beginning ', `write to ${MAIL} `, 'and goes on'))
      const result = await ask(out(REDACTS, {stream_mode, deny: false}), path, JSON_TYPE, '{}')
      expect([result.status, result.text.includes(MAIL), result.text.includes('write to <EMAIL_1>')]).toEqual([
        200,
        false,
        true,
      ])
      expect(result.text).toContain('and goes on')
    })

    test.each(['after', 'window', 'buffer'] as const)('%s: what passes comes as it was sent', async stream_mode => {
      const body = `${events('a fine beginning ', 'and goes on')}event: end\ndata: {"usage":{"total":3}}\n\n`
      stream(body)
      const result = await ask(out(FORBIDS, {stream_mode}), path, JSON_TYPE, '{}')
      expect([result.status, result.text]).toEqual([200, body])
      expect(logged(result).after_request_hooks).toMatchObject([{verdict: true, stream_mode}])
    })
  })
})
