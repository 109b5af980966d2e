import fc from 'fast-check'
import {describe, expect, test} from 'vitest'
import {isClean} from '../../src/base/stored-text.ts'
import {
  compilePolicies,
  type Policy,
  type PolicyCondition,
  type PolicyFacts,
  valueKey,
} from '../../src/limits/policies.ts'
import {windowOf} from '../../src/limits/rate.ts'

let made = 0
function policy(conditions: readonly PolicyCondition[], given: Partial<Policy> = {}): Policy {
  const id = given.id ?? `p${++made}`
  return {
    id,
    name: null,
    workspace_id: 'ws',
    conditions,
    group_by: [{key: 'api_key'}],
    usage: '[]',
    rates: null,
    resets: new Map(),
    ...given,
  }
}

/** A call that is called by these names, the first of each its value in a group. */
function facts(given: Readonly<Record<string, string | readonly string[]>>): PolicyFacts {
  const listed = (key: string) => (given[key] === undefined ? null : [given[key]].flat())
  return {names: listed, group: key => listed(key)?.[0] ?? null}
}

const BLUE = {api_key: 'blue', 'metadata._user': 'bob', model: ['@main/gpt', '@main/*', 'gpt'], provider: 'openai'}
const matched = (policies: readonly Policy[], said: Readonly<Record<string, string | readonly string[]>> = BLUE) =>
  compilePolicies(policies)
    .match(facts(said))
    .map(({id}) => id)

describe('a policy covers a call', () => {
  test.each<[string, PolicyCondition[], boolean]>([
    ['by a value', [{key: 'api_key', value: 'blue'}], true],
    ['not by another', [{key: 'api_key', value: 'red'}], false],
    ['by one of several values', [{key: 'api_key', value: ['red', 'blue']}], true],
    ['by any value there is', [{key: 'metadata._user', value: '*'}], true],
    ['not where there is none', [{key: 'metadata.team', value: '*'}], false],
    [
      'by all of its conditions',
      [
        {key: 'api_key', value: 'blue'},
        {key: 'metadata._user', value: 'bob'},
      ],
      true,
    ],
    [
      'not by some of them',
      [
        {key: 'api_key', value: 'blue'},
        {key: 'metadata._user', value: 'eve'},
      ],
      false,
    ],
    ['by a model of a provider', [{key: 'model', value: '@main/gpt'}], true],
    ['by any model of a provider', [{key: 'model', value: '@main/*'}], true],
    ['not by any model of another', [{key: 'model', value: '@other/*'}], false],
    ['not by what it excludes', [{key: 'metadata._user', value: '*', excludes: 'bob'}], false],
    ['by what it does not exclude', [{key: 'metadata._user', value: '*', excludes: ['eve', 'mallory']}], true],
    [
      'not by a model that it excludes from a wildcard',
      [{key: 'model', value: '@main/*', excludes: '@main/gpt'}],
      false,
    ],
  ])('%s', (_, conditions, covers) => {
    expect(matched([policy(conditions, {id: 'p'})])).toEqual(covers ? ['p/api_key:blue'] : [])
  })

  test('only where it has a value for every group', () => {
    const group_by = [{key: 'metadata._user'}, {key: 'model'}]
    const of = policy([{key: 'api_key', value: '*'}], {id: 'p', group_by})
    expect(matched([of])).toEqual(['p/metadata._user:bob-model:@main/gpt'])
    expect(matched([of], {api_key: 'blue', model: 'm'})).toEqual([])
  })

  test('once, however many of its values the call has, and in the order of the policies', () => {
    const policies = [
      policy([{key: 'model', value: ['@main/gpt', '@main/*', 'gpt']}], {id: 'one'}),
      policy([{key: 'api_key', value: '*'}], {id: 'two'}),
      policy([{key: 'api_key', value: 'blue'}], {id: 'three'}),
    ]
    expect(matched(policies)).toEqual(['one/api_key:blue', 'two/api_key:blue', 'three/api_key:blue'])
  })
})

test('an entity is the same object for all its calls, and has its own reset', () => {
  const policies = compilePolicies([
    policy([{key: 'api_key', value: '*'}], {resets: new Map([['api_key:blue', '2026-05-06T00:00:00.000Z']])}),
  ])
  const [blue] = policies.match(facts(BLUE))
  expect(policies.match(facts(BLUE))[0]).toBe(blue)
  expect(blue).toMatchObject({entity: 'policy', last_reset_at: '2026-05-06T00:00:00.000Z'})
  expect(policies.match(facts({api_key: 'red'}))[0]).toMatchObject({last_reset_at: null})
})

test('a value key is the pairs of the groups in their order (reference: policies)', () => {
  const said = facts({'metadata._user': 'bob', model: 'openai.gpt-x'})
  expect(valueKey([{key: 'metadata._user'}, {key: 'model'}], said)).toBe('metadata._user:bob-model:openai.gpt-x')
  expect(valueKey([{key: 'metadata.team'}], said)).toBe(null)
  expect(valueKey([], said)).toBe('all')
})

test('two lists of values never have one value key', () => {
  const groups = [{key: 'metadata.a'}, {key: 'metadata.b'}]
  const of = (a: string, b: string) => valueKey(groups, facts({'metadata.a': a, 'metadata.b': b}))!
  expect(of('x-metadata.b:y', 'z')).not.toBe(of('x', 'y-metadata.b:z'))
  expect(of('x:y', 'z-1')).toBe('metadata.a:x:y-metadata.b:z-1')
  const part = fc.constantFrom(
    'x',
    '-',
    'metadata',
    '.b:',
    '-metadata.b:',
    ':',
    'sha256:',
    '\0',
    '\ud800',
    'l'.repeat(130),
  )
  const value = fc.array(part, {minLength: 1, maxLength: 4}).map(parts => parts.join(''))
  const pair = fc.tuple(value, value)
  fc.assert(
    fc.property(pair, pair, (one, other) => {
      expect(of(...one) === of(...other)).toBe(JSON.stringify(one) === JSON.stringify(other))
      expect(isClean(of(...one)) && Buffer.byteLength(of(...one)) <= 1_024).toBe(true)
    }),
    {numRuns: 1_000},
  )
})

test('says whether it has to read bodies', () => {
  const of = (key: string) => compilePolicies([policy([{key, value: '*'}])]).reads_body
  expect([of('model'), of('metadata._user'), of('api_key'), of('metadata.team')]).toEqual([true, true, false, false])
  expect(compilePolicies([policy([{key: 'api_key', value: '*'}], {group_by: [{key: 'model'}]})]).reads_body).toBe(true)
})

test('the index finds what looking at every policy finds', () => {
  const key = fc.constantFrom('api_key', 'metadata._user', 'provider')
  const value = fc.constantFrom('a', 'b', 'c', '*')
  const condition = fc.record({
    key,
    value: fc.array(value, {minLength: 1, maxLength: 3}),
    excludes: fc.option(fc.constantFrom('a', 'b'), {nil: undefined}),
  })
  const names = fc.uniqueArray(fc.constantFrom('a', 'b', 'c', 'd'), {maxLength: 2})
  fc.assert(
    fc.property(
      fc.array(fc.array(condition, {minLength: 1, maxLength: 3}), {maxLength: 12}),
      fc.record({api_key: fc.constant(['a']), 'metadata._user': names, provider: names}),
      (all, call) => {
        const known = Object.fromEntries(Object.entries(call).filter(([, values]) => values.length > 0))
        const covers = (conditions: readonly PolicyCondition[]) =>
          conditions.every(each => {
            const has = known[each.key]
            const values = [each.value].flat()
            return (
              has &&
              (values.includes('*') || has.some(name => values.includes(name))) &&
              !has.some(name => name === each.excludes)
            )
          })
        const policies = all.map((conditions, at) => policy(conditions, {id: `${at}`}))
        expect(matched(policies, known)).toEqual(
          policies.filter(each => covers(each.conditions)).map(({id}) => `${id}/api_key:a`),
        )
      },
    ),
  )
})

test.each([
  ['rpm', 'tpm', '2026-03-04T05:06:00.000Z', '2026-03-04T05:07:00.000Z'],
  ['rph', 'tph', '2026-03-04T05:00:00.000Z', '2026-03-04T06:00:00.000Z'],
  ['rpd', 'tpd', '2026-03-04T00:00:00.000Z', '2026-03-05T00:00:00.000Z'],
  // a Wednesday is in the week of the Monday before
  ['rpw', 'tpw', '2026-03-02T00:00:00.000Z', '2026-03-09T00:00:00.000Z'],
] as const)('the window of %s, and of %s', (unit, of_tokens, starts_at, ends_at) => {
  const window = {starts_at_ms: Date.parse(starts_at), ends_at_ms: Date.parse(ends_at)}
  for (const at of [starts_at, '2026-03-04T05:06:59.999Z'])
    expect([windowOf(unit, Date.parse(at)), windowOf(of_tokens, Date.parse(at))]).toEqual([window, window])
  expect(windowOf(unit, Date.parse(ends_at)).starts_at_ms).toBe(window.ends_at_ms)
})
