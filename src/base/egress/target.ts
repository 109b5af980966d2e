import {isIP} from 'node:net'
import {LRUCache} from 'lru-cache'
import {Refusal} from '../errors.ts'
import {judge} from './address.ts'
import {type BaseUrl, readBaseUrl} from './base-url.ts'
import type {HostList} from './hosts.ts'
import {judgeName} from './names.ts'
import {isRiskyPort} from './ports.ts'

/**
 * The author of a base URL. A `caller` is anyone who can send a call. An `integration` made by an owner, an admin or on
 * the command line is trusted for `host` alone, the host it was made with (`hostname` of a BaseUrl); any other host
 * requested in its name counts as a caller's. `builtin` is a row of the catalogue: its host is ours, filled at most
 * with a `hostLabel`.
 */
export type Asker =
  | {readonly kind: 'caller'}
  | {readonly kind: 'builtin'}
  | {readonly kind: 'integration'; readonly id: string; readonly host: string}

/** Why a destination is allowed, which is also how far. `listed`: TRUSTED_CUSTOM_HOSTS names it. */
export type Trust = 'public' | 'listed' | 'integration' | 'builtin'

/** A place that calls may go to. */
export interface Destination {
  /** `https://host[:port]`, the port when it is not the scheme's own. */
  readonly origin: string
  /** Lower case, an IPv6 address without brackets. */
  readonly hostname: string
  readonly port: number
  readonly secure: boolean
  /** Goes before every path; empty, or `/v1` without a slash at its end. */
  readonly basePath: string
  readonly trust: Trust
  /**
   * Calls with the same key may share sockets: the origin, and the trust or the one integration they were opened under.
   */
  readonly key: string
}

/**
 * The place that `text`, a base URL, names for `asker`. Refuses with `host.blocked`: a form that could be read in two
 * ways, a metadata service and a risky port for every asker, and a private host unless it is trusted.
 */
export function readDestination(text: string, asker: Asker, trusted: HostList): Destination {
  const base = readBaseUrl(text)
  const trust = trustOf(base.hostname, asker, trusted)
  judgeBase(base, trust)
  const shown = isIP(base.hostname) === 6 ? `[${base.hostname}]` : base.hostname
  const usual = base.port === (base.secure ? 443 : 80)
  const origin = `${base.secure ? 'https' : 'http'}://${shown}${usual ? '' : `:${base.port}`}`
  const group = trust === 'integration' && asker.kind === 'integration' ? `integration ${asker.id}` : trust
  const {hostname, port, secure, path} = base
  return Object.freeze({origin, hostname, port, secure, basePath: path, trust, key: `${group} ${origin}`})
}

/**
 * `readDestination` with a memory: calls name few hosts, over and over. Refusals are not kept, so that they push
 * nothing out.
 */
export class Destinations {
  readonly #trusted: HostList
  readonly #ofCallers = new LRUCache<string, Destination>({max: 1024})
  readonly #ofOthers = new LRUCache<string, Destination>({max: 4096})

  constructor(trusted: HostList) {
    this.#trusted = trusted
  }

  read(text: string, asker: Asker): Destination {
    const kept = asker.kind === 'caller' ? this.#ofCallers : this.#ofOthers
    const key = asker.kind === 'integration' ? `${asker.id} ${asker.host} ${text}` : text
    const known = kept.get(key)
    if (known) return known
    const destination = readDestination(text, asker, this.#trusted)
    kept.set(key, destination)
    return destination
  }
}

function trustOf(hostname: string, asker: Asker, trusted: HostList): Trust {
  if (asker.kind === 'integration' && asker.host === hostname) return 'integration'
  if (asker.kind === 'builtin') return 'builtin'
  return trusted.names(hostname) ? 'listed' : 'public'
}

function judgeBase({hostname, port}: BaseUrl, trust: Trust): void {
  if (isRiskyPort(port)) refuse(`port ${port} belongs to another protocol`)
  const named = trust === 'listed' || trust === 'integration'
  const verdict = isIP(hostname) ? judge(hostname) : judgeName(hostname)
  if (verdict === 'metadata') refuse('it is a cloud metadata or cluster service')
  if (named) return
  if (verdict === 'private') refuse(`it is a private or reserved address; ${CURE}`)
  if (verdict === 'internal') refuse(`it is a name of a private network; ${CURE}`)
  if (verdict === 'borrowed') refuse(`it is a name that leads to an address of its asker's choice; ${CURE}`)
  if (hostname.includes('_')) refuse('a host takes a-z, 0-9, hyphens and dots')
}

const CURE = 'TRUSTED_CUSTOM_HOSTS can name it'

function refuse(reason: string): never {
  throw new Refusal('host.blocked', {reason})
}
