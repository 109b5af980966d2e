import {isObject} from '../base/json-object.ts'
import {nearest} from '../base/nearest.ts'

/** A fault and its path: `config.targets[0].provder`. */
export interface ConfigIssue {
  readonly path: string
  readonly message: string
}

/** How many targets a config may have: at its root, there where it is conditional, and below one target of the root. */
export interface ConfigLimits {
  readonly root: number
  readonly conditional_root: number
  readonly nested: number
}

/** The findings of one reading. */
export interface ConfigFindings {
  readonly issues: ConfigIssue[]
  readonly warnings: ConfigIssue[]
  readonly limits: ConfigLimits
  /** Circuits are kept for saved configs alone. */
  readonly saved: boolean
  /** Instructions of all patterns so far. */
  regex_size: number
  /** Targets below the root's target that is being read. */
  nested: number
}

/** The value as it counts; undefined when it was refused, which `found` then tells. */
export type ConfigReader = (value: unknown, path: string, found: ConfigFindings) => unknown

/** A key as it was written: its value and its path. */
export interface WrittenKey {
  readonly value: unknown
  readonly at: string
}

const MAX_ISSUES = 20
const DEEPEST_VALUE = 64

export function refuse(found: ConfigFindings, path: string, message: string): undefined {
  if (!isFull(found)) found.issues.push({path, message})
}

/** For what is known and without effect. */
export function warn(found: ConfigFindings, path: string, message: string): undefined {
  if (found.warnings.length < MAX_ISSUES) found.warnings.push({path, message})
}

/** Enough is wrong: there is no sense in reading on. */
export function isFull(found: ConfigFindings): boolean {
  return found.issues.length >= MAX_ISSUES
}

/**
 * `config.targets[0].name`; a key that is no plain word is in brackets, in ASCII: headers name paths. At most 100
 * characters of it.
 */
export function below(path: string, key: string): string {
  const short = key.slice(0, 100)
  return /^[\w$-]+$/.test(short) ? `${path}.${short}` : `${path}[${ascii(JSON.stringify(short))}]`
}

function ascii(text: string): string {
  return text.replace(/[^\x20-\x7e]/g, unit => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

/** `strictOpenAiCompliance` and `strictOpenAICompliance` are `strict_open_ai_compliance`. */
export function snake(key: string): string {
  return key
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .replace(/([A-Z])([A-Z][a-z])/g, '$1_$2')
    .toLowerCase()
}

/** The fault for an unknown key; `usual` are those named when none of `known` is like it. */
export function unknownKey(key: string, known: readonly string[], usual: readonly string[] = known): string {
  if (key === 'options') return 'is the older form of a config and not known; write targets'
  const close = nearest(key, known)
  return `is not known; ${close ? `did you mean ${close}?` : `expected one of ${usual.join(', ')}`}`
}

/**
 * The members of an object by their known names; unknown ones and those given twice are refused. Undefined: it is no
 * object.
 */
export function membersOf(
  value: unknown,
  path: string,
  found: ConfigFindings,
  known: readonly string[],
  {
    named = snake,
    usual = known,
    expected = 'an object',
  }: {named?: (key: string) => string; usual?: readonly string[]; expected?: string} = {},
): Map<string, WrittenKey> | undefined {
  if (!isObject(value)) return refuse(found, path, `expected ${expected}, found ${kindOf(value)}`)
  const members = new Map<string, WrittenKey>()
  for (const written of Object.keys(value)) {
    if (isFull(found)) break
    const at = below(path, written)
    const key = named(written)
    if (members.has(key)) refuse(found, at, `is given twice, as ${key} too`)
    else if (!known.includes(key)) refuse(found, at, unknownKey(key, known, usual))
    else members.set(key, {value: value[written], at})
  }
  return members
}

/** An object of these keys, each with its reader. */
export function shape(keys: Readonly<Record<string, ConfigReader>>, named = snake): ConfigReader {
  const known = Object.keys(keys)
  return (input, path, found) => {
    const members = membersOf(input, path, found, known, {named})
    if (!members) return undefined
    const read: Record<string, unknown> = {}
    for (const [key, written] of members) {
      const value = keys[key]!(written.value, written.at, found)
      if (value !== undefined) read[key] = value
    }
    return read
  }
}

/** An object that must have `key`. */
export function requiring(key: string, reader: ConfigReader, expected: string): ConfigReader {
  return (value, path, found) => {
    const read = reader(value, path, found)
    const is_there = !isObject(value) || Object.keys(value).some(written => snake(written) === key)
    return is_there ? read : refuse(found, `${path}.${key}`, `is required: ${expected}`)
  }
}

/** The path of `key` as it was written. */
export function placeOf(value: Readonly<Record<string, unknown>>, path: string, key: string): string {
  return below(path, Object.keys(value).find(written => snake(written).startsWith(key)) ?? key)
}

/** A value that `fits`. It never comes back in the sentence when it is a text: it may be a secret. */
export function expecting(
  expected: string,
  fits: (value: unknown) => boolean,
  settle: (value: never) => unknown = value => value,
): ConfigReader {
  return (value, path, found) =>
    fits(value) ? settle(value as never) : refuse(found, path, `expected ${expected}, found ${kindOf(value)}`)
}

export function text(expected: string, fits: (value: string) => boolean): ConfigReader {
  return expecting(expected, value => typeof value === 'string' && value !== '' && fits(value))
}

export function whole(least: number, most: number, unit = ''): ConfigReader {
  const expected = `a whole number ${unit && `of ${unit} `}from ${least} to ${most}`
  return numeric(expected, value => Number.isSafeInteger(value) && value >= least && value <= most)
}

export function numeric(expected: string, fits: (value: number) => boolean): ConfigReader {
  return (value, path, found) => {
    if (typeof value === 'number' && fits(value)) return value
    return refuse(found, path, `expected ${expected}, found ${typeof value === 'number' ? value : kindOf(value)}`)
  }
}

export const flag: ConfigReader = expecting('true or false', value => typeof value === 'boolean')

export function oneOf(words: readonly string[]): ConfigReader {
  return (value, path, found) => {
    if (typeof value === 'string' && words.includes(value)) return value
    const close = typeof value === 'string' ? nearest(value, words) : undefined
    return refuse(
      found,
      path,
      `expected one of ${words.join(', ')}${close ? `; did you mean ${close}?` : `, found ${kindOf(value)}`}`,
    )
  }
}

/** A list of `least` to `most` elements, each read by `element`. */
export function listOf(what: string, element: ConfigReader, {least = 0, most = 100} = {}): ConfigReader {
  return (value, path, found) => {
    if (!Array.isArray(value)) return refuse(found, path, `expected a list of ${what}, found ${kindOf(value)}`)
    if (value.length > most) return refuse(found, path, `expected at most ${most} ${what}, found ${value.length}`)
    if (value.length < least) return refuse(found, path, `expected at least one in the list of ${what}, found none`)
    const before = found.issues.length
    const read = value.map((each, index) => (isFull(found) ? undefined : element(each, `${path}[${index}]`, found)))
    return found.issues.length > before ? undefined : read
  }
}

/** An object whose contents are not ours: kept as it is, as long as it is JSON. */
export const opaque: ConfigReader = (value, path, found) => {
  if (!isObject(value)) return refuse(found, path, `expected an object, found ${kindOf(value)}`)
  return isJson(value, path, found, new Set()) ? value : undefined
}

/** A value in few words, for a sentence: never its contents, which may be a secret. */
export function kindOf(value: unknown): string {
  if (value === null) return 'null'
  if (value === undefined) return 'nothing'
  if (Array.isArray(value)) return value.length ? 'a list' : 'an empty list'
  if (typeof value === 'string') return value === '' ? 'an empty text' : 'a text'
  if (typeof value === 'boolean') return 'true or false'
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`
}

/**
 * JSON has neither circles nor NaN and Infinity, which it would make null of; and what is too deep overflows those who
 * write it.
 */
function isJson(value: unknown, path: string, found: ConfigFindings, above: Set<object>): boolean {
  if (typeof value === 'number' && !Number.isFinite(value))
    return refuse(found, path, `expected a number that JSON has, found ${value}`) ?? false
  if (typeof value !== 'object' || value === null) return true
  if (above.has(value)) return refuse(found, path, 'holds itself') ?? false
  if (above.size >= DEEPEST_VALUE) return refuse(found, path, `stands deeper than ${DEEPEST_VALUE} levels`) ?? false
  above.add(value)
  const whole = Array.isArray(value)
    ? value.every((each, index) => isJson(each, `${path}[${index}]`, found, above))
    : Object.entries(value).every(([key, each]) => isJson(each, below(path, key), found, above))
  above.delete(value)
  return whole
}
