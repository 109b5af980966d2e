/** Bits a character; the longest text that is looked at has 256 of them. */
export function entropy(value: string): number {
  const counts = new Map<string, number>()
  const looked = value.slice(0, 256)
  for (const sign of looked) counts.set(sign, (counts.get(sign) ?? 0) + 1)
  let bits = 0
  for (const count of counts.values()) bits -= (count / looked.length) * Math.log2(count / looked.length)
  return bits
}

const SHORTEST = 12
const MIN_BITS = 3

/**
 * True for what a generator may have drawn: long and even enough, and not made of words. Words show in long parts:
 * `AbstractProxyFactory2`, `tls-cert-production-eu`, `my-app-2026`.
 */
export function isRandom(value: string): boolean {
  if (value.length < SHORTEST || isPlaceholder(value) || entropy(value) < MIN_BITS) return false
  const looked = value.slice(0, 256)
  if (/^(?:0x)?[0-9a-f]{16,}$|^(?:0x)?[0-9A-F]{16,}$/.test(looked)) return /\d/.test(looked) && /[a-f]/i.test(looked)
  const [longest, shortest] = /\d/.test(looked) && /[A-Za-z]/.test(looked) ? [3.4, SHORTEST] : [3.7, 16]
  return looked.length >= shortest && partLength(looked) <= longest && !isWords(looked)
}

/**
 * How long the parts of a value are on average, where a word, a number, or a run of great letters is a part. Drawn
 * values have short ones.
 */
function partLength(value: string): number {
  const parts = value.match(/[A-Z]?[a-z]+|[A-Z]+|[0-9]+/g) ?? []
  return parts.reduce((sum, part) => sum + part.length, 0) / Math.max(1, parts.length)
}

/** Words, numbers and hosts with signs between them. */
function isWords(value: string): boolean {
  return value
    .split(/[^A-Za-z0-9]+/)
    .every(part => /^(?:[A-Z]?[a-z]*|[A-Z]*|[0-9]{1,4}|[a-z]{1,8}[0-9]{1,4}|v[0-9]+)$/.test(part))
}

const PLACEHOLDER =
  /x{6}|\*{4}|\.{3}|…|_here|redacted|example|placeholder|changeme|change_me|your[_-]|^<|>$|<[A-Za-z_ -]{2,}>|\$\{|\{\{|%\(|dummy|0123456789|1234567890|abcdefgh|todo|insert|replace/i

/** True for a placeholder in the place of a value. */
export function isPlaceholder(value: string): boolean {
  return PLACEHOLDER.test(value.slice(0, 256))
}
