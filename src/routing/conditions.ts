import type {Regex} from '../base/regex.ts'
import type {Compared, Query, ScalarValue} from '../schema/config-conditions.ts'
import type {RoutingFacts} from './plan.ts'

/** A longer text is matched by its first characters: what a pattern costs is bounded by this times its size. */
export const MAX_MATCHED = 2048

/**
 * A query as a question to a call. Only texts, numbers, true, false and null are compared; of a key that is absent, or
 * holds something else, no comparison holds, `$ne` and `$nin` neither (docs/configs.md, conditional).
 */
export function holdsOf(query: Query): (facts: RoutingFacts) => boolean {
  if (query.kind === 'compared') {
    const holds = comparison(query)
    return facts => {
      const value = saidBy(query, facts)
      return value !== undefined && holds(value)
    }
  }
  const of = query.of.map(holdsOf)
  return query.kind === 'all' ? facts => of.every(holds => holds(facts)) : facts => of.some(holds => holds(facts))
}

/** A query in words, for people: `metadata.plan $eq "pro" and (params.n $gt 1 or params.stream $eq true)`. */
export function textOf(query: Query): string {
  if (query.kind === 'compared') {
    const {from, key, operator} = query
    const operand = query.operator === '$regex' ? query.operand.source : query.operand
    return `${from}.${key} ${operator} ${JSON.stringify(operand)}`
  }
  const parts = query.of.map(each => (each.kind === 'compared' ? textOf(each) : `(${textOf(each)})`))
  return parts.join(query.kind === 'all' ? ' and ' : ' or ')
}

/** The models that a query names as the call's: a list of models may contain them. */
export function modelsIn(query: Query): readonly string[] {
  if (query.kind !== 'compared') return query.of.flatMap(modelsIn)
  if (query.from !== 'params' || query.key !== 'model') return []
  const {operator, operand} = query
  const named = operator === '$eq' ? [operand] : operator === '$in' ? operand : []
  return named.filter(name => typeof name === 'string')
}

function comparison(condition: Compared): (value: ScalarValue) => boolean {
  switch (condition.operator) {
    case '$eq':
      return value => value === condition.operand
    case '$ne':
      return value => value !== condition.operand
    case '$in':
      return among(condition.operand)
    case '$nin': {
      const isAmong = among(condition.operand)
      return value => !isAmong(value)
    }
    case '$regex':
      return value => matches(condition.operand, value)
    case '$gt':
      return value => Number.parseFloat(String(value)) > condition.operand
    case '$gte':
      return value => Number.parseFloat(String(value)) >= condition.operand
    case '$lt':
      return value => Number.parseFloat(String(value)) < condition.operand
    case '$lte':
      return value => Number.parseFloat(String(value)) <= condition.operand
  }
}

function among(operands: readonly ScalarValue[]): (value: ScalarValue) => boolean {
  const set = new Set(operands)
  return value => set.has(value)
}

function matches(regex: Regex, value: ScalarValue): boolean {
  const text = String(value)
  return regex.test(text.length > MAX_MATCHED ? text.slice(0, MAX_MATCHED) : text)
}

function saidBy({from, key}: Compared, facts: RoutingFacts): ScalarValue | undefined {
  if (from === 'url') return facts.pathname
  const source: Readonly<Record<string, unknown>> = facts[from]
  const value = Object.hasOwn(source, key) ? source[key] : undefined
  return isPlain(value) ? value : undefined
}

function isPlain(value: unknown): value is ScalarValue {
  return value === null || typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
}
