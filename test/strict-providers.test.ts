import {expect, test} from 'vitest'
import {refusals, STRICT} from './support/strict/index.ts'

// The strict models of providers that the generator of conversations is judged by: each rule refuses something, and no
// rule refuses a body that keeps to all of them.

const RULES = STRICT.flatMap(strict => strict.rules.map(rule => ({name: `${strict.name}, ${rule.id}`, strict, rule})))

test('ten dialects have at least 60 rules, each with its source', () => {
  expect(STRICT.length).toBeGreaterThanOrEqual(10)
  expect(RULES.length).toBeGreaterThanOrEqual(60)
  expect(RULES.filter(({rule}) => rule.source.length < 20).map(({name}) => name)).toEqual([])
})

test('the ids of the rules are unique in their dialect', () => {
  expect(new Set(RULES.map(({name}) => name)).size).toBe(RULES.length)
})

test.each(STRICT)('$name takes a body that keeps to its rules', strict => {
  expect(refusals(strict, strict.good, strict.model)).toEqual([])
})

test.each(RULES)('$name refuses', ({strict, rule}) => {
  const model = rule.bad_model ?? strict.model
  const {good} = strict
  expect(rule.finds(good, strict.model)).toBeNull()
  expect(rule.finds({...good, ...rule.bad}, model)).toEqual(expect.any(String))
})

test.each(RULES.filter(({rule}) => rule.bad_model))('$name refuses at its own model alone', ({strict, rule}) => {
  expect(rule.finds({...strict.good, ...rule.bad}, strict.model)).toBeNull()
})
