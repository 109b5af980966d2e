import type {Log} from '../../base/log.ts'
import type {MaybePromise} from '../../base/maybe-promise.ts'
import type {PinAlert} from '../../schema/mcp-pins.ts'
import type {Db, Store} from '../../store/database.ts'
import type {McpIntegrationsTable} from '../../store/tables/registry.ts'
import type {HeaderSource, UpstreamServices} from '../upstream/upstream.ts'
import type {ProbeCredential} from '../wire/upstream-era.ts'

/** Sends an alert with the transaction of `db`, or not at all. */
export type AlertPin = (db: Db, alert: PinAlert, now_ms: number) => Promise<void>

/** The way into an upstream, or that a person has to sign in there first. */
export type SyncCredential =
  | {readonly headers: HeaderSource; readonly credential: ProbeCredential}
  | {readonly auth_required: true}

/**
 * The credential with which an integration's server is read: that of the user, where one is named and has a connection,
 * else the integration's own. Has a deadline of its own. A fault is an error of the sync.
 */
export type CredentialsFor = (integration: McpIntegrationsTable, user_id: string | null) => MaybePromise<SyncCredential>

export interface McpSyncServices {
  readonly store: Pick<Store, 'db' | 'write'>
  readonly upstream: UpstreamServices
  readonly credentialsFor: CredentialsFor
  readonly log: Pick<Log, 'info' | 'warn'>
  /** From 0 to 1, without 1. */
  readonly random: () => number
  /** Names this process among those that share the database. */
  readonly holder: string
  readonly interval_ms: number
  /** False: nothing is written into the audit log. */
  readonly audits: boolean
  /** Sends mail of changed definitions, with the transaction that writes them. Absent: none is sent. */
  readonly alert?: AlertPin | undefined
  /** An integration's rows are others now: its clients may hear of it. Of this process's syncs alone. */
  readonly changed?: (integration_id: string) => void
}
