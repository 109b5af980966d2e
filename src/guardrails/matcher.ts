import {z} from 'zod'
import {RegexFault} from '../base/regex.ts'
import type {JsonValue} from './json.ts'
import {isFound, readPattern} from './pattern.ts'

export const MATCH_TYPES = ['exact', 'contains', 'containsAll', 'regex'] as const
export type MatchType = (typeof MATCH_TYPES)[number]

export const matchType = z
  .enum(MATCH_TYPES)
  .default('exact')
  .describe(
    '`exact`: is one of the values; `contains`: has one of them; `containsAll`: has all of them; `regex`: matches one of them.',
  )

/** One text or several, as texts. */
export const values = z.union([z.string(), z.number(), z.boolean()]).transform(String)
export const valueList = z.union([values.transform(one => [one]), z.array(values).min(1)])

/** Why `values` cannot be meant as `type`, or undefined. */
export function refusePatterns(type: MatchType, patterns: readonly string[]): string | undefined {
  if (type !== 'regex') return undefined
  for (const rule of patterns) {
    try {
      readPattern(rule)
    } catch (fault) {
      if (fault instanceof RegexFault)
        return `the pattern ${JSON.stringify(rule.slice(0, 100))} is not available: ${fault.message}.`
      throw fault
    }
  }
  return undefined
}

/** Tells whether a value fits. A list has what it has as entries, a text what it has as parts. */
export type Matcher = (value: JsonValue) => boolean

export function matcher(type: MatchType, wanted: readonly string[]): Matcher {
  const patterns = type === 'regex' ? wanted.map(rule => readPattern(rule)) : []
  return value => {
    const entries = (Array.isArray(value) ? value : [value]).filter(isPlain).map(String)
    const has = (word: string) =>
      Array.isArray(value) ? entries.includes(word) : entries.some(entry => entry.includes(word))
    if (type === 'exact') return wanted.some(word => entries.includes(word))
    if (type === 'contains') return wanted.some(has)
    if (type === 'containsAll') return wanted.every(has)
    return patterns.some(pattern => entries.some(entry => isFound(pattern, entry)))
  }
}

function isPlain(value: JsonValue): boolean {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
}
