import type {Json} from '../../../src/providers/translation.ts'

/** One thing that a provider refuses, with the place where this is said. */
export interface StrictRule {
  /** Unique in its dialect. */
  readonly id: string
  /** The page and its section; an issue where the provider's own sentence is quoted. */
  readonly source: string
  /** The reason to refuse `body`; null where it keeps to the rule. `model` is the one of the path. */
  finds(body: Json, model: string): string | null
  /** Members that make a refused body of the dialect's good one. */
  readonly bad: Json
  /** The model of `bad`, where the rule is one model's. */
  readonly bad_model?: string
}

/** A provider that refuses what its documentation says that it refuses. */
export interface StrictDialect {
  readonly name: string
  readonly model: string
  /** A body that uses much of the dialect and keeps to all rules. */
  readonly good: Json
  readonly rules: readonly StrictRule[]
}

/** The reasons of all rules that a body breaks, each after the id of its rule. */
export function refusals({rules}: StrictDialect, body: Json, model: string): readonly string[] {
  return rules.flatMap(({id, finds}) => {
    const reason = finds(body, model)
    return reason === null ? [] : [`${id}: ${reason}`]
  })
}

/** The first reason among those of the entries. */
export function first<T>(all: readonly T[], reason: (each: T, at: number) => string | null): string | null {
  for (const [at, each] of all.entries()) {
    const found = reason(each, at)
    if (found !== null) return found
  }
  return null
}

/** `reason` where `is_wrong`. */
export function when(is_wrong: boolean, reason: string): string | null {
  return is_wrong ? reason : null
}

/** A reason where a number that is given lies outside of a range. */
export function outside(value: unknown, least: number, most: number, name: string): string | null {
  if (value === undefined) return null
  const is_inside = typeof value === 'number' && value >= least && value <= most
  return when(!is_inside, `${name} is ${JSON.stringify(value)}, not from ${least} to ${most}`)
}

/** A reason where a body has a member besides those that `known` lists. */
export function unknownMember(body: Json, known: string, place: string): string | null {
  const names = new Set(known.trim().split(/\s+/))
  const unknown = Object.entries(body).find(([name, value]) => value !== undefined && !names.has(name))
  return unknown ? `${place} has the unknown member ${unknown[0]}` : null
}

/** The first entry that comes a second time. */
export function repeated(all: readonly string[]): string | undefined {
  return all.find((each, at) => all.indexOf(each) !== at)
}
