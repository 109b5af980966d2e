import fc from 'fast-check'
import {describe, expect, test} from 'vitest'
import {seeded} from '../../src/base/seeded-random.ts'
import {compile} from '../../src/routing/compile.ts'
import type {Plan} from '../../src/routing/plan.ts'
import type {TryResult} from '../../src/routing/retry.ts'
import {branchesOf, goesOn, type SimulateOptions, simulate, targetsOf} from '../../src/routing/simulate.ts'
import {readConfig} from '../../src/schema/configs.ts'

function planOf(config: unknown): Plan {
  const read = readConfig(config, {saved: true})
  if ('issues' in read) throw new Error(JSON.stringify(read.issues))
  return compile(read.config, {config_id: 'id'})
}

const answered = (status: number): TryResult => ({status, kind: 'answer', headers: null, is_committed: false})
const options = (more: Partial<SimulateOptions> = {}): SimulateOptions => ({
  facts: {metadata: {}, params: {}, pathname: '/v1/chat/completions'},
  workspace_id: 'ws',
  random: () => 0.5,
  now_ms: 0,
  ...more,
})
/** The leaves asked, with what each try came to. */
const way = (plan: Plan, statuses: Record<string, number>, more: Partial<SimulateOptions> = {}) => {
  const {visits, end} = simulate(plan, options(more), leaf => answered(statuses[leaf.path] ?? 200))
  return [...visits.map(({leaf, tries}) => [leaf.path, ...tries.map(({wait_ms}) => wait_ms)]), end.kind]
}

const [a, b, c] = [{provider: '@a'}, {provider: '@b'}, {provider: '@c'}]
const fallback = (targets: object[], more: object = {}) => ({strategy: {mode: 'fallback', ...more}, targets})

describe('the way', () => {
  test.each<[string, unknown, Record<string, number>, unknown[]]>([
    ['one target', a, {}, [['config', 0], 'answer']],
    ['of single', {strategy: {mode: 'single'}, targets: [a]}, {}, [['config.targets[0]', 0], 'answer']],
    [
      'of a fallback whose first fails',
      fallback([a, b]),
      {'config.targets[0]': 429},
      [['config.targets[0]', 0], ['config.targets[1]', 0], 'answer'],
    ],
    [
      'of a fallback that does not know the status',
      fallback([a, b], {on_status_codes: [429]}),
      {'config.targets[0]': 500},
      [['config.targets[0]', 0], 'answer'],
    ],
    [
      'with retries',
      fallback([{...a, retry: {attempts: 2}}, b]),
      {'config.targets[0]': 503},
      [['config.targets[0]', 0, 1000, 2000], ['config.targets[1]', 0], 'answer'],
    ],
    [
      'out of a fallback in a fallback',
      fallback([fallback([a, b]), c]),
      {'config.targets[0].targets[0]': 500, 'config.targets[0].targets[1]': 500},
      [['config.targets[0].targets[0]', 0], ['config.targets[0].targets[1]', 0], ['config.targets[1]', 0], 'answer'],
    ],
  ])('%s', (_, config, statuses, expected) => {
    expect(way(planOf(config), statuses)).toEqual(expected)
  })
})

describe('why', () => {
  const conditional = (more: object = {}) => ({
    strategy: {
      mode: 'conditional',
      conditions: [
        Object.fromEntries([
          ['query', {'metadata.plan': 'pro'}],
          ['then', 'x'],
        ]),
        Object.fromEntries([
          ['query', {'params.n': {$gt: 1}}],
          ['then', 'y'],
        ]),
        Object.fromEntries([
          ['query', {'url.pathname': '/v1/embeddings'}],
          ['then', 'x'],
        ]),
      ],
      ...more,
    },
    targets: [
      {name: 'x', ...a},
      {name: 'y', ...b},
    ],
  })

  test('conditions tell their verdicts up to the one that holds', () => {
    const facts = {metadata: {plan: 'free'}, params: {n: 2}, pathname: '/v1/chat/completions'}
    const [visit] = simulate(planOf(conditional()), options({facts}), () => answered(200)).visits
    expect(visit!.because).toEqual([
      {
        path: 'config',
        mode: 'conditional',
        to: 'config.targets[1]',
        conditions: [
          {text: 'metadata.plan $eq "pro"', holds: false, to: 'config.targets[0]'},
          {text: 'params.n $gt 1', holds: true, to: 'config.targets[1]'},
          {text: 'url.pathname $eq "/v1/embeddings"', holds: null, to: 'config.targets[0]'},
        ],
      },
    ])
  })

  test('so do those of which none holds, with nowhere to go', () => {
    const {end, visits, by_lot} = simulate(planOf(conditional()), options(), () => answered(200))
    expect(visits).toEqual([])
    expect(end).toMatchObject({kind: 'refuse', refused: {reason: 'no_match', path: 'config'}})
    if (end.kind === 'refuse')
      expect(end.because).toMatchObject([
        {path: 'config', to: null, conditions: [{holds: false}, {holds: false}, {holds: false}]},
      ])
    expect(by_lot).toBe(false)
  })

  test('a draw tells the weights and the number, and a later target only what was decided since', () => {
    const balanced = {
      strategy: {mode: 'loadbalance'},
      targets: [
        {...a, weight: 3},
        {...b, weight: 1},
      ],
    }
    const random = (() => {
      const left = [0.9, 0.1]
      return () => left.shift()!
    })()
    const {visits, by_lot} = simulate(planOf(fallback([balanced, balanced])), options({random}), leaf =>
      answered(leaf.path.startsWith('config.targets[0]') ? 500 : 200),
    )
    expect(visits.map(({because}) => because)).toEqual([
      [
        {path: 'config', mode: 'fallback', to: 'config.targets[0]'},
        {
          path: 'config.targets[0]',
          mode: 'loadbalance',
          to: 'config.targets[0].targets[1]',
          weights: [
            {path: 'config.targets[0].targets[0]', weight: 3},
            {path: 'config.targets[0].targets[1]', weight: 1},
          ],
          drawn: 0.9,
          sticky_key: null,
        },
      ],
      [
        {path: 'config', mode: 'fallback', to: 'config.targets[1]'},
        expect.objectContaining({path: 'config.targets[1]', to: 'config.targets[1].targets[0]', drawn: 0.1}),
      ],
    ])
    expect(by_lot).toBe(true)
  })

  test('sticky callers have a key; by caller, each is drawn for by it, and all together by weight', () => {
    const plan = planOf({
      strategy: {mode: 'loadbalance', sticky: {enabled: true, hash_fields: ['metadata._user']}},
      targets: [
        {...a, weight: 3},
        {...b, weight: 1},
      ],
    })
    const of = (user: string, random: () => number) => {
      const facts = {metadata: {_user: user}, params: {}, pathname: '/'}
      return simulate(plan, options({facts, random, by_caller: true}), () => answered(200)).visits[0]!
    }
    expect(of('one', () => 0).because).toMatchObject([{sticky_key: expect.stringMatching(/^[\w-]{43}$/)}])
    for (const random of [0, 0.5, 0.99]) expect(of('one', () => random)).toEqual(of('one', () => 0))
    const first = Array.from({length: 2000}, (_, user) => of(`user-${user}`, () => 0)).filter(
      ({leaf}) => leaf.path === 'config.targets[0]',
    )
    expect(Math.abs(first.length - 1500)).toBeLessThan(100)
  })
})

describe('what is asked after which failure', () => {
  test.each<[string, unknown, string, unknown[]]>([
    ['nothing after one target', a, 'config', []],
    [
      'the next, on what is not 2xx',
      fallback([a, b]),
      'config.targets[0]',
      [{on_status_codes: null, to: 'config.targets[1]'}],
    ],
    ['nothing after the last', fallback([a, b]), 'config.targets[1]', []],
    [
      'an outer fallback takes what the inner one leaves',
      fallback([fallback([a, b], {on_status_codes: [429, 500]}), c], {on_status_codes: [500, 503, 408]}),
      'config.targets[0].targets[0]',
      [
        {on_status_codes: [429, 500], to: 'config.targets[0].targets[1]'},
        {on_status_codes: [408, 503], to: 'config.targets[1]'},
      ],
    ],
    [
      'an inner one without codes leaves 2xx alone',
      fallback([fallback([a, b]), c], {on_status_codes: [246, 500]}),
      'config.targets[0].targets[0]',
      [
        {on_status_codes: null, to: 'config.targets[0].targets[1]'},
        {on_status_codes: [246], to: 'config.targets[1]'},
      ],
    ],
  ])('%s', (_, config, path, expected) => {
    expect(goesOn(planOf(config), path)).toEqual(expected)
  })
})

/** Nested fallbacks and load balances of up to three levels. */
const node: fc.Memo<object> = fc.memo(depth =>
  depth <= 1
    ? fc.constant({...a})
    : fc.oneof(
        fc.constant({...a}),
        fc.record({
          strategy: fc.oneof(fc.constant({mode: 'fallback'}), fc.constant({mode: 'fallback', on_status_codes: [429]})),
          targets: fc.array(node(depth - 1), {minLength: 1, maxLength: 3}),
        }),
        fc
          .array(fc.tuple(node(depth - 1), fc.integer({min: 0, max: 3})), {minLength: 1, maxLength: 3})
          .map(targets => ({
            strategy: {mode: 'loadbalance'},
            targets: targets.map(([target, weight]) => ({...target, weight})),
          })),
      ),
)

test('in any config: reasons lead to where it went, draws fall where they say, and what goesOn says comes', () => {
  fc.assert(
    fc.property(
      node(4),
      fc.string(),
      fc.array(fc.constantFrom(200, 429, 500), {minLength: 1, maxLength: 30}),
      (config, seed, statuses) => {
        const read = readConfig(config)
        if ('issues' in read) return
        const plan = compile(read.config, {config_id: null})
        let asked = 0
        const {visits} = simulate(plan, options({random: seeded(seed)}), () =>
          answered(statuses[asked++ % statuses.length]!),
        )
        const paths = new Set([...targetsOf(plan.root), ...branchesOf(plan.root)].map(({path}) => path))
        for (const [index, {leaf, because, tries}] of visits.entries()) {
          for (const choice of because) {
            expect(paths).toContain(choice.to)
            expect(`${leaf.path}.`).toContain(`${choice.to}.`)
            if (choice.mode !== 'loadbalance') continue
            let rest = choice.drawn! * choice.weights.reduce((sum, {weight}) => sum + weight, 0)
            const drawn = choice.weights.find(({weight}) => {
              rest -= weight
              return rest < 0
            })
            expect(choice.to).toBe(drawn!.path)
          }
          const next = visits[index + 1]
          const {status} = tries.at(-1)!.result
          const said = goesOn(plan, leaf.path).find(({on_status_codes: codes}) =>
            codes ? codes.includes(status) : status < 200 || status > 299,
          )
          if (next) expect(`${next.leaf.path}.`).toContain(`${said!.to}.`)
        }
      },
    ),
    {numRuns: 2000},
  )
})
