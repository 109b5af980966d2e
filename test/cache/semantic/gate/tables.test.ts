import {expect, test} from 'vitest'
import {headOf} from '../../../../src/cache/semantic/gate/base-form.ts'
import {lexicon} from '../../../../src/cache/semantic/gate/lexicon.ts'
import {slipOf} from '../../../../src/cache/semantic/gate/slips.ts'
import {
  COLOURS,
  FILLERS,
  PLACES,
  POLITE,
  ROLES,
  SIZES,
  STOP,
} from '../../../../src/cache/semantic/gate/tables/classes.ts'
import {NEGATIONS, STOP_WORDS} from '../../../../src/cache/semantic/gate/tables/languages.ts'
import {OPPOSITES} from '../../../../src/cache/semantic/gate/tables/opposites.ts'
import {SYNONYMS} from '../../../../src/cache/semantic/gate/tables/synonyms.ts'

const words = (text: string) => text.trim().split(/\s+/)
const groups = SYNONYMS.split('|').map(words)
const opposites = words(OPPOSITES).map(pair => pair.split('/') as [string, string])

test('the tables are as large as they say', () => {
  expect(new Set(opposites.map(pair => pair.toSorted().join())).size).toBeGreaterThanOrEqual(400)
  expect(groups.reduce((sum, {length}) => sum + (length * (length - 1)) / 2, 0)).toBeGreaterThanOrEqual(1500)
  expect(Object.keys(STOP_WORDS)).toHaveLength(20)
  expect(words(NEGATIONS).length).toBeGreaterThan(90)
})

test('a word is in one group of synonyms', () => {
  const all = groups.flat()
  expect(all.filter((word, at) => all.indexOf(word) !== at)).toEqual([])
})

test('no rule makes one of two opposites', () => {
  expect(opposites.filter(pair => pair.length !== 2 || pair[0] === '' || pair[1] === '')).toEqual([])
  expect(opposites.filter(([one, other]) => headOf(one, true) === headOf(other, true))).toEqual([])
})

test('two colours, sizes, roles or places are never one', () => {
  for (const table of [COLOURS, SIZES, ROLES, PLACES]) {
    const heads = words(table).map(word => headOf(word, true))
    const same = words(table).filter((_, at) => heads.indexOf(heads[at]!) !== at)
    expect(same.filter(word => !SAME.has(word))).toEqual([])
  }
})

/** Other words for one that is listed before them. */
const SAME = new Set(words('big little giant customer'))

test('nothing that is dropped has an opposite, denies or counts', () => {
  const {opposed, negations, numbers} = lexicon()
  for (const word of words(`${FILLERS} ${POLITE} ${STOP}`)) {
    expect(opposed.has(word) && !ALLOWED.has(word), word).toBe(false)
    expect(negations.has(word) || numbers.has(word), word).toBe(false)
  }
})

/** They have an opposite in a sense that the dropped one is not. */
const ALLOWED = new Set(['am'])

test('a known word is nobody’s slip, and a slip has one word', () => {
  expect(['affect', 'effect', 'desert', 'dessert', 'angel', 'casual', 'trail', 'quiet'].map(slipOf)).toEqual(
    Array(8).fill(null),
  )
  expect(['pasword', 'recieve', 'databse', 'funtion', 'langauge'].map(slipOf)).toEqual(
    words('password receive database function language'),
  )
})
