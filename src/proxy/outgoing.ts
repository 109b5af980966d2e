import type {Dispatcher} from 'undici'
import {joinPath} from '../base/egress/path.ts'
import {Refusal} from '../base/errors.ts'
import type {OutgoingHeaders} from '../providers/provider.ts'
import type {EndpointName} from '../schema/endpoints.ts'
import {rewritten} from './body.ts'
import type {Call} from './call.ts'
import type {Credentials, Incoming} from './incoming.ts'
import type {ProxyServices} from './services.ts'
import {addClientHeaders, splitModel, type Target} from './target.ts'

/** What leaves for the provider. */
export interface Outgoing {
  readonly method: Dispatcher.HttpMethod
  readonly path: string
  readonly headers: OutgoingHeaders
  readonly body: Dispatcher.DispatchOptions['body']
  readonly model: string | null
  /** True when we asked for usage in the stream, and so take its event out of the answer. */
  readonly is_metered: boolean
  readonly request_timeout_ms: number | null
}

const STREAMS_USAGE: ReadonlySet<EndpointName> = new Set(['chatComplete', 'complete'])
const WITHOUT_BODY: ReadonlySet<string> = new Set(['GET', 'HEAD'])

/** What leaves for the provider: path, headers and body, each as the client sent it but for what the target changes. */
export function outgoing(call: Call, target: Target, credentials: Credentials, on: ProxyServices): Outgoing {
  const {incoming, body} = call
  const {route} = incoming
  const is_metered = meters(call, target, on)
  const said = 'model' in body && body.model !== null ? splitModel(body.model)[1] : null
  const model = target.model ?? said
  return {
    method: incoming.method as Dispatcher.HttpMethod,
    path: joinPath(target.destination?.basePath ?? '', pathOf(call, target) + route.query),
    headers: headersOf(call, target, credentials, is_metered, on),
    body: bodyOf(call, target, model, is_metered),
    model,
    is_metered,
    request_timeout_ms: timeoutOf(incoming) ?? target.request_timeout_ms,
  }
}

/** Offers of the provider's own, or the path as it came. */
function pathOf({incoming: {route}, endpoint, is_passthrough}: Call, {provider}: Target): string {
  if (is_passthrough) return route.path
  const offers = provider.endpoints === 'all' || provider.endpoints.includes(endpoint)
  if (provider.dialect === 'native' && !offers)
    throw new Refusal('provider.needs_dialect', {provider: provider.slug, path: `/v1${route.path}`})
  if (!offers && endpoint === 'createModelResponse') {
    throw new Refusal('endpoint.unsupported', {provider: provider.slug, endpoint: 'POST /responses'})
  }
  return provider.paths?.[endpoint] ?? route.path
}

function headersOf(call: Call, target: Target, credentials: Credentials, is_metered: boolean, on: ProxyServices): OutgoingHeaders {
  const {incoming, is_passthrough, body} = call
  const {provider} = target
  const service_header = credentials.from === 'own' ? '' : credentials.from
  const headers: OutgoingHeaders = {
    ...provider.headers,
    'user-agent': `gateway/${on.version}`,
    accept: incoming.headers.accept ?? '*/*',
    'accept-encoding': is_metered ? 'identity' : String(incoming.headers['accept-encoding'] ?? 'identity'),
  }
  addClientHeaders(headers, incoming, target, service_header, on.ignored, is_passthrough)
  for (const [own, name] of HANDED_ON) {
    const value = incoming.own.values[own] ?? incoming.headers[name]
    if (typeof value === 'string') headers[name] = value
  }
  Object.assign(headers, target.headers)
  const type = incoming.headers['content-type']
  if (type !== undefined && body.kind !== 'none') headers['content-type'] = type
  else if (body.kind === 'json') headers['content-type'] = 'application/json'
  if (body.kind === 'stream' && incoming.headers['content-length'] !== undefined)
    headers['content-length'] = incoming.headers['content-length']
  const key = target.key ?? credentials.provider_token
  const forwards_own =
    incoming.own.values['forward-headers']?.toLowerCase().includes('authorization') && headers.authorization !== undefined
  if (key === null && provider.auth.required && !forwards_own)
    throw new Refusal('provider.no_credentials', {provider: target.managed ? `@${target.managed.slug}` : provider.slug})
  if (!forwards_own) provider.auth.sign(headers, key)
  return headers
}

/** Headers of ours, and of providers' own clients, that a provider is told under its own name. */
const HANDED_ON = [
  ['openai-organization', 'openai-organization'],
  ['openai-project', 'openai-project'],
  ['openai-beta', 'openai-beta'],
  ['anthropic-beta', 'anthropic-beta'],
  ['anthropic-version', 'anthropic-version'],
] as const

function bodyOf({body, incoming}: Call, {edits}: Target, model: string | null, is_metered: boolean): Outgoing['body'] {
  if (body.kind === 'none' || WITHOUT_BODY.has(incoming.method)) return null
  if (body.kind === 'stream') return incoming.request
  if (!is_metered) return rewritten(body, model, edits)
  return rewritten(body, model, new Map([...(edits ?? []), ['stream_options', '{"include_usage":true}']]))
}

/** Whether we ask for the usage of a stream ourselves (core rule 18). */
function meters({body, endpoint, admissions}: Call, {provider}: Target, on: ProxyServices): boolean {
  const {stream_usage} = on.settings
  if (stream_usage === 'exact' || body.kind !== 'json' || !body.stream || body.asks_usage) return false
  if (!provider.stream_usage || !STREAMS_USAGE.has(endpoint) || body.members.has('stream_options')) return false
  return stream_usage === 'metered' || admissions.some(each => each.counts_usage)
}

function timeoutOf({own}: Incoming): number | null {
  const said = own.values['request-timeout']
  if (said === undefined) return null
  if (!/^\d{1,10}$/.test(said) || Number(said) < 1) {
    throw new Refusal('header.invalid', {header: `${own.prefix}-request-timeout`, reason: 'expected whole milliseconds, at least 1'})
  }
  return Number(said)
}
