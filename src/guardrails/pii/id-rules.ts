import {luhn, mod1110, verhoeff, weighed} from './check-digits.ts'

/**
 * Rules of national ids over digits and upper-case letters without separators. True when a number may have been issued.
 */

/**
 * Social security number, United States: areas, groups and serials that are never issued (SSA, randomisation of 2011).
 */
export function isSsn(id: string): boolean {
  return (
    /^\d{9}$/.test(id) &&
    !/^(000|666|9)/.test(id) &&
    id.slice(3, 5) !== '00' &&
    id.slice(5) !== '0000' &&
    !SPECIMENS.has(id)
  )
}

/** Printed in advertisements and leaflets. */
const SPECIMENS = new Set(['078051120', '219099999'])

/** National insurance number, United Kingdom (HMRC NIM39110). */
export function isNino(id: string): boolean {
  return /^[ABCEGHJ-PRSTW-Z][ABCEGHJ-NPRSTW-Z]\d{6}[ABCD]$/.test(id) && !/^(BG|GB|NK|KN|TN|NT|ZZ)/.test(id)
}

/**
 * Steuer-Identifikationsnummer, Germany: among ten digits one comes twice or three times, the others once; MOD 11,10.
 */
export function isSteuerId(id: string): boolean {
  if (!/^[1-9]\d{10}$/.test(id)) return false
  const counts = new Uint8Array(10)
  for (let at = 0; at < 10; at++) counts[id.charCodeAt(at) - 48]!++
  const repeated = counts.filter(count => count > 1)
  return repeated.length === 1 && repeated[0]! <= 3 && mod1110(id)
}

/**
 * Numéro d'inscription au répertoire, France: month, department, key of 97; Corsica's 2A and 2B count as 19 and 18
 * (INSEE).
 */
export function isNir(id: string): boolean {
  const form = /^[1-478]\d\d(0[1-9]|1[0-2]|[2-4]\d|[5-9]\d)(\d\d|2[AB])\d{6}\d{2}$/.exec(id)
  if (!form) return false
  const month = Number(form[1])
  if (month > 12 && month < 20) return false
  const number = Number(id.slice(0, 13).replace('2A', '19').replace('2B', '18'))
  return 97 - (number % 97) === Number(id.slice(13))
}

const DNI_LETTERS = 'TRWAGMYFPDXBNJZSQVHLCKE'

/** Documento nacional de identidad, Spain: letter by 23. */
export function isDni(id: string): boolean {
  return /^\d{8}[A-Z]$/.test(id) && DNI_LETTERS[Number(id.slice(0, 8)) % 23] === id[8]
}

/** Número de identidad de extranjero, Spain: X, Y, Z count as 0, 1, 2. */
export function isNie(id: string): boolean {
  return /^[XYZ]\d{7}[A-Z]$/.test(id) && DNI_LETTERS[Number('XYZ'.indexOf(id[0]!) + id.slice(1, 8)) % 23] === id[8]
}

const ODD_VALUES = [1, 0, 5, 7, 9, 13, 15, 17, 19, 21, 2, 4, 18, 20, 11, 3, 6, 8, 12, 14, 16, 10, 22, 25, 24, 23]

/** Codice fiscale, Italy: form with the letters that may stand for digits, check letter (D.M. 23 December 1976). */
export function isCodiceFiscale(id: string): boolean {
  if (!/^[A-Z]{6}[0-9LMNPQRSTUV]{2}[ABCDEHLMPRST][0-9LMNPQRSTUV]{2}[A-Z][0-9LMNPQRSTUV]{3}[A-Z]$/.test(id)) return false
  let sum = 0
  for (let at = 0; at < 15; at++) {
    const code = id.charCodeAt(at)
    const value = code < 58 ? code - 48 : code - 65
    sum += at % 2 === 0 ? ODD_VALUES[value]! : value
  }
  return id.charCodeAt(15) === 65 + (sum % 26)
}

/** Burgerservicenummer, Netherlands: the eleven test. */
export function isBsn(id: string): boolean {
  return /^\d{9}$/.test(id) && id !== '000000000' && weighed(id, [9, 8, 7, 6, 5, 4, 3, 2, -1]) % 11 === 0
}

/** Cadastro de pessoas físicas, Brazil: two check digits by 11, not one digit throughout. */
export function isCpf(id: string): boolean {
  if (!/^\d{11}$/.test(id) || id === id[0]!.repeat(11)) return false
  const check = (weights: readonly number[]) => String(((weighed(id, weights) * 10) % 11) % 10)
  return check([10, 9, 8, 7, 6, 5, 4, 3, 2]) === id[9] && check([11, 10, 9, 8, 7, 6, 5, 4, 3, 2]) === id[10]
}

/** Aadhaar, India: twelve digits, not beginning with 0 or 1, Verhoeff (UIDAI). */
export function isAadhaar(id: string): boolean {
  return /^[2-9]\d{11}$/.test(id) && verhoeff(id)
}

/** Social insurance number, Canada: Luhn. Those that begin with 8 are not issued to persons. */
export function isSin(id: string): boolean {
  return /^\d{9}$/.test(id) && id !== '000000000' && luhn(id)
}
