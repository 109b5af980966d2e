import {createHash} from 'node:crypto'
import {isObject, object, parsed} from '../base/json-object.ts'
import {memberText} from '../base/json-splice.ts'
import type {SecretContent, SecretRead} from './managers/reading.ts'

/** One version of a secret, in the memory of this process alone. */
export interface SecretValue extends SecretContent {
  readonly version: string | null
  readonly fetched_at_ms: number
  /** Until when it is used without question. */
  readonly fresh_until_ms: number
  readonly refresh_at_ms: number
  /** Of the content: two of the same digest are the same secret. */
  readonly digest: string
}

/** The longest that AWS keeps. Vault keeps longer ones, which no provider takes as a credential. */
export const MAX_CONTENT_BYTES = 65_536
const FRESH_MS = 5 * 60_000
/** Refreshed in the background from here on, a little apart for each value. */
const REFRESH_SHARE = 0.8
const JITTER = 0.1

export function secretValue({content, version, lease_ms}: SecretRead, now_ms: number, random: number): SecretValue {
  const fresh_ms = Math.min(FRESH_MS, lease_ms ?? FRESH_MS)
  const digest = createHash('sha256').update(content.kind).update('\0').update(content.text).digest('base64url')
  return {
    ...content,
    version,
    digest,
    fetched_at_ms: now_ms,
    fresh_until_ms: now_ms + fresh_ms,
    refresh_at_ms: now_ms + fresh_ms * (REFRESH_SHARE + random * JITTER),
  }
}

/** Why a key cannot be picked; never with any of the secret. */
export type PickFault = 'no_json' | 'no_key'

/**
 * The part of a secret that a field gets, as the JSON or the text that it is: the member of that name, the one member
 * that there is, or all of it.
 */
export function picked(
  {kind, text: held}: SecretContent,
  key: string | null,
): {readonly value: unknown; readonly text: string} | PickFault {
  const text = held.replace(/^\ufeff/, '')
  if (key === null) return kind === 'text' ? {value: text, text} : wholeOf(text)
  const members = parsed(text)
  if (!isObject(members)) return 'no_json'
  if (!Object.hasOwn(members, key)) return 'no_key'
  return ofMember(members[key], memberText(text, key)!)
}

/** Of one member its value, of several the JSON text. */
function wholeOf(text: string) {
  const members = object(parsed(text))
  const names = Object.keys(members)
  const [only] = names
  return names.length === 1 && only !== undefined
    ? ofMember(members[only], memberText(text, only)!)
    : {value: text, text}
}

/** Numbers keep their digits: their text is used. */
function ofMember(value: unknown, json: string) {
  return {value, text: typeof value === 'string' ? value : json}
}
