import {once} from 'node:events'
import {readdirSync, readFileSync, statSync} from 'node:fs'
import {request} from 'node:http'
import {join} from 'node:path'
import {brotliCompressSync, gzipSync} from 'node:zlib'
import fc from 'fast-check'
import {afterAll, afterEach, beforeAll, beforeEach, describe, expect, test} from 'vitest'
import {ENDPOINTS, type Endpoint} from '../../src/schema/endpoints.ts'
import type {HookResults} from '../../src/schema/guardrails.ts'
import {WORKSPACE_KEY} from '../support/gateway.ts'
import {CHAT_ROUTE} from '../support/guarded.ts'
import {chatReply, type FakeProvider, fakeProvider, json} from '../support/provider.ts'
import {type RoutingSetup, startRouting, type Told} from '../support/routing.ts'

const A = {provider: '@a'}
const chat = (content: string, more: object = {}) => ({body: CHAT_ROUTE.ask(content, more)})
const logged = (result: Told, at = 0) => (result.rows[at] as unknown as {hook_results?: HookResults}).hook_results
const forbids = (word: string, more: object = {}) => ({'default.contains': {words: [word], operator: 'none'}, ...more})

let routed: RoutingSetup
let service: FakeProvider

beforeAll(async () => {
  routed = await startRouting({TRUSTED_CUSTOM_HOSTS: '127.0.0.1'})
  service = await fakeProvider()
})
beforeEach(() => {
  routed.reset()
  service.received.length = 0
})
afterAll(async () => {
  await routed.close()
  await service.close()
})

describe('types of request', () => {
  const served = ENDPOINTS.filter(({later, name}) => !later && name !== 'realtime')
  const pathOf = ({path, name}: Endpoint) =>
    `/v1${path.replace(/:[a-z]+|\*/g, name === 'promptComplete' ? routed.prompt : 'x1')}`
  const bodyOf = ({body, path}: Endpoint) => {
    if (body === 'none') return {}
    if (body === 'json')
      return {
        body: JSON.stringify({
          model: 'gpt-4o-mini',
          messages: [{role: 'user', content: 'hi'}],
          input: 'hi',
          variables: {},
          path,
        }),
        type: 'application/json',
      }
    return {
      body: '--b\r\ncontent-disposition: form-data; name="model"\r\n\r\nwhisper-1\r\n--b--\r\n',
      type: 'multipart/form-data; boundary=b',
    }
  }
  const ask = async (endpoint: Endpoint, guardrail: object) => {
    const {body, type} = bodyOf(endpoint)
    return routed.gateway.call(pathOf(endpoint), {
      method: endpoint.method,
      headers: {
        'x-gateway-config': JSON.stringify({
          ...A,
          input_guardrails: [{'default.allowedRequestTypes': guardrail, deny: true}],
        }),
        ...(type ? {'content-type': type} : {}),
      },
      ...(body ? {body} : {}),
    })
  }

  test('one that is blocked, or is not among the allowed, is 446 on every route and reaches nobody', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...served),
        fc.constantFrom(...served),
        fc.boolean(),
        async (endpoint, other, blocks) => {
          routed.reset()
          const reply = await ask(endpoint, blocks ? {blockedTypes: [endpoint.name]} : {allowedTypes: [other.name]})
          const denied = blocks || other.name !== endpoint.name
          await reply.arrayBuffer()
          expect([endpoint.name, reply.status === 446, routed.a.received.length > 0]).toEqual([
            endpoint.name,
            denied,
            !denied,
          ])
        },
      ),
      {numRuns: 120},
    )
  })

  test('each route is judged under its own name', async () => {
    for (const endpoint of served) {
      const reply = await ask(endpoint, {blockedTypes: [endpoint.name]})
      expect([
        endpoint.name,
        reply.status,
        ((await reply.json()) as {hook_results: object}).hook_results,
      ]).toMatchObject([endpoint.name, 446, {}])
    }
    expect(routed.a.received).toEqual([])
  })

  test('what passes through is one of them', async () => {
    const config = {...A, input_guardrails: [{'default.allowedRequestTypes': {blockedTypes: ['proxy']}, deny: true}]}
    const result = await routed.ask(config, {path: '/v1/some/path', body: {x: 1}})
    expect([result.status, routed.a.received.length]).toEqual([446, 0])
  })

  test('a session over WebSocket is one of them', async () => {
    const config = {...A, input_guardrails: [{'default.allowedRequestTypes': {blockedTypes: ['realtime']}, deny: true}]}
    const asked = request(`${routed.gateway.url}/v1/realtime?model=gpt-realtime`, {
      headers: {
        connection: 'Upgrade',
        upgrade: 'websocket',
        'sec-websocket-version': '13',
        'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
        'x-gateway-api-key': WORKSPACE_KEY,
        'x-gateway-config': JSON.stringify(config),
      },
    }).end()
    const [reply] = (await once(asked, 'response')) as [{statusCode: number; resume(): void}]
    reply.resume()
    expect([reply.statusCode, routed.a.received.length]).toEqual([446, 0])
  })

  test('checks that ask for more than strings are skipped on a route without texts, and the log says so', async () => {
    const counts = {'default.wordCount': {minWords: 100}, deny: true}
    const config = {...A, input_guardrails: [counts], output_guardrails: [forbids('b', {deny: true})]}
    const result = await routed.ask(config, {path: '/v1/images/generations', body: {model: 'm', prompt: 'a'}})
    expect(result.status).toBe(200)
    expect(result.text).not.toContain('hook_results')
    const before_request_hooks = [{skipped: true, reason: 'not_text'}]
    expect(logged(result)).toMatchObject({before_request_hooks, after_request_hooks: [{skipped: true}]})
  })
})

describe('embeddings', () => {
  const embed = (input: string) => ({path: '/v1/embeddings', body: {model: 'text-embedding-3-small', input}})

  test('are judged and redacted on the way in alone', async () => {
    const denied = await routed.ask({...A, input_guardrails: [forbids('no', {deny: true})]}, embed('no'))
    expect([denied.status, routed.a.received.length]).toEqual([446, 0])
    const config = {
      ...A,
      input_guardrails: [{'default.regexReplace': {rule: 'x+', redactText: '#'}}],
      output_guardrails: [forbids('embedding', {deny: true})],
    }
    const result = await routed.ask(config, embed('axxb'))
    expect([result.status, JSON.parse(routed.a.received[0]!.body.toString()).input]).toEqual([200, 'a#b'])
    expect(logged(result)?.after_request_hooks).toMatchObject([{skipped: true}])
  })
})

describe('targets', () => {
  test('inherit what stands above them, and are judged one by one', async () => {
    const config = {
      strategy: {mode: 'fallback', on_status_codes: [246, 446]},
      input_guardrails: [forbids('bad')],
      targets: [A, {provider: '@b'}],
    }
    const result = await routed.ask(config, chat('a bad thing'))
    expect([result.status, result.path, routed.received()]).toMatchObject([246, 'config.targets[1]', {a: 1, b: 1}])
    expect(result.rows.map((_, at) => logged(result, at)!.before_request_hooks)).toMatchObject([
      [{verdict: false}],
      [{verdict: false}],
    ])
  })

  test('a second try is told by its own answer, not by what was said of the first', async () => {
    const second = CHAT_ROUTE.answer(['a fine one'])
    routed.a.answer((received, response, request) => {
      // the first answer comes whole although a stream was asked for
      if (routed.a.received.length === 1) json(response, chatReply('m', 'a bad answer'))
      else second(received, response, request)
    })
    const config = {
      ...A,
      retry: {attempts: 1, on_status_codes: [246]},
      output_guardrails: [forbids('bad', {stream_mode: 'after'})],
    }
    const result = await routed.ask(config, chat('a question', {stream: true}))
    expect([result.status, CHAT_ROUTE.read(result.text), routed.a.received.length]).toEqual([200, 'a fine one', 2])
  })

  test('a denial is a failure that a fallback goes on from, and has its row', async () => {
    const config = {
      strategy: {mode: 'fallback'},
      targets: [{...A, input_guardrails: [forbids('bad', {deny: true})]}, {provider: '@b'}],
    }
    const result = await routed.ask(config, chat('a bad thing'))
    expect([result.status, result.path, routed.received()]).toMatchObject([200, 'config.targets[1]', {a: 0, b: 1}])
    expect(result.rows).toMatchObject([
      {status: 446, option_path: 'config.targets[0]'},
      {status: 200, option_path: 'config.targets[1]'},
    ])
    expect(result.rows[1]).not.toHaveProperty('hook_results')
  })

  test('what one redacted the next one gets as it came', async () => {
    routed.a.answer((_, response) => json(response, {error: {message: 'down'}}, 500))
    const config = {
      strategy: {mode: 'fallback'},
      targets: [
        {...A, input_guardrails: [{'default.regexReplace': {rule: 'secret', redactText: '#'}}]},
        {provider: '@b'},
      ],
    }
    await routed.ask(config, chat('a secret'))
    expect([routed.a.received[0]!.body.toString(), routed.b.received[0]!.body.toString()]).toEqual([
      expect.stringContaining('a #'),
      expect.stringContaining('a secret'),
    ])
  })

  test('an answer that is denied is asked again where its status is retried', async () => {
    let at = 0
    routed.a.answer((_, response) => json(response, chatReply('m', at++ ? 'good' : 'bad')))
    const config = {
      ...A,
      retry: {attempts: 1, on_status_codes: [446]},
      output_guardrails: [forbids('bad', {deny: true})],
    }
    const result = await routed.ask(config, chat('hi'))
    expect([result.status, result.retries, result.text.includes('good')]).toEqual([200, '1', true])
    expect(result.entries).toHaveLength(2)
    expect(logged(result)).toMatchObject({after_request_hooks: [{verdict: true}]})
  })

  test('a rewritten model has to be one that is allowed', async () => {
    service.answer((_, response) =>
      json(response, {verdict: true, transformedData: {request: {json: CHAT_ROUTE.ask('hi', {model: 'other'})}}}),
    )
    const result = await routed.ask(
      {...A, input_guardrails: [{webhook: {webhookURL: `${service.url}/judge`}}]},
      chat('hi'),
    )
    expect([result.status, JSON.parse(routed.a.received[0]!.body.toString()).model]).toEqual([200, 'other'])
  })
})

describe('webhooks', () => {
  const config = (more: object = {}) => ({
    ...A,
    input_guardrails: [{webhook: {webhookURL: `${service.url}/judge`, ...more}, deny: true}],
  })

  test('are asked with the request, and their verdict counts', async () => {
    service.answer((_, response) => json(response, {verdict: false}))
    const result = await routed.ask(config(), chat('hello there'))
    expect([result.status, routed.a.received.length, service.received.length]).toEqual([446, 0, 1])
    expect(JSON.parse(service.received[0]!.body.toString())).toMatchObject({
      eventType: 'beforeRequestHook',
      request: {text: 'hello there'},
    })
    expect(service.received[0]!.headers).not.toHaveProperty('x-gateway-api-key')
  })

  test.each<[string, Parameters<FakeProvider['answer']>[0]]>([
    ['answers HTML', (_, response) => response.writeHead(200, {'content-type': 'text/html'}).end('<h1>hello</h1>')],
    ['answers 500', (_, response) => json(response, {}, 500)],
    ['redirects', (_, response) => response.writeHead(302, {location: 'http://169.254.169.254/latest'}).end()],
    ['hangs', () => undefined],
    [
      'answers without end',
      (_, response) => {
        response.writeHead(200, {'content-type': 'application/json'})
        const more = () => {
          if (!response.destroyed) response.write(Buffer.alloc(1 << 20, 0x20), () => setImmediate(more))
        }
        more()
      },
    ],
  ])('one that %s passes, or fails where that is asked for', async (_, answer) => {
    service.answer(answer)
    const open = await routed.ask(config({timeout: 200}), chat('hi'))
    const closed = await routed.ask(config({timeout: 200, failOnError: true}), chat('hi'))
    expect([open.status, closed.status, routed.a.received.length]).toEqual([200, 446, 1])
    expect(logged(open)).toMatchObject({
      before_request_hooks: [{verdict: true, checks: [{verdict: false, error: {name: expect.any(String)}}]}],
    })
  })

  test('a private address that nobody trusts is not dialled', async () => {
    const result = await routed.ask(
      {
        ...A,
        input_guardrails: [
          {webhook: {webhookURL: `http://localhost:${service.port}/judge`, failOnError: true}, deny: true},
        ],
      },
      chat('hi'),
    )
    expect([result.status, service.received.length]).toEqual([446, 0])
    expect(result.text).not.toMatch(/127\.0\.0\.1|ECONN|private/)
  })
})

describe('what is wrong', () => {
  const refused = async (more: object) => {
    const result = await routed.ask({...A, ...more}, chat('hi'))
    expect(routed.a.received).toEqual([])
    return [result.status, (JSON.parse(result.text) as {message: string}).message]
  }

  test('is said with its place, before anything leaves', async () => {
    expect(await refused({input_guardrails: ['pg-nobody']})).toEqual([
      400,
      expect.stringContaining('Guardrail not found: pg-nobody'),
    ])
    expect(await refused({input_guardrails: [{'default.containz': {words: ['a']}}]})).toEqual([
      400,
      expect.stringContaining('did you mean default.contains?'),
    ])
    expect(await refused({input_guardrails: [{wordCount: {minWords: 'two'}}]})).toEqual([
      400,
      expect.stringContaining('minWords'),
    ])
    expect(await refused({input_guardrails: [{regexMatch: {rule: '(a'}}]})).toEqual([
      400,
      expect.stringContaining('rule'),
    ])
    expect(
      await refused({input_guardrails: [{allowedRequestTypes: {allowedTypes: ['embed'], blockedTypes: ['embed']}}]}),
    ).toEqual([400, expect.stringContaining('both have "embed"')])
  })

  test('an answer that cannot be judged is refused, and nothing of it leaves', async () => {
    const config = {...A, output_guardrails: [forbids('bad', {deny: true})]}
    routed.a.answer((_, response) => response.writeHead(200, {'content-type': 'text/html'}).end('<p>something bad</p>'))
    const result = await routed.ask(config, chat('hi'))
    expect([result.status, result.text.includes('something')]).toEqual([502, false])
  })

  test.each([
    ['gzip', gzipSync],
    ['br', brotliCompressSync],
  ] as const)('an answer in %s is read, although plain text was asked for', async (encoding, encode) => {
    const config = {...A, output_guardrails: [forbids('bad', {deny: true})]}
    routed.a.answer((_, response) =>
      response
        .writeHead(200, {'content-type': 'application/json', 'content-encoding': encoding})
        .end(encode(JSON.stringify(chatReply('m', 'so bad')))),
    )
    const result = await routed.ask(config, chat('hi'))
    expect([routed.a.received[0]!.headers['accept-encoding'], result.status]).toEqual(['identity', 446])
    routed.a.answer((_, response) =>
      response
        .writeHead(200, {'content-type': 'application/json', 'content-encoding': encoding})
        .end(encode(JSON.stringify(chatReply('m', 'good')))),
    )
    const good = await routed.ask(config, chat('hi'))
    expect([good.status, good.headers.get('content-encoding'), CHAT_ROUTE.read(good.text)]).toEqual([200, null, 'good'])
  })

  test('a stream that is encoded although plain text was asked for is refused', async () => {
    const config = {...A, output_guardrails: [forbids('bad', {deny: true, stream_mode: 'window'})]}
    routed.a.answer((_, response) =>
      response
        .writeHead(200, {'content-type': 'text/event-stream', 'content-encoding': 'gzip'})
        .end(gzipSync('data: {"choices":[]}\n\ndata: [DONE]\n\n')),
    )
    expect((await routed.ask(config, chat('hi', {stream: true}))).status).toBe(502)
  })
})

describe('errors of the provider', () => {
  const failing = {error: {message: 'too bad', type: 'server_error', param: null, code: null}}

  test('stay as they are where nothing in them is forbidden', async () => {
    routed.a.answer((_, response) => json(response, failing, 503))
    const result = await routed.ask({...A, output_guardrails: [forbids('worse', {deny: true})]}, chat('hi'))
    expect([result.status, result.text]).toEqual([503, JSON.stringify(failing)])
  })

  test('are denied where something is', async () => {
    routed.a.answer((_, response) => json(response, failing, 503))
    const result = await routed.ask({...A, output_guardrails: [forbids('bad', {deny: true})]}, chat('hi'))
    expect([result.status, result.text.includes('too bad')]).toEqual([446, false])
  })
})

describe('the cache', () => {
  const cache = {mode: 'simple'}

  test('gives a guarded caller nothing that was not judged as its own guardrails do', async () => {
    routed.a.answer((_, response) => json(response, chatReply('m', 'a bad answer')))
    const body = CHAT_ROUTE.ask('cached?')
    expect((await routed.ask({...A, cache}, {body})).status).toBe(200)
    const guarded = {...A, cache, output_guardrails: [forbids('bad', {deny: true})]}
    const result = await routed.ask(guarded, {body})
    expect([result.status, result.text.includes('a bad answer')]).toEqual([446, false])
    expect((await routed.ask(guarded, {body})).status).toBe(446)
    expect(routed.a.received).toHaveLength(3)
  })

  test('keeps what was redacted, and tells the results of each call’s own request', async () => {
    routed.a.answer((_, response) => json(response, chatReply('m', 'call 555-1234')))
    const config = {
      ...A,
      cache,
      input_guardrails: [forbids('odd')],
      output_guardrails: [{'default.regexReplace': {rule: '\\d{3}-\\d{4}', redactText: '[PHONE]'}}],
    }
    const body = CHAT_ROUTE.ask('an odd question')
    const first = await routed.ask(config, {body})
    const second = await routed.ask(config, {body})
    expect([first.status, second.status, routed.a.received.length]).toEqual([246, 246, 1])
    expect(second.headers.get('x-gateway-cache-status')).toBe('HIT')
    const result = JSON.parse(second.text) as {hook_results: HookResults}
    expect([CHAT_ROUTE.read(second.text), result.hook_results.after_request_hooks]).toEqual(['call [PHONE]', []])
  })
})

describe('defaults', () => {
  afterEach(async () => {
    const [workspace] = (await routed.gateway.admin<{data: {id: string}[]}>('GET', '/admin/workspaces')).data
    await routed.gateway.admin('PUT', `/admin/workspaces/${workspace!.id}`, {
      defaults: {input_guardrails: [], output_guardrails: []},
    })
  })

  test('of a workspace run on every call, with a config or without, and no config takes them away', async () => {
    const [workspace] = (await routed.gateway.admin<{data: {id: string}[]}>('GET', '/admin/workspaces')).data
    const saved = await routed.gateway.admin<{data?: {slug: string}; slug?: string}>('POST', '/guardrails', {
      name: 'house rules',
      workspace_id: workspace!.id,
      checks: [{id: 'default.contains', parameters: {words: ['bad'], operator: 'none'}}],
      actions: {
        deny: true,
        async: false,
        on_success: {feedback: {value: 1, weight: 1, metadata: ''}},
        on_fail: {feedback: {value: -2, weight: 0.5, metadata: ''}},
      },
    })
    const slug = saved.slug ?? saved.data!.slug
    await routed.gateway.admin('PUT', `/admin/workspaces/${workspace!.id}`, {defaults: {input_guardrails: [slug]}})
    const plain = await routed.gateway.chat(CHAT_ROUTE.ask('a bad thing'), {'x-gateway-provider': '@a'})
    const other = await routed.ask(
      {...A, input_guardrails: [forbids('other')], default_input_guardrails: []},
      chat('a bad thing'),
    )
    const listed = await routed.gateway.call('/v1/models')
    const posts = routed.a.received.filter(({method}) => method === 'POST')
    expect([plain.status, other.status, listed.status, posts.length]).toEqual([446, 446, 200, 0])
    expect(logged(other)?.before_request_hooks).toMatchObject([
      {verdict: true},
      {verdict: false, id: slug, feedback: {value: -2, weight: 0.5}},
    ])
  })
})

describe('defaults that a config carries', () => {
  const denies = {...forbids('bad'), deny: true}
  const hook = {id: 'h', deny: true, checks: [{id: 'default.contains', parameters: {words: ['bad'], operator: 'none'}}]}

  test.each<[string, unknown]>([
    ['in short', denies],
    ['as a hook', hook],
  ])('judge requests and answers at every target: %s', async (_, each) => {
    const targets = [
      {...A, input_guardrails: [], output_guardrails: []},
      {provider: '@b', after_request_hooks: []},
    ]
    const root = {strategy: {mode: 'fallback'}, targets}
    const asked = await routed.ask({...root, default_input_guardrails: [each]}, chat('a bad thing'))
    expect([asked.status, routed.a.received.length, routed.b.received.length]).toEqual([446, 0, 0])
    for (const provider of [routed.a, routed.b])
      provider.answer((_heard, response) => json(response, chatReply('m', 'a bad thing')))
    const result = await routed.ask({...root, default_output_guardrails: [each]}, chat('hi'))
    expect([result.status, result.text.includes('a bad thing')]).toEqual([446, false])
  })

  test('are refused when they say nothing that is known', async () => {
    const result = await routed.ask({...A, default_input_guardrails: [{contain: {}}]}, chat('hi'))
    expect([result.status, result.text]).toEqual([400, expect.stringContaining('default_input_guardrails[0]')])
    expect(routed.a.received).toEqual([])
  })

  test('keep kept answers apart', async () => {
    const cache = {cache: {mode: 'simple'}}
    routed.a.answer((_heard, response) => json(response, chatReply('m', 'a bad thing')))
    const plain = await routed.ask({...A, ...cache}, chat('kept?'))
    const judged = await routed.ask({...A, ...cache, default_output_guardrails: [denies]}, chat('kept?'))
    expect([plain.status, judged.status]).toEqual([200, 446])
  })
})

describe('a secret that is redacted', () => {
  const CANARY = 'canary-7f3a9c5512'
  const config = {
    ...A,
    input_guardrails: [
      {'default.regexReplace': {rule: '/canary-[a-f0-9]+/g', redactText: '[SECRET]'}, sequential: true},
      forbids('nothing'),
    ],
  }

  function filesBelow(folder: string): string[] {
    return readdirSync(folder).flatMap(name => {
      const path = join(folder, name)
      return statSync(path).isDirectory() ? filesBelow(path) : [path]
    })
  }

  test.each([false, true])(
    'is in no upstream body, log row, audit row, trace, metric, line or file; stream: %s',
    async stream => {
      const messages = [
        {role: 'system', content: `Never say ${CANARY}.`},
        {role: 'user', content: [{type: 'text', text: `It is ${CANARY}`}]},
      ]
      const result = await routed.ask(config, {body: {model: 'gpt-4o-mini', messages, ...(stream ? {stream} : {})}})
      expect(result.status).toBe(200)
      const {gateway} = routed
      await gateway.app.flushed()
      const {id} = result.rows[0] as unknown as {id: string}
      const seen = [
        routed.a.received.map(({body}) => body.toString()),
        result.text,
        result.rows,
        result.entries,
        await gateway.admin('GET', `/logs/${id}`),
        await gateway.admin('GET', '/audit-logs?start_time=2020-01-01T00:00:00Z&end_time=2100-01-01T00:00:00Z'),
        await (await fetch(`${gateway.url}/metrics`)).text(),
        gateway.lines,
      ]
      for (const each of seen) expect(JSON.stringify(each)).not.toContain(CANARY)
      for (const path of filesBelow(gateway.folder))
        expect([path, readFileSync(path).includes(CANARY)]).toEqual([path, false])
      expect(JSON.stringify(await gateway.admin('GET', `/logs/${id}`))).toContain('[SECRET]')
    },
  )
})

describe('GUARDRAILS_ENABLED=OFF', () => {
  test('lets calls pass unguarded', async () => {
    const off = await startRouting({GUARDRAILS_ENABLED: 'OFF'})
    try {
      const result = await off.ask(
        {...A, input_guardrails: [forbids('bad', {deny: true}), 'pg-nobody']},
        chat('a bad thing'),
      )
      expect([result.status, off.a.received.length, result.text.includes('hook_results')]).toEqual([200, 1, false])
    } finally {
      await off.close()
    }
  })
})

describe('a saved config', () => {
  const save = async (config: object) => {
    const [workspace] = (await routed.gateway.admin<{data: {id: string}[]}>('GET', '/admin/workspaces')).data
    const reply = await routed.gateway.app.inject({
      method: 'POST',
      url: '/v1/configs',
      body: {name: 'guarded', workspace_id: workspace!.id, config},
    })
    return [reply.status, JSON.stringify(reply.body)] as const
  }

  test('is refused for what is wrong in its guardrails, at its place', async () => {
    const target = (more: object) => ({strategy: {mode: 'fallback'}, targets: [A, {provider: '@b', ...more}]})
    expect(await save(target({output_guardrails: [{containz: {words: ['a']}}]}))).toEqual([
      400,
      expect.stringMatching(/config\.targets\[1\]\.output_guardrails\[0\].*containz.*did you mean default\.contains/),
    ])
    expect(await save(target({input_guardrails: ['pg-nobody']}))).toEqual([
      400,
      expect.stringContaining('Guardrail not found: pg-nobody'),
    ])
    expect(await save(target({output_guardrails: [{modelWhitelist: {models: ['m']}}]}))).toEqual([
      400,
      expect.stringContaining('does not run on the output'),
    ])
    expect((await save(target({input_guardrails: [forbids('bad')]})))[0]).toBe(200)
  })
})
