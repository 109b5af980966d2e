import type {IncomingHttpHeaders} from 'node:http'
import {headerText} from '../base/header-values.ts'
import {parsedObject} from '../base/json-object.ts'

/**
 * Every header of ours, by its name after the prefix: what it carries and what it does.
 * `x-gateway-NAME` and `x-portkey-NAME` are the same header; an answer uses the prefix of its request (decisions:
 * wire). `credential`s never leave for a provider as they came and are masked wherever they are kept.
 */
// biome-ignore format: a table is read by its lines
export const REQUEST_HEADERS = {
  'api-key': {role: 'credential', takes: 'text', does: 'The service key. Without it `Authorization: Bearer` is taken as the service key.'},
  provider: {role: 'route', takes: 'text', does: 'A kind of provider, or `@slug` of a managed provider.'},
  'virtual-key': {role: 'route', takes: 'text', does: 'The slug of a managed provider, in its older spelling.'},
  config: {role: 'route', takes: 'config', does: 'A config as JSON, or the id of a saved one.'},
  'custom-host': {role: 'route', takes: 'url', does: 'Base URL to send the call to, version path included.'},
  'trace-id': {role: 'trace', takes: 'text', does: 'Your id for the call; made when absent.'},
  'span-id': {role: 'trace', takes: 'text', does: 'Id of this call within the trace; made when absent.'},
  'parent-span-id': {role: 'trace', takes: 'text', does: 'The span this one belongs under.'},
  'span-name': {role: 'trace', takes: 'text', does: 'What to call the span.'},
  metadata: {role: 'trace', takes: 'json', does: 'JSON object of strings to filter by; `_user`, `_prompt`, `_organisation`, `_environment` are special.'},
  'cache-namespace': {role: 'behaviour', takes: 'text', does: 'Partitions the cache by this name alone.'},
  'cache-force-refresh': {role: 'behaviour', takes: 'boolean', does: '`true` asks the provider anew and stores the answer.'},
  'request-timeout': {role: 'behaviour', takes: 'milliseconds', does: 'Ends an attempt after this time with 408.'},
  'forward-headers': {role: 'behaviour', takes: 'names', does: 'Names of other headers to hand to the provider unchanged.'},
  'sensitive-headers': {role: 'behaviour', takes: 'names', does: 'Names of headers to mask in the log.'},
  'strict-open-ai-compliance': {role: 'behaviour', takes: 'boolean', does: '`false` lets a provider’s own extras through.'},
  'strict-openai-compliance': {role: 'behaviour', takes: 'boolean', does: 'The same, spelt otherwise.'},
  'refresh-prompt-cache': {role: 'route', takes: 'boolean', does: '`true` reads the prompt from the database, not from what the gateway remembers of it.'},
  'fetch-integrated-models': {role: 'behaviour', takes: 'boolean', does: '`true` lists the models of the integrations that `/models` would otherwise ask one provider for.'},
  debug: {role: 'behaviour', takes: 'boolean', does: '`false` keeps no bodies in the log and caches nothing.'},
  beta: {role: 'behaviour', takes: 'names', does: 'Opt-in features; unknown ones have no effect.'},
  'file-purpose': {role: 'provider', takes: 'text', does: 'Purpose of an uploaded file, where the form does not say it before the file.'},
  'file-upload-size': {role: 'provider', takes: 'text', does: 'Length of an uploaded file in bytes, for providers that must know it first.'},
  'provider-file-name': {role: 'provider', takes: 'text', does: 'Name of an uploaded file at the provider: the key of the object.'},
  'provider-model': {role: 'provider', takes: 'text', does: 'Model whose rows a file or a batch holds, where the body does not name it.'},
  'provider-batch-endpoint': {role: 'provider', takes: 'text', does: 'What the rows of an uploaded file ask for: `/v1/chat/completions`, `/v1/embeddings` or `/v1/completions`.'},
  'openai-organization': {role: 'provider', takes: 'text', does: 'Sent as `OpenAI-Organization`.'},
  'openai-project': {role: 'provider', takes: 'text', does: 'Sent as `OpenAI-Project`.'},
  'openai-beta': {role: 'provider', takes: 'text', does: 'Sent as `OpenAI-Beta`.'},
  'anthropic-beta': {role: 'provider', takes: 'text', does: 'Sent as `anthropic-beta`.'},
  'anthropic-version': {role: 'provider', takes: 'text', does: 'Sent as `anthropic-version`.'},
} as const satisfies Record<string, {role: 'credential' | 'route' | 'trace' | 'behaviour' | 'provider'; takes: string; does: string}>

export type OwnHeader = keyof typeof REQUEST_HEADERS

/** Headers that answers carry, after the prefix. */
// biome-ignore format: a table is read by its lines
export const RESPONSE_HEADERS = {
  'trace-id': 'The trace id that was sent, or the one that was made.',
  'retry-attempt-count': 'Retries made; 0 when the first attempt answered, -1 when all were used up.',
  'cache-status': 'HIT, SEMANTIC HIT, SEMANTIC MISS, MISS, REFRESH or DISABLED.',
  'cache-similarity': 'With SEMANTIC HIT: how similar the prompt is to that whose answer it got, at most 1.0000.',
  'last-used-option-index': 'Which target of the config answered, as a JSON path.',
  provider: 'The kind of provider that answered.',
  'gateway-exception': '`true` when the gateway itself failed.',
  'config-warning': 'What in the config or in a header of ours had no effect.',
  adaptations: 'What of the request the provider got otherwise than it was sent, or not at all.',
  'ratelimit-limit': 'With 429: what the rate limit lets through in a window.',
  'ratelimit-remaining': 'With 429: what is left of it.',
  'ratelimit-reset': 'With 429: seconds until the next window.',
} as const

export type Prefix = 'x-gateway' | 'x-portkey'

/** Our headers of one request, by name after the prefix, and the prefix they came with. */
export interface OwnHeaders {
  readonly prefix: Prefix
  readonly values: Readonly<Partial<Record<string, string>>>
}

/** Picks our headers out of a request's, as text. Where both spellings are sent, `x-gateway-` counts. */
export function ownHeaders(headers: IncomingHttpHeaders): OwnHeaders {
  const values: Record<string, string> = {}
  let prefix: Prefix | undefined
  for (const name in headers) {
    if (name[0] !== 'x' || name[1] !== '-') continue
    const value = headers[name]
    if (typeof value !== 'string') continue
    if (name.startsWith('x-gateway-')) {
      values[name.slice(10)] = headerText(value)
      prefix = 'x-gateway'
    } else if (name.startsWith('x-portkey-')) {
      values[name.slice(10)] ??= headerText(value)
      prefix ??= 'x-portkey'
    }
  }
  return {prefix: prefix ?? 'x-gateway', values}
}

/**
 * The ids of a refusal by header: as every answer has it, and as the SDKs of OpenAI show it with an error.
 */
export function refusalIdHeaders(headers: IncomingHttpHeaders, id: string): Record<string, string> {
  return {[`${ownHeaders(headers).prefix}-trace-id`]: id, 'x-request-id': id}
}

const NOTHING_IGNORED: readonly string[] = []

/**
 * Headers of ours whose values are not what they take, so that they have no effect: a sentence of each for who sent it.
 */
export function ignoredHeaders({prefix, values}: OwnHeaders): readonly string[] {
  let ignored = NOTHING_IGNORED
  for (const name in values) {
    const takes = REQUEST_HEADERS[name as OwnHeader]?.takes
    const expected =
      takes === 'boolean' && !/^\s*(?:true|false)\s*$/i.test(values[name]!)
        ? 'true or false'
        : takes === 'json' && parsedObject(values[name]!) === undefined
          ? 'one JSON object'
          : null
    if (expected) ignored = [...ignored, `${prefix}-${name} has no effect: expected ${expected}`]
  }
  return ignored
}

/** True for headers of ours, in either spelling. */
export function isOwn(name: string): boolean {
  return name.startsWith('x-gateway-') || name.startsWith('x-portkey-')
}

/** True for a cookie of the gateway's own: of its sessions, or of a sign-in in progress. */
export function isOwnCookie(name: string): boolean {
  return /^(?:__(?:Host|Secure)-)?gateway_/i.test(name)
}

/** True for a provider's `set-cookie`, one or several of them, that would put one in the place of ours. */
export function setsOwnCookie(set_cookie: string): boolean {
  return set_cookie.split(',').some(each => isOwnCookie(each.trim()))
}

/** Headers that speak of one connection and never travel on (RFC 9110 §7.6.1). */
export const HOP_BY_HOP: ReadonlySet<string> = new Set([
  'connection',
  'http2-settings',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
])

/** Headers that no list of a client may hand on: they open clouds' metadata services, or are ours to write. */
export const NEVER_FORWARDED: ReadonlySet<string> = new Set([
  ...HOP_BY_HOP,
  'host',
  'content-length',
  'expect',
  'metadata-flavor',
  'x-aws-ec2-metadata-token',
  'x-aws-ec2-metadata-token-ttl-seconds',
  'x-google-metadata-request',
])

/** Headers whose values are never kept, from any sender. */
export const SECRET_HEADERS: ReadonlySet<string> = new Set([
  'authorization',
  'proxy-authorization',
  'x-api-key',
  'api-key',
  'x-goog-api-key',
  'ocp-apim-subscription-key',
  'cookie',
  'set-cookie',
  'x-amz-security-token',
  'x-goog-upload-url',
  'x-goog-upload-control-url',
])
