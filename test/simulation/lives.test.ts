import {expect, test} from 'vitest'
import {forRing} from '../support/ring.ts'
import {simulate} from './simulate.ts'

/** Each seed is a world of its own; the first is played in every ring. */
const SEEDS = forRing({own: ['first'], ci: ['first'], full: ['first', 'second', 'third', 'fourth', 'fifth']})
const LIVES = forRing({own: 20_000, ci: 20_000, full: 60_000})

test.each(SEEDS)('of all lives of the seed %s none breaks a rule', {timeout: 600_000}, async seed => {
  const {lives, failed} = await simulate(seed, LIVES)
  expect(failed).toEqual([])
  expect(lives).toBeGreaterThanOrEqual(LIVES)
})

test('a seed repeats', async () => {
  const {SimulatedWorld} = await import('./world.ts')
  const lived = async () => {
    const world = new SimulatedWorld('again', 60)
    const faults = await world.run()
    return [faults, world.lives.map(({client}) => [client.status, client.end_of_answer, client.body.toString()])]
  }
  expect(await lived()).toEqual(await lived())
})
