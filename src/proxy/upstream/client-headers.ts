import {Refusal} from '../../base/errors.ts'
import {writtenHeader} from '../../base/header-values.ts'
import {attemptSpanId} from '../../base/ids.ts'
import {parseJson} from '../../base/json-object.ts'
import {readTracestate, traceparentOf} from '../../base/trace-context.ts'
import {holdsOwnKey} from '../../identity/keys.ts'
import type {OutgoingHeaders, Provider} from '../../providers/provider.ts'
import {HOP_BY_HOP, isOwn, isOwnCookie, NEVER_FORWARDED} from '../../schema/headers.ts'
import type {Work} from '../call/work.ts'
import type {InboundRequest, RequestCredentials} from '../inbound/request.ts'
import type {Uses} from '../services.ts'
import type {Target} from '../targets/target.ts'

type Services = Uses<'settings'>

// The headers of a client's request that are sent to a provider, by every way: unified routes, pass-through, provider
// operations, sessions. Our own keys and cookies are never sent, in no header.

type Keys = Pick<RequestCredentials, 'service_key'>

/**
 * Adds the client's headers that go with a call: what the lists name, and on pass-through all but what is ours or the
 * connection's. What the options of an integration make (an account, a deployment) no client replaces.
 */
export function addClientHeaders(
  sent: OutgoingHeaders,
  {headers, own}: InboundRequest,
  target: Pick<Target, 'forward_headers' | 'managed' | 'options'>,
  provider: Provider,
  ignored: ReadonlySet<string>,
  passthrough: boolean,
): void {
  if (passthrough) {
    const of_connection = namedIn(headers.connection)
    for (const name in headers) {
      const value = headers[name]
      if (
        typeof value !== 'string' ||
        of_connection?.includes(name) ||
        isOwn(name) ||
        HOP_BY_HOP.has(name) ||
        DROPPED.has(name) ||
        ignored.has(name)
      )
        continue
      sent[name] = value
    }
  }
  const listed = own.values['forward-headers']
  for (const name of listed ? headerList(listed, own.prefix) : target.forward_headers) {
    const value = headers[name]
    if (typeof value === 'string' && !NEVER_FORWARDED.has(name)) sent[name] = value
  }
  if (target.managed && provider.headersOf) Object.assign(sent, provider.headersOf(target.options))
}

/** Headers that a `Connection` header names are of the connection alone (RFC 9110, section 7.6.1). */
function namedIn(connection: string | undefined): readonly string[] | undefined {
  return connection === undefined || connection === 'keep-alive' ? undefined : connection.toLowerCase().split(/[\s,]+/)
}

/**
 * On pass-through a client's login is for the gateway, and its cookies are for where it believes to be; a list may name
 * them.
 */
const DROPPED: ReadonlySet<string> = new Set([
  'host',
  'content-length',
  'expect',
  'authorization',
  'x-api-key',
  'api-key',
  'x-goog-api-key',
  'cookie',
  'accept-encoding',
  'content-type',
])

/** The names in a `forward-headers` list: by commas, or a JSON array. It may not name itself. */
export function headerList(text: string, prefix: string): string[] {
  let names = text.split(',')
  if (text.trimStart().startsWith('[')) {
    try {
      names = (parseJson(text) as unknown[]).map(String)
    } catch {
      throw new Refusal('header.invalid', {
        header: `${prefix}-forward-headers`,
        reason: 'it is neither a list by commas nor a JSON array',
      })
    }
  }
  const plain = names.map(name => name.trim().toLowerCase()).filter(Boolean)
  if (plain.some(name => name.endsWith('-forward-headers') && isOwn(name))) {
    throw new Refusal('header.invalid', {header: `${prefix}-forward-headers`, reason: 'it names itself'})
  }
  return plain
}

/** Headers of ours, and of providers' own clients, that go to a provider under its own name. */
const HANDED_ON = [
  ['openai-organization', 'openai-organization'],
  ['openai-project', 'openai-project'],
  ['openai-beta', 'openai-beta'],
  ['anthropic-beta', 'anthropic-beta'],
  ['anthropic-version', 'anthropic-version'],
] as const

/**
 * The trace of a client that sent one goes along, with the span of the attempt as the parent; a `traceparent` that is
 * passed on as it came stays so. `tracestate` leaves with one alone, and within its rules.
 */
export function addTrace(
  sent: OutgoingHeaders,
  {trace, id}: Work,
  attempt: number,
  headers: InboundRequest['headers'],
): void {
  const {w3c, trace_id} = trace
  if (w3c) sent.traceparent ??= traceparentOf(trace_id, attemptSpanId(id, attempt), w3c.is_sampled)
  if (headers.tracestate === undefined) return
  const state = w3c ? (w3c.state ?? '') : readTracestate(headers.tracestate)
  if (sent.traceparent !== undefined && state !== '') sent.tracestate = state
  else delete sent.tracestate
}

/** The version that a client speaks says nothing of a body that was written here. */
const HANDED_ON_TOO = HANDED_ON.filter(([own]) => own !== 'anthropic-version')

/** Adds them. `is_translated`: what is sent was written here. */
export function handOn(sent: OutgoingHeaders, {own, headers}: InboundRequest, is_translated: boolean): void {
  for (const [name, theirs] of is_translated ? HANDED_ON_TOO : HANDED_ON) {
    const ours = own.values[name]
    const value = ours === undefined ? headers[theirs] : writtenHeader(ours)
    if (typeof value === 'string') sent[theirs] = value
  }
}

/**
 * The last look at what leaves: takes out what holds a key of ours, and cookies of ours. What the operator wrote goes
 * as it is (`kept`: the integration's headers), for a provider may be another gateway.
 */
export function withoutOwn(
  sent: OutgoingHeaders,
  kept: Readonly<OutgoingHeaders>,
  keys: Keys,
  services: Services,
): void {
  for (const name in sent) {
    const value = sent[name]
    if (value === undefined || kept[name] === value) continue
    if (value.length < MIN_LENGTH && name !== 'cookie' && !isOwnKeyHeader(name)) continue
    if (name === 'cookie') sent[name] = cookiesOf(value, keys, services)
    if (isOwnKeyHeader(name) || sent[name] === '' || holds(sent[name]!, keys, services)) delete sent[name]
  }
}

/** The same of what a login wrote: the provider's key is the integration's, or else no key of ours. */
export function withoutOwnLogin(
  sent: OutgoingHeaders,
  {managed, key, headers}: Target,
  keys: Keys,
  services: Services,
): void {
  if (key !== null && managed?.key === key) return
  const known = knownTo(keys, services)
  for (const name in sent)
    if (sent[name] !== headers[name] && holdsOwnKey(sent[name]!, known, key !== null)) delete sent[name]
}

/** The query without the members that hold a key of ours; the same text where none does. */
export function leavingQuery(query: string, keys: Keys, services: Services): string {
  if (query.length < MIN_LENGTH) return query
  const members = query.slice(1).split('&')
  const left = members.filter(member => !holds(decoded(member), keys, services))
  if (left.length === members.length) return query
  return left.length ? `?${left.join('&')}` : ''
}

/** The client's headers as checks may see them, which hand some on to services of their own. */
export function headersForChecks({headers, own}: InboundRequest): Record<string, string> {
  const bearer = own.values['api-key'] === undefined ? headers.authorization?.replace(/^bearer\s+/i, '') : undefined
  const known = [own.values['api-key'], bearer]
  const texts: Record<string, string> = {}
  for (const name in headers) {
    const value = headers[name] === undefined ? undefined : String(headers[name])
    if (value !== undefined && !holdsOwnKey(value, known)) texts[name] = value
  }
  return texts
}

/** True when a text holds a key of ours: one that is known, or one in the form of ours. */
export function holds(text: string, keys: Keys, services: Services): boolean {
  return holdsOwnKey(text, knownTo(keys, services))
}

/** Shorter texts hold no key. */
const MIN_LENGTH = 32

function knownTo({service_key}: Keys, {settings}: Services): readonly (string | undefined)[] {
  return [service_key, settings?.bootstrap_admin_key, settings?.bootstrap_workspace_key]
}

function cookiesOf(header: string, keys: Keys, services: Services): string {
  const pairs = header.split(';').map(pair => pair.trim())
  return pairs
    .filter(pair => pair !== '' && !isOwnCookie(pair.split('=', 1)[0]!.trim()) && !holds(decoded(pair), keys, services))
    .join('; ')
}

const isOwnKeyHeader = (name: string) => isOwn(name) && name.endsWith('-api-key')

/** Percent signs that stand for nothing stay. */
function decoded(text: string): string {
  return text.replace(/%[\da-f]{2}/gi, code => String.fromCharCode(Number.parseInt(code.slice(1), 16)))
}
