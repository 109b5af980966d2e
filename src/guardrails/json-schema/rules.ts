import {isList, isObject, type Json, type JsonObject, own} from '../json.ts'
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
  fits(node: Json, value: Json, place: string, depth: number): readonly Complaint[]
  matches(source: string, text: string): boolean
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

type Rule = (said: Json, value: Json, where: Where) => readonly Complaint[]

/** Draft 2020-12, core §10 and validation §6: a rule says nothing of values of another type than its own. */
export const RULES: Readonly<Record<string, Rule>> = {
  type: holding((said, value) => (isList(said) ? said : [said]).some(type => isOf(type as string, value))),
  enum: holding((said, value, {run}) => (said as readonly Json[]).some(each => same(each, value, run))),
  const: holding((said, value, {run}) => same(said, value, run)),
  minimum: numbers((value, bound) => value >= bound),
  maximum: numbers((value, bound) => value <= bound),
  exclusiveMinimum: numbers((value, bound) => value > bound),
  exclusiveMaximum: numbers((value, bound) => value < bound),
  multipleOf: numbers((value, step) => Math.abs(value / step - Math.round(value / step)) < 1e-9),
  minLength: holding((said, value) => typeof value !== 'string' || points(value) >= (said as number)),
  maxLength: holding((said, value) => typeof value !== 'string' || points(value) <= (said as number)),
  pattern: holding((said, value, {run}) => typeof value !== 'string' || run.matches(said as string, value)),
  format: holding((said, value) => typeof value !== 'string' || FORMATS[said as string]!(value)),
  minItems: holding((said, value) => !isList(value) || value.length >= (said as number)),
  maxItems: holding((said, value) => !isList(value) || value.length <= (said as number)),
  uniqueItems: holding((said, value, {run}) => {
    if (said !== true || !isList(value)) return true
    return new Set(value.map(each => canonical(each, run))).size === value.length
  }),
  prefixItems: (said, value, where) =>
    isList(value)
      ? value.slice(0, (said as readonly Json[]).length).flatMap((each, index) => below(own(said, index)!, each, index, where))
      : [],
  items(said, value, where) {
    if (!isList(value)) return []
    const before = own(where.node, 'prefixItems')
    const from = isList(before) ? before.length : 0
    return value.slice(from).flatMap((each, index) => below(said, each, from + index, where))
  },
  contains(said, value, where) {
    if (!isList(value)) return []
    const least = (own(where.node, 'minContains') as number | undefined) ?? 1
    const most = (own(where.node, 'maxContains') as number | undefined) ?? Number.POSITIVE_INFINITY
    const count = value.filter(each => is(said, each, where)).length
    return count >= least && count <= most ? [] : broken(where)
  },
  minProperties: holding((said, value) => !isObject(value) || Object.keys(value).length >= (said as number)),
  maxProperties: holding((said, value) => !isObject(value) || Object.keys(value).length <= (said as number)),
  required: holding((said, value) => !isObject(value) || (said as readonly string[]).every(key => Object.hasOwn(value, key))),
  properties: (said, value, where) =>
    isObject(value)
      ? Object.entries(said as JsonObject).flatMap(([key, schema]) =>
          Object.hasOwn(value, key) ? below(schema, value[key]!, key, where) : [],
        )
      : [],
  patternProperties: (said, value, where) =>
    members(value).flatMap(([key, each]) =>
      Object.entries(said as JsonObject).flatMap(([source, schema]) =>
        where.run.matches(source, key) ? below(schema, each, key, where) : [],
      ),
    ),
  additionalProperties(said, value, where) {
    const named = own(where.node, 'properties')
    const sources = Object.keys((own(where.node, 'patternProperties') as JsonObject | undefined) ?? {})
    return members(value).flatMap(([key, each]) => {
      const is_known = (isObject(named) && Object.hasOwn(named, key)) || sources.some(source => where.run.matches(source, key))
      return is_known ? [] : below(said, each, key, where)
    })
  },
  propertyNames: (said, value, where) => members(value).flatMap(([key]) => where.run.fits(said, key, where.place, where.depth)),
  dependentRequired: holding(
    (said, value) =>
      !isObject(value) ||
      Object.entries(said as Readonly<Record<string, readonly string[]>>).every(
        ([key, needed]) => !Object.hasOwn(value, key) || needed.every(each => Object.hasOwn(value, each)),
      ),
  ),
  dependentSchemas: (said, value, where) =>
    isObject(value)
      ? Object.entries(said as JsonObject).flatMap(([key, schema]) => (Object.hasOwn(value, key) ? here(schema, value, where) : []))
      : [],
  $ref: (said, value, where) => here(where.run.target(said as string), value, where),
  allOf: (said, value, where) => (said as readonly Json[]).flatMap(schema => here(schema, value, where)),
  anyOf: holding((said, value, where) => (said as readonly Json[]).some(schema => is(schema, value, where))),
  oneOf: holding((said, value, where) => (said as readonly Json[]).filter(schema => is(schema, value, where)).length === 1),
  not: holding((said, value, where) => !is(said, value, where)),
  if(said, value, where) {
    const branch = own(where.node, is(said, value, where) ? 'then' : 'else')
    return branch === undefined ? [] : here(branch, value, where)
  },
}

function holding(test: (said: Json, value: Json, where: Where) => boolean): Rule {
  return (said, value, where) => (test(said, value, where) ? [] : broken(where))
}

function numbers(test: (value: number, bound: number) => boolean): Rule {
  return holding((said, value) => typeof value !== 'number' || test(value, said as number))
}

function broken({place, keyword}: Where): readonly Complaint[] {
  return [{at: place, keyword}]
}

function here(schema: Json, value: Json, {run, place, depth}: Where): readonly Complaint[] {
  return run.fits(schema, value, place, depth)
}

function below(schema: Json, value: Json, key: string | number, {run, place, depth}: Where): readonly Complaint[] {
  return run.fits(schema, value, `${place}/${String(key).slice(0, 100)}`, depth)
}

function is(schema: Json, value: Json, where: Where): boolean {
  return here(schema, value, where).length === 0
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

function same(one: Json, other: Json, run: Run): boolean {
  if (typeof one !== 'object' || typeof other !== 'object' || one === null || other === null) return one === other
  return canonical(one, run) === canonical(other, run)
}
