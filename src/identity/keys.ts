import {hash, randomBytes} from 'node:crypto'
import type {IncomingHttpHeaders} from 'node:http'
import {ownHeaders, type Prefix} from '../schema/headers.ts'

/** A service key in its three forms; only `hash` and `masked` are kept. */
export interface MadeKey {
  /** `gk-` and 32 random bytes in base64url, 43 characters. */
  readonly key: string
  readonly hash: string
  readonly masked: string
}

const PREFIX = 'gk-'
const SESSION_PREFIX = 'gs-'
const INVITE_PREFIX = 'gi-'
const SCIM_PREFIX = 'gd-'
const LEAST = 32

export function makeKey(): MadeKey {
  return formsOf(`${PREFIX}${randomBytes(32).toString('base64url')}`)
}

/**
 * The forms of a key that an operator chose. Throws a RangeError when it is shorter than 32 characters (core rule 22).
 */
export function givenKey(key: string): MadeKey {
  if (key.length < LEAST) throw new RangeError(`A bootstrap key must have at least ${LEAST} characters.`)
  return formsOf(key)
}

/** The token of a session, made like a key. It opens the administration alone. */
export function makeSessionToken(): Pick<MadeKey, 'key' | 'hash'> {
  return formsOf(`${SESSION_PREFIX}${randomBytes(32).toString('base64url')}`)
}

/** The token of a directory. It opens the SCIM protocol alone. */
export function makeScimToken(): MadeKey {
  return formsOf(`${SCIM_PREFIX}${randomBytes(32).toString('base64url')}`)
}

/** The token in the link of an invite. */
export function makeInviteToken(): Pick<MadeKey, 'key' | 'hash'> {
  return formsOf(`${INVITE_PREFIX}${randomBytes(32).toString('base64url')}`)
}

export function isSessionToken(sent: string): boolean {
  return sent.startsWith(SESSION_PREFIX)
}

/** SHA-256 in 64 hex digits. A key has 256 bits of chance, so a slow hash would add nothing. */
export function hashKey(key: string): string {
  return hash('sha256', key)
}

/** Enough to tell keys apart, too little to guess one: `gk-ab…wxyz`. */
export function maskKey(key: string): string {
  const start = key.startsWith(PREFIX) ? PREFIX.length + 2 : 2
  return `${key.slice(0, start)}…${key.slice(-4)}`
}

/**
 * The service key of a request, and the prefix that the request speaks: `x-gateway-api-key`, or else `Authorization:
 * Bearer`.
 */
export function sentKey(headers: IncomingHttpHeaders): {readonly key: string | undefined; readonly prefix: Prefix} {
  const {prefix, values} = ownHeaders(headers)
  return {key: values['api-key']?.trim() || bearer(headers.authorization), prefix}
}

/** Keys, sessions, invites, tokens of directories and of OAuth, as they are made here; not in the midst of a word. */
const MADE_HERE = /(?<![\w-])(?:g[ksid]-|mcp_(?:at|rt|code|secret)_)[\w-]{43}(?![\w-])/
const BASIC = /^\s*basic\s+([\w+/=-]+)\s*$/i

/**
 * True when a text holds one of `known`, or a key in our own form, plain or as a name and a password. `only_known`: the
 * former alone.
 */
export function holdsOwnKey(text: string, known: readonly (string | undefined)[], only_known = false): boolean {
  if (text.length < LEAST) return false
  if (known.some(key => key !== undefined && key.length >= LEAST && text.includes(key))) return true
  if (!only_known && MADE_HERE.test(text)) return true
  const basic = BASIC.exec(text)
  return basic !== null && holdsOwnKey(Buffer.from(basic[1]!, 'base64').toString('latin1'), known, only_known)
}

function bearer(authorization: string | undefined): string | undefined {
  return authorization?.match(/^bearer +(\S+) *$/i)?.[1]
}

function formsOf(key: string): MadeKey {
  return {key, hash: hashKey(key), masked: maskKey(key)}
}
