import type {Principal} from '../../schema/principal.ts'
import type {LogBodies, Settlement} from '../../schema/records.ts'
import type {Usage} from '../../schema/usage.ts'
import type {RowOfTrace} from '../../store/rows-of-traces.ts'

/** The caller whose spans come, as far as rows name it. */
export interface SpanSender {
  readonly principal: Principal
  readonly organisation_id: string
  readonly workspace_id: string
  readonly user_id: string | null
  readonly metadata: Readonly<Record<string, string>>
  /** False when it wants no bodies kept (`debug: false`). */
  readonly keeps_bodies: boolean
}

/** The cost of reported usage: it is shown, and never in the ledger. */
export interface PricedUsage {
  readonly cost_nanousd: number
  readonly unpriced: boolean
  readonly unpriced_units: readonly string[]
  readonly mode_unpriced: string | null
}

/** The services that take spans. */
export interface IngestPorts {
  /** A row of the log goes to the journal; `done` runs once it outlives the process, or with the fault that kept it. */
  note(row: Settlement, bodies: LogBodies | null, done: (fault?: Error) => void): void
  /** Resolves when the log holds every call that has ended. */
  settled(): Promise<void>
  rowsOfTraces(workspace_id: string, trace_ids: readonly string[]): Promise<readonly RowOfTrace[]>
  cost(provider: string, models: readonly string[], usage: Partial<Usage>, at_ms: number): PricedUsage
  /** Lets others have their turn. */
  pause(): Promise<void>
  now(): number
  readonly log_retention_days: number
  readonly most_body_bytes: number
  /** Names of headers that the settings have masked. */
  readonly masked: ReadonlySet<string>
}
