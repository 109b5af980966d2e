import type {Seal} from '../base/seal.ts'
import type {Prices} from '../pricing/local.ts'
import type {Explain} from '../schema/explanations.ts'
import type {OpenReplay} from '../schema/replays.ts'
import type {Settings} from '../settings/index.ts'
import type {FindBodies, FindManyBodies} from '../store/bodies/index.ts'
import type {Store} from '../store/database.ts'
import type {ApiKeyKind} from '../store/tables/identity.ts'

export type ChangedTable = 'workspaces' | 'api_keys' | 'integrations' | 'providers' | 'configs'

/** Who calls the administration: a key, or the operator on the data directory. */
export interface Actor {
  readonly type: 'api_key' | 'operator'
  readonly id: string | null
  readonly kind: ApiKeyKind | 'operator'
  readonly organisation_id: string
  /** Set for workspace keys: they reach this workspace alone. */
  readonly workspace_id: string | null
  readonly user_id: string | null
  readonly scopes: ReadonlySet<string> | 'all'
}

/** What the administration stands on. Narrow on purpose: the composition root gives it. */
export interface AdminServices {
  readonly store: Store
  readonly settings: Settings
  readonly seal: Seal
  /** The prices that calls are charged at; without them the bundled ones and the operator's local files are opened. */
  readonly prices?: Prices
  /** The bodies of log rows. */
  readonly bodies: FindBodies
  /** The same for a page of rows; without it each is looked for. */
  readonly many_bodies?: FindManyBodies
  /** What would become of a call; without the data plane's words nobody can say. */
  readonly explain?: Explain
  /** The same of calls that were made. */
  readonly replay?: OpenReplay
  now(): Date
  /** Announces a committed change, so that cached keys, providers and configs are read again. */
  published(tables: readonly ChangedTable[]): void
  /** Notes a fault of our own, with its cause, under the id that the reply carries. */
  failed?(cause: unknown, where: {readonly operation: string; readonly request_id: string}): void
  /** Waits until the log holds every call that had ended before; for reads that follow a call at once. */
  settled?(): Promise<void>
}
