/** Powers of ten between a money unit and the pico-dollar: what a price's text is multiplied by. */
export const PICO_DIGITS = {
  dollars: 12,
  dollars_per_thousand: 9,
  dollars_per_million: 6,
  cents: 10,
} as const
export type PriceUnit = keyof typeof PICO_DIGITS

/** Longest decimal text read, so that a hostile exponent cannot make a giant integer. */
const MAX_DIGITS = 60

/**
 * The decimal `text` (digits, a point, an exponent; no sign but in the exponent) times ten to `power`, as digits over a
 * power of ten: no double is ever made of it. Undefined when the text is no such number.
 */
export function scaleDecimal(text: string, power: number): {numerator: bigint; denominator: bigint} | undefined {
  const match = /^(\d*)(?:\.(\d*))?(?:e([+-]?\d{1,3}))?$/i.exec(text.trim())
  if (!match) return undefined
  const [, whole = '', fraction = '', exponent = '0'] = match
  const digits = whole + fraction
  if (digits === '' || digits.length > MAX_DIGITS) return undefined
  const shift = Number(exponent) - fraction.length + power
  if (Math.abs(shift) > MAX_DIGITS) return undefined
  return shift >= 0
    ? {numerator: BigInt(digits) * 10n ** BigInt(shift), denominator: 1n}
    : {numerator: BigInt(digits), denominator: 10n ** BigInt(-shift)}
}

/**
 * A price as whole pico-dollars; undefined when it is not a non-negative decimal, is finer than a pico-dollar, or is
 * too large for a safe integer. A number stands for its shortest decimal text, which is what was written in the JSON it
 * came from.
 */
export function toPico(price: string | number, unit: PriceUnit): number | undefined {
  const scaled = scaleDecimal(String(price), PICO_DIGITS[unit])
  if (!scaled || scaled.numerator % scaled.denominator !== 0n) return undefined
  const pico = scaled.numerator / scaled.denominator
  return pico <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(pico) : undefined
}

/** `numerator / denominator`, both not negative, rounded to a whole number; a half goes to the even neighbour. */
export function roundHalfEven(numerator: bigint, denominator: bigint): bigint {
  const quotient = numerator / denominator
  const twice = (numerator % denominator) * 2n
  if (twice < denominator || (twice === denominator && quotient % 2n === 0n)) return quotient
  return quotient + 1n
}
