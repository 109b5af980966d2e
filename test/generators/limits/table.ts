export const ENTITIES = ['key', 'workspace', 'provider', 'integration', 'policy'] as const
export const UNITS = [
  {kind: 'budget', type: 'tokens'},
  {kind: 'budget', type: 'cost'},
  {kind: 'rate', type: 'requests', unit: 'rpm'},
  {kind: 'rate', type: 'requests', unit: 'rpd'},
  {kind: 'rate', type: 'tokens', unit: 'rph'},
] as const
export const ENFORCEMENTS = ['compatible', 'strict', 'shadow'] as const
export const EVENTS = [
  'restart',
  'kill',
  'store lost',
  'clock -1 h',
  'clock +1 h',
  'clock -1 day',
  'raised',
  'lowered',
  'enforced otherwise',
  'period changed',
  'alert moved',
  'renamed',
  'reset by hand',
  'period over',
] as const

export type Entity = (typeof ENTITIES)[number]
export type Unit = (typeof UNITS)[number]
export type Enforcement = (typeof ENFORCEMENTS)[number]
export type Event = (typeof EVENTS)[number]

/** A limit, and two things that befall it while calls are made. */
export interface Case {
  readonly entity: Entity
  readonly unit: Unit
  readonly enforcement: Enforcement
  readonly events: readonly [Event, Event]
}

/** Two days back are more than is held: such a clock is believed. */
export const PAIRS = EVENTS.flatMap(first => EVENTS.map(second => [first, second] as const)).filter(
  ([first, second]) => first !== 'clock -1 day' || second !== first,
)
const LIMITS = ENTITIES.flatMap(entity =>
  UNITS.flatMap(unit => ENFORCEMENTS.map(enforcement => ({entity, unit, enforcement}))),
)
/** A step through all limits that meets each once before any a second time. */
const STEP = 29

/**
 * Each ordered pair of events, or one in so many, with `draws` limits each (all of them at most); others for another
 * `seed`.
 */
export function cases(draws: number, seed: number, one_in = 1): Case[] {
  return PAIRS.flatMap((events, pair) => {
    if ((pair + seed) % one_in !== 0) return []
    return Array.from({length: Math.min(draws, LIMITS.length)}, (_, draw): Case => {
      return {...LIMITS[((pair * draws + draw + seed) * STEP) % LIMITS.length]!, events}
    })
  })
}

export const nameOf = ({entity, unit, enforcement, events}: Case) =>
  `a ${enforcement} ${unit.kind} of ${unit.type} ${'unit' in unit ? unit.unit : ''} of a ${entity}: ${events.join(', ')}`
