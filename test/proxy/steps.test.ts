import {expect, test} from 'vitest'
import {MAY_SPEND, RETRY_FROM, STEPS} from '../../src/proxy/run/steps.ts'

const placeOf = (name: string) => STEPS.findIndex(step => step.name === name)

test('a step that may spend comes after those that admit and reserve', () => {
  const spending = [...MAY_SPEND].map(step => STEPS.indexOf(step))
  expect(spending.length).toBeGreaterThan(0)
  for (const before of ['admit', 'checkDelegations', 'reserve']) {
    expect(placeOf(before), before).toBeGreaterThanOrEqual(0)
    expect(Math.min(...spending), before).toBeGreaterThan(placeOf(before))
  }
})

test('a step that begins an attempt is one that may spend', () => {
  const beginning = STEPS.filter(step => /\bAttempt\b\)?\(|\bChargedWork\b|\bchargeOf\b/.test(step.toString()))
  expect(beginning.filter(step => !MAY_SPEND.has(step)).map(step => step.name)).toEqual([])
  expect(beginning.map(step => step.name)).toEqual(['send'])
})

test('a retry reserves again and is not admitted again', () => {
  expect(RETRY_FROM).toBeGreaterThan(placeOf('admit'))
  expect(RETRY_FROM).toBeLessThan(placeOf('reserve'))
})
