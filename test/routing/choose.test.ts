import fc from 'fast-check'
import {describe, expect, test} from 'vitest'
import {type Choosing, choose, createStickyMemory} from '../../src/routing/choose.ts'
import type {LoadBalanceBranch, PlanTarget} from '../../src/routing/plan.ts'

type Sticky = LoadBalanceBranch['sticky']
const balanced = (
  weights: readonly number[],
  sticky: Sticky = null,
  names: readonly string[] = [],
): LoadBalanceBranch => ({
  kind: 'branch',
  mode: 'loadbalance',
  path: 'config',
  name: null,
  weight: 1,
  breaker: null,
  sticky,
  children: weights.map(
    (weight, index): PlanTarget => ({
      kind: 'leaf',
      path: `config.targets[${index}]`,
      name: null,
      weight,
      breaker: null,
      target: {provider: names[index] ?? `@p${index}`},
    }),
  ),
})
const around = (said: Partial<Choosing> = {}): Choosing => ({
  facts: {metadata: {}, params: {}, pathname: '/v1/chat/completions'},
  workspace_id: 'w1',
  sticky: said.sticky ?? createStickyMemory({most: 100}),
  random: seeded(1),
  now: () => 0,
  ...said,
})
const user = (name: string) => ({metadata: {user: name}, params: {}, pathname: '/'})
const by_user = {hash_fields: ['metadata.user'], ttl_s: 60}

/** Numbers of 0 to 1 that a seed determines: a linear congruence with its output mixed (PCG, oneill 2014). */
function seeded(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (Math.imul(state, 747796405) + 2891336453) >>> 0
    const word = Math.imul(((state >>> ((state >>> 28) + 4)) ^ state) >>> 0, 277803737) >>> 0
    return (((word >>> 22) ^ word) >>> 0) / 2 ** 32
  }
}

describe('by weight', () => {
  test.each([
    [[1, 1], 0, 0],
    [[1, 1], 0.4999, 0],
    [[1, 1], 0.5, 1],
    [[1, 1], 0.9999, 1],
    [[3, 1], 0.7499, 0],
    [[3, 1], 0.75, 1],
    [[0, 1, 0], 0, 1],
    [[0, 1, 0], 0.9999, 1],
    [[0.1, 0.2], 0.3, 0],
    [[0.1, 0.2], 0.34, 1],
    [[0, 0], 0.5, -1],
    [[1e308, 1e308], 0.5, 1],
    [[0.1, 0.7, 0], 1 - 2 ** -53, 1],
  ])('of %j and %d it is %i', (weights, random, index) => {
    expect(choose(balanced(weights), null, around({random: () => random}))).toBe(index)
  })

  test('only those that are not left out', () => {
    const picked = [0, 0.3, 0.6, 0.9].map(random =>
      choose(balanced([1, 1, 1]), [false, true, false], around({random: () => random})),
    )
    expect(picked).toEqual([0, 0, 2, 2])
  })

  test('shares are within 2 % of the weights', () => {
    const weights = fc.array(
      fc.oneof(fc.constant(0), fc.integer({min: 1, max: 100}), fc.double({min: 0.01, max: 10, noNaN: true})),
      {
        minLength: 1,
        maxLength: 8,
      },
    )
    const picks = 20_000 // the deviation of a share is 0.35 % at most, so that 2 % are more than five of them
    fc.assert(
      fc.property(weights, fc.nat(), (weights, seed) => {
        const branch = balanced(weights)
        const on = around({random: seeded(seed)})
        const counts = weights.map(() => 0)
        const sum = weights.reduce((sum, weight) => sum + weight, 0)
        if (sum === 0) {
          expect(choose(branch, null, on)).toBe(-1)
          return
        }
        for (let pick = 0; pick < picks; pick++) counts[choose(branch, null, on)]!++
        for (const [index, weight] of weights.entries()) {
          if (weight === 0) expect(counts[index]).toBe(0)
          else expect(Math.abs(counts[index]! / picks - weight / sum)).toBeLessThan(0.02)
        }
      }),
      {numRuns: 100, seed: 7},
    )
  })
})

describe('sticky', () => {
  test('gives one caller one target until the time is over, counted from the first choice', () => {
    let now = 1000
    const rolls = [0.9, 0.1]
    const on = around({facts: user('ann'), now: () => now, random: () => rolls.shift() ?? Number.NaN})
    const branch = balanced([1, 1], by_user)
    expect(choose(branch, null, on)).toBe(1)
    now = 60_999
    expect(choose(branch, null, on)).toBe(1)
    expect(rolls).toHaveLength(1) // nothing was drawn for it
    now = 61_000
    expect(choose(branch, null, on)).toBe(0)
  })

  test('chooses anew when the target is left out, and stays there when it is back', () => {
    const rolls = [0.9, 0.1]
    const on = around({facts: user('ann'), random: () => rolls.shift() ?? Number.NaN})
    const branch = balanced([1, 1], by_user)
    expect(choose(branch, null, on)).toBe(1)
    expect(choose(branch, [false, true], on)).toBe(0)
    expect(choose(branch, null, on)).toBe(0)
  })

  test('chooses anew when the target is turned off; another weight moves nobody', () => {
    const rolls = [0.9, 0.1]
    const on = around({facts: user('ann'), random: () => rolls.shift() ?? Number.NaN})
    expect(choose(balanced([1, 1], by_user), null, on)).toBe(1)
    expect(choose(balanced([9, 1], by_user), null, on)).toBe(1)
    expect(choose(balanced([1, 0], by_user), null, on)).toBe(0)
  })

  test('chooses anew when the memory names a child that is not there', () => {
    const on = around({facts: user('ann'), random: () => 0.9, sticky: {get: () => 7, set: () => undefined}})
    expect(choose(balanced([1, 1], by_user), null, on)).toBe(1)
  })

  test('is not carried over to other targets, another workspace or other hash fields', () => {
    const sticky = createStickyMemory({most: 100})
    const first = (said: Partial<Choosing>, branch: LoadBalanceBranch) => {
      let drawn = 0
      choose(branch, null, around({facts: user('ann'), sticky, random: () => 0 * ++drawn, ...said}))
      return drawn
    }
    const branch = balanced([1, 1], by_user)
    expect(first({}, branch)).toBe(1)
    expect(first({}, balanced([1, 1], by_user))).toBe(0) // compiled again
    expect(first({workspace_id: 'w2'}, branch)).toBe(1)
    expect(first({}, balanced([1, 1], by_user, ['@new', '@p0']))).toBe(1)
    expect(first({}, {...branch, path: 'config.targets[0]'})).toBe(1)
    expect(first({}, balanced([1, 1], {...by_user, hash_fields: ['metadata.user', 'params.user']}))).toBe(1)
    expect(first({facts: user('bob')}, branch)).toBe(1)
  })

  test('gives those who say none of the fields no common target', () => {
    const rolls = [0.9, 0.1]
    const on = around({random: () => rolls.shift() ?? Number.NaN})
    const branch = balanced([1, 1], {
      hash_fields: ['metadata.user', 'params.__proto__', 'metadata.constructor', 'url.pathname'],
      ttl_s: 60,
    })
    expect([choose(branch, null, on), choose(branch, null, on)]).toEqual([1, 0])
  })

  test('reads params of any shape, two segments deep', () => {
    const branch = balanced([1, 1], {hash_fields: ['params.user.name'], ttl_s: 60})
    const sticky = createStickyMemory({most: 100})
    const drawn = (value: unknown) => {
      let count = 0
      choose(
        branch,
        null,
        around({facts: {metadata: {}, params: {user: value}, pathname: '/'}, sticky, random: () => 0 * ++count}),
      )
      return count
    }
    const values = ['1', 1, null, {name: 'a'}, {name: 'b'}, ['a'], true]
    expect(values.map(drawn)).toEqual(values.map(() => 1))
    expect(values.map(drawn)).toEqual(values.map(() => 0))
  })

  test('all weights 0 stay refused, and nothing is remembered', () => {
    const sticky = createStickyMemory({most: 100})
    expect(choose(balanced([0, 0], by_user), null, around({facts: user('ann'), sticky}))).toBe(-1)
    expect(choose(balanced([1, 1], by_user), null, around({facts: user('ann'), sticky, random: () => 0.9}))).toBe(1)
  })

  test('stays put for everybody, whoever comes between, and keeps the shares', () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({min: 1, max: 9}), {minLength: 2, maxLength: 5}),
        fc.nat(),
        fc.array(fc.nat(30)),
        (weights, seed, calls) => {
          const branch = balanced(weights, by_user)
          const sticky = createStickyMemory({most: 100})
          const random = seeded(seed)
          const given = new Map<number, number>()
          let now = 0
          for (const caller of calls) {
            const index = choose(
              branch,
              null,
              around({facts: user(`user ${caller}`), sticky, random, now: () => now++}),
            )
            expect(index).toBe(given.get(caller) ?? index)
            given.set(caller, index)
          }
        },
      ),
      {numRuns: 1000},
    )
  })
})

test('the memory is bounded: who was not seen for longest is forgotten', () => {
  const memory = createStickyMemory({most: 2})
  memory.set('a', 0, 10)
  memory.set('b', 1, 10)
  memory.get('a', 5)
  memory.set('c', 2, 10)
  expect(['a', 'b', 'c'].map(key => memory.get(key, 9))).toEqual([0, undefined, 2])
  expect(memory.get('a', 10)).toBeUndefined()
})
