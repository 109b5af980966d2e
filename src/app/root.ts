import type {FirstRun} from '../admin/first-run.ts'
import type {Log} from '../base/log.ts'
import type {changeable, Settings, SettingsChanges} from '../settings/index.ts'
import type {DataPlaneParts} from './data-plane.ts'
import type {InjectedRequest} from './operator-server.ts'
import type {WarmUpReport} from './warm-up.ts'

export interface AppOptions {
  /**
   * A `server` owns the data directory; an `operator` works beside it: no journal, no workers, no data plane (core rule
   * 3).
   */
  readonly role: 'server' | 'operator'
  readonly log: Log
  /** Adds the provider `@demo`, which answers in this process. */
  readonly demo?: boolean
  /** A ledger that is gone begins again; else its absence refuses the start. */
  readonly accepts_loss?: boolean
  /** The clock of this machine. */
  readonly now?: () => number
  /** A clock that is never set; milliseconds since any moment. */
  readonly steady?: () => number
  readonly ports?: DataPlaneParts['ports']
  /** How long lists and reports wait for PostgreSQL. @default 60000 */
  readonly list_timeout_ms?: number
}

/** A gateway put together: serving, or open for the operator's commands. */
export interface App {
  readonly role: AppOptions['role']
  readonly settings: Settings
  /** Keys of the first run, shown once; undefined on every later one. */
  readonly first_run: FirstRun | undefined
  /** Backups and steps of the migration, in sentences for the operator. */
  readonly notes: readonly string[]
  /** Calls an operation with the operator's rights. */
  inject(request: InjectedRequest): Promise<{readonly status: number; readonly body: unknown}>
  /** Takes connections; says where. */
  listen(): Promise<{readonly url: string /** Of MCP_PORT. */; readonly mcp_url?: string}>
  /** Has the way of a call compiled, in moments without one; resolves when that is done. Only of a server. */
  warmUp?(): Promise<WarmUpReport>
  /** Resolves when the log holds every call that has ended. */
  flushed(): Promise<void>
  /**
   * Has those of these settings hold that may change while it serves. Throws SettingsFault, and nothing has changed
   * then.
   */
  reload(next: Settings): SettingsChanges
  /**
   * Takes no more calls and begins nothing, waits for calls in progress up to DRAIN_TIMEOUT_MS, and ends all
   * connections.
   */
  drain(): Promise<void>
  close(): Promise<void>
}

/** Given to both roots beside the data directory. `stack` closes each part that was opened, the last one first. */
export interface RootParts {
  readonly kept: ReturnType<typeof changeable>
  readonly options: AppOptions
  readonly binding: object | undefined
  readonly stack: AsyncDisposableStack
}
