import {isObject} from '../base/json-object.ts'
import {nearest} from '../base/nearest.ts'
import {compileRegex, type Regex, RegexFault} from '../base/regex.ts'
import {below, type ConfigFindings, type ConfigReader, isFull, kindOf, refuse, warn} from './config-readers.ts'

/** A query of a condition, read (docs/configs.md, conditional). */
export type Query = Combined | Compared

export interface Combined {
  readonly kind: 'all' | 'any'
  readonly of: readonly Query[]
}

export type ScalarValue = string | number | boolean | null

interface About {
  readonly kind: 'compared'
  readonly from: 'metadata' | 'params' | 'url'
  readonly key: string
}
export type Compared =
  | (About & {readonly operator: '$eq' | '$ne'; readonly operand: ScalarValue})
  | (About & {readonly operator: '$in' | '$nin'; readonly operand: readonly ScalarValue[]})
  | (About & {readonly operator: '$gt' | '$gte' | '$lt' | '$lte'; readonly operand: number})
  | (About & {readonly operator: '$regex'; readonly operand: Regex})

export interface ConditionSaid {
  readonly query: Readonly<Record<string, unknown>>
  /** The name of a target beside the others. */
  readonly then: string
}

const OPERATORS = ['$eq', '$ne', '$gt', '$gte', '$lt', '$lte', '$in', '$nin', '$regex'] as const
type Operator = (typeof OPERATORS)[number]

const PLACES = ['metadata', 'params', 'url'] as const
const DEEPEST = 10
const MOST = 1000
/** Instructions of all patterns of a config together: they bound what one call may cost. */
const MAX_REGEX_SIZE = 20_000

/** The query as it was written, after it was read and found good. */
export const query: ConfigReader = (value, path, found) => (parseQuery(value, path, found) ? value : undefined)

/**
 * Reads a query; undefined when something is wrong with it, which `found` then tells. All entries of an object must
 * hold.
 */
export function parseQuery(input: unknown, path: string, found: ConfigFindings, depth = 1): Query | undefined {
  if (!isObject(input))
    return refuse(found, path, `expected an object such as {"metadata.KEY": {"$eq": "x"}}, found ${kindOf(input)}`)
  if (depth > DEEPEST) return refuse(found, path, `stands deeper than ${DEEPEST} levels`)
  const entries = Object.entries(input)
  if (!entries.length) return refuse(found, path, 'is empty and would always hold; expected a condition')
  if (entries.length > MOST) return refuse(found, path, `has ${entries.length} entries; expected at most ${MOST}`)
  return together(
    'all',
    entries.map(([key, value]) => (isFull(found) ? undefined : parseEntry(key, value, below(path, key), found, depth))),
  )
}

function parseEntry(
  key: string,
  value: unknown,
  path: string,
  found: ConfigFindings,
  depth: number,
): Query | undefined {
  if (key === '$and' || key === '$or') {
    if (!Array.isArray(value) || !value.length || value.length > MOST)
      return refuse(
        found,
        path,
        `expected a list of 1 to ${MOST} queries, found ${Array.isArray(value) ? value.length : kindOf(value)}`,
      )
    const of = value.map((each, index) =>
      isFull(found) ? undefined : parseQuery(each, `${path}[${index}]`, found, depth + 1),
    )
    return together(key === '$and' ? 'all' : 'any', of)
  }
  const about = aboutOf(key, path, found)
  if (!about) return undefined
  if (!isObject(value)) {
    if (!isPlain(value))
      return refuse(
        found,
        path,
        `expected a text, a number, true, false, null or an object of operators, found ${kindOf(value)}`,
      )
    return compared(about, '$eq', value, path, found)
  }
  const operators = Object.entries(value)
  if (!operators.length) return refuse(found, path, `is empty; expected one of ${OPERATORS.join(', ')}`)
  return together(
    'all',
    operators.map(([operator, operand]) => {
      const at = below(path, operator)
      if (isOperator(operator)) return compared(about, operator, operand, at, found)
      const close = nearest(operator, OPERATORS)
      return refuse(
        found,
        at,
        `is no operator; ${close ? `did you mean ${close}?` : `expected one of ${OPERATORS.join(', ')}`}`,
      )
    }),
  )
}

function aboutOf(key: string, path: string, found: ConfigFindings): About | undefined {
  const [place = '', name = '', ...more] = key.split('.')
  if (key === 'url.pathname') return {kind: 'compared', from: 'url', key: 'pathname'}
  if ((place === 'metadata' || place === 'params') && name) {
    if (!more.length) return {kind: 'compared', from: place, key: name}
    return refuse(found, path, `reads one key of ${place} and nothing below it; expected ${place}.KEY`)
  }
  if (place === 'url') return refuse(found, path, 'is not known; did you mean url.pathname?')
  const close = key.startsWith('$') ? nearest(key, ['$and', '$or'] as const) : nearest(place, PLACES)
  const meant =
    close && (close.startsWith('$') ? close : close === 'url' ? 'url.pathname' : `${close}.${name || 'KEY'}`)
  return refuse(
    found,
    path,
    `is not known; ${meant ? `did you mean ${meant.slice(0, 100)}?` : 'expected metadata.KEY, params.KEY, url.pathname, $and or $or'}`,
  )
}

function compared(
  about: About,
  operator: Operator,
  value: unknown,
  path: string,
  found: ConfigFindings,
): Compared | undefined {
  switch (operator) {
    case '$eq':
    case '$ne':
      if (!isPlain(value))
        return refuse(found, path, `expected a text, a number, true, false or null, found ${kindOf(value)}`)
      warnOfNoText(about, [value], path, found)
      return {...about, operator, operand: value}
    case '$in':
    case '$nin':
      if (!Array.isArray(value) || !value.length || value.length > MOST || !value.every(isPlain))
        return refuse(
          found,
          path,
          `expected a list of 1 to ${MOST} texts, numbers, true, false, null, found ${kindOf(value)}`,
        )
      warnOfNoText(about, value, path, found)
      return {...about, operator, operand: value}
    case '$regex':
      return matched(about, value, path, found)
    default: {
      const operand = typeof value === 'string' ? Number.parseFloat(value) : value
      if (typeof operand !== 'number' || !Number.isFinite(operand))
        return refuse(found, path, `expected a number, found ${typeof value === 'number' ? value : kindOf(value)}`)
      return {...about, operator, operand}
    }
  }
}

function matched(about: About, value: unknown, path: string, found: ConfigFindings): Compared | undefined {
  if (typeof value !== 'string')
    return refuse(found, path, `expected a regular expression as a text, found ${kindOf(value)}`)
  try {
    const operand = compileRegex(value)
    found.regex_size += operand.size
    if (found.regex_size <= MAX_REGEX_SIZE) return {...about, operator: '$regex', operand}
    return refuse(
      found,
      path,
      `is too much: the regular expressions of a config have at most ${MAX_REGEX_SIZE} steps together`,
    )
  } catch (fault) {
    if (!(fault instanceof RegexFault)) throw fault
    return refuse(found, path, `is a regular expression that is not available: ${fault.message}`)
  }
}

/** Metadata and paths are compared as texts, so another type equals nothing. */
function warnOfNoText({from}: About, operands: readonly ScalarValue[], path: string, found: ConfigFindings) {
  if (from === 'params' || operands.some(operand => typeof operand === 'string')) return
  warn(
    found,
    path,
    `has no effect: ${from === 'url' ? 'a path is a text' : 'values of metadata are texts'}; write it in quotes`,
  )
}

function together(kind: Combined['kind'], of: readonly (Query | undefined)[]): Query | undefined {
  const good = of.filter(each => each !== undefined)
  if (good.length < of.length) return undefined
  return good.length === 1 ? good[0] : {kind, of: good}
}

function isPlain(value: unknown): value is ScalarValue {
  return (
    value === null ||
    typeof value === 'string' ||
    typeof value === 'boolean' ||
    (typeof value === 'number' && Number.isFinite(value))
  )
}

function isOperator(word: string): word is Operator {
  return OPERATORS.includes(word as Operator)
}
