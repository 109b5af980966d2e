import {NOT_IN_HEADER_VALUES} from '../../base/header-values.ts'
import {holdsOwnKey} from '../../identity/keys.ts'
import type {McpForwardHeaders} from '../../schema/mcp-configurations.ts'
import {type HeaderFields, headerValue} from '../wire/header-values.ts'

/** Headers for an upstream; names in small letters. */
export type UpstreamHeaders = Readonly<Record<string, string>>

/** Credentials and identities, as sources and as targets. */
const NEVER: ReadonlySet<string> = new Set([
  ...['cookie', 'set-cookie', 'x-api-key', 'x-gateway-api-key', 'api-key', 'apikey', 'x-auth-token', 'x-access-token'],
  ...['x-user-claims', 'x-user-jwt'],
  // the connection's own
  ...[
    'connection',
    'expect',
    'host',
    'keep-alive',
    'te',
    'trailer',
    'transfer-encoding',
    'upgrade',
    'forwarded',
    'via',
  ],
  ...['http2-settings', 'x-real-ip', 'last-event-id', 'origin', 'date'],
])
/** Of the protocols, of the way here, and of the gateway itself. */
const NEVER_BEGINNING = /^(?:accept|access-control|content|mcp|proxy|sec|x-forwarded|x-gateway|x-portkey)(?:-|$)/
/** They differ in each call, and go upstream in the message. */
const TRACES: ReadonlySet<string> = new Set(['traceparent', 'tracestate', 'baggage'])
/** Tokens of the gateway's own authorization server. */
const OWN_OAUTH = /(?<![\w-])mcp_[a-z]{2,8}_[\w-]{16,}/
/** A name and a password. */
const BASIC = /^\s*basic\s+([\w+/=-]+)\s*$/i
const KEY_HEADERS = ['x-gateway-api-key', 'x-portkey-api-key'] as const
const MOST_BYTES = 65_536

/** True for a name that no client's header goes upstream from, or under. */
function isNever(name: string): boolean {
  return NEVER.has(name) || NEVER_BEGINNING.test(name)
}

/**
 * The credential by which a client was let in: the text of its key header, else that of `Authorization`. Nothing that
 * holds it goes upstream.
 */
export function presentedCredential(client: HeaderFields): string | undefined {
  const [key] = KEY_HEADERS.map(name => headerValue(client, name)).filter(Boolean)
  return key ?? authorizationText(client)
}

/** The text of `Authorization` without its scheme. */
function authorizationText(client: HeaderFields): string | undefined {
  return headerValue(client, 'authorization')?.replace(/^[A-Za-z][\w-]* +/, '') || undefined
}

interface ForwardRules {
  readonly forward: McpForwardHeaders | undefined
  /** Further names that stay here: of the second token and of identities. */
  readonly never: readonly string[]
}

/** The headers of a client that go upstream, by the rules of an integration. */
export function forwardedHeaders(client: HeaderFields, {forward, never}: ForwardRules): UpstreamHeaders {
  if (forward === undefined) return {}
  const [mode, names] = 'mode' in forward ? [forward.mode, forward.headers] : ['allowlist', forward]
  const pairs = names.map(name => (typeof name === 'string' ? {from: name, to: name} : name))
  const wanted = mode === 'allowlist' ? pairs : exceptions(client, pairs)
  const stays = new Set([...never.map(lower), ...namedByConnection(client)])
  const is_let_in_by_key = KEY_HEADERS.some(name => headerValue(client, name))
  const all: Record<string, string> = {}
  let bytes = 0
  for (const pair of wanted) {
    const [from, to] = [lower(pair.from), lower(pair.to)]
    if (isNever(from) || isNever(to) || stays.has(from) || stays.has(to) || to === 'authorization') continue
    if (from === 'authorization' && !is_let_in_by_key) continue
    const value = headerValue(client, from)
    if (value === undefined || value === '' || NOT_IN_HEADER_VALUES.test(value)) continue
    if (holdsCredential(value, client)) continue
    bytes += to.length + value.length
    if (bytes <= MOST_BYTES) all[to] = value
  }
  return all
}

/** All headers of a client but those that are named. A renamed one is named. */
function exceptions(client: HeaderFields, pairs: readonly {readonly from: string}[]) {
  const out = new Set(pairs.map(({from}) => lower(from)))
  return Object.keys(client)
    .map(lower)
    .filter(name => !out.has(name) && !TRACES.has(name) && name !== 'user-agent')
    .map(name => ({from: name, to: name}))
}

function namedByConnection(client: HeaderFields): readonly string[] {
  return (headerValue(client, 'connection') ?? '').split(',').map(name => lower(name.trim()))
}

/** True for a text that holds the credential of this client, or another of this house, plain or as a password. */
export function holdsCredential(value: string, client: HeaderFields): boolean {
  const keys = KEY_HEADERS.map(name => headerValue(client, name)).filter(Boolean)
  const credentials = keys.length > 0 ? keys : [authorizationText(client)]
  const basic = BASIC.exec(value)?.[1]
  const texts = basic === undefined ? [value] : [value, Buffer.from(basic, 'base64').toString('latin1')]
  return texts.some(
    text =>
      OWN_OAUTH.test(text) ||
      holdsOwnKey(text, credentials) ||
      credentials.some(each => each !== undefined && each !== '' && text.includes(each)),
  )
}

/** Headers of an integration, and of a credential, in the order in which they win. */
export interface HeaderSources {
  readonly forwarded: UpstreamHeaders
  readonly custom?: UpstreamHeaders | undefined
  /** The value of `Authorization` that was fetched for this call. */
  readonly authorization?: string | undefined
  readonly passthrough?: UpstreamHeaders | undefined
  readonly identity: UpstreamHeaders
}

/**
 * All of them merged; the later wins, but nothing of the integration takes the place of a fetched credential. Headers
 * of the protocol come above these (`UpstreamHttp`).
 */
export function mergedHeaders({
  forwarded,
  custom,
  authorization,
  passthrough,
  identity,
}: HeaderSources): UpstreamHeaders {
  const all: Record<string, string> = {...forwarded}
  for (const headers of [custom, passthrough])
    for (const [name, value] of Object.entries(headers ?? {})) all[lower(name)] = value
  if (authorization !== undefined) all.authorization = authorization
  for (const [name, value] of Object.entries(identity)) all[lower(name)] = value
  return all
}

function lower(name: string): string {
  return name.toLowerCase()
}
