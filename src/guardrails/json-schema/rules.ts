import {isList, isObject, type Json, type JsonObject, own} from '../json.ts'
import type {SlicedWork} from '../time-slices.ts'
import {canonical} from './canonical.ts'
import {FORMATS} from './formats.ts'

/** Where a value breaks its schema, and which keyword it breaks. No value is quoted. */
export interface Complaint {
  /** `/items/0/name`; empty for the whole. */
  readonly at: string
  readonly keyword: string
}

/** One validation: what the rules ask of each other. */
export interface Run {
  fits(node: Json, value: Json, place: string, depth: number): SlicedWork<readonly Complaint[]>
  matches(source: string, text: string): SlicedWork<boolean>
  target(reference: string): Json
  spend(steps: number): void
}

interface Where {
  readonly run: Run
  readonly node: JsonObject
  readonly place: string
  readonly depth: number
  readonly keyword: string
}

type Complaints = readonly Complaint[]
/** What grows with the value pauses. */
type Rule = (said: Json, value: Json, where: Where) => Complaints | SlicedWork<Complaints>

/** Draft 2020-12, core §10 and validation §6: a rule says nothing of values of another type than its own. */
export const RULES: Readonly<Record<string, Rule>> = {
  type: holding((said, value) => (isList(said) ? said : [said]).some(type => isOf(type as string, value))),
  *enum(said, value, where) {
    return (yield* some(said as readonly Json[], each => same(each, value, where.run))) ? [] : broken(where)
  },
  const: holding((said, value, {run}) => isSame(said, value, run)),
  minimum: numbers((value, bound) => value >= bound),
  maximum: numbers((value, bound) => value <= bound),
  exclusiveMinimum: numbers((value, bound) => value > bound),
  exclusiveMaximum: numbers((value, bound) => value < bound),
  multipleOf: numbers((value, step) => Math.abs(value / step - Math.round(value / step)) < 1e-9),
  minLength: holding((said, value) => typeof value !== 'string' || points(value) >= (said as number)),
  maxLength: holding((said, value) => typeof value !== 'string' || points(value) <= (said as number)),
  *pattern(said, value, where) {
    return typeof value !== 'string' || (yield* where.run.matches(said as string, value)) ? [] : broken(where)
  },
  format: holding((said, value) => typeof value !== 'string' || FORMATS[said as string]!(value)),
  minItems: holding((said, value) => !isList(value) || value.length >= (said as number)),
  maxItems: holding((said, value) => !isList(value) || value.length <= (said as number)),
  *uniqueItems(said, value, where) {
    if (said !== true || !isList(value)) return []
    const seen = new Set<string>()
    for (const [index, each] of value.entries()) {
      if (index % PAUSE === 0) yield
      seen.add(canonical(each, where.run))
    }
    return seen.size === value.length ? [] : broken(where)
  },
  prefixItems: (said, value, where) =>
    isList(value)
      ? each(value.slice(0, (said as readonly Json[]).length), (item, index) => below(own(said, index)!, item, index, where))
      : [],
  items(said, value, where) {
    if (!isList(value)) return []
    const before = own(where.node, 'prefixItems')
    const from = isList(before) ? before.length : 0
    return each(value.slice(from), (item, index) => below(said, item, from + index, where))
  },
  *contains(said, value, where) {
    if (!isList(value)) return []
    const least = (own(where.node, 'minContains') as number | undefined) ?? 1
    const most = (own(where.node, 'maxContains') as number | undefined) ?? Number.POSITIVE_INFINITY
    let count = 0
    for (const item of value) if (yield* is(said, item, where)) count++
    return count >= least && count <= most ? [] : broken(where)
  },
  minProperties: holding((said, value) => !isObject(value) || Object.keys(value).length >= (said as number)),
  maxProperties: holding((said, value) => !isObject(value) || Object.keys(value).length <= (said as number)),
  required: holding((said, value) => !isObject(value) || (said as readonly string[]).every(key => Object.hasOwn(value, key))),
  properties: (said, value, where) =>
    isObject(value)
      ? each(
          Object.entries(said as JsonObject).filter(([key]) => Object.hasOwn(value, key)),
          ([key, schema]) => below(schema, value[key]!, key, where),
        )
      : [],
  patternProperties: (said, value, where) =>
    each(members(value), ([key, member]) =>
      each(Object.entries(said as JsonObject), function* ([source, schema]) {
        return (yield* where.run.matches(source, key)) ? yield* below(schema, member, key, where) : []
      }),
    ),
  additionalProperties(said, value, where) {
    const named = own(where.node, 'properties')
    const sources = Object.keys((own(where.node, 'patternProperties') as JsonObject | undefined) ?? {})
    return each(members(value), function* ([key, member]) {
      const is_known = (isObject(named) && Object.hasOwn(named, key)) || (yield* some(sources, source => where.run.matches(source, key)))
      return is_known ? [] : yield* below(said, member, key, where)
    })
  },
  propertyNames: (said, value, where) => each(members(value), ([key]) => where.run.fits(said, key, where.place, where.depth)),
  dependentRequired: holding(
    (said, value) =>
      !isObject(value) ||
      Object.entries(said as Readonly<Record<string, readonly string[]>>).every(
        ([key, needed]) => !Object.hasOwn(value, key) || needed.every(each => Object.hasOwn(value, each)),
      ),
  ),
  dependentSchemas: (said, value, where) =>
    isObject(value)
      ? each(
          Object.entries(said as JsonObject).filter(([key]) => Object.hasOwn(value, key)),
          ([, schema]) => here(schema, value, where),
        )
      : [],
  $ref: (said, value, where) => here(where.run.target(said as string), value, where),
  allOf: (said, value, where) => each(said as readonly Json[], schema => here(schema, value, where)),
  *anyOf(said, value, where) {
    return (yield* some(said as readonly Json[], schema => is(schema, value, where))) ? [] : broken(where)
  },
  *oneOf(said, value, where) {
    let count = 0
    for (const schema of said as readonly Json[]) if (yield* is(schema, value, where)) count++
    return count === 1 ? [] : broken(where)
  },
  *not(said, value, where) {
    return (yield* is(said, value, where)) ? broken(where) : []
  },
  *if(said, value, where) {
    const branch = own(where.node, (yield* is(said, value, where)) ? 'then' : 'else')
    return branch === undefined ? [] : yield* here(branch, value, where)
  },
}

/** Items of a list between two pauses. */
const PAUSE = 256

function* each<T>(all: readonly T[], complaints: (one: T, index: number) => SlicedWork<Complaints>): SlicedWork<Complaints> {
  const found: Complaint[] = []
  for (let index = 0; index < all.length; index++) found.push(...(yield* complaints(all[index]!, index)))
  return found
}

function* some<T>(all: readonly T[], holds: (one: T) => SlicedWork<boolean>): SlicedWork<boolean> {
  for (const one of all) if (yield* holds(one)) return true
  return false
}

function holding(test: (said: Json, value: Json, where: Where) => boolean): (said: Json, value: Json, where: Where) => Complaints {
  return (said, value, where) => (test(said, value, where) ? [] : broken(where))
}

function numbers(test: (value: number, bound: number) => boolean): Rule {
  return holding((said, value) => typeof value !== 'number' || test(value, said as number))
}

function broken({place, keyword}: Where): Complaints {
  return [{at: place, keyword}]
}

function here(schema: Json, value: Json, {run, place, depth}: Where): SlicedWork<Complaints> {
  return run.fits(schema, value, place, depth)
}

function below(schema: Json, value: Json, key: string | number, {run, place, depth}: Where): SlicedWork<Complaints> {
  return run.fits(schema, value, `${place}/${String(key).slice(0, 100)}`, depth)
}

function* is(schema: Json, value: Json, where: Where): SlicedWork<boolean> {
  return (yield* here(schema, value, where)).length === 0
}

function members(value: Json): [string, Json][] {
  return isObject(value) ? Object.entries(value) : []
}

function isOf(type: string, value: Json): boolean {
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

function* same(one: Json, other: Json, run: Run): SlicedWork<boolean> {
  yield
  return isSame(one, other, run)
}

function isSame(one: Json, other: Json, run: Run): boolean {
  if (typeof one !== 'object' || typeof other !== 'object' || one === null || other === null) return one === other
  return canonical(one, run) === canonical(other, run)
}
