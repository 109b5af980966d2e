import {mkdtempSync, rmSync} from 'node:fs'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import Sqlite from 'better-sqlite3'
import {afterAll, beforeAll, beforeEach, describe, expect, test} from 'vitest'
import type {Answers, Explanation} from '../../src/schema/explanations.ts'
import {startGateway, WORKSPACE_KEY} from '../support/gateway.ts'
import {fakeProvider} from '../support/provider.ts'
import {CHAT, type RoutingSetup, startRouting, statuses, when} from '../support/routing.ts'

let routed: RoutingSetup
let workspace_id: string

beforeAll(async () => {
  routed = await startRouting()
  workspace_id = (await routed.gateway.admin<{data: {id: string}[]}>('GET', '/admin/workspaces')).data[0]!.id
})
beforeEach(() => routed.reset())
afterAll(() => routed.close())

interface Question {
  readonly config?: object | string
  readonly path?: string
  readonly body?: unknown
  readonly headers?: Record<string, string>
  readonly answers?: Answers
  readonly seed?: number
  readonly at?: string
}

const explain = ({config, path = '/v1/chat/completions', body = CHAT, headers = {}, ...more}: Question) =>
  routed.gateway.admin<Explanation>('POST', '/configs/explain', {
    ...(config !== undefined && {config}),
    request: {path, headers, body},
    workspace_id,
    ...more,
  })

const [A, B, C, CLAUDE] = [
  {provider: '@a'},
  {provider: '@b'},
  {provider: '@c'},
  {provider: '@claude', override_params: {model: 'claude-sonnet-4-5'}},
]
const fallback = (targets: object[], more: object = {}) => ({strategy: {mode: 'fallback', ...more}, targets})
const conditional = {
  strategy: {
    mode: 'conditional',
    conditions: [when({'metadata.plan': 'pro'}, 'large'), when({'params.max_tokens': {$gt: 100}}, 'long')],
    default: 'small',
  },
  targets: [
    {name: 'large', ...CLAUDE},
    {name: 'long', ...fallback([B, C])},
    {name: 'small', ...A},
  ],
}
const changed = {
  ...A,
  override_params: {temperature: 0.5, model: 'gpt-4o'},
  default_params: {max_tokens: 7, n: 1},
  drop_params: ['user', 'messages[*].name'],
  forward_headers: ['x-tenant'],
}
const LONG = {...CHAT, max_tokens: 200}
const NAMED = {...CHAT, n: 2, user: 'u', messages: [{role: 'user', content: 'hi', name: 'me'}]}

/** What `fetch` adds of itself. */
const OF_FETCH = {
  'accept-encoding': 'gzip, deflate',
  'accept-language': '*',
  'sec-fetch-mode': 'cors',
  'user-agent': 'node',
}

describe('what is told comes', () => {
  test.each<[string, Question, Record<string, number>]>([
    ['of one target', {config: A}, {}],
    ['of no config at all', {headers: {'x-gateway-provider': '@b'}}, {}],
    ['of a model with a slug', {body: {...CHAT, model: '@c/gpt-4o'}}, {}],
    [
      'of a fallback that goes on',
      {config: fallback([A, B, CLAUDE]), answers: {'config.targets[0]': 429, 'config.targets[1]': 500}},
      {a: 429, b: 500},
    ],
    [
      'of one that does not',
      {config: fallback([A, B], {on_status_codes: [429]}), answers: {'config.targets[0]': 503}},
      {a: 503},
    ],
    [
      'of one that ends in a failure',
      {config: fallback([A, B]), answers: {'config.targets[0]': 500, 'config.targets[1]': 404}},
      {a: 500, b: 404},
    ],
    ['of one whose first is not there', {config: fallback([{provider: '@nobody'}, B])}, {}],
    ['of a condition on metadata', {config: conditional, headers: {'x-gateway-metadata': '{"plan":"pro"}'}}, {}],
    [
      'of a condition on the body',
      {config: conditional, body: LONG, answers: {'config.targets[1].targets[0]': 500}},
      {b: 500},
    ],
    ['of a default', {config: conditional}, {}],
    ['of a body that is changed', {config: changed, body: NAMED, headers: {'x-tenant': 'blue', 'x-other': 'red'}}, {}],
    ['in other words', {config: CLAUDE, headers: {'anthropic-beta': 'a-beta'}}, {}],
    ['of a client of Messages', {config: A, path: '/v1/messages', body: {...CHAT, max_tokens: 9}}, {}],
    ['of a stream', {config: CLAUDE, body: {...CHAT, stream: true}}, {}],
    ['of embeddings', {config: A, path: '/v1/embeddings', body: {model: 'text-embedding-3-small', input: 'hi'}}, {}],
    ['of pass-through, with a query', {config: A, path: '/v1/proxy/anything?x=1', body: {some: 'thing'}}, {}],
    [
      'of a config that leads nowhere',
      {config: {...conditional, strategy: {...conditional.strategy, default: undefined}}},
      {},
    ],
  ])('%s', async (_, question, failing) => {
    for (const [name, status] of Object.entries(failing)) routed[name as 'a'].answer(statuses([status]))
    const response = await explain({...question, headers: {...OF_FETCH, ...question.headers}})
    const came = await routed.ask(question.config ?? null, {
      path: question.path ?? '/v1/chat/completions',
      body: (question.body ?? CHAT) as object,
      headers: question.headers ?? {},
    })
    expect([came.status, came.path]).toEqual([response.way.end.status, response.way.end.target ?? came.path])
    const asked = response.way.visits
      .map(({target}) => response.targets.find(({path}) => path === target)!)
      .filter(({sends}) => sends)
    for (const {sends, path, host, managed} of asked) {
      const provider = routed[managed as 'a']
      expect(host).toBe(provider.url)
      const received = provider.received.shift()!
      const {'content-length': length, host: _host, connection: _connection, ...headers} = received.headers
      expect([received.method, provider.url.replace('/v1', '') + received.path, path]).toEqual([
        sends!.method,
        sends!.url,
        path,
      ])
      expect(Object.keys(headers).sort()).toEqual(Object.keys(sends!.headers))
      for (const [name, value] of Object.entries(sends!.headers))
        if (value !== '***') expect([name, headers[name]]).toEqual([name, value])
      if (Buffer.byteLength(received.body) && sends!.body.bytes) expect(Number(length)).toBe(sends!.body.bytes)
      const body = JSON.parse(received.body.toString()) as Record<string, unknown>
      if (sends!.body.form === 'translated') expect(body).toEqual(sends!.body.translated)
      else expect(body).toEqual(withChanges(question.body ?? CHAT, sends!.body.changes))
    }
    expect(routed.received()).toEqual({a: 0, b: 0, c: 0, claude: 0})
  })
})

function withChanges(body: unknown, changes: NonNullable<Explanation['targets'][number]['sends']>['body']['changes']) {
  const made = {...(body as Record<string, unknown>)}
  for (const {key, change, value} of changes) {
    if (change === 'removed') delete made[key]
    else made[key] = value
  }
  return made
}

test('the changes of a body have their reasons', async () => {
  const [target] = (await explain({config: changed, body: {...NAMED, model: '@a/gpt-4o-mini'}})).targets
  expect(target!.sends!.body).toMatchObject({
    form: 'changed',
    changes: [
      {key: 'model', change: 'set', value: 'gpt-4o', because: 'override_params'},
      {key: 'messages', change: 'shortened', value: [{role: 'user', content: 'hi'}], because: 'drop_params'},
      {key: 'max_tokens', change: 'added', value: 7, because: 'default_params'},
      {key: 'temperature', change: 'added', value: 0.5, because: 'override_params'},
      {key: 'user', change: 'removed', because: 'drop_params'},
    ],
  })
})

describe('of the same question the same bytes', () => {
  const balanced = {
    strategy: {mode: 'loadbalance', sticky: {enabled: true, hash_fields: ['metadata._user']}},
    cache: 'simple',
    targets: [
      {...A, weight: 3},
      {...CLAUDE, weight: 1},
    ],
  }
  test.each<[string, object]>([
    ['single', {strategy: {mode: 'single'}, targets: [CLAUDE]}],
    ['fallback', fallback([A, CLAUDE])],
    ['loadbalance', balanced],
    ['conditional', conditional],
  ])('%s', async (_, config) => {
    const question = {config, headers: {'x-gateway-metadata': '{"_user":"one","plan":"pro"}'}, seed: 11}
    const text = async () => JSON.stringify(await explain(question))
    expect(await text()).toBe(await text())
    const slug = await routed.save(config)
    expect(JSON.stringify(await explain({...question, config: slug}))).toBe(
      JSON.stringify(await explain({...question, config: slug})),
    )
  })

  test('and of other seeds other draws, by weight', async () => {
    const way = async (seed: number) => (await explain({config: balanced, seed})).way.visits[0]!
    expect(await way(3)).toEqual(await way(3))
    const all = await Promise.all(Array.from({length: 200}, (_, seed) => way(seed)))
    const first = all.filter(({target}) => target === 'config.targets[0]').length
    expect(first).toBeGreaterThan(120)
    expect(first).toBeLessThan(180)
    for (const {because, target} of all)
      expect(because).toMatchObject([{mode: 'loadbalance', to: target, sticky_key: null}])
  })
})

test('all that a target inherits is told: timeouts, retries, parameters, prices; and what is asked after it', async () => {
  const config = fallback(
    [
      {...A, retry: {attempts: 2, on_status_codes: [503]}, request_timeout: 900},
      fallback(
        [
          {...B, override_params: {top_p: 0.5}},
          {provider: '@c', override_params: {model: 'no-such-model'}},
        ],
        {on_status_codes: [429]},
      ),
    ],
    {on_status_codes: [500, 503]},
  )
  const response = await explain({
    config: {...config, request_timeout: 5000, override_params: {temperature: 1}},
    answers: {'config.targets[0]': [503, 503, 200]},
  })
  expect(response.branches).toEqual([
    {path: 'config', name: null, mode: 'fallback'},
    {path: 'config.targets[1]', name: null, mode: 'fallback'},
  ])
  expect(
    response.targets.map(({path, model, request_timeout_ms, retry, params, unpriced, goes_on}) => ({
      path,
      model,
      request_timeout_ms,
      retry,
      params: params.override_params,
      unpriced,
      goes_on,
    })),
  ).toEqual([
    {
      path: 'config.targets[0]',
      model: 'gpt-4o-mini',
      request_timeout_ms: 900,
      retry: {attempts: 2, on_status_codes: [503], use_retry_after_header: false},
      params: {temperature: 1},
      unpriced: false,
      goes_on: [{on_status_codes: [500, 503], to: 'config.targets[1]'}],
    },
    {
      path: 'config.targets[1].targets[0]',
      model: 'gpt-4o-mini',
      request_timeout_ms: 5000,
      retry: null,
      params: {temperature: 1, top_p: 0.5},
      unpriced: false,
      goes_on: [{on_status_codes: [429], to: 'config.targets[1].targets[1]'}],
    },
    {
      path: 'config.targets[1].targets[1]',
      model: 'no-such-model',
      request_timeout_ms: 5000,
      retry: null,
      params: {temperature: 1, model: 'no-such-model'},
      unpriced: true,
      goes_on: [],
    },
  ])
  expect(response.targets[0]!.price).toMatchObject({usd_per_million_tokens: {input: 0.15, output: 0.6}})
  expect(response.way).toMatchObject({
    visits: [
      {
        target: 'config.targets[0]',
        tries: [
          {wait_ms: 0, status: 503},
          {wait_ms: 1000, status: 503},
          {wait_ms: 2000, status: 200},
        ],
      },
    ],
    end: {status: 200, target: 'config.targets[0]', retry_attempt_count: 2, refusal: null},
  })
  expect(response.failing.visits.map(({target, tries}) => [target, tries.at(-1)!.status])).toEqual([
    ['config.targets[0]', 500],
    ['config.targets[1].targets[0]', 429],
    ['config.targets[1].targets[1]', 500],
  ])
  const header = await explain({config, headers: {'x-gateway-request-timeout': '77'}})
  expect(new Set(header.targets.map(({request_timeout_ms}) => request_timeout_ms))).toEqual(new Set([77]))
})

test('what a target refuses is told with it, and the way goes on as it would', async () => {
  const response = await explain({config: fallback([{provider: '@nobody'}, {provider: 'openai'}, A]), headers: {}})
  expect(response.targets.map(({refusal}) => refusal?.code)).toEqual([
    'provider.unknown',
    'provider.no_credentials',
    undefined,
  ])
  expect(response.way.visits.map(({target, tries}) => [target, tries[0]!.status])).toEqual([
    ['config.targets[0]', 400],
    ['config.targets[1]', 400],
    ['config.targets[2]', 200],
  ])
  const alone = await explain({config: {provider: '@nobody'}})
  expect(alone.way.end).toMatchObject({status: 400, target: null, refusal: {code: 'provider.unknown'}})
  expect(alone.targets[0]).toMatchObject({sends: null, unpriced: null, price: null, cache: {status: 'DISABLED'}})
})

test('an expired provider is one at the time that is asked about', async () => {
  const until = '2100-01-01T00:00:00.000Z'
  await routed.gateway.admin('PUT', '/providers/c', {expires_at: until})
  expect((await explain({config: C})).targets[0]!.refusal).toBeNull()
  expect((await explain({config: C, at: '2100-01-01T01:00:00+01:00'})).targets[0]!.refusal).toMatchObject({
    code: 'provider.expired',
  })
  await routed.gateway.admin('PUT', '/providers/c', {expires_at: null})
  expect((await explain({config: C, at: until})).targets[0]!.refusal).toBeNull()
})

test('no secret is told, wherever it stands', async () => {
  const [own, config_key, client, header] = [
    'sk-upstream-secret-0123456789',
    'sk-of-the-config-0123456789',
    'sk-of-the-client-0123456789',
    'canary-in-a-header',
  ]
  await routed.gateway.provider('secretive', 'openai', routed.a.url, {
    configurations: {custom_host: routed.a.url, custom_headers: {'x-odd': header}},
  })
  const question = {
    config: fallback([A, CLAUDE, {provider: '@secretive'}, {provider: 'openai', api_key: config_key}]),
    headers: {
      'x-gateway-api-key': WORKSPACE_KEY,
      authorization: `Bearer ${client}`,
      'x-gateway-forward-headers': 'x-mine',
      'x-mine': `my ${client}`,
      'x-gateway-sensitive-headers': 'x-mine',
    },
  }
  const response = await explain(question)
  const alone = await explain({...question, config: {provider: 'openai'}})
  const targets = [...response.targets, ...alone.targets]
  expect(targets.every(({sends}) => sends)).toBe(true)
  const text = JSON.stringify(targets)
  for (const secret of [own, config_key, client, header, WORKSPACE_KEY]) expect(text).not.toContain(secret)
  expect(targets.map(({sends}) => sends!.headers.authorization ?? sends!.headers['x-api-key'])).toEqual(
    Array.from({length: 5}, () => '***'),
  )
})

test.each<[string, Question, RegExp]>([
  ['a config that is none', {config: {provder: '@a'}}, /config\.provder: is not known/],
  ['a config that is not there', {config: 'pc-nope'}, /no config is called pc-nope/],
  ['a body that is none', {config: A, body: undefined}, /./],
  [
    'a config that is too long',
    {config: {...A, override_params: {x: 'x'.repeat(1 << 20)}}},
    /config: is longer than 1 MB/,
  ],
  [
    'a body that is too long for so many targets',
    {config: fallback(Array.from({length: 64}, () => A)), body: {...CHAT, x: 'x'.repeat(1 << 18)}},
    /request\.body: must have at most 262144 bytes with 64 targets/,
  ],
  ['a chat without messages', {config: A, body: {model: 'm'}}, /messages/],
  [
    'an answer of a target that is not there',
    {config: A, answers: {'config.targets[3]': 200}},
    /config\.targets\[3\]: no target of the config/,
  ],
  ['an answer that is none', {config: A, answers: {config: 99}}, /answers\.config/],
  ['a path that is none', {config: A, path: '/v2/chat'}, /expected a path/],
  ['a name of a header that is none', {config: A, headers: {'a b': 'c'}}, /headers/],
])('%s is refused with a sentence', async (_, question, sentence) => {
  if (question.body === undefined && 'body' in question) {
    const body = {config: A, request: {}, workspace_id}
    await expect(routed.gateway.admin('POST', '/configs/explain', body)).rejects.toThrow(/it is empty/)
  } else await expect(explain(question)).rejects.toThrow(sentence)
})

test('the key of the cache is the one under which the answer is kept', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'gateway-explain-'))
  const [provider, gateway] = [await fakeProvider(), await startGateway({TRUSTED_CUSTOM_HOSTS: '127.0.0.1'}, {folder})]
  await gateway.provider('mock', 'openai', provider.url)
  const config = {provider: '@mock', cache: {mode: 'simple', max_age: 600}, override_params: {temperature: 0}}
  const headers = {'x-gateway-metadata': '{"team":"blue"}'}
  const request = {headers, body: CHAT}
  const cacheOf = async (more: object = {}) => {
    const response = await gateway.admin<Explanation>('POST', '/configs/explain', {
      config,
      request: {...request, ...more},
      workspace_id: workspaceOf,
    })
    return response.targets[0]!.cache
  }
  const workspaceOf = (await gateway.admin<{data: {id: string}[]}>('GET', '/admin/workspaces')).data[0]!.id
  const {digest, ...cache} = await cacheOf()
  expect(cache).toMatchObject({
    status: 'MISS',
    mode: 'simple',
    max_age_s: 600,
    partition: {workspace_id: workspaceOf, namespace: null, metadata: {team: 'blue'}},
  })
  expect(await cacheOf({headers: {...headers, 'x-gateway-cache-force-refresh': 'true'}})).toMatchObject({
    status: 'REFRESH',
    digest,
  })
  expect(await cacheOf({headers: {...headers, 'x-gateway-debug': 'false'}})).toMatchObject({
    status: 'DISABLED',
    digest: null,
  })
  expect((await gateway.chat(CHAT, {...headers, 'x-gateway-config': JSON.stringify(config)})).status).toBe(200)
  await gateway.close()
  await provider.close()
  const file = new Sqlite(join(folder, 'cache.db'), {readonly: true})
  expect(file.prepare('select digest from cache_entries').all()).toEqual([{digest}])
  file.close()
  rmSync(folder, {recursive: true, force: true})
})
