import {scaleDecimal} from './decimal.ts'

/**
 * A formula of a price file (docs/pricing.md, Use your own price files): sums and products over literals, token counts
 * and `rates.<key>`. The token counts are known only later, so it is reduced to the form that it must have: so much for
 * each token of each kind.
 */
export type Formula =
  | {readonly operation: 'sum' | 'multiply'; readonly operands: readonly Formula[]}
  | {readonly value: string | number}

/** Says what is wrong with a formula, and where: `operands[1].value`. */
export class FormulaFault extends Error {
  readonly path: string

  constructor(path: string, message: string) {
    super(message)
    this.name = 'FormulaFault'
    this.path = path
  }
}

/** The token counts a formula may name. */
export const VARIABLES = [
  'input_tokens',
  'output_tokens',
  'cache_write_tokens',
  'cache_read_tokens',
  'audio_input_tokens',
  'audio_output_tokens',
  'cache_read_audio_tokens',
  'request_audio_tokens',
  'response_audio_tokens',
] as const
export type Variable = (typeof VARIABLES)[number]

/** Terms a formula may come to when multiplied out, so that a hostile one stays small. */
const MAX_TERMS = 256
const MAX_DEPTH = 16
const MAX_OPERANDS = 64

/**
 * `value` as a formula, or a FormulaFault that names the part that is none. Bounded in depth, so that a hostile one is
 * no danger.
 */
export function readFormula(value: unknown, path = '', depth = 0): Formula {
  if (depth > MAX_DEPTH) throw new FormulaFault(path, `is nested deeper than ${MAX_DEPTH}`)
  if (typeof value !== 'object' || value === null)
    throw new FormulaFault(path, 'expected {operation, operands} or {value}')
  const {operation, operands, value: held, ...rest} = value as Readonly<Record<string, unknown>>
  const [strange] = Object.keys(rest)
  if (strange !== undefined) throw new FormulaFault(join(path, strange), 'is not a key of a formula')
  if (typeof held === 'string' || typeof held === 'number') {
    if (operation !== undefined || operands !== undefined)
      throw new FormulaFault(path, 'has both a value and an operation')
    return {value: held}
  }
  if (operation !== 'sum' && operation !== 'multiply')
    throw new FormulaFault(join(path, 'operation'), 'expected sum or multiply')
  if (!Array.isArray(operands) || operands.length === 0 || operands.length > MAX_OPERANDS) {
    throw new FormulaFault(join(path, 'operands'), `expected 1 to ${MAX_OPERANDS} operands`)
  }
  return {
    operation,
    operands: operands.map((operand, index) => readFormula(operand, join(path, `operands[${index}]`), depth + 1)),
  }
}

interface Term {
  readonly numerator: bigint
  readonly denominator: bigint
  readonly variable: Variable | undefined
  /** True once a rate is in the product: what is left is money for each token. */
  readonly priced: boolean
}

/**
 * Pico-dollars for each token that `formula` names, given `rates` (key → pico-dollars; a key that is absent counts 0).
 * Refuses what is not so much a token: a product of two counts or two rates, a constant, a rate without a count, a
 * fraction of a pico-dollar.
 */
export function ratesOfFormula(
  formula: Formula,
  rates: Readonly<Record<string, number>>,
): ReadonlyMap<Variable, number> {
  const sums = new Map<Variable, {numerator: bigint; denominator: bigint}>()
  for (const {numerator, denominator, variable, priced} of expand(formula, rates, '')) {
    if (!priced || !variable) {
      if (numerator === 0n) continue
      throw new FormulaFault('', 'a term is not a token count times a rate')
    }
    const sum = sums.get(variable) ?? {numerator: 0n, denominator: 1n}
    sums.set(variable, {
      numerator: sum.numerator * denominator + numerator * sum.denominator,
      denominator: sum.denominator * denominator,
    })
  }
  return new Map(
    [...sums].map(([variable, {numerator, denominator}]) => {
      if (numerator % denominator !== 0n)
        throw new FormulaFault('', `the price of ${variable} is finer than a pico-dollar`)
      const pico = numerator / denominator
      if (pico > BigInt(Number.MAX_SAFE_INTEGER)) throw new FormulaFault('', `the price of ${variable} is too large`)
      return [variable, Number(pico)]
    }),
  )
}

function expand(formula: Formula, rates: Readonly<Record<string, number>>, path: string): readonly Term[] {
  if ('value' in formula) return [leaf(formula.value, rates, join(path, 'value'))]
  const operands = formula.operands.map((operand, index) => expand(operand, rates, join(path, `operands[${index}]`)))
  const terms =
    formula.operation === 'sum'
      ? operands.flat()
      : operands.reduce((products, terms) => product(products, terms, path), ONE)
  if (terms.length > MAX_TERMS) throw tooLong(path)
  return terms
}

const ONE: readonly Term[] = [{numerator: 1n, denominator: 1n, variable: undefined, priced: false}]

function product(left: readonly Term[], right: readonly Term[], path: string): readonly Term[] {
  if (left.length * right.length > MAX_TERMS) throw tooLong(path)
  return left.flatMap(one =>
    right.map(other => {
      if (one.variable && other.variable)
        throw new FormulaFault(path, `multiplies ${one.variable} by ${other.variable}`)
      if (one.priced && other.priced) throw new FormulaFault(path, 'multiplies two rates')
      return {
        numerator: one.numerator * other.numerator,
        denominator: one.denominator * other.denominator,
        variable: one.variable ?? other.variable,
        priced: one.priced || other.priced,
      }
    }),
  )
}

function tooLong(path: string): FormulaFault {
  return new FormulaFault(path, `comes to more than ${MAX_TERMS} terms`)
}

function leaf(value: string | number, rates: Readonly<Record<string, number>>, path: string): Term {
  const text = String(value)
  const variable = VARIABLES.find(name => name === text)
  if (variable) return {numerator: 1n, denominator: 1n, variable, priced: false}
  if (text.startsWith('rates.')) {
    const key = text.slice('rates.'.length)
    return {
      numerator: BigInt(Object.hasOwn(rates, key) ? rates[key]! : 0),
      denominator: 1n,
      variable: undefined,
      priced: true,
    }
  }
  const number = scaleDecimal(text, 0)
  if (!number)
    throw new FormulaFault(
      path,
      `is ${JSON.stringify(value)}; expected a number, rates.<key>, or one of ${VARIABLES.join(', ')}`,
    )
  return {...number, variable: undefined, priced: false}
}

function join(path: string, step: string): string {
  return path === '' ? step : `${path}.${step}`
}
