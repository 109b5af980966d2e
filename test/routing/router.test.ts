import fc from 'fast-check'
import {describe, expect, test} from 'vitest'
import {type Circuits, createCircuits} from '../../src/routing/breaker.ts'
import {createStickyMemory} from '../../src/routing/choose.ts'
import type {
  BreakerRule,
  ConditionalBranch,
  Plan,
  PlanNode,
  PlanTarget,
  RetryRule,
  RoutingFacts,
} from '../../src/routing/plan.ts'
import {retryAfterMs, type TryResult} from '../../src/routing/retry.ts'
import {type RoutingContext, type RoutingStep, startRouting, type Try} from '../../src/routing/router.ts'

/** What a compiled rule lists where the config gives no codes (reference: retry, conflicts). */
const usual = [429, 500, 502, 503, 504, 529]

/** A node without its place, which `plan` gives it. */
type Draft = (path: string) => PlanNode
interface Own {
  readonly weight?: number
  readonly retry?: Partial<RetryRule>
  readonly breaker?: BreakerRule
}
const common = (path: string, {weight = 1, breaker}: Own) => ({path, name: null, weight, breaker: breaker ?? null})
const placed = (drafts: readonly Draft[], path: string) =>
  drafts.map((draft, index) => draft(`${path}.targets[${index}]`))
const leaf =
  (own: Own = {}): Draft =>
  path => ({
    ...common(path, own),
    kind: 'leaf',
    target: {retry: own.retry && {attempts: 0, on_status_codes: usual, use_retry_after_header: false, ...own.retry}},
  })
const single =
  (child: Draft, own: Own = {}): Draft =>
  path => ({...common(path, own), kind: 'branch', mode: 'single', children: placed([child], path)})
const fallback =
  (children: readonly Draft[], codes: readonly number[] | null = null, own: Own = {}): Draft =>
  path => ({
    ...common(path, own),
    kind: 'branch',
    mode: 'fallback',
    children: placed(children, path),
    on_status_codes: codes && new Set(codes),
  })
const balance =
  (children: readonly Draft[], own: Own & {sticky?: {hash_fields: string[]; ttl_s: number}} = {}): Draft =>
  path => ({
    ...common(path, own),
    kind: 'branch',
    mode: 'loadbalance',
    children: placed(children, path),
    sticky: own.sticky ?? null,
  })
/** Condition `n` holds when `metadata.go` is `n`. */
const conditional =
  (children: readonly Draft[], thens: readonly number[], otherwise: number | null, own: Own = {}): Draft =>
  path => ({
    ...common(path, own),
    kind: 'branch',
    mode: 'conditional',
    children: placed(children, path),
    conditions: thens.map((then, n) => ({
      holds: ({metadata}: RoutingFacts) => metadata.go === String(n),
      then,
      text: '',
      models: [],
    })),
    otherwise,
  })
const plan = (draft: Draft, config_id: string | null = null): Plan => ({
  root: draft('config'),
  config_id,
  warnings: [],
  lists_integrated: false,
})

const said = (status: number, more: Partial<TryResult> = {}): TryResult => ({
  status,
  kind: 'answer',
  headers: null,
  is_committed: false,
  ...more,
})
const timeout = said(408, {kind: 'timeout'})
const network = said(503, {kind: 'network_error'})
const wanting = (seconds: number) => said(429, {headers: {'retry-after': String(seconds)}})

const around = (more: Partial<RoutingContext> & {go?: string} = {}): RoutingContext => ({
  facts: {metadata: more.go === undefined ? {} : {go: more.go}, params: {}, pathname: '/v1/chat/completions'},
  workspace_id: 'w1',
  sticky: createStickyMemory({most: 10}),
  circuits: createCircuits({most: 10}),
  random: () => 0,
  now: () => 0,
  ...more,
})

/** Walks the way to its end. What comes back is `results` in turn, the last of them again and again. */
function walk(of: Plan, results: readonly TryResult[], on: RoutingContext = around()) {
  const way = startRouting(of, on)
  const asks: Try[] = []
  let step = way.first()
  while (step.kind === 'try') {
    asks.push(step)
    expect(asks.length).toBeLessThan(1000)
    step = way.next(results[Math.min(asks.length, results.length) - 1]!)
  }
  const asked = asks.map(({target: leaf, wait_ms}) => `${short(leaf.path)}${wait_ms ? ` +${wait_ms}` : ''}`).join(', ')
  return {asks, asked, end: shownEnd(step), modes: asks.map(({mode}) => mode), way}
}
const short = (path: string) => path.replace('config.', '').replaceAll(/targets\[(\d+)\]/g, '$1')
const shownEnd = (step: RoutingStep) =>
  step.kind === 'return'
    ? `${short(step.option_path)}: ${step.retry_attempt_count}`
    : step.kind === 'no_target'
      ? `${step.reason} ${step.path}`
      : ''

const plain = leaf()
const twice = leaf({retry: {attempts: 2}})
const obeying = leaf({retry: {attempts: 3, use_retry_after_header: true}})

describe('one leaf', () => {
  test.each<[string, Draft, TryResult[], string, string]>([
    ['answers', plain, [said(200)], 'config', 'config: 0'],
    ['fails, and nothing is retried unasked', plain, [said(500)], 'config', 'config: 0'],
    ['has no retries where none are allowed', leaf({retry: {attempts: 0}}), [network], 'config', 'config: 0'],
    ['429, 429, 200', twice, [said(429), said(429), said(200)], 'config, config +1000, config +2000', 'config: 2'],
    ['429 three times', twice, [said(429)], 'config, config +1000, config +2000', 'config: -1'],
    ['429, then what is not retried', twice, [said(429), said(400)], 'config, config +1000', 'config: 1'],
    [
      '429 twice, then what is not retried',
      twice,
      [said(429), said(429), said(400)],
      'config, config +1000, config +2000',
      'config: 2',
    ],
    ['is retried once and answers', twice, [said(503), said(200)], 'config, config +1000', 'config: 1'],
    [
      'waits up to 16 s',
      leaf({retry: {attempts: 5}}),
      [said(529)],
      'config, config +1000, config +2000, config +4000, config +8000, config +16000',
      'config: -1',
    ],
    [
      'network errors are retried whatever the codes',
      leaf({retry: {attempts: 1, on_status_codes: [429]}}),
      [network],
      'config, config +1000',
      'config: -1',
    ],
    [
      'its codes replace the usual',
      leaf({retry: {attempts: 2, on_status_codes: [404]}}),
      [said(404), said(500)],
      'config, config +1000',
      'config: 1',
    ],
    ['a timeout is not retried', twice, [timeout], 'config', 'config: 0'],
    [
      'a timeout is retried where it is listed',
      leaf({retry: {attempts: 1, on_status_codes: [408]}}),
      [timeout],
      'config, config +1000',
      'config: -1',
    ],
    ['retry-after 70', obeying, [wanting(70)], 'config', 'config: -1'],
    ['retry-after 20, then 50', obeying, [wanting(20), wanting(50)], 'config, config +20000', 'config: -1'],
    ['retry-after 20, then 200', obeying, [wanting(20), said(200)], 'config, config +20000', 'config: 1'],
    ['retry-after nobody asked about', twice, [wanting(70), said(200)], 'config, config +1000', 'config: 1'],
    [
      'retry-after of a date',
      obeying,
      [said(429, {headers: {'retry-after': 'Wed, 21 Oct 2026 07:28:00 GMT'}}), said(200)],
      'config, config +1000',
      'config: 1',
    ],
    ['a limit of ours is not retried', twice, [said(429, {kind: 'refusal'})], 'config', 'config: 0'],
    ['a fault of ours is not retried', twice, [said(500, {kind: 'gateway'})], 'config', 'config: 0'],
    ['nothing follows bytes that the client has', twice, [said(500, {is_committed: true})], 'config', 'config: 0'],
    [
      'a denied answer is retried where it is listed',
      leaf({retry: {attempts: 1, on_status_codes: [446]}}),
      [said(446), said(246)],
      'config, config +1000',
      'config: 1',
    ],
  ])('%s', (_, draft, results, asked, end) => {
    expect(walk(plan(draft), results)).toMatchObject({asked, end})
  })

  test('says of each ask which retry it is, and whether it is the last', () => {
    expect(walk(plan(twice), [said(500)]).asks.map(({retry, is_last, mode}) => [retry, is_last, mode])).toEqual([
      [0, false, 'single'],
      [1, false, 'single'],
      [2, true, 'single'],
    ])
    expect(walk(plan(plain), [said(500)]).asks).toMatchObject([{retry: 0, wait_ms: 0, is_last: true, mode: 'single'}])
  })

  test('below single branches is the place they lead to', () => {
    expect(walk(plan(single(single(plain))), [said(200)])).toMatchObject({
      asked: '0.0',
      end: '0.0: 0',
      modes: ['single'],
    })
  })
})

describe('a fallback', () => {
  const three = [plain, plain, plain]
  test.each<[string, Draft, TryResult[], string, string]>([
    ['stops at the first success', fallback(three), [said(200)], '0', '0: 0'],
    ['goes on at a timeout', fallback(three), [timeout, said(200)], '0, 1', '1: 0'],
    ['gives the last answer when all fail', fallback(three), [said(500), said(429), said(404)], '0, 1, 2', '2: 0'],
    [
      'goes on at a 4xx, a redirect and a network error',
      fallback(three),
      [said(400), said(301), network],
      '0, 1, 2',
      '2: 0',
    ],
    ['is content with any 2xx, 246 too', fallback(three), [said(246)], '0', '0: 0'],
    ['is content with 299', fallback(three), [said(299)], '0', '0: 0'],
    ['goes on at a denial', fallback(three), [said(446), said(200)], '0, 1', '1: 0'],
    [
      'goes on at a limit of ours',
      fallback(three),
      [said(412, {kind: 'refusal'}), said(429, {kind: 'refusal'}), said(200)],
      '0, 1, 2',
      '2: 0',
    ],
    ['goes on at an overload', fallback(three), [said(529), said(200)], '0, 1', '1: 0'],
    ['stops at a fault of ours', fallback(three), [said(500, {kind: 'gateway'})], '0', '0: 0'],
    ['stops when the client has bytes', fallback(three), [said(529, {is_committed: true})], '0', '0: 0'],
    ['on 429 stops at 500', fallback(three, [429]), [said(500)], '0', '0: 0'],
    ['on 429 stops at a network error', fallback(three, [429]), [network], '0', '0: 0'],
    ['on 429 goes on at 429', fallback(three, [429]), [said(429), said(500)], '0, 1', '1: 0'],
    [
      'on 246 and 446 asks all that are denied or doubted',
      fallback(three, [246, 446]),
      [said(246), said(446), said(200)],
      '0, 1, 2',
      '2: 0',
    ],
    ['on 200 asks all', fallback(three, [200]), [said(200)], '0, 1, 2', '2: 0'],
    ['on nothing asks one', fallback(three, []), [said(500)], '0', '0: 0'],
    [
      'comes after the retries of each',
      fallback([twice, twice]),
      [said(500), said(500), said(500), said(500), said(200)],
      '0, 0 +1000, 0 +2000, 1, 1 +1000',
      '1: 1',
    ],
    [
      'comes at once after a retry-after that is too long',
      fallback([obeying, plain]),
      [wanting(60), said(200)],
      '0, 1',
      '1: 0',
    ],
    [
      'begins each leaf’s limit of waiting anew',
      fallback([obeying, obeying]),
      [wanting(50), wanting(50), wanting(50), said(200)],
      '0, 0 +50000, 1, 1 +50000',
      '1: 1',
    ],
    ['of fallbacks goes depth first', fallback([fallback([plain, plain]), plain]), [said(500)], '0.0, 0.1, 1', '1: 0'],
    [
      'inside is left when it does not mind the status, and the outer one goes on',
      fallback([fallback([plain, plain], [429]), plain]),
      [said(500), said(200)],
      '0.0, 1',
      '1: 0',
    ],
    [
      'outside may be content with what exhausted the inner one',
      fallback([fallback([plain, plain]), plain], [429]),
      [said(500)],
      '0.0, 0.1',
      '0.1: 0',
    ],
    [
      'is gone through again nowhere',
      fallback([single(fallback([plain, plain])), fallback([plain, plain])]),
      [said(500)],
      '0.0.0, 0.0.1, 1.0, 1.1',
      '1.1: 0',
    ],
  ])('%s', (_, draft, results, asked, end) => {
    expect(walk(plan(draft), results)).toMatchObject({asked, end})
  })

  test('knows its last ask', () => {
    const of = plan(fallback([fallback([plain, plain]), twice]))
    expect(walk(of, [said(500)]).asks.map(({is_last}) => is_last)).toEqual([false, false, false, false, true])
  })

  test('says the same again after the end', () => {
    const {way, end} = walk(plan(fallback(three)), [said(500, {kind: 'gateway'})])
    expect(shownEnd(way.next(said(500)))).toBe(end)
  })
})

describe('a load balance', () => {
  test('is of one target, and does not try another', () => {
    const of = plan(balance([plain, plain]))
    expect(walk(of, [said(500)], around({random: () => 0.5}))).toMatchObject({
      asked: '1',
      end: '1: 0',
      modes: ['loadbalance'],
    })
  })

  test('picks once for each visit', () => {
    const of = plan(fallback([balance([plain, plain]), balance([plain, plain])]))
    const rolls = [0.9, 0.1]
    expect(walk(of, [said(500)], around({random: () => rolls.shift()!}))).toMatchObject({
      asked: '0.1, 1.0',
      end: '1.0: 0',
    })
  })

  test('of fallbacks stays in the one it picked', () => {
    const of = plan(balance([fallback([plain, plain]), plain]))
    expect(walk(of, [said(500)]).asked).toBe('0.0, 0.1')
    expect(walk(of, [said(500)], around({random: () => 0.9})).asked).toBe('1')
  })

  test('with nothing but zeros is refused, wherever it stands', () => {
    const zero = leaf({weight: 0})
    expect(walk(plan(balance([zero, zero])), [said(200)])).toMatchObject({asked: '', end: 'no_weight config'})
    const later = plan(fallback([plain, balance([zero]), plain]))
    expect(walk(later, [said(500)])).toMatchObject({asked: '0', end: 'no_weight config.targets[1]'})
  })

  test('that is sticky keeps a caller, also inside a fallback', () => {
    const of = plan(fallback([balance([plain, plain], {sticky: {hash_fields: ['metadata.go'], ttl_s: 60}}), plain]))
    const rolls = [0.9]
    const on = around({go: 'ann', random: () => rolls.shift() ?? Number.NaN})
    expect([walk(of, [said(200)], on).asked, walk(of, [said(500), said(200)], on).asked]).toEqual(['0.1', '0.1, 1'])
  })
})

describe('a condition', () => {
  const of = plan(conditional([plain, balance([plain, plain]), fallback([plain, plain])], [1, 2, 2], 0))
  test.each([
    ['0', '1.0', ['loadbalance']],
    ['1', '2.0, 2.1', ['fallback', 'fallback']],
    ['2', '2.0, 2.1', ['fallback', 'fallback']],
    ['9', '0', ['conditional']],
    [undefined, '0', ['conditional']],
  ])('of metadata %s leads to %s', (go, asked, modes) => {
    expect(walk(of, [said(500)], around({go}))).toMatchObject({asked, modes})
  })

  test('that holds first wins', () => {
    const met = (then: number) => ({holds: () => true, then, text: '', models: []})
    const root: ConditionalBranch = {
      ...common('config', {}),
      kind: 'branch',
      mode: 'conditional',
      children: placed([plain, plain], 'config'),
      conditions: [met(1), met(0)],
      otherwise: 0,
    }
    expect(walk({root, config_id: null, warnings: [], lists_integrated: false}, [said(200)]).asked).toBe('1')
  })

  test('that none meets, without a default, is refused', () => {
    expect(walk(plan(conditional([plain], [0], null)), [said(200)])).toMatchObject({asked: '', end: 'no_match config'})
  })
})

describe('open circuits', () => {
  const breaker: BreakerRule = {
    failure_threshold: 2,
    failure_threshold_percentage: null,
    minimum_requests: null,
    cooldown_interval_ms: 30_000,
    failure_status_codes: null,
  }
  const watched = leaf({breaker})
  /** Circuits of which the named leaves' are open; `records` says what was counted. */
  const open = (...paths: string[]): Circuits & {records: unknown[]} => {
    const records: unknown[] = []
    return {
      isOpen: ({path}) => paths.includes(short(path)),
      record: ({path}, _, {status}, asked_ms, now_ms) => records.push([short(path), status, asked_ms, now_ms]),
      list: () => [],
      forget: () => undefined,
      records,
    }
  }

  test('threshold 2: the third call passes over the target, until the cooldown is over; indices stay those of the config', () => {
    const of = plan(fallback([watched, plain]), 'c1')
    let now = 0
    const on = around({now: () => now})
    const calls = [0, 1, 2, 30_000, 30_001].map(at => {
      now = at
      const {asked, end} = walk(of, [said(500)], on)
      return `${asked} → ${end}`
    })
    expect(calls).toEqual(['0, 1 → 1: 0', '0, 1 → 1: 0', '1 → 1: 0', '1 → 1: 0', '0, 1 → 1: 0'])
    expect(on.circuits.list(2)).toMatchObject([{path: 'config.targets[0]', workspace_id: 'w1', config_id: 'c1'}])
  })

  test('threshold 2: when both targets have failed, both are asked again', () => {
    const on = around()
    const calls = [1, 2, 3].map(() => walk(plan(fallback([watched, watched]), 'c1'), [said(500)], on).asked)
    expect(calls).toEqual(['0, 1', '0, 1', '0, 1'])
    expect(on.circuits.list(0).map(({state}) => state)).toEqual(['open', 'open'])
  })

  test.each<[string, Draft, string[], string]>([
    ['are passed over in a fallback', fallback([watched, watched, watched]), ['0', '2'], '1'],
    ['are asked when there is nothing else', fallback([watched, watched]), ['0', '1'], '0, 1'],
    ['are passed over in a load balance', balance([watched, watched]), ['0'], '1'],
    ['are asked in a load balance when there is nothing else', balance([watched, watched]), ['0', '1'], '0'],
    ['leave no load balance to what is off', balance([watched, leaf({breaker, weight: 0})]), ['0'], '0'],
    ['make a branch open when all of it is', fallback([balance([watched, watched]), plain]), ['0.0', '0.1'], '1'],
    [
      'make no branch open of which a part is closed',
      fallback([balance([watched, watched]), plain]),
      ['0.0'],
      '0.1, 1',
    ],
    [
      'make a branch open whatever is off in it',
      fallback([balance([watched, leaf({weight: 0})]), plain]),
      ['0.0'],
      '1',
    ],
    ['make a single branch open', fallback([single(watched), plain]), ['0.0'], '1'],
    [
      'inside are all asked when the whole config is open',
      fallback([fallback([watched, watched]), watched]),
      ['0.0', '0.1', '1'],
      '0.0, 0.1, 1',
    ],
    ['are asked below a condition', conditional([watched, plain], [], 0), ['0'], '0'],
    ['pass over no condition', fallback([conditional([watched], [], 0), plain]), ['0.0'], '0.0, 1'],
    ['below a condition are passed over', conditional([balance([watched, watched])], [], 0), ['0.0'], '0.1'],
    ['are asked where nobody chooses', single(watched), ['0'], '0'],
    ['are nothing to a leaf without a rule', fallback([plain, plain]), ['0'], '0, 1'],
  ])('%s', (_, draft, paths, asked) => {
    expect(walk(plan(draft, 'c1'), [said(500)], around({circuits: open(...paths)})).asked).toBe(asked)
  })

  test('are nothing to a config that is not saved, and nothing is counted for it', () => {
    const circuits = open('0')
    expect(walk(plan(fallback([watched, watched])), [said(500)], around({circuits})).asked).toBe('0, 1')
    expect(circuits.records).toEqual([])
  })

  test('count a visit once, retries and all, from its first try', () => {
    const circuits = open()
    let now = 100
    const of = plan(fallback([leaf({breaker, retry: {attempts: 2}}), watched]), 'c1')
    const way = startRouting(of, around({circuits, now: () => now}))
    way.first()
    for (const result of [said(500), said(503), said(502), said(200)]) {
      now += 1000
      way.next(result)
    }
    expect(circuits.records).toEqual([
      ['0', 502, 100, 3100],
      ['1', 200, 3100, 4100],
    ])
  })

  test('move a sticky caller', () => {
    const of = plan(balance([watched, watched], {sticky: {hash_fields: ['metadata.go'], ttl_s: 60}}), 'c1')
    const sticky = createStickyMemory({most: 10})
    const asked = [open(), open('0'), open()].map(
      circuits => walk(of, [said(200)], around({go: 'ann', sticky, circuits})).asked,
    )
    expect(asked).toEqual(['0', '1', '1'])
  })
})

const status = fc.constantFrom(200, 246, 400, 408, 412, 429, 429, 446, 500, 500, 503, 503, 529, 529)
const codes = fc.option(fc.uniqueArray(status, {minLength: 1, maxLength: 8}), {nil: null, freq: 1})
const breaker = {failure_threshold: 1} as BreakerRule
const own = fc.record({weight: fc.nat(3), breaker: fc.constantFrom(breaker, undefined)})
const retry = fc.record({
  attempts: fc.nat(5),
  on_status_codes: codes.map(codes => codes ?? usual),
  use_retry_after_header: fc.boolean(),
})
const {draft} = fc.letrec<{draft: Draft; drafts: Draft[]; leaf: Draft}>(tie => ({
  leaf: fc.tuple(own, fc.option(retry, {nil: undefined})).map(([said, retry]) => leaf({...said, retry})),
  drafts: fc.array(tie('draft'), {minLength: 1, maxLength: 4}),
  draft: fc.oneof(
    {maxDepth: 3, depthSize: 'max'},
    {arbitrary: tie('leaf'), weight: 2},
    fc.tuple(tie('draft'), own).map(([child, said]) => single(child, said)),
    {
      arbitrary: fc.tuple(tie('drafts'), codes, own).map(([children, on, said]) => fallback(children, on, said)),
      weight: 4,
    },
    fc.tuple(tie('drafts'), own).map(([children, said]) => balance(children, said)),
    fc
      .tuple(tie('drafts'), fc.array(fc.nat(3), {maxLength: 3}), fc.option(fc.nat(3), {nil: null}), own)
      .map(([children, thens, otherwise, said]) =>
        conditional(
          children,
          thens.map(then => then % children.length),
          otherwise === null ? null : otherwise % children.length,
          said,
        ),
      ),
  ),
}))
const kind = fc.oneof(
  {arbitrary: fc.constant('answer' as const), weight: 16},
  fc.constantFrom('network_error', 'network_error', 'timeout', 'refusal', 'gateway'),
)
const result: fc.Arbitrary<TryResult> = fc.record({
  status,
  kind,
  headers: fc.oneof(
    fc.constant(null),
    fc.nat(70).map(seconds => ({'retry-after': String(seconds)})),
  ),
  is_committed: fc.nat(39).map(n => n === 0),
})

class NoWay extends Error {}
interface RouterSetup {
  readonly go: string
  readonly is_saved: boolean
  readonly open: ReadonlySet<string>
  readonly random: () => number
  ask(leaf: PlanTarget, wait_ms: number, retry: number, mode: string): Promise<TryResult>
  seen(leaf: PlanTarget, result: TryResult): void
}

/** Execution semantics (reference §4) as they are written there: one function, which waits and calls itself. */
async function interpret(
  node: PlanNode,
  mode: string,
  world: RouterSetup,
): Promise<{result: TryResult; path: string; count: number}> {
  if (node.kind === 'leaf') {
    const {attempts, on_status_codes, use_retry_after_header} = node.target.retry ?? {
      attempts: 0,
      on_status_codes: [],
      use_retry_after_header: false,
    }
    let budget_ms = 60_000
    let result = await world.ask(node, 0, 0, mode)
    let count = 0
    const isFailing = () =>
      !result.is_committed &&
      !['refusal', 'gateway'].includes(result.kind) &&
      (result.kind === 'network_error' || on_status_codes.includes(result.status))
    while (isFailing() && count < attempts) {
      const wanted_ms =
        use_retry_after_header && result.status === 429 && result.headers ? retryAfterMs(result.headers) : null
      if (wanted_ms !== null) budget_ms -= wanted_ms
      if (wanted_ms !== null && (wanted_ms >= 60_000 || budget_ms < 0)) break
      result = await world.ask(node, wanted_ms ?? [1, 2, 4, 8, 16][count]! * 1000, ++count, mode)
    }
    world.seen(node, result)
    return {result, path: node.path, count: isFailing() && attempts > 0 ? -1 : count}
  }
  if (node.mode === 'single') return interpret(node.children[0]!, mode, world)
  if (node.mode === 'conditional') {
    const then = node.conditions.findIndex((_, n) => String(n) === world.go)
    const index = then < 0 ? node.otherwise : node.conditions[then]!.then
    if (index === null) throw new NoWay(`no_match ${node.path}`)
    return interpret(node.children[index]!, 'conditional', world)
  }
  const isOpen = (child: PlanNode): boolean => {
    if (child.kind === 'leaf') return world.is_saved && child.breaker !== null && world.open.has(child.path)
    if (child.mode === 'conditional') return false
    const asked = child.children.filter(({weight}) => child.mode !== 'loadbalance' || weight > 0)
    return asked.length > 0 && asked.every(isOpen)
  }
  const candidates = node.children.filter(({weight}) => node.mode === 'fallback' || weight > 0)
  const closed = candidates.filter(child => !isOpen(child))
  const list = closed.length ? closed : candidates
  if (node.mode === 'loadbalance') {
    if (!list.length) throw new NoWay(`no_weight ${node.path}`)
    const tickets = list.flatMap(child => Array<PlanNode>(child.weight).fill(child))
    return interpret(tickets[Math.floor(world.random() * tickets.length)]!, 'loadbalance', world)
  }
  for (const [index, child] of list.entries()) {
    const outcome = await interpret(child, 'fallback', world)
    const {status, kind, is_committed} = outcome.result
    const goes_on = node.on_status_codes ? node.on_status_codes.has(status) : Math.floor(status / 100) !== 2
    if (index === list.length - 1 || !goes_on || kind === 'gateway' || is_committed) return outcome
  }
  throw new Error('a fallback of nothing')
}

/**
 * 0, 1/16, ... 15/16: whole weights up to 12 in all are told apart, and no rounding comes near a border that matters.
 */
const rolls = fc.array(fc.nat(15), {minLength: 1, maxLength: 8}).map(numbers => numbers.map(n => (n + 0.5) / 16))
const cycle = <T>(items: readonly T[]) => {
  let at = 0
  return () => items[at++ % items.length]!
}

test('the machine asks what a plain interpreter of the rules asks: the same leaves, in the same order, after the same waits', async () => {
  const openness = fc.func(fc.nat(2).map(n => n === 0))
  const situation = fc.record({
    results: fc.array(result, {minLength: 1, maxLength: 12}),
    rolls,
    go: fc.constantFrom('0', '1', 'x'),
    is_saved: fc.boolean(),
    openness,
  })
  let most = 0
  const modes = new Set<string>()
  await fc.assert(
    fc.asyncProperty(draft, situation, async (draft, {results, rolls, go, is_saved, openness}) => {
      const of = plan(draft, is_saved ? 'c1' : null)
      const open = new Set(
        leavesOf(of.root)
          .map(({path}) => path)
          .filter(openness),
      )

      let now = 0
      const received: unknown[] = []
      const circuits: Circuits = {
        isOpen: ({path}) => open.has(path),
        record: ({path}, _, {status}, asked_ms, now_ms) => received.push(['seen', path, status, asked_ms, now_ms]),
        list: () => [],
        forget: () => undefined,
      }
      const way = startRouting(of, around({go, circuits, random: cycle(rolls), now: () => now}))
      const answers = cycle(results)
      let step = way.first()
      let was_last = false
      while (step.kind === 'try') {
        expect(was_last).toBe(false)
        was_last = step.is_last
        now += step.wait_ms
        received.push([now, step.target.path, step.wait_ms, step.retry, step.mode])
        modes.add(step.mode)
        now += 7
        step = way.next(answers())
      }
      received.push(
        step.kind === 'return' ? [step.option_path, step.retry_attempt_count] : `${step.reason} ${step.path}`,
      )
      most = Math.max(most, received.length)

      let clock = 0
      let began = 0
      const told: unknown[] = []
      const answersAgain = cycle(results)
      const world: RouterSetup = {
        go,
        is_saved,
        open,
        random: cycle(rolls),
        async ask(leaf, wait_ms, retry, mode) {
          if (retry === 0) began = clock
          clock += wait_ms
          told.push([clock, leaf.path, wait_ms, retry, mode])
          clock += 7
          return answersAgain()
        },
        seen: (leaf, {status}) => leaf.breaker && is_saved && told.push(['seen', leaf.path, status, began, clock]),
      }
      await interpret(of.root, 'single', world).then(
        ({path, count}) => told.push([path, count]),
        fault => {
          if (!(fault instanceof NoWay)) throw fault
          told.push(fault.message)
        },
      )
      expect(received).toEqual(told)
    }),
    {numRuns: 5000},
  )
  expect(most).toBeGreaterThan(20) // the plans were worth walking
  expect(modes.size).toBe(4)
})

test('no plan asks a leaf twice, nor one that stands before what was asked', () => {
  fc.assert(
    fc.property(draft, fc.array(result, {minLength: 1, maxLength: 8}), rolls, (draft, results, rolls) => {
      const of = plan(draft)
      const order = leavesOf(of.root).map(({path}) => path)
      const way = startRouting(of, around({random: cycle(rolls)}))
      const answers = cycle(results)
      let last = -1
      for (let step = way.first(); step.kind === 'try'; step = way.next(answers())) {
        const place = order.indexOf(step.target.path)
        if (step.retry === 0) expect(place).toBeGreaterThan(last)
        else expect(place).toBe(last)
        last = place
      }
    }),
    {numRuns: 2000},
  )
})

test('every leaf of a fallback that fails throughout is asked once and as often again as its retries, at exact times', () => {
  fc.assert(
    fc.property(
      fc.array(fc.nat(5), {minLength: 1, maxLength: 6}),
      fc.constantFrom(429, 500, 529),
      (attempts, status) => {
        const {asks, end} = walk(plan(fallback(attempts.map(attempts => leaf({retry: {attempts}})))), [said(status)])
        let now = 0
        const asked = asks.map(({target: leaf, wait_ms}) => {
          now += wait_ms
          return `${short(leaf.path)} ${now}`
        })
        let began = 0
        const expected = attempts.flatMap((attempts, index) => {
          const times = Array.from({length: attempts + 1}, (_, retry) => began + 1000 * (2 ** retry - 1))
          began = times.at(-1)!
          return times.map(time => `${index} ${time}`)
        })
        expect(asked).toEqual(expected)
        expect(end).toBe(`${attempts.length - 1}: ${attempts.at(-1) ? -1 : 0}`)
      },
    ),
    {numRuns: 2000},
  )
})

function leavesOf(node: PlanNode): PlanTarget[] {
  return node.kind === 'leaf' ? [node] : node.children.flatMap(leavesOf)
}
