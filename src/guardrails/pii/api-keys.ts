import {SURE} from './classes.ts'
import {BY_START} from './issuers.ts'
import {entropy, isPlaceholder, isRandom} from './randomness.ts'
import {type Detector, isDigitAt, isWordAt, PAUSE, type PiiFinding, type ScannedText} from './scanned-text.ts'

/** Keys that show whose they are: by an issuer's prefix and length, as a JWT, as a private key block. */
export const apiKeys: Detector = function* (page) {
  yield* tokens(page)
  yield* privateKeys(page)
}

/** Places in a token that are tried: its beginning and what follows its first dashes. */
const MAX_TRIES = 8
const MIN_BITS = 2.8

function* tokens(page: ScannedText): Generator<PiiFinding | undefined> {
  const {text, tokens: all, work} = page
  for (let token = 0; token < all.length; token += 2) {
    if (token % PAUSE === 0) yield undefined
    const start = all[token]!
    const end = all[token + 1]!
    const key = dotted(page, start, end) ?? telegram(page, start, end)
    if (key) {
      yield key
      continue
    }
    for (let at = start, tries = 0; at < end && tries < MAX_TRIES; at++) {
      if (at > start && !'-_'.includes(text[at - 1]!)) continue
      tries++
      const read = issued(page, at, end)
      if (!read) continue
      yield read
      at = read.end
    }
    work.spend(Math.min(end - start, 512))
  }
}

/** A key of an issuer that begins here; it ends with the token or at a character that the issuer does not use. */
function issued({text, work}: ScannedText, at: number, token_end: number): PiiFinding | undefined {
  if (isWordAt(text, at - 1)) return undefined
  for (const {kind, prefix, sign, length} of BY_START.get(text.slice(at, at + 2)) ?? []) {
    if (!text.startsWith(prefix, at)) continue
    const [fewest, most] = length
    const body =
      sign.exec(text.slice(at + prefix.length, Math.min(token_end, at + prefix.length + most + 1)))?.[0] ?? ''
    work.spend(body.length)
    const end = at + prefix.length + body.length
    if (body.length < fewest || body.length > most || isWordAt(text, end)) continue
    if (isPlaceholder(body) || entropy(body) < MIN_BITS || !isMixed(body)) continue
    // `sk-circle-fade-3`: words with dashes, no key.
    if (prefix === 'sk-' && /^[a-z0-9-]+$/.test(body) && body.includes('-') && (body.match(/\d/g) ?? []).length < 3)
      continue
    return {class: 'api_key', kind, start: at, end, certainty: SURE.proven}
  }
  return undefined
}

/** Digits and letters, or letters that change between small and great as no words do. */
function isMixed(body: string): boolean {
  return /[A-Za-z]/.test(body) && (/\d/.test(body) || isRandom(body))
}

/** Parts with dots between them: a JWT, and keys that look like one. */
function dotted(page: ScannedText, start: number, end: number): PiiFinding | undefined {
  const {text} = page
  if (text.startsWith('eyJ', start) && text[end] === '.') return jwt(page, start, end)
  for (const {kind, before, form} of DOTTED) {
    const from = start - before.length
    if (!text.startsWith(before, from) || isWordAt(text, from - 1)) continue
    const read = form.exec(text.slice(start, start + 300))
    page.work.spend(300)
    if (read && !isWordAt(text, start + read[0].length) && !isPlaceholder(read[0]) && entropy(read[0]) >= MIN_BITS) {
      return {class: 'api_key', kind, start: from, end: start + read[0].length, certainty: SURE.proven}
    }
  }
  return undefined
}

const DOTTED = [
  {kind: 'sendgrid_key', before: 'SG.', form: /^[\w-]{16,32}\.[\w-]{16,64}/},
  {kind: 'google_key', before: 'ya29.', form: /^[\w-]{20,280}/},
  {kind: 'vault_key', before: 'hvs.', form: /^[\w-]{24,280}/},
  {kind: 'doppler_key', before: 'dp.pt.', form: /^[A-Za-z0-9]{40,44}/},
  {kind: 'discord_key', before: '', form: /^[MNO][A-Za-z0-9]{23,25}\.[\w-]{6}\.[\w-]{27,38}/},
  {kind: 'terraform_key', before: '', form: /^[A-Za-z0-9]{14}\.atlasv1\.[\w-]{60,70}/},
]

const LONGEST_JWT = 8192

/** RFC 7519: three parts, or five when encrypted; the first is JSON with an `alg`. */
function jwt({text, work}: ScannedText, start: number, header_end: number): PiiFinding | undefined {
  if (isWordAt(text, start - 1) || header_end - start > 2048) return undefined
  let end = header_end
  let parts = 1
  while (text[end] === '.' && parts < 5 && end - start < LONGEST_JWT) {
    let next = end + 1
    while (next < text.length && next - start < LONGEST_JWT && isBase64Url(text.charCodeAt(next))) next++
    if (next === end + 1) break
    end = next
    parts++
  }
  work.spend(end - start)
  if (parts < 3) return undefined
  const header = Buffer.from(text.slice(start, header_end), 'base64url').toString('latin1')
  return /"alg"\s*:/.test(header) ? {class: 'api_key', kind: 'jwt', start, end, certainty: SURE.proven} : undefined
}

function isBase64Url(code: number): boolean {
  return (code > 47 && code < 58) || (code > 64 && code < 91) || (code > 96 && code < 123) || code === 45 || code === 95
}

/**
 * A bot's number, a colon, and 35 characters that begin with AA. `bot` may come right before, as in the address of the
 * service.
 */
function telegram({text}: ScannedText, start: number, end: number): PiiFinding | undefined {
  if (end - start !== 35 || !text.startsWith('AA', start) || text[start - 1] !== ':') return undefined
  let from = start - 1
  while (from > 0 && start - from <= 11 && isDigitAt(text, from - 1)) from--
  const digits = start - 1 - from
  if (digits < 8 || digits > 10 || (isWordAt(text, from - 1) && text.slice(from - 3, from) !== 'bot')) return undefined
  return {class: 'api_key', kind: 'telegram', start: from, end, certainty: SURE.proven}
}

const BEGIN = '-----BEGIN '
const END = '-----END '
const MIN_BODY = 40

/**
 * RFC 7468 and OpenPGP blocks of private keys. One without an end (cut off) reaches as far as its text looks like a
 * key.
 */
function* privateKeys({text, work}: ScannedText): Generator<PiiFinding | undefined> {
  for (let start = text.indexOf(BEGIN); start >= 0; ) {
    const next = text.indexOf(BEGIN, start + BEGIN.length)
    const limit = next < 0 ? text.length : next
    work.spend(limit - start)
    const label = /^-----BEGIN ([A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?)-----/.exec(text.slice(start, start + 90))
    if (label) {
      const body = start + label[0].length
      const close = `${END}${label[1]}-----`
      const section = text.slice(body, limit)
      const closed = section.indexOf(close)
      const inner = closed < 0 ? bodyOf(section) : section.slice(0, closed)
      const end = closed < 0 ? body + inner.length : body + closed + close.length
      if (keySigns(inner) >= MIN_BODY) yield {class: 'api_key', kind: 'private_key', start, end, certainty: SURE.proven}
    }
    start = next
    yield undefined
  }
}

function keySigns(body: string): number {
  return body.replace(/\\[nr]|[^A-Za-z0-9+/]/g, '').length
}

function bodyOf(section: string): string {
  return /^[A-Za-z0-9+/=\\\r\n]*/.exec(section.slice(0, 16_384))![0].trimEnd()
}
