import {hash, randomBytes, randomUUID} from 'node:crypto'

/** A random UUID (version 4), the id of every administrative row. */
export const newId = (): string => randomUUID()

let counter = 0
let time_ms = Number.NaN
/** The first two groups of the ids of one millisecond. */
let time_text = ''

/**
 * A UUID of version 7 (RFC 9562): sorts by time, and by order of making within a millisecond. For calls and log rows.
 */
export function newTimeId(now_ms: number): string {
  counter = (counter + 1) & 0xfff
  if (now_ms !== time_ms) {
    const time = Math.trunc(now_ms).toString(16).padStart(12, '0')
    time_text = `${time.slice(0, 8)}-${time.slice(8)}`
    time_ms = now_ms
  }
  const random = randomHex16()
  const variant = VARIANTS[Number.parseInt(random[0]!, 16) & 0x3]!
  return `${time_text}-7${counter.toString(16).padStart(3, '0')}-${variant}${random.slice(1, 4)}-${random.slice(4)}`
}

/** The id of that form which the same moment and the same words always give: what comes twice has one id. */
export function derivedTimeId(at_ms: number, ...words: readonly string[]): string {
  const time = Math.trunc(at_ms).toString(16).padStart(12, '0')
  const digits = hash('sha256', words.join('\0'), 'hex')
  const variant = VARIANTS[Number.parseInt(digits[0]!, 16) & 0x3]!
  const rest = `7${digits.slice(1, 4)}-${variant}${digits.slice(4, 7)}-${digits.slice(7, 19)}`
  return `${time.slice(0, 8)}-${time.slice(8)}-${rest}`
}

const VARIANTS = ['8', '9', 'a', 'b'] as const

/** A span id that the same words always give: what is sent twice after a kill is the same span. */
export function derivedSpanId(...words: readonly (string | number)[]): string {
  return hash('sha256', words.join('\0'), 'hex').slice(0, 16)
}

/** The id of the span of an attempt, known before it leaves. */
export const attemptSpanId = (call_id: string, attempt: number): string => derivedSpanId('attempt', call_id, attempt)

/** Sixteen random hex digits, a span's id. */
export const newSpanId = (): string => randomHex16()

let pool = ''
let used = 0

/** One call to the random source serves many ids. */
function randomHex16(): string {
  if (used === pool.length) {
    pool = randomBytes(4096).toString('hex')
    used = 0
  }
  used += 16
  return pool.slice(used - 16, used)
}

/**
 * `<prefix><stub of name>-<6 hex>`: lower case, other characters to `-`, cut to `most` (decisions: envelopes and ids).
 */
export function newSlug(prefix: string, name: string, most: number): string {
  const stub = name
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, most)
    .replace(/^-+|-+$/g, '')
  return `${prefix}${stub ? `${stub}-` : ''}${randomBytes(3).toString('hex')}`
}
