import {SimulatedWorld} from './world.ts'

/** Lives that share a world: they meet each other at limits, caches and breakers. */
const LIVES_OF_A_WORLD = 200

export interface Simulated {
  readonly lives: number
  readonly ms: number
  /** The seeds of worlds in which something happened that may not, each with what it was. */
  readonly failed: readonly {readonly seed: string; readonly faults: readonly string[]}[]
}

/** Plays worlds of the seed until as many calls were lived; ends at the first few that fail. */
export async function simulate(seed: string, lives: number, most_failed = 3): Promise<Simulated> {
  const begun = performance.now()
  const failed: {seed: string; faults: readonly string[]}[] = []
  const worlds = Math.ceil(lives / LIVES_OF_A_WORLD)
  let played = 0
  while (played < worlds && failed.length < most_failed) {
    const world = new SimulatedWorld(`${seed}-${played++}`, LIVES_OF_A_WORLD)
    const faults = await world.run()
    if (faults.length) failed.push({seed: world.seed, faults})
  }
  return {lives: played * LIVES_OF_A_WORLD, ms: performance.now() - begun, failed}
}
