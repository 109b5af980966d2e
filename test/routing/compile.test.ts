import {readFileSync} from 'node:fs'
import {resolve} from 'node:path'
import {describe, expect, test} from 'vitest'
import {compile} from '../../src/routing/compile.ts'
import type {Branch, PlanNode, PlanTarget, TargetSpec} from '../../src/routing/plan.ts'
import {readConfig} from '../../src/schema/configs.ts'

function planOf(value: unknown, config_id: string | null = 'c-1') {
  const read = readConfig(value, {saved: config_id !== null})
  if ('issues' in read) throw new Error(JSON.stringify(read.issues))
  return compile(read.config, {config_id, warnings: read.warnings})
}

function leavesOf(node: PlanNode): PlanTarget[] {
  return node.kind === 'leaf' ? [node] : node.children.flatMap(leavesOf)
}

const leaves = (value: unknown, config_id?: string | null) => leavesOf(planOf(value, config_id).root)
const branch = (value: unknown) => planOf(value).root as Branch
const fixture = (name: string) =>
  JSON.parse(readFileSync(resolve(import.meta.dirname, `../fixtures/configs/${name}.json`), 'utf8')) as unknown
const fallback = (targets: unknown[], more: object = {}) => ({...more, strategy: {mode: 'fallback'}, targets})

describe('the worked examples of the reference', () => {
  test('1: a flat config is one leaf, whose provider is that of the model it sets', () => {
    expect(planOf(fixture('01-flat-override')).root).toEqual({
      kind: 'leaf',
      path: 'config',
      name: null,
      weight: 1,
      breaker: null,
      target: {
        retry: {attempts: 3, on_status_codes: [429, 500, 502, 503, 504, 529], use_retry_after_header: false},
        override_params: {model: '@openai-prod/gpt-x'},
      },
    })
  })

  test('2: the nearest timeout counts', () => {
    expect(
      leaves(fixture('02-nested-timeouts')).map(({path, target}) => [path, target.provider, target.request_timeout]),
    ).toEqual([
      ['config.targets[0].targets[0]', '@a', 5000],
      ['config.targets[0].targets[1]', '@b', 10_000],
      ['config.targets[1]', '@c', 2000],
    ])
  })

  test('3: guardrails of the root go to both targets', () => {
    const root = branch(fixture('03-fallback-on-guardrails'))
    expect(root).toMatchObject({mode: 'fallback', on_status_codes: new Set([246, 446])})
    for (const {target} of leavesOf(root)) expect(target.input_guardrails).toHaveLength(2)
  })

  test('4: a condition leads to a load balance; the conditional node has no breaker, those below it do', () => {
    const root = branch(fixture('04-conditional-of-loadbalance'))
    if (root.mode !== 'conditional') throw new Error(root.mode)
    expect(root.breaker).toBeNull()
    expect(root.conditions.map(({then, text}) => [then, text])).toEqual([
      [0, 'metadata.plan $eq "paid"'],
      [1, 'params.max_tokens $gt 4000 or url.pathname $regex "^/v1/embeddings$"'],
    ])
    expect(root.otherwise).toBe(2)
    const ask = (facts: object) =>
      root.conditions.findIndex(({holds}) => holds({metadata: {}, params: {}, pathname: '/', ...facts}))
    expect([
      ask({metadata: {plan: 'paid'}}),
      ask({params: {max_tokens: 5000}}),
      ask({pathname: '/v1/embeddings'}),
      ask({}),
    ]).toEqual([0, 1, 1, -1])
    expect(root.children[0]).toMatchObject({
      mode: 'loadbalance',
      breaker: {failure_threshold: 5, cooldown_interval_ms: 60_000},
    })
    for (const leaf of leavesOf(root)) expect(leaf.breaker).toMatchObject({failure_threshold: 5})
  })
})

describe('inheritance', () => {
  test.each<[keyof TargetSpec, unknown, unknown]>([
    ['request_timeout', 5, 6],
    ['custom_host', 'https://a.example.com', 'https://b.example.com'],
    ['forward_headers', ['x-a'], ['x-b']],
    ['strict_open_ai_compliance', false, true],
    ['drop_params', ['a'], ['b']],
  ])('%s: the nearest counts', (key, above, own) => {
    const [first, second] = leaves(fallback([{provider: '@a'}, {provider: '@b', [key]: own}], {[key]: above}))
    expect([first!.target[key], second!.target[key]]).toEqual([above, own])
  })

  test('retry and cache replace those above whole', () => {
    const [first, second] = leaves(
      fallback([{provider: '@a'}, {provider: '@b', retry: {attempts: 1}, cache: {mode: 'semantic'}}], {
        retry: {attempts: 5, on_status_codes: [429], use_retry_after_header: true},
        cache: {mode: 'simple', max_age: 60},
      }),
    )
    expect(first!.target).toMatchObject({
      retry: {attempts: 5, on_status_codes: [429], use_retry_after_header: true},
      cache: {mode: 'simple', max_age_s: 60},
    })
    expect(second!.target).toMatchObject({
      retry: {attempts: 1, on_status_codes: [429, 500, 502, 503, 504, 529], use_retry_after_header: false},
      cache: {mode: 'semantic', max_age_s: null},
    })
  })

  test('override_params and default_params are laid over one another, level by level', () => {
    const config = fallback(
      [
        fallback([{provider: '@a', override_params: {model: 'm', seed: 3}}, {provider: '@b'}], {
          override_params: {seed: 2, metadata: {x: 2}},
        }),
      ],
      {override_params: {seed: 1, top_p: 1, metadata: {x: 1, y: 1}}, default_params: {n: 1}},
    )
    expect(leaves(config).map(({target}) => [target.override_params, target.default_params])).toEqual([
      [{model: 'm', seed: 3, top_p: 1, metadata: {x: 2}}, {n: 1}],
      [{seed: 2, top_p: 1, metadata: {x: 2}}, {n: 1}],
    ])
  })

  test('a target that says anything of a side says all of it', () => {
    const [first, second, third] = leaves(
      fallback(
        [{provider: '@a'}, {provider: '@b', input_mutators: ['pg-own']}, {provider: '@c', output_guardrails: []}],
        {
          before_request_hooks: [{id: 'h'}],
          input_guardrails: ['pg-in'],
          output_guardrails: ['pg-out'],
          default_input_guardrails: ['pg-all'],
        },
      ),
    )
    const all = {default_input_guardrails: ['pg-all']}
    expect(first!.target).toEqual({
      provider: '@a',
      before_request_hooks: [{id: 'h'}],
      input_guardrails: ['pg-in'],
      output_guardrails: ['pg-out'],
      ...all,
    })
    expect(second!.target).toEqual({provider: '@b', input_mutators: ['pg-own'], output_guardrails: ['pg-out'], ...all})
    expect(third!.target).toEqual({
      provider: '@c',
      before_request_hooks: [{id: 'h'}],
      input_guardrails: ['pg-in'],
      output_guardrails: [],
      ...all,
    })
  })

  test('provider, credentials, name and weight are each target’s own', () => {
    const nested = {
      strategy: {mode: 'loadbalance'},
      targets: [{name: 'outer', weight: 9, targets: [{request_timeout: 1}]}],
    }
    const root = branch(nested)
    expect(root.children[0]).toMatchObject({kind: 'branch', mode: 'single', name: 'outer', weight: 9})
    expect(leavesOf(root)[0]).toEqual({
      kind: 'leaf',
      path: 'config.targets[0].targets[0]',
      name: null,
      weight: 1,
      breaker: null,
      target: {request_timeout: 1},
    })
  })
})

describe('circuit breakers', () => {
  const config = {
    strategy: {
      mode: 'fallback',
      cb_config: {failure_threshold_percentage: 50, minimum_requests: 4, failure_status_codes: [503]},
    },
    targets: [
      {provider: '@a'},
      {provider: '@b', cb_config: {failure_threshold: 2}},
      {strategy: {mode: 'loadbalance'}, cb_config: {failure_threshold: 3}, targets: [{provider: '@c'}]},
    ],
  }
  const rate = {
    failure_threshold: null,
    failure_threshold_percentage: 50,
    minimum_requests: 4,
    cooldown_interval_ms: 30_000,
    failure_status_codes: new Set([503]),
  }
  const count = (failure_threshold: number) => ({
    failure_threshold,
    failure_threshold_percentage: null,
    minimum_requests: null,
    cooldown_interval_ms: 30_000,
    failure_status_codes: null,
  })

  test('go down to targets, the nearest counts', () => {
    const root = branch(config)
    expect(root.breaker).toBeNull()
    expect(root.children.map(({breaker}) => breaker)).toEqual([rate, count(2), count(3)])
    expect(leavesOf(root).map(({breaker}) => breaker)).toEqual([rate, count(2), count(3)])
  })

  test('count in no config that was sent with a call', () => {
    const plan = planOf(config, null)
    expect(leavesOf(plan.root).map(({breaker}) => breaker)).toEqual([null, null, null])
    expect(plan.warnings).toHaveLength(3)
    expect(plan.warnings[0]).toBe(
      'config.targets[1].cb_config: has no effect here: circuits are kept for saved configs alone',
    )
    const saved = readConfig(config, {saved: true})
    if ('issues' in saved) throw new Error()
    expect(leavesOf(compile(saved.config, {config_id: null}).root).map(({breaker}) => breaker)).toEqual([
      null,
      null,
      null,
    ])
  })
})

test('a load balance is sticky when it says so', () => {
  const of = (sticky: unknown) =>
    (branch({strategy: {mode: 'loadbalance', sticky}, targets: [{provider: '@a'}]}) as {sticky?: unknown}).sticky
  expect(of({enabled: true, hash_fields: ['metadata.u']})).toEqual({hash_fields: ['metadata.u'], ttl_s: 3600})
  expect(of({enabled: true, hash_fields: ['params.user'], ttl: 60})).toEqual({hash_fields: ['params.user'], ttl_s: 60})
  expect(of({enabled: false, hash_fields: ['params.user']})).toBeNull()
})

test('one target without a strategy is asked as a single one', () => {
  expect(branch({targets: [{provider: '@a'}]})).toMatchObject({
    kind: 'branch',
    mode: 'single',
    children: [{path: 'config.targets[0]'}],
  })
})

test('a plan cannot be changed, nor what it holds', () => {
  const plan = planOf(
    fallback([{provider: '@a', override_params: {metadata: {x: [1]}}}], {
      retry: {attempts: 1},
      input_guardrails: [{id: 'x'}],
    }),
  )
  const open: string[] = []
  const visit = (value: unknown, path: string) => {
    if (typeof value !== 'object' || value === null) return
    if (!Object.isFrozen(value)) open.push(path)
    for (const [key, inner] of Object.entries(value)) visit(inner, `${path}.${key}`)
  }
  visit(plan, 'plan')
  expect(open).toEqual([])
})

test('warnings of the reading are those of the plan', () => {
  expect(planOf({provider: '@a', weight: 2}, null).warnings).toEqual([
    'config.weight: has no effect here: it counts under the mode loadbalance alone',
  ])
})

test('a thousand targets and conditions, each in its place', () => {
  const names = Array.from({length: 1000}, (_, at) => `t${at}`)
  const conditions = names.map((name, at) =>
    Object.fromEntries([
      ['query', {'metadata.k': `${at}`}],
      ['then', name],
    ]),
  )
  const targets = names.map(name => ({name, provider: `@${name}`, override_params: {model: name}}))
  const root = branch({strategy: {mode: 'conditional', conditions}, override_params: {seed: 1}, targets})
  if (root.mode !== 'conditional') throw new Error(root.mode)
  expect(root.conditions.map(({then}) => then)).toEqual(names.map((_, at) => at))
  expect((root.children[999] as PlanTarget).target).toEqual({
    name: 't999',
    provider: '@t999',
    override_params: {model: 't999', seed: 1},
  })
})

test('what was not read is no plan', () => {
  const config = {
    strategy: {
      mode: 'conditional' as const,
      conditions: [
        Object.fromEntries([
          ['query', {'metadata.x': 1}],
          ['then', 'b'],
        ]),
      ],
    },
    targets: [{name: 'a'}],
  }
  expect(() => compile(config as never, {config_id: null})).toThrow('config.strategy names a target that is not there')
})
