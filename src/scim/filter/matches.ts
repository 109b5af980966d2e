import {isList, isObject, type JsonValue} from '../../base/json-member.ts'
import {memberOf} from '../json.ts'
import type {AttributePath} from '../path.ts'
import type {Filter, FilterOperator, Literal} from './filter.ts'

/** Attributes whose case counts (RFC 7643 §3.1). */
const EXACT: ReadonlySet<string> = new Set(['id', 'externalId'])

/** True when a resource, or one value of a list, meets the filter. */
export function matches(resource: JsonValue, filter: Filter): boolean {
  switch (filter.kind) {
    case 'and':
      return filter.of.every(each => matches(resource, each))
    case 'or':
      return filter.of.some(each => matches(resource, each))
    case 'not':
      return !matches(resource, filter.of)
    case 'present':
      return valuesAt(resource, filter.path).some(isPresent)
    case 'element':
      return elementsAt(resource, filter.path).some(
        each => matches(each, filter.of) && (filter.behind === null || matches(each, filter.behind)),
      )
    case 'compare':
      return compares(resource, filter)
  }
}

function compares(resource: JsonValue, {path, operator, value}: Extract<Filter, {kind: 'compare'}>): boolean {
  const found = valuesAt(resource, path)
  if (value === null) return found.some(isPresent) === (operator === 'ne')
  const is_exact = EXACT.has(path.name) && path.sub === null
  if (operator === 'ne') return !found.some(each => holds('eq', each, value, is_exact))
  return found.some(each => holds(operator, each, value, is_exact))
}

/** The values that a path leads to; of a list those of each element, whose `value` is meant where no other is named. */
export function valuesAt(resource: JsonValue, {urn, name, sub}: AttributePath): readonly JsonValue[] {
  const container = urn === null ? resource : memberOf(resource, urn)
  const found = memberOf(container, name)
  if (found === undefined || found === null) return []
  const each = isList(found) ? found : [found]
  return each.flatMap(one => {
    const value = sub === null ? (isObject(one) ? memberOf(one, 'value') : one) : memberOf(one, sub)
    if (value === undefined || value === null) return sub === null && isObject(one) ? [one] : []
    return isList(value) ? value : [value]
  })
}

function elementsAt(resource: JsonValue, {urn, name}: AttributePath): readonly JsonValue[] {
  const found = memberOf(urn === null ? resource : memberOf(resource, urn), name)
  return isList(found) ? found : found === undefined || found === null ? [] : [found]
}

function isPresent(value: JsonValue): boolean {
  return value !== '' && !(isList(value) && value.length === 0) && !(isObject(value) && Object.keys(value).length === 0)
}

function holds(operator: FilterOperator, found: JsonValue, asked: Literal, is_exact: boolean): boolean {
  if (typeof found === 'boolean' || typeof asked === 'boolean')
    return operator === 'eq' && String(found).toLowerCase() === String(asked).toLowerCase()
  if (typeof found === 'number' && typeof asked === 'number') return ordered(operator, found - asked)
  if (typeof found !== 'string' && typeof found !== 'number') return false
  const one = is_exact ? String(found) : String(found).toLowerCase()
  const other = is_exact ? String(asked) : String(asked).toLowerCase()
  if (operator === 'co') return one.includes(other)
  if (operator === 'sw') return one.startsWith(other)
  if (operator === 'ew') return one.endsWith(other)
  const times = operator === 'eq' ? null : momentsOf(one, other)
  return ordered(operator, times ?? (one < other ? -1 : one > other ? 1 : 0))
}

/** The difference of two moments (RFC 7643 §2.3.5), which may be written in several ways. */
function momentsOf(one: string, other: string): number | null {
  const is_time = /^\d{4}-\d\d-\d\dt/i
  if (!is_time.test(one) || !is_time.test(other)) return null
  const difference = Date.parse(one) - Date.parse(other)
  return Number.isNaN(difference) ? null : difference
}

function ordered(operator: FilterOperator, difference: number): boolean {
  switch (operator) {
    case 'eq':
      return difference === 0
    case 'gt':
      return difference > 0
    case 'ge':
      return difference >= 0
    case 'lt':
      return difference < 0
    case 'le':
      return difference <= 0
    default:
      return false
  }
}
