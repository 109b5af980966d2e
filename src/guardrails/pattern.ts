import {z} from 'zod'
import {compileRegex, type Regex, RegexFault} from '../base/regex.ts'
import {parseRegex, type Syntax} from '../base/regex-syntax.ts'
import {folded} from './case-fold.ts'
import {CheckFault} from './fault.ts'
import type {SlicedWork} from './time-slices.ts'

/** A user's pattern, and what bounds the work of finding all its matches. */
export interface Pattern {
  readonly source: string
  readonly regex: Regex
  readonly is_global: boolean
  /** True when some part of it may take a code unit: no other unit is within a match. */
  takes(unit: number): boolean
  /** Code units of its longest match; Infinity: no bound. */
  readonly longest: number
}

/** Units of work (`Regex`) that one check may cost: about two seconds. Most patterns take one for each code unit. */
export const MAX_UNITS = 250_000_000
/** Instructions times code units where there is no pause. */
const MAX_STEPS_AT_ONCE = 4_000_000

const FLAGS = 'gis'

/** Reads a pattern; with `slashes` also in the form `/x/flags`. Throws `RegexFault`. */
export function readPattern(rule: string, {slashes = false} = {}): Pattern {
  const delimited = slashes && /^\/(.+)\/([a-z]*)$/s.exec(rule)
  const [plain, flags] = delimited ? [delimited[1]!, delimited[2]!] : [rule, '']
  const unknown = [...flags].find(flag => !FLAGS.includes(flag))
  if (unknown) throw new RegexFault(`the flag ${unknown} is not available; g, i and s are`)
  const source = /[is]/.test(flags) ? folded(plain, flags.includes('i'), flags.includes('s')) : plain
  const regex = compileRegex(source)
  const syntax = parseRegex(source)
  return {source: rule, regex, is_global: flags.includes('g'), takes: takenBy(syntax), longest: longestOf(syntax)}
}

/** A parameter that is a pattern, compiled as it is read. */
export function patternParameter(options: {slashes?: boolean} = {}) {
  return z
    .string()
    .min(1)
    .transform((rule, refused): Pattern => {
      try {
        return readPattern(rule, options)
      } catch (fault) {
        if (!(fault instanceof RegexFault)) throw fault
        refused.addIssue({code: 'custom', message: `is a pattern that is not available: ${fault.message}`})
        return z.NEVER
      }
    })
}

/** Counts what is spent on one check, and throws when it is too much. */
export interface CheckBudget {
  spend(units: number): void
}

export function budget(most = MAX_UNITS): CheckBudget {
  let left = most
  return {
    spend(units) {
      left -= units
      if (left < 0) throw new CheckFault('The text is too long for this pattern.', 'TooMuchError')
    },
  }
}

/** True when it is in a short text, such as a value of metadata. */
export function isFound({regex}: Pattern, text: string, by: CheckBudget = budget(MAX_STEPS_AT_ONCE)): boolean {
  by.spend((text.length + 1) * regex.size)
  return regex.test(text)
}

/** True when it is in a text; searches with pauses. */
export function finding({regex}: Pattern, text: string, by: CheckBudget): SlicedWork<boolean> {
  return regex.testing(text, by.spend)
}

function takenBy(syntax: Syntax): (unit: number) => boolean {
  const pairs: (readonly [number, number])[] = []
  const visit = (part: Syntax): void => {
    if (part.kind === 'set')
      for (let at = 0; at < part.ranges.length; at += 2) pairs.push([part.ranges[at]!, part.ranges[at + 1]!])
    else if (part.kind === 'repeat') visit(part.of)
    else if (part.kind !== 'assert') part.of.forEach(visit)
  }
  visit(syntax)
  const ranges = joined(pairs)
  const ascii = Uint8Array.from({length: 128}, (_, unit) => (within(ranges, unit) ? 1 : 0))
  return unit => (unit < 128 ? ascii[unit] === 1 : within(ranges, unit))
}

/** In order and apart. */
function joined(pairs: (readonly [number, number])[]): readonly (readonly [number, number])[] {
  const made: [number, number][] = []
  for (const [from, to] of pairs.sort(([one], [other]) => one - other)) {
    const last = made.at(-1)
    if (last && from <= last[1] + 1) last[1] = Math.max(last[1], to)
    else made.push([from, to])
  }
  return made
}

function within(ranges: readonly (readonly [number, number])[], unit: number): boolean {
  let [low, high] = [0, ranges.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if (ranges[middle]![1] < unit) low = middle + 1
    else high = middle
  }
  return low < ranges.length && ranges[low]![0] <= unit
}

function longestOf(syntax: Syntax): number {
  if (syntax.kind === 'set') return 1
  if (syntax.kind === 'assert') return 0
  if (syntax.kind === 'sequence') return syntax.of.reduce((sum, part) => sum + longestOf(part), 0)
  if (syntax.kind === 'choice') return Math.max(...syntax.of.map(longestOf))
  const one = longestOf(syntax.of)
  return one === 0 ? 0 : one * syntax.most
}
