/**
 * Check digits over strings of ASCII digits and upper-case letters. Each is true when the whole string, check digit
 * included, holds.
 */

/** ISO/IEC 7812-1, annex B. */
export function luhn(digits: string): boolean {
  let sum = 0
  for (let at = digits.length - 1, is_doubled = false; at >= 0; at--, is_doubled = !is_doubled) {
    const digit = digitAt(digits, at)
    sum += is_doubled ? (digit > 4 ? digit * 2 - 9 : digit * 2) : digit
  }
  return sum % 10 === 0
}

/** ISO 7064 MOD 97-10 as ISO 13616 applies it: the first four characters come last, letters count from 10. */
export function mod97(code: string): boolean {
  let rest = 0
  for (let at = 0; at < code.length; at++) {
    const value = Number.parseInt(code[(at + 4) % code.length]!, 36)
    rest = (rest * (value > 9 ? 100 : 10) + value) % 97
  }
  return rest === 1
}

/** ISO 7064 MOD 11,10. */
export function mod1110(digits: string): boolean {
  let carry = 10
  for (let at = 0; at < digits.length - 1; at++) carry = (((carry + digitAt(digits, at)) % 10 || 10) * 2) % 11
  return (11 - carry) % 10 === digitAt(digits, digits.length - 1)
}

const TURNS = [1, 5, 7, 6, 2, 8, 3, 0, 9, 4]

/** Verhoeff's check over the dihedral group of ten elements. */
export function verhoeff(digits: string): boolean {
  let carry = 0
  for (let at = digits.length - 1, times = 0; at >= 0; at--, times = (times + 1) % 8) {
    let digit = digitAt(digits, at)
    for (let turn = 0; turn < times; turn++) digit = TURNS[digit]!
    carry = dihedral(carry, digit)
  }
  return carry === 0
}

function dihedral(a: number, b: number): number {
  if (a < 5) return b < 5 ? (a + b) % 5 : ((a + b) % 5) + 5
  return b < 5 ? ((a - b + 5) % 5) + 5 : (a - b + 5) % 5
}

/** The sum of the digits by their weights, first digit first. */
export function weighed(digits: string, weights: readonly number[]): number {
  return weights.reduce((sum, weight, at) => sum + weight * digitAt(digits, at), 0)
}

function digitAt(digits: string, at: number): number {
  return digits.charCodeAt(at) - 48
}
