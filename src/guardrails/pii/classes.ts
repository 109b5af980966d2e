/** The classes that are searched. The names are those of the labelled set and of the check's `categories`. */
export const PII_CLASSES = [
  'credit_card',
  'iban',
  'national_id',
  'email',
  'phone',
  'ip_address',
  'api_key',
  'secret',
  'date_of_birth',
  'crypto_address',
] as const

export type PiiClass = (typeof PII_CLASSES)[number]

/** How sure a find is: a value proves itself, a rule and its context agree, or the words around it alone tell. */
export const SURE = {proven: 3, likely: 2, cued: 1} as const

/** A find. `start` and `end` are UTF-16 code units, end exclusive, as `text.slice(start, end)` takes them. */
export interface PiiSpan {
  readonly class: PiiClass
  /** The brand of a card, the country of an IBAN, the sort of national id, the issuer of a key. */
  readonly kind: string
  readonly start: number
  readonly end: number
  readonly certainty: number
}
