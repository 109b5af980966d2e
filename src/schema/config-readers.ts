import {isObject} from '../base/json-object.ts'
import {nearest} from '../base/nearest.ts'

/** What is wrong and where: `config.targets[0].provder`. */
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

/** What one reading comes upon. */
export interface Found {
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
export type Reader = (said: unknown, path: string, found: Found) => unknown

/** A key as it was written: its value and its path. */
export interface Written {
  readonly said: unknown
  readonly at: string
}

const MOST_ISSUES = 20
const DEEPEST_VALUE = 64

export function refuse(found: Found, path: string, message: string): undefined {
  if (!isFull(found)) found.issues.push({path, message})
}

/** For what is known and without effect. */
export function warn(found: Found, path: string, message: string): undefined {
  if (found.warnings.length < MOST_ISSUES) found.warnings.push({path, message})
}

/** Enough is wrong: there is no sense in reading on. */
export function isFull(found: Found): boolean {
  return found.issues.length >= MOST_ISSUES
}

/** `config.targets[0].name`; a key that is no plain word stands in brackets, in ASCII: paths are said in headers. At most 100 characters of it. */
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

/** What is said of a key that nothing is known of; `usual` are those named when none of `known` is like it. */
export function unknownKey(key: string, known: readonly string[], usual: readonly string[] = known): string {
  if (key === 'options') return 'is the older form of a config and not known; write targets'
  const close = nearest(key, known)
  return `is not known; ${close ? `did you mean ${close}?` : `expected one of ${usual.join(', ')}`}`
}

/** The members of an object by their known names; unknown ones and those given twice are refused. Undefined: it is no object. */
export function membersOf(
  said: unknown,
  path: string,
  found: Found,
  known: readonly string[],
  {
    named = snake,
    usual = known,
    expected = 'an object',
  }: {named?: (key: string) => string; usual?: readonly string[]; expected?: string} = {},
): Map<string, Written> | undefined {
  if (!isObject(said)) return refuse(found, path, `expected ${expected}, found ${kindOf(said)}`)
  const members = new Map<string, Written>()
  for (const written of Object.keys(said)) {
    if (isFull(found)) break
    const at = below(path, written)
    const key = named(written)
    if (members.has(key)) refuse(found, at, `is given twice, as ${key} too`)
    else if (!known.includes(key)) refuse(found, at, unknownKey(key, known, usual))
    else members.set(key, {said: said[written], at})
  }
  return members
}

/** An object of these keys, each with its reader. */
export function shape(keys: Readonly<Record<string, Reader>>, named = snake): Reader {
  const known = Object.keys(keys)
  return (said, path, found) => {
    const members = membersOf(said, path, found, known, {named})
    if (!members) return undefined
    const read: Record<string, unknown> = {}
    for (const [key, written] of members) {
      const value = keys[key]!(written.said, written.at, found)
      if (value !== undefined) read[key] = value
    }
    return read
  }
}

/** An object that must have `key`. */
export function requiring(key: string, reader: Reader, expected: string): Reader {
  return (said, path, found) => {
    const read = reader(said, path, found)
    const is_there = !isObject(said) || Object.keys(said).some(written => snake(written) === key)
    return is_there ? read : refuse(found, `${path}.${key}`, `is required: ${expected}`)
  }
}

/** The path of `key` as it was written. */
export function placeOf(said: Readonly<Record<string, unknown>>, path: string, key: string): string {
  return below(path, Object.keys(said).find(written => snake(written).startsWith(key)) ?? key)
}

/** A value that `fits`. It never comes back in the sentence when it is a text: it may be a secret. */
export function expecting(expected: string, fits: (said: unknown) => boolean, settle: (said: never) => unknown = said => said): Reader {
  return (said, path, found) => (fits(said) ? settle(said as never) : refuse(found, path, `expected ${expected}, found ${kindOf(said)}`))
}

export function text(expected: string, fits: (said: string) => boolean): Reader {
  return expecting(expected, said => typeof said === 'string' && said !== '' && fits(said))
}

export function whole(least: number, most: number, unit = ''): Reader {
  const expected = `a whole number ${unit && `of ${unit} `}from ${least} to ${most}`
  return numeric(expected, said => Number.isSafeInteger(said) && said >= least && said <= most)
}

export function numeric(expected: string, fits: (said: number) => boolean): Reader {
  return (said, path, found) => {
    if (typeof said === 'number' && fits(said)) return said
    return refuse(found, path, `expected ${expected}, found ${typeof said === 'number' ? said : kindOf(said)}`)
  }
}

export const flag: Reader = expecting('true or false', said => typeof said === 'boolean')

export function oneOf(words: readonly string[]): Reader {
  return (said, path, found) => {
    if (typeof said === 'string' && words.includes(said)) return said
    const close = typeof said === 'string' ? nearest(said, words) : undefined
    return refuse(found, path, `expected one of ${words.join(', ')}${close ? `; did you mean ${close}?` : `, found ${kindOf(said)}`}`)
  }
}

/** A list of `least` to `most` elements, each read by `element`. */
export function listOf(what: string, element: Reader, {least = 0, most = 100} = {}): Reader {
  return (said, path, found) => {
    if (!Array.isArray(said)) return refuse(found, path, `expected a list of ${what}, found ${kindOf(said)}`)
    if (said.length > most) return refuse(found, path, `expected at most ${most} ${what}, found ${said.length}`)
    if (said.length < least) return refuse(found, path, `expected at least one in the list of ${what}, found none`)
    const before = found.issues.length
    const read = said.map((each, index) => (isFull(found) ? undefined : element(each, `${path}[${index}]`, found)))
    return found.issues.length > before ? undefined : read
  }
}

/** An object whose contents are not ours: kept as it is, as long as it is JSON. */
export const opaque: Reader = (said, path, found) => {
  if (!isObject(said)) return refuse(found, path, `expected an object, found ${kindOf(said)}`)
  return isJson(said, path, found, new Set()) ? said : undefined
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

/** JSON has neither circles nor NaN and Infinity, which it would make null of; and what is too deep overflows those who write it. */
function isJson(value: unknown, path: string, found: Found, above: Set<object>): boolean {
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
