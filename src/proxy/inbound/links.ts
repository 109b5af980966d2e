import {hash} from 'node:crypto'
import {Refusal} from '../../base/errors.ts'
import {parsedObject} from '../../base/json-object.ts'
import {type Seal, SealFault} from '../../base/seal.ts'
import type {InboundRequest, ReceivedRequest, RequestCredentials} from './request.ts'

// An address of a provider's that its client is to call next becomes one of ours. Its last segment is sealed and holds
// all that the next call needs, so that nothing is kept of it, and any process of this gateway can serve it.

/** The content of a sealed segment. */
export interface Link {
  /** The organisation it was given to. */
  readonly organisation_id: string
  readonly workspace_id: string
  /** SHA-256 of the key: one that was revoked or ran out is known by it. */
  readonly key_hash: string
  readonly principal: {readonly kind: string; readonly id: string}
  /** Null where the call brought credentials of its own. */
  readonly integration_id: string | null
  /** The target of the plan that answered. */
  readonly option_path: string
  readonly selectors: LinkSelectors
  /** SHA-256 of a config that came in a header: it may hold secrets, and comes again. */
  readonly config_hash: string | null
  /** Its target: `https://host[:port]`, and path and query there. */
  readonly origin: string
  readonly target_path: string
  readonly expires_at_ms: number
}

/** Headers of ours that choose where a call goes. */
export type LinkSelectors = Readonly<Partial<Record<(typeof SELECTORS)[number], string>>>

const SELECTORS = ['provider', 'virtual-key', 'config', 'custom-host'] as const
/** The root path of the links, in whose format errors are written. */
const DOOR = '/upload/v1beta/sealed/'
const DOOR_BELOW = /^(?:\/v1)?\/upload\/v1beta\/sealed\/([\w-]+)\/?(?:\?.*)?$/
/** A file that goes up in parts may take that long. */
export const LINK_MS = 48 * 60 * 60 * 1000
/** Proxies on the way take request lines up to 8 KB. */
const MOST_CHARS = 6000
const PLACE = {table: 'links', column: 'segment', row: '', organisation_id: ''} as const

/** The path of ours for a link; null where it would be too long to be one. */
export function sealedPath(link: Link, seal: Pick<Seal, 'close'>): string | null {
  const segment = seal.close(JSON.stringify(link), PLACE).toString('base64url')
  return segment.length > MOST_CHARS ? null : DOOR + segment
}

/** The link that a request calls; null for nearly all. Refuses one that was altered, or is past its time. */
export function linkOf(url: string | undefined, seal: Pick<Seal, 'open'>, now_ms: number): Link | null {
  const segment = url?.includes(DOOR) ? DOOR_BELOW.exec(url)?.[1] : undefined
  if (segment === undefined) return null
  const link = opened(segment, seal)
  if (!link) throw unusable('it is not one that this gateway gave out', AGAIN)
  if (link.expires_at_ms <= now_ms) throw unusable(`it held until ${new Date(link.expires_at_ms).toISOString()}`, AGAIN)
  return link
}

function opened(segment: string, seal: Pick<Seal, 'open'>): Link | null {
  if (segment.length > MOST_CHARS) return null
  try {
    // what opens was written by `sealedPath`
    return (parsedObject(seal.open(Buffer.from(segment, 'base64url'), PLACE)) as Link | undefined) ?? null
  } catch (fault) {
    if (fault instanceof SealFault) return null
    throw fault
  }
}

export function unusable(reason: string, remedy: string): Refusal {
  return new Refusal('link.unusable', {reason, remedy})
}

/** The remedy for an expired link. */
export const AGAIN = 'Begin the upload again.'

/** The request as the link means it: to the place that the first call chose, whatever headers choose now. */
export function followed(incoming: ReceivedRequest, link: Link): ReceivedRequest {
  const {own} = incoming
  const {config} = own.values
  const values = Object.fromEntries(
    Object.entries(own.values).filter(([name]) => !SELECTORS.some(each => each === name)),
  )
  if (link.config_hash !== null && (config === undefined || hash('sha256', config) !== link.config_hash)) {
    throw unusable(
      'the call that began the upload had a config in a header',
      `Send the same ${own.prefix}-config with each part.`,
    )
  }
  const chosen = link.config_hash === null ? link.selectors : {...link.selectors, config: config!}
  return {
    ...incoming,
    route: {endpoint: undefined, path: `${DOOR}***`, query: ''},
    own: {...own, values: {...values, ...chosen}},
  }
}

/** The headers that chose the target of a call, for the link in its reply. */
export function selectorsOf({own}: Pick<InboundRequest, 'own'>): Pick<Link, 'selectors' | 'config_hash'> {
  const selectors: Partial<Record<(typeof SELECTORS)[number], string>> = {}
  for (const name of SELECTORS) if (own.values[name]) selectors[name] = own.values[name]
  const {config, ...others} = selectors
  if (!config?.trimStart().startsWith('{')) return {selectors, config_hash: null}
  return {selectors: others, config_hash: hash('sha256', config)}
}

/** The caller's key where the request shows one, else the key that began the upload: clients send the parts without. */
export function linkCredentials(read: () => RequestCredentials, link: Link): RequestCredentials {
  try {
    return read()
  } catch (fault) {
    if (!(fault instanceof Refusal) || fault.code !== 'key.missing') throw fault
    return {service_key: '', from: 'own', provider_token: null, key_hash: link.key_hash}
  }
}

/** Refuses a caller that the link was not given to. */
export function checkLink(
  {organisation_id, workspace_id, principal}: Link,
  caller: {readonly organisation_id: string; readonly workspace_id: string; readonly kind: string; readonly id: string},
): void {
  const is_same =
    caller.organisation_id === organisation_id &&
    caller.workspace_id === workspace_id &&
    caller.kind === principal.kind &&
    caller.id === principal.id
  if (!is_same) throw unusable('it was given to another key', 'Send the key that began the upload, or none.')
}

/**
 * The address by which the client reached us: the host that it named, and https when we have TLS or a proxy before us
 * reports it. Null for a host that is no name. Only the client reads it, so a false host misleads no other client.
 */
export function ownOrigin({request}: Pick<InboundRequest, 'request'>): string | null {
  const {host} = request.headers
  if (host === undefined || !HOST.test(host)) return null
  const socket = 'socket' in request ? request.socket : null
  const is_secure =
    (socket !== null && 'encrypted' in socket) ||
    /^\s*https\b/i.test(String(request.headers['x-forwarded-proto'] ?? ''))
  return `${is_secure ? 'https' : 'http'}://${host}`
}

const HOST = /^(?:[a-z\d](?:[\w.-]{0,252})|\[[\da-f:.]{2,45}\])(?::\d{1,5})?$/i
