import {expect, test} from 'vitest'
import {seeded} from '../../../src/base/seeded-random.ts'
import {differs, featuresOf} from '../../../src/cache/semantic/gate/index.ts'
import {pairsOf} from '../../../src/cache/semantic/pairs.ts'
import {english} from './gate/minimal-pairs.ts'

const KEY = Buffer.alloc(32, 1)
const isServed = (a: string, b: string) => {
  const [one, other] = [featuresOf(a, KEY), featuresOf(b, KEY)]
  return one !== null && other !== null && differs(one, other, 'strict') === null
}
const all = english.flatMap(text => pairsOf(text, seeded(`1 ${text}`)))

test('pairs with other answers are made of any prompt, and the gate serves none', () => {
  const must_miss = all.filter(({expected}) => expected === 'miss')
  expect(must_miss.length).toBeGreaterThan(10 * english.length)
  expect(must_miss.filter(({a, b}) => isServed(a, b))).toEqual([])
  expect(new Set(must_miss.map(({kind}) => kind))).toEqual(
    new Set('number unit date name negation opposite direction operands noun language quote'.split(' ')),
  )
})

test('of pairs with the same answer it serves nearly all', () => {
  const must_hit = all.filter(({expected}) => expected === 'hit')
  expect(must_hit.length).toBeGreaterThan(2 * english.length)
  expect(must_hit.filter(({a, b}) => isServed(a, b)).length / must_hit.length).toBeGreaterThan(0.95)
})

test('a seed makes the same pairs again, and another one others', () => {
  const of = (seed: string) => pairsOf('How far is the moon?', seeded(seed))
  expect(of('1')).toEqual(of('1'))
  expect(of('1')).not.toEqual(of('2'))
})

test('a line of code is changed within its block, and a block has no pairs of blanks or case', () => {
  const pairs = pairsOf('Explain this.\n\n```js\nlet a = 1\nlet b = 2\n```', seeded('1'))
  expect(pairs.find(({kind}) => kind === 'code')!.b).toContain('```js\nlet a = 2\nlet b = 2\n```')
  expect(pairs.map(({kind}) => kind)).not.toContain('spaces')
})

test('a hostile text costs about its length, and none is longer than the gate reads', () => {
  const began = performance.now()
  for (const part of ['!', '. ', '```', '\n', '1']) {
    expect(pairsOf(`${part.repeat(300_000)}x`, seeded('1'))).toEqual([])
    pairsOf(`${part.repeat(2_000)}x`, seeded('1'))
  }
  expect(performance.now() - began).toBeLessThan(2_000)
})
