import {randomBytes} from 'node:crypto'
import {hostname} from 'node:os'
import {mcpBase} from '../admin/link-base.ts'
import type {McpPort} from '../admin/services.ts'
import {after} from '../base/delay.ts'
import type {Log} from '../base/log.ts'
import type {Seal} from '../base/seal.ts'
import {McpCredentials} from '../mcp/credentials/credentials.ts'
import type {CredentialServices} from '../mcp/credentials/services.ts'
import {walledFetch} from '../mcp/credentials/walled-fetch.ts'
import type {CredentialsFor} from '../mcp/sync/services.ts'
import {McpSyncs} from '../mcp/sync/syncs.ts'
import type {MappedSecrets} from '../secrets/port.ts'
import type {Settings} from '../settings/index.ts'
import type {Store} from '../store/database.ts'
import {pinMails} from '../workers/mcp-pin-mail.ts'
import {openEgress} from './egress.ts'
import {lettersToSend} from './mail-texts.ts'
import {syncCredential} from './mcp-sync-credential.ts'
import {mcpTokens} from './mcp-tokens.ts'

export interface McpSyncParts {
  readonly settings: Settings
  readonly store: Store
  readonly seal: Seal
  readonly log: Log
  readonly secrets: MappedSecrets
  readonly now: () => number
  readonly steady?: () => number
  /** @default that of the integration, or of the user who is named */
  readonly credentialsFor?: CredentialsFor
  /** An integration's rows are others now, by a sync of this process. */
  readonly changed?: (integration_id: string) => void
}

export interface OpenMcpSyncs {
  readonly syncs: McpSyncs
  readonly port: McpPort
  close(): Promise<void>
}

/** Reads MCP servers in this process, by a way out of its own: syncs take no connection from calls. */
export function openMcpSyncs({settings, store, seal, log, secrets, now, ...parts}: McpSyncParts): OpenMcpSyncs {
  const [egress, stream_egress] = [openEgress(settings), openEgress(settings)]
  const {steady = () => performance.now(), changed} = parts
  const services: CredentialServices = {
    ...{store, seal, log, secrets, wall: now, steady, after, settings, random_bytes: randomBytes},
    fetch: walledFetch({egress, after}),
    base_url: mcpBase({settings}),
  }
  const own = new McpCredentials(services)
  const tokens = mcpTokens(services)
  const {credentialsFor = syncCredential(own, store)} = parts
  const syncs = new McpSyncs({
    ...{store, log, credentialsFor},
    upstream: {egress, stream_egress, steady, wall: now, after},
    random: Math.random,
    holder: `${hostname()}:${process.pid}`,
    interval_ms: settings.mcp_sync_interval_ms,
    audits: settings.audit_logs_enabled,
    alert: pinMails({write: lettersToSend(settings), log}),
    ...(changed && {changed}),
  })
  return {
    syncs,
    port: {
      ...tokens,
      tried: (integration, user_id) => syncs.tried(integration, user_id),
      wake: id => void (settings.mcp_enabled && syncs.wake(id)),
    },
    async close() {
      await Promise.all([syncs.close(), tokens.close()])
      await Promise.all([egress.destroy(), stream_egress.destroy()])
    },
  }
}

/** Tries servers for an operator's command, opened by the first that is tried; what is due a gateway reads. */
export function openMcpTries(parts: McpSyncParts): {readonly port: McpPort; close(): Promise<void>} {
  let open: OpenMcpSyncs | undefined
  const opened = () => {
    open ??= openMcpSyncs(parts)
    return open.port
  }
  return {
    port: {
      tried: (integration, user_id) => opened().tried(integration, user_id),
      givenTokens: (...given) => opened().givenTokens(...given),
      revokeTokens: connection => opened().revokeTokens(connection),
      wake: () => undefined,
    },
    close: async () => open?.close(),
  }
}
