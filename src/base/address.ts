import {domainToASCII, domainToUnicode} from 'node:url'

/** An e-mail address in the one form in which addresses are kept and compared. */
export interface EmailAddress {
  readonly address: string
  /** In lower case, of ASCII letters. */
  readonly domain: string
}

const MAX_BYTES = 254
const REFUSED = /[\s"'`(),:;<>[\]\\\x00-\x1f\x7f]/

/**
 * Reads an address; undefined for what is none. Letters that only look like ASCII ones, and become them by some
 * folding, are refused: another person's address might be meant.
 */
export function readAddress(value: unknown): EmailAddress | undefined {
  if (typeof value !== 'string' || Buffer.byteLength(value) > MAX_BYTES) return undefined
  const [local = '', name = '', ...more] = value.split('@')
  if (local === '' || more.length > 0 || REFUSED.test(value) || value.endsWith('.')) return undefined
  const domain = readDomain(name)
  if (domain === undefined || ![...local].every(isItself)) return undefined
  const folded = local.normalize('NFC').replace(/[A-Z]/g, letter => letter.toLowerCase())
  return {address: `${folded}@${domain}`, domain}
}

/** A domain in lower case, of ASCII letters; undefined for what is none, or is written in a way that folds to one. */
export function readDomain(text: string): string | undefined {
  const lower = text.replace(/[A-Z]/g, letter => letter.toLowerCase())
  const ascii = domainToASCII(lower)
  const is_itself = /^[\x00-\x7f]*$/.test(lower) ? ascii === lower : domainToUnicode(ascii) === lower
  const labels = ascii.split('.')
  const is_name = labels.length > 1 && labels.every(label => /^[a-z\d](?:[a-z\d-]{0,61}[a-z\d])?$/.test(label))
  return is_itself && is_name && ascii.length <= 253 ? ascii : undefined
}

/** True for a character that no folding makes an ASCII one. */
function isItself(character: string): boolean {
  if (character.charCodeAt(0) < 0x80) return true
  const upper = character.toUpperCase()
  const forms = [character.normalize('NFC'), character.normalize('NFKC'), character.toLowerCase()]
  // the upper case of a sharp s is two letters, which is no folding that anyone compares by
  return ![...forms, ...(upper.length === 1 ? [upper] : [])].some(form => /[\x00-\x7f]/.test(form))
}
