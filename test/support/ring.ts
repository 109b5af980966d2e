/**
 * How far a run goes: `own` is `npm test` (8 minutes in all), `ci` is `.ci/run` (25), `full` is `.ci/full` (75).
 * `TEST_RING` says which.
 */
export type Ring = 'own' | 'ci' | 'full'

export const RING: Ring = ring(process.env.TEST_RING)

/** The entry of `by` for this run: a number of cases, or the part of a table that is tried. */
export function forRing<T>(by: Readonly<Record<Ring, T>>): T {
  return by[RING]
}

/** Tells how many cases a generator made; `.ci/run` shows the line. */
export function generated(generator: string, cases: number) {
  console.log(`generator ${generator}: ${cases} cases (ring ${RING}, seed ${seed()})`)
}

/** The seed of this run: the same every time, unless `TEST_SEED` names another. */
export function seed(): number {
  return Number(process.env.TEST_SEED ?? 20_261_121)
}

function ring(said: string | undefined): Ring {
  if (said === undefined || said === '') return 'own'
  if (said === 'own' || said === 'ci' || said === 'full') return said
  throw new Error(`TEST_RING is own, ci or full, not ${said}`)
}
