import {afterAll, beforeAll, beforeEach, describe, expect, test} from 'vitest'
import {chatReply, json} from '../support/provider.ts'
import {CHAT, type RoutingSetup, startRouting, statuses, when} from '../support/routing.ts'

let routed: RoutingSetup

beforeAll(async () => {
  routed = await startRouting()
})
beforeEach(() => routed.reset())
afterAll(() => routed.close())

const bodyOf = (name: 'a' | 'b' | 'c', at = 0) =>
  JSON.parse(routed[name].received[at]!.body.toString()) as Record<string, unknown>
const [A, B, C] = [{provider: '@a'}, {provider: '@b'}, {provider: '@c'}]
const fallback = (...targets: object[]) => ({strategy: {mode: 'fallback'}, targets})

describe.each(['sent with the call', 'saved'] as const)('a config %s', how => {
  const given = async (config: object) => (how === 'saved' ? routed.save(config) : config)

  test('of one target goes there, and the row says so', async () => {
    const result = await routed.ask(await given(A))
    expect([result.status, result.path, result.retries]).toEqual([200, 'config', '0'])
    expect(result.rows).toMatchObject([
      {
        provider_slug: 'a',
        status: 200,
        mode: 'single',
        option_path: 'config',
        retry_count: 0,
        prompt_tokens: 12,
        completion_tokens: 5,
      },
    ])
    expect(result.entries).toMatchObject([{attempt: 1, provider_slug: 'a', outcome: 'ok', status: 200, delivered: 1}])
  })

  test('of mode single asks its first target', async () => {
    const result = await routed.ask(await given({strategy: {mode: 'single'}, targets: [B]}))
    expect([result.status, result.path, routed.received()]).toEqual([
      200,
      'config.targets[0]',
      {a: 0, b: 1, c: 0, claude: 0},
    ])
    expect(result.rows).toMatchObject([{mode: 'single', option_path: 'config.targets[0]'}])
  })

  test('of mode fallback asks the next one when a target fails: a row and an entry for each', async () => {
    routed.a.answer(statuses([500]))
    routed.b.answer(statuses([404]))
    const result = await routed.ask(await given(fallback(A, B, C)))
    expect([result.status, result.path, result.retries]).toEqual([200, 'config.targets[2]', '0'])
    expect(result.rows).toMatchObject([
      {provider_slug: 'a', status: 500, mode: 'fallback', option_path: 'config.targets[0]', cost_nanousd: 0},
      {provider_slug: 'b', status: 404, mode: 'fallback', option_path: 'config.targets[1]', cost_nanousd: 0},
      {provider_slug: 'c', status: 200, mode: 'fallback', option_path: 'config.targets[2]', prompt_tokens: 12},
    ])
    expect(result.entries).toMatchObject([
      {attempt: 1, provider_slug: 'a', status: 500, delivered: 0},
      {attempt: 2, provider_slug: 'b', status: 404, delivered: 0},
      {attempt: 3, provider_slug: 'c', status: 200, delivered: 1},
    ])
  })

  test('of mode loadbalance never asks a target of weight 0', async () => {
    const config = await given({
      strategy: {mode: 'loadbalance'},
      targets: [
        {...A, weight: 0},
        {...B, weight: 3},
        {...C, weight: 1},
      ],
    })
    const paths = new Set<string | null>()
    for (let n = 0; n < 40; n++) paths.add((await routed.ask(config)).path)
    // the rarer one is missed 40 times in a row once in 100 000 runs
    expect([...paths].sort()).toEqual(['config.targets[1]', 'config.targets[2]'])
    const {a, b, c} = routed.received()
    expect([a, b! + c!]).toEqual([0, 40])
  })

  test('of mode loadbalance makes no second try', async () => {
    routed.a.answer(statuses([500]))
    const result = await routed.ask(await given({strategy: {mode: 'loadbalance'}, targets: [A, {...B, weight: 0}]}))
    expect([result.status, result.path, routed.received()]).toEqual([
      500,
      'config.targets[0]',
      {a: 1, b: 0, c: 0, claude: 0},
    ])
    expect(result.rows).toMatchObject([{mode: 'loadbalance', status: 500}])
  })

  test('of mode conditional goes where metadata, parameters and path lead', async () => {
    const config = await given({
      strategy: {
        mode: 'conditional',
        conditions: [
          when({'metadata.plan': {$eq: 'paid'}}, 'first'),
          when({$or: [{'params.temperature': {$gt: 1}}, {'url.pathname': {$regex: '/embeddings$'}}]}, 'second'),
        ],
        default: 'third',
      },
      targets: [
        {name: 'first', ...A},
        {name: 'second', ...B},
        {name: 'third', ...C},
      ],
    })
    const paid = {headers: {'x-gateway-metadata': '{"plan":"paid"}'}}
    const result = [
      await routed.ask(config, paid),
      await routed.ask(config, {body: {...CHAT, temperature: 1.5}}),
      await routed.ask(config, {path: '/v1/embeddings', body: {model: 'text-embedding-3-small', input: 'a'}}),
      await routed.ask(config),
      await routed.ask(config, {headers: {'x-gateway-metadata': '{"plan":"free"}'}}),
    ]
    expect(result.map(({status, path}) => [status, path])).toEqual([
      [200, 'config.targets[0]'],
      [200, 'config.targets[1]'],
      [200, 'config.targets[1]'],
      [200, 'config.targets[2]'],
      [200, 'config.targets[2]'],
    ])
    expect(result[0]!.rows).toMatchObject([{mode: 'conditional', option_path: 'config.targets[0]'}])
  })

  test('of mode conditional without a default refuses what no condition holds for, and asks nobody', async () => {
    const config = await given({
      strategy: {mode: 'conditional', conditions: [when({'metadata.plan': 'paid'}, 'first')]},
      targets: [{name: 'first', ...A}],
    })
    const result = await routed.ask(config)
    expect([result.status, result.entries, routed.received().a]).toEqual([400, [], 0])
    expect(result.text).toMatch(/AB01.*no condition holds/)
    expect(result.rows).toMatchObject([{status: 400, cost_nanousd: 0}])
  })
})

test('a condition that leads to no target is 400 and named', async () => {
  const result = await routed.ask({
    strategy: {mode: 'conditional', conditions: [when({'metadata.plan': 'paid'}, 'frist')], default: 'first'},
    targets: [{name: 'first', ...A}],
  })
  expect([result.status, routed.received().a]).toEqual([400, 0])
  expect(result.text).toContain('config.strategy.conditions[0].then')
})

test('all weights 0 is 400', async () => {
  const result = await routed.ask({strategy: {mode: 'loadbalance'}, targets: [{...A, weight: 0}]})
  expect([result.status, routed.received().a]).toEqual([400, 0])
  expect(result.text).toMatch(/weight/)
})

describe('the example with a provider in the overridden model', () => {
  test('asks that provider, without its slug', async () => {
    const result = await routed.ask({retry: {attempts: 3}, override_params: {model: '@a/gpt-4o'}})
    expect([result.status, result.path, bodyOf('a').model]).toEqual([200, 'config', 'gpt-4o'])
  })

  test('of a target wins over the slug in the body, which is taken away', async () => {
    await routed.ask(B, {body: {...CHAT, model: '@a/gpt-4o-mini'}})
    expect([routed.received().a, bodyOf('b').model]).toEqual([0, 'gpt-4o-mini'])
  })
})

test('a model as @slug/a/b:c is the model a/b:c of that provider', async () => {
  const result = await routed.ask(null, {body: {...CHAT, model: '@b/a/b:c'}})
  expect([result.status, bodyOf('b').model]).toEqual([200, 'a/b:c'])
  expect(result.rows).toMatchObject([{provider_slug: 'b', model: 'a/b:c'}])
})

describe('a load balance of a fallback', () => {
  const nested = (weights: [number, number], timeouts: [number, number, number, number]) => ({
    strategy: {mode: 'loadbalance'},
    request_timeout: timeouts[0],
    targets: [
      {
        strategy: {mode: 'fallback'},
        request_timeout: timeouts[1],
        weight: weights[0],
        targets: [A, {...B, request_timeout: timeouts[2]}],
      },
      {...C, weight: weights[1]},
    ],
  })
  const silent = () => undefined

  test('asks its targets in depth, with the path of each', async () => {
    routed.a.answer(statuses([503]))
    const inner = await routed.ask(nested([1, 0], [2000, 5000, 10_000, 0]))
    expect([inner.status, inner.path]).toEqual([200, 'config.targets[0].targets[1]'])
    expect(inner.rows).toMatchObject([
      {option_path: 'config.targets[0].targets[0]', mode: 'fallback', status: 503},
      {option_path: 'config.targets[0].targets[1]', mode: 'fallback', status: 200},
    ])
    const outer = await routed.ask(nested([0, 1], [2000, 5000, 10_000, 0]))
    expect([outer.path, outer.rows[0]!.mode]).toEqual(['config.targets[1]', 'loadbalance'])
  })

  test('gives each target the nearest timeout', async () => {
    for (const provider of [routed.a, routed.b, routed.c]) provider.answer(silent)
    const inner = await routed.ask(nested([1, 0], [40, 50, 60, 0]))
    expect([inner.status, inner.path]).toEqual([408, 'config.targets[0].targets[1]'])
    expect(inner.rows.map(({status, error}) => [status, error?.match(/\d+ ms/)?.[0]])).toEqual([
      [408, '50 ms'],
      [408, '60 ms'],
    ])
    const outer = await routed.ask(nested([0, 1], [40, 50, 60, 0]))
    expect(outer.text).toContain('40 ms')
  })

  test('gives way to the timeout of the header', async () => {
    routed.c.answer(silent)
    const result = await routed.ask(nested([0, 1], [60_000, 60_000, 60_000, 0]), {
      headers: {'x-gateway-request-timeout': '45'},
    })
    expect([result.status, result.text]).toEqual([408, expect.stringContaining('45 ms')])
  })
})

test('a fallback of a load balance picks once for each visit, and goes on after it', async () => {
  for (const provider of [routed.a, routed.b]) provider.answer(statuses([500]))
  const result = await routed.ask(fallback({strategy: {mode: 'loadbalance'}, targets: [A, B]}, C))
  const {a, b, c} = routed.received()
  expect([result.status, result.path, a! + b!, c]).toEqual([200, 'config.targets[1]', 1, 1])
})

describe('a circuit breaker', () => {
  const broken = (...targets: object[]) => ({
    strategy: {mode: 'fallback', cb_config: {failure_threshold: 2, cooldown_interval: 30_000}},
    targets,
  })

  test('leaves a target out once it failed twice; the index stays that of the config', async () => {
    routed.a.answer(statuses([500]))
    const slug = await routed.save(broken(A, B))
    for (let n = 0; n < 2; n++) await routed.ask(slug)
    expect(routed.received()).toMatchObject({a: 2, b: 2})
    const third = await routed.ask(slug)
    expect([third.status, third.path, third.rows.length]).toEqual([200, 'config.targets[1]', 1])
    expect(routed.received()).toMatchObject({a: 2, b: 3})
    expect(await (await routed.gateway.call('/metrics')).text()).toMatch(
      /gateway_circuit_open\{[^}]*target="config.targets\[0]"} 1/,
    )
    // another config's circuits are its own
    expect((await routed.ask(await routed.save(broken(A, B)))).rows).toHaveLength(2)
  })

  test('is passed over when all are open', async () => {
    for (const provider of [routed.a, routed.b]) provider.answer(statuses([500]))
    const slug = await routed.save(broken(A, B))
    for (let n = 0; n < 2; n++) expect((await routed.ask(slug)).status).toBe(500)
    routed.a.answer(statuses([200]))
    const third = await routed.ask(slug)
    expect([third.status, third.path]).toEqual([200, 'config.targets[0]'])
  })

  test('counts a connection that broke, and leaves the target out of a load balance', async () => {
    routed.a.answer((_, response) => response.destroy())
    const slug = await routed.save({
      strategy: {mode: 'loadbalance', cb_config: {failure_threshold: 1, cooldown_interval: 30_000}},
      targets: [
        {...A, weight: 1000},
        {...B, weight: 0.001},
      ],
    })
    let broken = 0
    while ((await routed.ask(slug)).status === 502) broken++
    expect(broken).toBe(1)
    for (let n = 0; n < 5; n++) expect((await routed.ask(slug)).path).toBe('config.targets[1]')
    expect(routed.received().a).toBe(1)
  })

  test('does not count a 429, nor a timeout', async () => {
    routed.a.answer((_, response) => void (routed.a.received.length % 2 && json(response, {}, 429)))
    const slug = await routed.save({...broken({...A, request_timeout: 30}, B)})
    for (let n = 0; n < 5; n++) await routed.ask(slug)
    expect(routed.received()).toMatchObject({a: 5, b: 5})
  })

  test('has no effect in a config sent with the call, which is warned of', async () => {
    routed.a.answer(statuses([500]))
    for (let n = 0; n < 3; n++) {
      const result = await routed.ask(broken(A, B))
      expect(result.headers.get('x-gateway-config-warning')).toMatch(/cb_config: has no effect/)
      expect(result.rows.map(({warning}) => warning)).toEqual([
        expect.stringContaining('cb_config'),
        expect.stringContaining('cb_config'),
      ])
    }
    expect(routed.received()).toMatchObject({a: 3, b: 3})
  })
})

test('what has no effect is told in a header and the row, and the call goes on', async () => {
  const result = await routed.ask({...A, weight: 2})
  expect([result.status, result.headers.get('x-gateway-config-warning')]).toEqual([
    200,
    expect.stringContaining('config.weight'),
  ])
  expect(result.rows).toMatchObject([{warning: expect.stringContaining('config.weight')}])
  expect((await routed.ask(A)).headers.get('x-gateway-config-warning')).toBeNull()
})

describe('parameters', () => {
  const nested = {
    ...CHAT,
    messages: [
      {role: 'user', content: [{type: 'text', text: 'hi', cache_control: {type: 'ephemeral'}}]},
      {role: 'user', content: 'plain'},
    ],
  }

  test('are set where absent, overridden, and dropped, in this order', async () => {
    await routed.ask(
      {
        ...A,
        default_params: {temperature: 0.5, top_p: 0.25, user: 'someone'},
        override_params: {seed: 7, top_p: 0.75},
        drop_params: ['n', 'nothing.here'],
      },
      {body: {...CHAT, temperature: 1, seed: 1, n: 2}},
    )
    expect(bodyOf('a')).toEqual({...CHAT, temperature: 1, seed: 7, top_p: 0.75, user: 'someone'})
  })

  test('are dropped by paths with every element in them; unknown paths are ignored', async () => {
    await routed.ask({...A, drop_params: ['messages[*].content[*].cache_control', 'tools[0].x', 'a.b']}, {body: nested})
    expect(bodyOf('a')).toEqual({
      ...CHAT,
      messages: [
        {role: 'user', content: [{type: 'text', text: 'hi'}]},
        {role: 'user', content: 'plain'},
      ],
    })
  })

  test('of each target are its own, over those it inherits', async () => {
    routed.a.answer(statuses([500]))
    await routed.ask({
      ...fallback({...A, override_params: {top_p: 0.1}}, {...B, override_params: {seed: 3}}),
      override_params: {top_p: 0.9, temperature: 0},
    })
    expect(bodyOf('a')).toEqual({...CHAT, top_p: 0.1, temperature: 0})
    expect(bodyOf('b')).toEqual({...CHAT, top_p: 0.9, temperature: 0, seed: 3})
  })

  test('that change nothing leave the bytes as they are, at every target', async () => {
    const body =
      '{ "model":"gpt-4o-mini",  "seed": 12345678901234567890, "temperature":1.0,\n"messages":[{"role":"user","content":"\\u00e9"}] }'
    routed.a.answer(statuses([500]))
    await routed.ask(fallback({...A, drop_params: ['absent']}, {...B, default_params: {temperature: 0}}), {
      body,
      headers: {'content-type': 'application/json'},
    })
    expect([routed.a.received[0]!.body.toString(), routed.b.received[0]!.body.toString()]).toEqual([body, body])
  })
})

test('the header wins over the config of the key, which is used where none is sent', async () => {
  const config_id = await routed.save(fallback(B, C))
  const key = await routed.key({defaults: {config_id}})
  const own = {headers: {'x-gateway-api-key': key}}
  expect((await routed.ask(null, own)).rows).toMatchObject([{provider_slug: 'b', option_path: 'config.targets[0]'}])
  expect((await routed.ask(A, own)).rows).toMatchObject([{provider_slug: 'a', option_path: 'config'}])
})

describe('a saved config', () => {
  test('that is the default of its workspace is used where nothing else is said', async () => {
    const slug = await routed.save(fallback(C, A))
    await routed.gateway.admin('PUT', `/configs/${slug}`, {isDefault: true})
    expect((await routed.ask(null)).rows).toMatchObject([{provider_slug: 'c', option_path: 'config.targets[0]'}])
    expect((await routed.ask(null, {headers: {'x-gateway-provider': '@b'}})).rows).toMatchObject([{provider_slug: 'b'}])
    await routed.gateway.admin('PUT', `/configs/${slug}`, {isDefault: false})
    expect((await routed.ask(null)).status).toBe(400)
  })

  test('that changes counts from the next call on', async () => {
    const slug = await routed.save(A)
    expect((await routed.ask(slug)).rows[0]!.provider_slug).toBe('a')
    await routed.gateway.admin('PUT', `/configs/${slug}`, {config: B})
    expect((await routed.ask(slug)).rows[0]!.provider_slug).toBe('b')
  })

  test('that is archived is 400', async () => {
    const slug = await routed.save(A)
    expect((await routed.ask(slug)).status).toBe(200)
    await routed.gateway.admin('DELETE', `/configs/${slug}`)
    expect([(await routed.ask(slug)).status, routed.received().a]).toEqual([400, 1])
  })

  test('of a key that allows no other is the only one', async () => {
    const config_id = await routed.save(B)
    const key = await routed.key({defaults: {config_id, allow_config_override: false}})
    const own = {headers: {'x-gateway-api-key': key}}
    expect((await routed.ask(A, own)).status).toBe(400)
    expect((await routed.ask(null, own)).status).toBe(200)
    expect(routed.received()).toMatchObject({a: 0, b: 1})
  })
})

test('a sticky caller stays at one target, and the others are spread', async () => {
  const config = {
    strategy: {mode: 'loadbalance', sticky: {enabled: true, hash_fields: ['metadata.team']}},
    targets: [A, B, C],
  }
  const of = async (team: string) =>
    (await routed.ask(config, {headers: {'x-gateway-metadata': JSON.stringify({team})}})).path
  const chosen = new Map<string, string | null>()
  for (let n = 0; n < 20; n++) chosen.set(`team-${n}`, await of(`team-${n}`))
  for (const [team, path] of chosen) expect(await of(team)).toBe(path)
  expect(new Set(chosen.values()).size).toBeGreaterThan(1)
})

test('keys may be in camelCase; what is not ours is left as it is', async () => {
  routed.a.answer(statuses([429, 200], {'retry-after-ms': '0'}))
  const result = await routed.ask({
    provider: '@a',
    retry: {attempts: 1, useRetryAfterHeader: true},
    overrideParams: {userTag: {someKey: 1}},
  })
  expect([result.status, result.retries, bodyOf('a', 1)]).toEqual([200, '1', {...CHAT, userTag: {someKey: 1}}])
})

test('a call costs what its tokens cost at that provider: 1000 in, 200 of them cached, and 100 out are 0.325 cents', async () => {
  await routed.gateway.provider('priced', 'openai', routed.a.url)
  const price = {
    request_token: {price: 0.00025},
    response_token: {price: 0.001},
    cache_read_input_token: {price: 0.000125},
  }
  const pricing_config = {type: 'static', pay_as_you_go: price}
  await routed.gateway.admin('PUT', '/integrations/priced/models', {
    models: [{slug: 'ours', enabled: true, is_custom: true, pricing_config}],
  })
  routed.a.answer((_, response) =>
    json(response, {
      ...chatReply('ours'),
      usage: {
        prompt_tokens: 1000,
        completion_tokens: 100,
        total_tokens: 1100,
        prompt_tokens_details: {cached_tokens: 200},
      },
    }),
  )
  routed.b.answer(statuses([500]))
  const result = await routed.ask(fallback(B, {provider: '@priced', override_params: {model: 'ours'}}))
  expect(result.rows.map(({cost_nanousd}) => cost_nanousd)).toEqual([0, 3_250_000])
})

/** A provider in the place of a guard: 446 denies, 246 lets pass what failed (decisions: statuses). */
describe('the statuses of guards', () => {
  test.each([
    ['446 falls back where no codes are named', 446, fallback(A, B), 'config.targets[1]', 200],
    ['246 passes where no codes are named', 246, fallback(A, B), 'config.targets[0]', 246],
    [
      '246 falls back where it is named',
      246,
      {strategy: {mode: 'fallback', on_status_codes: [246, 446]}, targets: [A, B]},
      'config.targets[1]',
      200,
    ],
    [
      '446 passes where others are named',
      446,
      {strategy: {mode: 'fallback', on_status_codes: [429]}, targets: [A, B]},
      'config.targets[0]',
      446,
    ],
  ] as const)('%s', async (_, status, config, path, answered) => {
    routed.a.answer(statuses([status]))
    const result = await routed.ask(config)
    expect([result.path, result.status]).toEqual([path, answered])
  })

  test('446 is retried where it is named, and not by default', async () => {
    routed.a.answer(statuses([446, 200]))
    const retry = {attempts: 1}
    expect((await routed.ask({...A, retry})).status).toBe(446)
    routed.a.answer(statuses([446, 200]))
    expect((await routed.ask({...A, retry: {...retry, on_status_codes: [446]}})).status).toBe(200)
  })
})
