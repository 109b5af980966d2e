import {findMcpEra} from '../../store/mcp-eras.ts'
import type {McpIntegrationsTable} from '../../store/tables/registry.ts'
import {EraDisprovedFault, SessionLostFault, UnauthorisedFault} from '../upstream/faults.ts'
import {openUpstream} from '../upstream/open.ts'
import type {EraFinding, Hello, McpUpstream, UpstreamPlace} from '../upstream/upstream.ts'
import {McpFault} from '../wire/faults.ts'
import {sentence} from './metadata.ts'
import type {McpSyncServices, SyncCredential} from './services.ts'
import {SYNC_CLIENT, type Walked, walk} from './walk.ts'

/** A look at all that an upstream offers, from its first request to the end of its session. */

export interface SeenServer {
  readonly outcome: 'seen'
  readonly hello: Hello
  /** Null where the known era holds. */
  readonly finding: EraFinding | null
  readonly walked: Walked
}

export interface NotSeenServer {
  readonly outcome: 'failed' | 'auth_required'
  /** A sentence of at most 300 printable characters. */
  readonly error: string
  /** The status of the upstream's answer; null where there was none. */
  readonly status: number | null
}

export type Look = SeenServer | NotSeenServer

/** The whole look, and each of its requests. */
export const LOOK_MS = 30_000
const REQUEST_MS = 15_000

/**
 * Looks at an integration's server, with the credential of a user where one is named. Rejects where the store fails
 * alone: any other fault is an outcome.
 */
export async function look(
  integration: McpIntegrationsTable,
  user_id: string | null,
  services: Pick<McpSyncServices, 'store' | 'upstream' | 'log' | 'credentialsFor'>,
  stop: AbortSignal,
): Promise<Look> {
  let credential: SyncCredential
  try {
    credential = await services.credentialsFor(integration, user_id)
  } catch (fault) {
    services.log.warn({fault, integration: integration.slug}, 'the credential of an MCP server could not be had')
    return failed('its credential could not be had')
  }
  return lookAt(integration, credential, services, stop)
}

async function lookAt(
  integration: McpIntegrationsTable,
  credential: SyncCredential,
  services: Pick<McpSyncServices, 'store' | 'upstream' | 'log'>,
  stop: AbortSignal,
): Promise<Look> {
  if ('auth_required' in credential) return notSignedIn(null)
  const known = (await findMcpEra(services.store.db, integration, services.upstream.wall())) ?? null
  const late = new AbortController()
  const callOff = services.upstream.after(LOOK_MS, () => late.abort())
  const signal = AbortSignal.any([stop, late.signal])
  let upstream: McpUpstream | undefined
  try {
    const options = {...SYNC_CLIENT, credential: credential.credential, known, signal, timeout_ms: REQUEST_MS}
    const opened = await openUpstream(placeOf(integration), credential.headers, options, services.upstream)
    upstream = opened.upstream
    const walked = await walk(upstream, {signal, timeout_ms: REQUEST_MS})
    return {outcome: 'seen', hello: upstream.hello, finding: opened.finding, walked}
  } catch (fault) {
    if (late.signal.aborted) return failed(`it was not read within ${LOOK_MS / 1_000} seconds`)
    if (stop.aborted) return failed('the gateway is shutting down')
    const outcome = outcomeOf(fault, credential.credential)
    if (outcome) return outcome
    services.log.warn({fault, integration: integration.slug}, 'an MCP server could not be read')
    return failed('the gateway failed to read it; its log says why')
  } finally {
    callOff()
    await upstream?.close().catch(() => undefined)
  }
}

/** The place of an integration's server. */
export function placeOf(integration: McpIntegrationsTable): UpstreamPlace {
  const {id, url, transport, slug, workspace_id, trusts_host} = integration
  return {
    url,
    transport,
    asker: trusts_host === 1 ? {kind: 'integration', id, host: new URL(url).hostname} : {kind: 'caller'},
    workspace_id: workspace_id ?? '',
    server: slug,
  }
}

/** The outcome of a fault of the upstream or the way to it; null of one that is ours. */
function outcomeOf(fault: unknown, credential: string): NotSeenServer | null {
  if (fault instanceof UnauthorisedFault) {
    const {status} = fault
    if (credential !== 'standing') return notSignedIn(status)
    return failed(`it refused the credential with status ${status}`, status)
  }
  if (fault instanceof SessionLostFault) return failed('it forgot the session that it began', fault.status)
  if (fault instanceof EraDisprovedFault) return failed(fault.message, fault.status)
  if (fault instanceof McpFault) {
    const reason = String(fault.facts.reason ?? fault.message)
    const status = /\bstatus (\d{3})\b/.exec(reason)?.[1]
    return failed(reason, status === undefined ? null : Number(status))
  }
  return null
}

function notSignedIn(status: number | null): NotSeenServer {
  return {outcome: 'auth_required', error: 'It wants a person to sign in there first.', status}
}

function failed(error: string, status: number | null = null): NotSeenServer {
  return {outcome: 'failed', error: sentence(error), status}
}
