import {Agent, type Dispatcher, request} from 'undici'
import {EgressFault, refusalOf} from '../base/egress/faults.ts'
import type {Egress} from '../base/egress/pools.ts'
import {version} from '../base/runtime.ts'
import {ManagerFault} from './manager-fault.ts'
import type {ManagerFetch, ManagerReply, ManagerRequest} from './services.ts'

const PATIENCE_MS = 5_000
const METADATA_PATIENCE_MS = 2_000
const METADATA_CONNECT_MS = 1_000
/** Secrets of managers are shorter by far. */
const MAX_BYTES = 1 << 20

/** Metadata services: what may be called there, by this module alone. */
const METADATA: ReadonlySet<string> = new Set(['169.254.169.254', '[fd00:ec2::254]'])
const METADATA_PATHS: Readonly<Record<string, RegExp>> = {
  PUT: /^\/latest\/api\/token$/,
  GET: /^\/(?:latest\/meta-data\/iam\/security-credentials\/[\w+=,.@-]{0,64}|metadata\/identity\/oauth2\/token)$/,
}
/** Of containers: called at the one address that the platform has set. */
const PLATFORMS: ReadonlySet<string> = new Set(['169.254.170.2', '169.254.170.23', '[fd00:ec2::23]'])

export interface FetchParts {
  /** Its trusted hosts are those that managers may be at. */
  readonly egress: Pick<Egress, 'destination' | 'pool'>
  /** Origins that the settings name: they may be private. */
  readonly named: ReadonlySet<string>
  /** The address at which the platform serves credentials of this container; null where there is none. */
  readonly container_url: string | null
}

/** The way to managers through the egress wall, and to the metadata services of this machine beside it. */
export function managerFetch(parts: FetchParts): ManagerFetch & {close(): Promise<void>} {
  const metadata = new Agent({connect: {timeout: METADATA_CONNECT_MS}})
  const fetch = async (outgoing: ManagerRequest): Promise<ManagerReply> => {
    const url = new URL(outgoing.url)
    const is_metadata = METADATA.has(url.hostname) || PLATFORMS.has(url.hostname)
    try {
      const dispatcher = is_metadata ? metadataAgent(metadata, outgoing, parts) : wallOf(url, parts)
      return await replyTo(outgoing, dispatcher, is_metadata ? METADATA_PATIENCE_MS : PATIENCE_MS)
    } catch (fault) {
      throw faultOf(fault, url.hostname)
    }
  }
  return Object.assign(fetch, {close: () => metadata.destroy()})
}

function metadataAgent(agent: Agent, {method, url}: ManagerRequest, {container_url}: FetchParts): Agent {
  const {hostname, pathname, port} = new URL(url)
  const is_known = METADATA.has(hostname)
    ? port === '' && METADATA_PATHS[method]?.test(pathname) === true
    : method === 'GET' && url === container_url
  if (!is_known) throw new ManagerFault('unusable', 'A metadata service is not called at this address')
  return agent
}

function wallOf({origin, hostname}: URL, {egress, named}: FetchParts): Dispatcher {
  const host = hostname.replace(/^\[(.*)\]$/, '$1')
  const asker = named.has(origin) ? ({kind: 'integration', id: 'settings', host} as const) : ({kind: 'caller'} as const)
  return egress.pool(egress.destination(origin, asker))
}

async function replyTo(outgoing: ManagerRequest, dispatcher: Dispatcher, patience_ms: number): Promise<ManagerReply> {
  const {method, url, headers, body} = outgoing
  const reply = await request(url, {
    method,
    headers: {'user-agent': `gateway/${version}`, ...headers, 'accept-encoding': 'identity'},
    body: body ?? null,
    dispatcher,
    signal: AbortSignal.timeout(patience_ms),
  })
  const parts: Buffer[] = []
  let length_bytes = 0
  for await (const part of reply.body) {
    parts.push(part as Buffer)
    length_bytes += (part as Buffer).length
    if (length_bytes > MAX_BYTES) throw new ManagerFault('unusable', 'The answer of the manager is longer than 1 MB')
  }
  const fields = Object.entries(reply.headers).map(([name, value]) => [name, [value].flat()[0]] as const)
  return {
    status: reply.statusCode,
    headers: Object.fromEntries(fields),
    body: Buffer.concat(parts).toString('utf8'),
  }
}

/** Sentences of ours, with the host at most: what a library says may quote what was sent. */
function faultOf(fault: unknown, host: string): ManagerFault {
  if (fault instanceof ManagerFault) return fault
  const cause = {cause: fault}
  if (fault instanceof EgressFault && fault.kind !== 'blocked')
    return new ManagerFault('unreachable', `${host} cannot be reached: ${fault.reason}`, cause)
  if (fault instanceof Error && (fault.name === 'TimeoutError' || fault.name === 'AbortError'))
    return new ManagerFault('unreachable', `${host} did not answer in time`, cause)
  const {code, details} = refusalOf(fault as Error, '')
  if (code === 'host.blocked')
    return new ManagerFault(
      'unreachable',
      `${host} may not be called: ${String(details.reason).replace('TRUSTED_CUSTOM_HOSTS', 'SECRET_MANAGER_HOSTS')}`,
      cause,
    )
  return new ManagerFault('unreachable', `The connection with ${host} broke`, cause)
}
