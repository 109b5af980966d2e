import type {TelemetrySettings} from '../settings/index.ts'
import type {StoreOptions} from '../store/dialect/index.ts'
import type {JournalOwner, Mark} from '../store/journal/index.ts'
import type {ExportStatus, TelemetryReport} from './run.ts'
import type {Generation} from './semconv.ts'

/** A collector's certificates, in PEM. */
export interface TargetTls {
  readonly ca?: string
  readonly cert?: string
  readonly key?: string
}

/** The start data of the thread that sends telemetry. */
export interface TelemetrySetup {
  readonly telemetry: TelemetrySettings
  /** By the name of the export. */
  readonly tls: Readonly<Record<string, TargetTls>>
  readonly generation: Generation
  readonly delay_ms: number
  readonly most_items: number
  readonly metric_interval_ms: number
  readonly spool_bytes: number
  readonly egress: {
    readonly trusted_custom_hosts: readonly string[]
    readonly http_proxy: string | undefined
    readonly https_proxy: string | undefined
    readonly no_proxy: readonly string[]
    readonly upstream_connect_timeout_ms: number
  }
  readonly store_options: StoreOptions
  readonly folder: string
  readonly owner: JournalOwner
  readonly writer: string
  readonly marks: readonly (readonly [string, Mark])[]
}

export type TelemetryOrder =
  /** The database holds everything before `mark`. */
  | {readonly order: 'committed'; readonly mark: Mark}
  /** The disk is full: what waits is passed over, and counted. */
  | {readonly order: 'pass_over'}
  /** Send what can be sent in a second, and end. */
  | {readonly order: 'close'}

export type TelemetryNews =
  /** No export needs what is before `mark`. */
  | {readonly news: 'passed'; readonly mark: Mark}
  | {readonly news: 'status'; readonly exports: readonly ExportStatus[]}
  | {readonly news: 'report'; readonly report: TelemetryReport}
