import type {Attributes, AttributeValue} from '../otlp/model.ts'
import type {FactNames, TelemetryFact} from '../semconv.ts'
import {boundedText} from './bounded.ts'

type Given = string | number | boolean | readonly string[] | null | undefined

/** Facts of numbers that are not counts: 0 and 1 are values of them as well. */
const DOUBLES: ReadonlySet<TelemetryFact> = new Set<TelemetryFact>([
  'temperature',
  'top_p',
  'frequency_penalty',
  'presence_penalty',
  'check_duration_ms',
  'mcp_duration_ms',
])

/** Columns of the analytics likewise: a receiver that keeps the type of a column refuses another. */
const DECIMAL_COLUMNS: ReadonlySet<string> = new Set([
  'cost',
  'pre_processing_time',
  'gateway_processing_time',
  'upstream_response_time',
  'ttlt',
])

/** Gathers the attributes of a span by their facts. What is not known is left out; zero and false are values. */
export class AttributeList {
  readonly #names: FactNames
  readonly #of: (readonly [string, AttributeValue])[] = []

  constructor(names: FactNames) {
    this.#names = names
  }

  get list(): Attributes {
    return this.#of
  }

  add(fact: TelemetryFact, given: Given): this {
    const value = attributeValue(given, DOUBLES.has(fact))
    if (value !== undefined) for (const name of this.#names[fact]) this.#of.push([name, value])
    return this
  }

  /** An attribute whose name is not one of ours. */
  named(name: string, given: Given): this {
    const value = attributeValue(given, DECIMAL_COLUMNS.has(name))
    if (value !== undefined) this.#of.push([name, value])
    return this
  }
}

function attributeValue(given: Given, is_double: boolean): AttributeValue | undefined {
  if (given === null || given === undefined) return undefined
  if (typeof given === 'string') return boundedText(given)
  if (typeof given === 'boolean') return given
  if (typeof given === 'number') {
    if (!Number.isFinite(given)) return undefined
    return is_double || !Number.isSafeInteger(given) ? {double: given} : {int: given}
  }
  return given.map(boundedText)
}
