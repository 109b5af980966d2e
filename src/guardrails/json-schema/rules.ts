import {isList, isObject, type JsonObject, type JsonValue, own} from '../json.ts'
import type {SlicedWork} from '../time-slices.ts'
import {canonical} from './canonical.ts'
import {FORMATS} from './formats.ts'

/** The place at which a value breaks its schema, and the broken keyword. No value is quoted. */
export interface Complaint {
  /** `/items/0/name`; empty for the whole. */
  readonly at: string
  readonly keyword: string
}

/** One validation: what the rules ask of each other. */
export interface SchemaValidation {
  fits(node: JsonValue, value: JsonValue, place: string, depth: number): SlicedWork<readonly Complaint[]>
  matches(source: string, text: string): SlicedWork<boolean>
  target(reference: string): JsonValue
  spend(steps: number): void
}

interface Where {
  readonly run: SchemaValidation
  readonly node: JsonObject
  readonly place: string
  readonly depth: number
  readonly keyword: string
}

type Complaints = readonly Complaint[]
/** A rule whose work grows with the value pauses. */
type Rule = (expected: JsonValue, value: JsonValue, where: Where) => Complaints | SlicedWork<Complaints>

/** Draft 2020-12, core §10 and validation §6: a rule says nothing of values of another type than its own. */
export const RULES: Readonly<Record<string, Rule>> = {
  type: holding((expected, value) =>
    (isList(expected) ? expected : [expected]).some(type => isOf(type as string, value)),
  ),
  *enum(expected, value, where) {
    return (yield* some(expected as readonly JsonValue[], each => same(each, value, where.run))) ? [] : broken(where)
  },
  const: holding((expected, value, {run}) => isSame(expected, value, run)),
  minimum: numbers((value, bound) => value >= bound),
  maximum: numbers((value, bound) => value <= bound),
  exclusiveMinimum: numbers((value, bound) => value > bound),
  exclusiveMaximum: numbers((value, bound) => value < bound),
  multipleOf: numbers((value, step) => Math.abs(value / step - Math.round(value / step)) < 1e-9),
  minLength: holding((expected, value) => typeof value !== 'string' || points(value) >= (expected as number)),
  maxLength: holding((expected, value) => typeof value !== 'string' || points(value) <= (expected as number)),
  *pattern(expected, value, where) {
    return typeof value !== 'string' || (yield* where.run.matches(expected as string, value)) ? [] : broken(where)
  },
  format: holding((expected, value) => typeof value !== 'string' || FORMATS[expected as string]!(value)),
  minItems: holding((expected, value) => !isList(value) || value.length >= (expected as number)),
  maxItems: holding((expected, value) => !isList(value) || value.length <= (expected as number)),
  *uniqueItems(expected, value, where) {
    if (expected !== true || !isList(value)) return []
    const seen = new Set<string>()
    for (const [index, each] of value.entries()) {
      if (index % PAUSE === 0) yield
      seen.add(canonical(each, where.run))
    }
    return seen.size === value.length ? [] : broken(where)
  },
  prefixItems: (expected, value, where) =>
    isList(value)
      ? each(value.slice(0, (expected as readonly JsonValue[]).length), (item, index) =>
          below(own(expected, index)!, item, index, where),
        )
      : [],
  items(expected, value, where) {
    if (!isList(value)) return []
    const before = own(where.node, 'prefixItems')
    const from = isList(before) ? before.length : 0
    return each(value.slice(from), (item, index) => below(expected, item, from + index, where))
  },
  *contains(expected, value, where) {
    if (!isList(value)) return []
    const least = (own(where.node, 'minContains') as number | undefined) ?? 1
    const most = (own(where.node, 'maxContains') as number | undefined) ?? Number.POSITIVE_INFINITY
    let count = 0
    for (const item of value) if (yield* is(expected, item, where)) count++
    return count >= least && count <= most ? [] : broken(where)
  },
  minProperties: holding((expected, value) => !isObject(value) || Object.keys(value).length >= (expected as number)),
  maxProperties: holding((expected, value) => !isObject(value) || Object.keys(value).length <= (expected as number)),
  required: holding(
    (expected, value) => !isObject(value) || (expected as readonly string[]).every(key => Object.hasOwn(value, key)),
  ),
  properties: (expected, value, where) =>
    isObject(value)
      ? each(
          Object.entries(expected as JsonObject).filter(([key]) => Object.hasOwn(value, key)),
          ([key, schema]) => below(schema, value[key]!, key, where),
        )
      : [],
  patternProperties: (expected, value, where) =>
    each(members(value), ([key, member]) =>
      each(Object.entries(expected as JsonObject), function* ([source, schema]) {
        return (yield* where.run.matches(source, key)) ? yield* below(schema, member, key, where) : []
      }),
    ),
  additionalProperties(expected, value, where) {
    const named = own(where.node, 'properties')
    const sources = Object.keys((own(where.node, 'patternProperties') as JsonObject | undefined) ?? {})
    return each(members(value), function* ([key, member]) {
      const is_known =
        (isObject(named) && Object.hasOwn(named, key)) ||
        (yield* some(sources, source => where.run.matches(source, key)))
      return is_known ? [] : yield* below(expected, member, key, where)
    })
  },
  propertyNames: (expected, value, where) =>
    each(members(value), ([key]) => where.run.fits(expected, key, where.place, where.depth)),
  dependentRequired: holding(
    (expected, value) =>
      !isObject(value) ||
      Object.entries(expected as Readonly<Record<string, readonly string[]>>).every(
        ([key, needed]) => !Object.hasOwn(value, key) || needed.every(each => Object.hasOwn(value, each)),
      ),
  ),
  dependentSchemas: (expected, value, where) =>
    isObject(value)
      ? each(
          Object.entries(expected as JsonObject).filter(([key]) => Object.hasOwn(value, key)),
          ([, schema]) => here(schema, value, where),
        )
      : [],
  $ref: (expected, value, where) => here(where.run.target(expected as string), value, where),
  allOf: (expected, value, where) => each(expected as readonly JsonValue[], schema => here(schema, value, where)),
  *anyOf(expected, value, where) {
    return (yield* some(expected as readonly JsonValue[], schema => is(schema, value, where))) ? [] : broken(where)
  },
  *oneOf(expected, value, where) {
    let count = 0
    for (const schema of expected as readonly JsonValue[]) if (yield* is(schema, value, where)) count++
    return count === 1 ? [] : broken(where)
  },
  *not(expected, value, where) {
    return (yield* is(expected, value, where)) ? broken(where) : []
  },
  *if(expected, value, where) {
    const branch = own(where.node, (yield* is(expected, value, where)) ? 'then' : 'else')
    return branch === undefined ? [] : yield* here(branch, value, where)
  },
}

/** Items of a list between two pauses. */
const PAUSE = 256

function* each<T>(
  all: readonly T[],
  complaints: (one: T, index: number) => SlicedWork<Complaints>,
): SlicedWork<Complaints> {
  const found: Complaint[] = []
  for (let index = 0; index < all.length; index++) found.push(...(yield* complaints(all[index]!, index)))
  return found
}

function* some<T>(all: readonly T[], holds: (one: T) => SlicedWork<boolean>): SlicedWork<boolean> {
  for (const one of all) if (yield* holds(one)) return true
  return false
}

function holding(
  test: (expected: JsonValue, value: JsonValue, where: Where) => boolean,
): (expected: JsonValue, value: JsonValue, where: Where) => Complaints {
  return (expected, value, where) => (test(expected, value, where) ? [] : broken(where))
}

function numbers(test: (value: number, bound: number) => boolean): Rule {
  return holding((expected, value) => typeof value !== 'number' || test(value, expected as number))
}

function broken({place, keyword}: Where): Complaints {
  return [{at: place, keyword}]
}

function here(schema: JsonValue, value: JsonValue, {run, place, depth}: Where): SlicedWork<Complaints> {
  return run.fits(schema, value, place, depth)
}

function below(
  schema: JsonValue,
  value: JsonValue,
  key: string | number,
  {run, place, depth}: Where,
): SlicedWork<Complaints> {
  return run.fits(schema, value, `${place}/${String(key).slice(0, 100)}`, depth)
}

function* is(schema: JsonValue, value: JsonValue, where: Where): SlicedWork<boolean> {
  return (yield* here(schema, value, where)).length === 0
}

function members(value: JsonValue): [string, JsonValue][] {
  return isObject(value) ? Object.entries(value) : []
}

function isOf(type: string, value: JsonValue): boolean {
  if (type === 'null') return value === null
  if (type === 'array') return isList(value)
  if (type === 'object') return isObject(value)
  if (type === 'integer') return Number.isInteger(value)
  return typeof value === type
}

/** A length is in characters, a surrogate pair being one. */
function points(text: string): number {
  let count = text.length
  for (let at = 0; at + 1 < text.length; at++) {
    if ((text.charCodeAt(at) & 0xfc00) === 0xd800 && (text.charCodeAt(at + 1) & 0xfc00) === 0xdc00) count--
  }
  return count
}

function* same(one: JsonValue, other: JsonValue, run: SchemaValidation): SlicedWork<boolean> {
  yield
  return isSame(one, other, run)
}

function isSame(one: JsonValue, other: JsonValue, run: SchemaValidation): boolean {
  if (typeof one !== 'object' || typeof other !== 'object' || one === null || other === null) return one === other
  return canonical(one, run) === canonical(other, run)
}
