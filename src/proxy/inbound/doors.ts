import type {IncomingMessage} from 'node:http'
import {Refusal} from '../../base/errors.ts'

/**
 * Paths at the root that vendors' own clients send, and that lead to the data plane (decisions: root paths): Azure and
 * Groq below `/openai`, Google by its versions and for what goes up and down, Ollama below `/api`, Cohere's second
 * version.
 */
const ROOT_DOORS = [
  /^\/openai\/(?:v1|deployments)\//,
  /^\/v1(?:beta1?|alpha)\//,
  /^\/(?:upload|download)\/v1(?:beta1?|alpha)?\//,
  /^\/api\/(?:chat|generate|embed|embeddings|tags|show|ps|version)\/?$/,
  /^\/v2\/(?:chat|embed|rerank)\/?$/,
] as const

/** The same as patterns of Fastify's router. */
export const ROOT_PATTERNS = [
  '/openai/v1/*',
  '/openai/deployments/*',
  '/v1beta/*',
  '/v1beta1/*',
  '/v1alpha/*',
  '/upload/*',
  '/download/*',
  '/api/*',
  '/v2/*',
] as const

/**
 * True for a request of Anthropic's clients: where a path is of our administration too (`/deployments`), theirs is
 * meant.
 */
export function isOfAnthropicClient({headers, url = ''}: Pick<IncomingMessage, 'headers' | 'url'>): boolean {
  return headers['anthropic-version'] !== undefined && url.startsWith('/v1/')
}

/** True for a path that Anthropic's clients and others share, where the request is of the former. */
export function isSharedPath(path: string, headers: IncomingMessage['headers']): boolean {
  return headers['anthropic-version'] !== undefined && SHARED.test(path)
}

const SHARED =
  /^\/(?:files|models|skills|complete|agents|deployments|deployment_runs|environments|memory_stores|sessions|tunnels|user_profiles|vaults)(?:\/|$)/

/** True for a path of the root that is a vendor's own. */
export function isRootDoor(path: string): boolean {
  return ROOT_DOORS.some(door => door.test(path))
}

/** The path below `/v1` that a request line means; its `/v1` may be missing where the path is a vendor's own. */
export function pathBelow(whole: string): string {
  if (whole.startsWith('/v1/') || whole === '/v1') return whole.slice('/v1'.length)
  if (isRootDoor(whole)) return whole
  throw new Refusal('route.unknown', {path: whole})
}

/** The same of a request line that was refused as it was read. */
export function unreadPath(url = ''): string {
  const whole = url.split('?', 1)[0]!
  return isRootDoor(whole) ? whole : whole.slice('/v1'.length)
}

/**
 * The prefix that clients put before OpenAI's paths when their base has one of its own: a repeated one has no meaning.
 */
const REPEATED = /^(?:\/openai\/v1|\/v1)+(?=\/)/

/**
 * The path without what repeats the base, without the second slash of a base that ends in one, and without a slash at
 * its end.
 */
export function plainPath(path: string): string {
  return path
    .replace(/^\/{2,}/, '/')
    .replace(REPEATED, '')
    .replace(/(?<=.)\/+$/, '')
}

/** A path that is written in Google's words, whose clients read errors of Google's shape. */
export function isGooglePath(path: string): boolean {
  return (
    /^\/(?:(?:upload|download)\/v1(?:beta1?|alpha)?|v1(?:beta1?|alpha))\//.test(path) ||
    /:[a-z]\w*(?:Content|Contents|Tokens)$/i.test(path)
  )
}

export interface PathSlug {
  readonly slug: string
  /** The path with the model's own name alone. */
  readonly path: string
}

const AT = '(?:@|%40)'
const SLASH = '(?:/|%2F)'
const SLUGGED = new RegExp(
  `^((?:/[^/]+)*?/(?:models|model|tunedModels|deployments|engines)/)${AT}([^/%:]+)${SLASH}(?=[^/])`,
  'i',
)

/**
 * The provider that a path names before its model (`/models/@slug/gemini-2.5-pro:generateContent`); null where it names
 * none.
 */
export function slugInPath(path: string): PathSlug | null {
  const found = SLUGGED.exec(path)
  return found && {slug: found[2]!, path: found[1]! + path.slice(found[0].length)}
}
