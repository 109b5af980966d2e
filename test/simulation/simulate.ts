import {SimulatedWorld} from './world.ts'

/** Lives that share a world: they meet each other at limits, caches and breakers. */
const LIVES_OF_A_WORLD = 200

export interface Simulated {
  readonly lives: number
  readonly ms: number
  /** The seeds of worlds in which something happened that may not, each with what it was. */
  readonly failed: readonly {readonly seed: string; readonly faults: readonly string[]}[]
}

export interface SimulateOptions {
  /** One world alone, by its seed. */
  readonly world?: string | undefined
  /** Ends when so many worlds have failed. @default 3 */
  readonly most_failed?: number
}

/** Plays worlds of the seed until as many calls were lived. */
export async function simulate(
  seed: string,
  lives: number,
  {world: alone, most_failed = 3}: SimulateOptions = {},
): Promise<Simulated> {
  const begun = performance.now()
  const failed: {seed: string; faults: readonly string[]}[] = []
  const worlds = alone === undefined ? Math.ceil(lives / LIVES_OF_A_WORLD) : 1
  let played = 0
  while (played < worlds && failed.length < most_failed) {
    const world = new SimulatedWorld(alone ?? `${seed}-${played}`, LIVES_OF_A_WORLD)
    played++
    const faults = await world.run()
    if (faults.length) failed.push({seed: world.seed, faults})
  }
  return {lives: played * LIVES_OF_A_WORLD, ms: performance.now() - begun, failed}
}
