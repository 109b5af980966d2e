import {expect, test} from 'vitest'
import {crashRounds} from '../bench/crash.ts'

test('a gateway killed under load, three times over, knows of every call and of none twice', async () => {
  const {faults, ...counts} = await crashRounds({rounds: 3, seed: 7})
  expect(faults).toEqual([])
  expect(counts.finished).toBeGreaterThan(0)
  expect(counts.whole).toBeGreaterThan(0)
  expect(counts.recovered).toBeGreaterThanOrEqual(3) // one a kill
  expect(counts.further).toBeGreaterThan(0)
  expect(counts.tools).toBeGreaterThan(0)
}, 120_000)
