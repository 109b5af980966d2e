import {joinPath} from '../../base/egress/path.ts'
import {Refusal} from '../../base/errors.ts'
import {writtenHeader} from '../../base/header-values.ts'
import {newSocketKey} from '../../base/websocket/index.ts'
import {loginOf, pathFor, usualHeaders} from '../../providers/base-urls/base-url.ts'
import type {OutgoingHeaders} from '../../providers/provider.ts'
import {UnsupportedInputFault} from '../../providers/translation.ts'
import type {Uses} from '../services.ts'
import {splitModel, type Target} from '../targets/target.ts'
import {addClientHeaders, holds, leavingQuery, withoutOwn, withoutOwnLogin} from '../upstream/client-headers.ts'
import {keyFor, lacksKey} from '../upstream/credentials.ts'
import type {UpgradeRequest} from './upgrade-request.ts'

type Services = Uses<'ignored' | 'settings' | 'version'>

/** The upstream request that opens a session. */
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
  const search = new URLSearchParams(query)
  const named = search.get('model') ?? search.get('deployment')
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
 * Path, query and headers of the upgrade: the client's query with the model under the provider's name for it, the
 * provider's credential, `OpenAI-*` headers, and of the client's own headers those that a list names.
 */
export function opening(target: Target, offer: UpgradeRequest, services: Services): SessionRequest {
  const {incoming, credentials} = offer
  const protocols = offer.protocols.filter(name => !holds(name, credentials, services))
  const model = target.model ?? namedModel(incoming.route.query).model
  const key = newSocketKey()
  return {
    path: joinPath(
      target.destination?.basePath ?? '',
      placeOf(target, leavingQuery(incoming.route.query, credentials, services), model),
    ),
    headers: {
      ...headersOf(target, offer, services),
      'sec-websocket-version': '13',
      'sec-websocket-key': key,
      ...(protocols.length ? {'sec-websocket-protocol': protocols.join(', ')} : {}),
    },
    key,
    model,
  }
}

/** Path and query below the base URL. A model that the client named is in the query without its slug. */
function placeOf({provider, options}: Target, request: string, model: string | null): string {
  const search = new URLSearchParams(request)
  search.delete('deployment')
  if (model === null) search.delete('model')
  try {
    if (model !== null) search.set('model', provider.modelIn?.(model, options) ?? model)
    const query = search.size ? `?${search}` : ''
    const {path} = provider.realtime!
    const reach = {endpoint: 'realtime', path, query, model: model ?? '', is_stream: true} as const
    return pathFor(provider, reach, options)
  } catch (fault) {
    if (fault instanceof UnsupportedInputFault)
      throw new Refusal('body.untranslatable', {provider: provider.slug, reason: fault.message})
    throw fault
  }
}

function headersOf(target: Target, {incoming, credentials}: UpgradeRequest, services: Services): OutgoingHeaders {
  const {provider} = target
  const headers: OutgoingHeaders = {
    ...usualHeaders(provider, target.options),
    'user-agent': `gateway/${services.version}`,
  }
  addClientHeaders(headers, incoming, target, provider, services.ignored, false)
  for (const name of HANDED_ON) {
    const ours = incoming.own.values[name]
    const value = ours === undefined ? incoming.headers[name] : writtenHeader(ours)
    if (typeof value === 'string') headers[name] = value
  }
  Object.assign(headers, target.headers)
  withoutOwn(headers, target.headers, credentials, services)
  for (const name of Object.keys(headers)) if (name.startsWith('sec-websocket-')) delete headers[name]
  const key = keyFor(target, credentials)
  const forwards_own =
    incoming.own.values['forward-headers']?.toLowerCase().includes('authorization') &&
    headers.authorization !== undefined
  if (key === null && !forwards_own && lacksKey(target, provider, credentials))
    throw new Refusal('provider.no_credentials', {provider: target.managed ? `@${target.managed.slug}` : provider.slug})
  if (!forwards_own && !loginOf(provider, target.options)) provider.auth.sign(headers, key, target.options)
  withoutOwnLogin(headers, target, credentials, services)
  return headers
}

/** Headers of ours that go to a provider under its own name. */
const HANDED_ON = ['openai-organization', 'openai-project', 'openai-beta'] as const
