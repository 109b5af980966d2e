import {joinPath} from '../../base/egress/path.ts'
import {Refusal} from '../../base/errors.ts'
import {newSocketKey} from '../../base/websocket/index.ts'
import {loginOf, pathFor, usualHeaders} from '../../providers/base-urls/base-url.ts'
import type {OutgoingHeaders} from '../../providers/provider.ts'
import {UnsupportedInput} from '../../providers/translation.ts'
import type {ProxyServices} from '../services.ts'
import {splitModel, type Target} from '../targets/target.ts'
import {addClientHeaders, holds, leavingQuery, withoutOwn, withoutOwnLogin} from '../upstream/client-headers.ts'
import {keyFor, lacksKey} from '../upstream/credentials.ts'
import type {UpgradeRequest} from './upgrade-request.ts'

/** What leaves for the provider to open a session. */
export interface SessionRequest {
  readonly path: string
  readonly headers: OutgoingHeaders
  /** The `Sec-WebSocket-Key` in the headers. */
  readonly key: string
  readonly model: string | null
}

/** After `/v1`, on our side. */
export const PATH = '/realtime'

/** The model that a client names: `?model=`, or `?deployment=` as Azure's clients have it. */
export function namedModel(query: string): {readonly slug: string | null; readonly model: string | null} {
  const said = new URLSearchParams(query)
  const named = said.get('model') ?? said.get('deployment')
  if (!named) return {slug: null, model: null}
  const [slug, model] = splitModel(named)
  return {slug, model}
}

/** Refuses a provider that has no sessions (`endpoint.unsupported`). */
export function checkOffers({provider}: Target): void {
  if (!provider.realtime || provider.transport)
    throw new Refusal('endpoint.unsupported', {provider: provider.slug, endpoint: `GET ${PATH}`})
}

/**
 * Path, query and headers of the upgrade: the client's query with the model under the provider's name for it, the provider's
 * credential, `OpenAI-*` headers, and of the client's own headers those that a list names.
 */
export function opening(target: Target, offer: UpgradeRequest, on: ProxyServices): SessionRequest {
  const {incoming, credentials} = offer
  const protocols = offer.protocols.filter(name => !holds(name, credentials, on))
  const model = target.model ?? namedModel(incoming.route.query).model
  const key = newSocketKey()
  return {
    path: joinPath(target.destination?.basePath ?? '', placeOf(target, leavingQuery(incoming.route.query, credentials, on), model)),
    headers: {
      ...headersOf(target, offer, on),
      'sec-websocket-version': '13',
      'sec-websocket-key': key,
      ...(protocols.length ? {'sec-websocket-protocol': protocols.join(', ')} : {}),
    },
    key,
    model,
  }
}

/** Path and query below the base URL. A model that the client named stands in the query without its slug. */
function placeOf({provider, options}: Target, asked: string, model: string | null): string {
  const said = new URLSearchParams(asked)
  said.delete('deployment')
  if (model === null) said.delete('model')
  try {
    if (model !== null) said.set('model', provider.modelIn?.(model, options) ?? model)
    const query = said.size ? `?${said}` : ''
    const {path} = provider.realtime!
    const reach = {endpoint: 'realtime', path, query, model: model ?? '', is_stream: true} as const
    return pathFor(provider, reach, options)
  } catch (fault) {
    if (fault instanceof UnsupportedInput) throw new Refusal('body.untranslatable', {provider: provider.slug, reason: fault.message})
    throw fault
  }
}

function headersOf(target: Target, {incoming, credentials}: UpgradeRequest, on: ProxyServices): OutgoingHeaders {
  const {provider} = target
  const headers: OutgoingHeaders = {...usualHeaders(provider, target.options), 'user-agent': `gateway/${on.version}`}
  addClientHeaders(headers, incoming, target, on.ignored, false)
  for (const name of HANDED_ON) {
    const value = incoming.own.values[name] ?? incoming.headers[name]
    if (typeof value === 'string') headers[name] = value
  }
  Object.assign(headers, target.headers)
  withoutOwn(headers, target.headers, credentials, on)
  for (const name of Object.keys(headers)) if (name.startsWith('sec-websocket-')) delete headers[name]
  const key = keyFor(target, credentials)
  const forwards_own =
    incoming.own.values['forward-headers']?.toLowerCase().includes('authorization') && headers.authorization !== undefined
  if (key === null && !forwards_own && lacksKey(target, provider, credentials))
    throw new Refusal('provider.no_credentials', {provider: target.managed ? `@${target.managed.slug}` : provider.slug})
  if (!forwards_own && !loginOf(provider, target.options)) provider.auth.sign(headers, key, target.options)
  withoutOwnLogin(headers, target, credentials, on)
  return headers
}

/** Headers of ours that a provider is told under its own name. */
const HANDED_ON = ['openai-organization', 'openai-project', 'openai-beta'] as const
