import type {Asker} from '../../../base/egress/target.ts'
import {keyFault} from '../../../base/json-keys.ts'
import {isList, type JsonObject, own} from '../../../base/json-member.ts'
import {parsedObject} from '../../../base/json-object.ts'
import {MAX_JSON_DEPTH} from '../../../base/json-shape.ts'
import {AuthServerFault} from '../auth-server-fault.ts'
import type {CredentialServices} from '../services.ts'

const LONGEST_URL = 2048
const MOST_LISTED = 200
const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/

/**
 * The first document of these addresses. One that answers 4xx, leads elsewhere or says no JSON is passed over; 5xx, a
 * time-out and a lost connection end the attempt: the next address would say something else than the server means.
 */
export async function firstDocument(
  {fetch}: Pick<CredentialServices, 'fetch'>,
  urls: readonly string[],
  asker: Asker,
): Promise<{readonly url: string; readonly document: JsonObject} | null> {
  for (const url of urls) {
    const {status, text} = await fetch(url, {method: 'GET', headers: {accept: 'application/json'}}, asker)
    if (status >= 500)
      throw new AuthServerFault('silent', `${shownUrl(url)} answered with status ${status}; try again later`)
    const document = status === 200 ? jsonObject(text) : null
    if (document) return {url, document}
  }
  return null
}

/** The object that a text says, in the one reading that it has; null for none. */
export function jsonObject(text: string): JsonObject | null {
  const value = parsedObject(text) as JsonObject | undefined
  return value && !keyFault(text, MAX_JSON_DEPTH) ? value : null
}

/** Addresses of a well-known document: its name goes before the path of `of`. */
export function wellKnown(of: string, name: string): string {
  const {origin, pathname} = new URL(of)
  return `${origin}/.well-known/${name}${pathname === '/' ? '' : pathname.replace(/\/$/, '')}`
}

export function textIn(document: JsonObject, name: string): string | null {
  const value = own(document, name)
  return typeof value === 'string' && value !== '' ? value : null
}

export function textsIn(document: JsonObject, name: string): readonly string[] | null {
  const list = own(document, name)
  if (!isList(list)) return null
  return list.slice(0, MOST_LISTED).filter(each => typeof each === 'string' && each.length <= LONGEST_URL) as string[]
}

/**
 * An address that codes, tokens and secrets are sent to: over TLS, to this machine, or to the host that the integration
 * itself is reached at without TLS. Refuses with `unfit`.
 */
export function secureAddress(text: string, what: string, integration_url: string): string {
  const url = text.length <= LONGEST_URL ? URL.parse(text) : null
  const own_place = URL.parse(integration_url)
  const may_be_plain =
    url?.protocol === 'http:' &&
    (LOOPBACK.test(url.hostname) || (own_place?.protocol === 'http:' && own_place.hostname === url.hostname))
  if (!url || !(url.protocol === 'https:' || may_be_plain) || url.username || url.password || url.hash)
    throw new AuthServerFault('unfit', `${what} is no https URL: ${text.slice(0, 200)}`)
  return url.href
}

/** Without its query, which may hold what is secret. */
export function shownUrl(text: string): string {
  const url = URL.parse(text)
  return url ? `${url.origin}${url.pathname}` : 'an address that is no URL'
}
