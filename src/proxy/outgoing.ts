import type {Dispatcher} from 'undici'
import {joinPath} from '../base/egress/path.ts'
import {Refusal} from '../base/errors.ts'
import type {Edits} from '../base/json.ts'
import {offers} from '../providers/clients.ts'
import type {OutgoingHeaders} from '../providers/provider.ts'
import {applyParams} from '../routing/params.ts'
import type {EndpointName} from '../schema/endpoints.ts'
import {type JsonBody, rewritten, wholeOf} from './body.ts'
import type {Call} from './call.ts'
import type {Credentials, Incoming} from './incoming.ts'
import type {ProxyServices} from './services.ts'
import {addClientHeaders, splitModel, type Target} from './target.ts'
import {JSON_TYPE, type Translating, translating, written, writtenText} from './translate.ts'

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
  /** Null where bodies pass as they are. */
  readonly translating: Translating | null
}

const STREAMS_USAGE: ReadonlySet<EndpointName> = new Set(['chatComplete', 'complete'])
/** Endpoints of other clients' words: a provider that has neither them nor chat cannot be asked. */
const TRANSLATED: ReadonlySet<EndpointName> = new Set(['messages', 'messagesCountTokens', 'createModelResponse'])
const WITHOUT_BODY: ReadonlySet<string> = new Set(['GET', 'HEAD'])

/** What leaves for the provider: path, headers and body, each as the client sent it but for what the target changes. */
export function outgoing(call: Call, target: Target, credentials: Credentials, on: ProxyServices): Outgoing {
  const {incoming, body} = call
  const said = 'model' in body && body.model !== null ? splitModel(body.model)[1] : null
  const model = target.model ?? said ?? defaultModel(target)
  const words = translating(call, target, model)
  const is_metered = !words && meters(call, target, on)
  const base = target.destination?.basePath ?? ''
  const headers = headersOf(call, target, credentials, is_metered || words !== null || target.cache !== null, on)
  if (words) Object.assign(headers, {'content-type': JSON_TYPE}, words.request.headers)
  return {
    method: (words?.request.method ?? incoming.method) as Dispatcher.HttpMethod,
    path: joinPath(base, words ? translatedPath(words, target) : pathOf(call, target) + incoming.route.query),
    headers,
    body: words ? written(words.request.body, target.provider.slug) : bodyOf(call, target, model, is_metered),
    model,
    is_metered,
    request_timeout_ms: timeoutOf(incoming) ?? target.request_timeout_ms,
    translating: words,
  }
}

function translatedPath({request, dialect}: Translating, {provider}: Target): string {
  return dialect ? request.path : (provider.paths?.chatComplete ?? request.path)
}

function defaultModel({params}: Target): string | null {
  const model = params.default_params?.model
  return typeof model === 'string' ? splitModel(model)[1] : null
}

/** Offers of the provider's own, or the path as it came. */
function pathOf({incoming: {route, method}, endpoint, is_passthrough}: Call, {provider}: Target): string {
  if (is_passthrough) return route.path
  const has_it = offers(provider, endpoint)
  if (!has_it && (provider.dialect === 'native' || TRANSLATED.has(endpoint)))
    throw new Refusal('endpoint.unsupported', {provider: provider.slug, endpoint: `${method} ${route.path}`})
  return provider.paths?.[endpoint] ?? route.path
}

/** `is_read`: the answer is to be read and written anew, and so comes without an encoding. */
function headersOf(call: Call, target: Target, credentials: Credentials, is_read: boolean, on: ProxyServices): OutgoingHeaders {
  const {incoming, is_passthrough, body} = call
  const {provider} = target
  const service_header = credentials.from === 'own' ? '' : credentials.from
  const headers: OutgoingHeaders = {
    ...provider.headers,
    'user-agent': `gateway/${on.version}`,
    accept: incoming.headers.accept ?? '*/*',
    'accept-encoding': is_read ? 'identity' : String(incoming.headers['accept-encoding'] ?? 'identity'),
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
  // The client's own token is for the one place it calls, never for several of a config.
  const key = target.key ?? (target.option_path === 'config' ? credentials.provider_token : null)
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

function bodyOf({body, incoming}: Call, target: Target, model: string | null, is_metered: boolean): Outgoing['body'] {
  if (body.kind === 'none' || WITHOUT_BODY.has(incoming.method)) return null
  if (body.kind === 'stream') return incoming.request
  const {edits, params} = target
  if (body.kind === 'form' || (!params.default_params && !params.drop_params)) return rewritten(body, model, metered(edits, is_metered))
  if (params.drop_params?.some(path => /[.[]/.test(path))) return reshaped(body, target, model, is_metered)
  const all = new Map<string, string | undefined>()
  for (const [key, value] of Object.entries(params.default_params ?? {})) {
    if (key !== 'model' && !body.members.has(key)) all.set(key, JSON.stringify(value))
  }
  for (const [key, json] of edits ?? []) all.set(key, json)
  for (const path of params.drop_params ?? []) all.set(path, undefined)
  return rewritten(body, all.has('model') ? null : model, metered(all, is_metered))
}

/** What is dropped inside a member is found in the body parsed; members that stay as they are keep their bytes. */
function reshaped(body: JsonBody, {params, provider}: Target, model: string | null, is_metered: boolean): Buffer {
  const before = wholeOf(body)
  const said = applyParams(before, params)
  const changed = new Set([...Object.keys(before), ...Object.keys(said)].filter(key => said[key] !== before[key]))
  const edits = new Map<string, string | undefined>()
  for (const key of changed) edits.set(key, Object.hasOwn(said, key) ? writtenText(said[key], provider.slug) : undefined)
  edits.delete('model')
  return rewritten(body, model, metered(edits, is_metered))
}

const USAGE_ASKED = {include_usage: true}

function metered(edits: Edits | null, is_metered: boolean): Edits | null {
  return is_metered ? new Map([...(edits ?? []), ['stream_options', JSON.stringify(USAGE_ASKED)]]) : edits
}

/** Whether we ask for the usage of a stream ourselves (core rule 18). */
function meters({body, endpoint, admissions, target_admissions}: Call, {provider}: Target, on: ProxyServices): boolean {
  const {stream_usage} = on.settings
  if (stream_usage === 'exact' || body.kind !== 'json' || !body.stream || body.asks_usage) return false
  if (!provider.stream_usage || !STREAMS_USAGE.has(endpoint) || body.members.has('stream_options')) return false
  return stream_usage === 'metered' || admissions.some(each => each.counts_usage) || target_admissions.some(each => each.counts_usage)
}

function timeoutOf({own}: Incoming): number | null {
  const said = own.values['request-timeout']
  if (said === undefined) return null
  if (!/^\d{1,10}$/.test(said) || Number(said) < 1) {
    throw new Refusal('header.invalid', {header: `${own.prefix}-request-timeout`, reason: 'expected whole milliseconds, at least 1'})
  }
  return Number(said)
}
