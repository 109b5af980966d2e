import {isUtf8} from 'node:buffer'
import {createHash} from 'node:crypto'
import {Refusal} from '../../base/errors.ts'
import {keyFault} from '../../base/json-keys.ts'
import {own} from '../../base/json-member.ts'
import {MAX_JSON_DEPTH} from '../../base/json-shape.ts'
import {readToken, type Token} from '../../base/jwt/token.ts'

/** A token as it came; nothing of it is believed yet. */
export interface ReadToken extends Token {
  /**
   * SHA-256 of `header.payload`, 64 hex digits. A signature may be spelled or made in several ways, and each of them
   * is the same token to counters.
   */
  readonly counter_id: string
}

const LONGEST_BYTES = 16 * 1024
/** Headers that change how a token is read (RFC 7515 §4.1.11, RFC 7797). */
const REFUSED_HEADERS = ['crit', 'b64'] as const

/**
 * True for what is taken for a token and not for a key: three parts between two dots, the first of which begins as the
 * base64url of `{` does. An operator may choose a key with dots.
 */
export function looksLikeToken(credential: string): boolean {
  if (credential.charCodeAt(0) !== 0x65 /* e */ || (credential[1] !== 'y' && credential[1] !== 'w')) return false
  const first = credential.indexOf('.')
  const second = credential.indexOf('.', first + 1)
  return first > 0 && second > 0 && !credential.includes('.', second + 1)
}

/**
 * Reads a compact token (RFC 7515 §7.1) in its only spelling: counters would take a second one for another
 * token. Refuses with `token.unreadable`.
 */
export function readCredential(text: string): ReadToken {
  if (text.length > LONGEST_BYTES) throw unreadable('it is longer than 16 KB')
  const parts = text.split('.')
  if (parts.length !== 3) throw unreadable('it has not three parts')
  for (const part of parts) {
    if (part === '') throw unreadable('a part of it is empty')
    if (Buffer.from(part, 'base64url').toString('base64url') !== part) throw unreadable('a part of it is no base64url')
  }
  for (const [at, name] of ['header', 'payload'].entries()) checkJson(Buffer.from(parts[at]!, 'base64url'), name)
  const token = readToken(text)
  if (!token) throw unreadable('its header or payload is no JSON object')
  for (const name of REFUSED_HEADERS)
    if (own(token.header, name) !== undefined) throw unreadable(`its header has ${name}, which is not taken`)
  return {...token, counter_id: createHash('sha256').update(token.signed).digest('hex')}
}

/** Two members of one name are read as the one or the other, so that such a token may say two things. */
function checkJson(bytes: Buffer, name: string) {
  if (!isUtf8(bytes)) throw unreadable(`its ${name} is no UTF-8`)
  const fault = keyFault(bytes.toString('utf8'), MAX_JSON_DEPTH)
  if (fault?.kind === 'repeated') throw unreadable(`its ${name} has a member twice`)
  if (fault) throw unreadable(`its ${name} is nested too deep`)
}

function unreadable(reason: string): Refusal {
  return new Refusal('token.unreadable', {reason})
}
