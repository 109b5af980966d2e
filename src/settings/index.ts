import {readText} from './files.ts'
import type {SettingSources} from './read.ts'
import type {Texts} from './sources.ts'

export type {AuditFormat, AuditSink, FileSink, SyslogSink} from './audit-sinks.ts'
export {type Changeable, changeable, type SettingsChanges} from './change.ts'
export {type DatabaseSettings, databaseSettings} from './database.ts'
export {SettingsFault} from './fault.ts'
export {FLAGS, type FlagName} from './flags.ts'
export {type LogStoreSettings, logStoreSettings} from './log-store.ts'
export {type LokiSettings, lokiSettings} from './loki.ts'
export {type MailSettings, mailSettings} from './mail.ts'
export {type FlagOption, flagOptions} from './options.ts'
export {
  type PrometheusSettings,
  type PushGatewaySettings,
  prometheusSettings,
  pushGatewaySettings,
} from './prometheus.ts'
export {type FileSettings, type Origins, readSettings, type SettingSources, settingsInFile} from './read.ts'
export {type SettingRow, settingRow, settingRows} from './show.ts'
export type {Origin} from './sources.ts'
export type {Name, Settings} from './table.ts'
export {
  type OtlpTarget,
  type TelemetryContent,
  type TelemetryExport,
  type TelemetrySettings,
  type TraceSampling,
  telemetrySettings,
} from './telemetry.ts'
export type {NamedValues} from './telemetry-kinds.ts'

/** The sources of `readSettings` in a running process: the given flags, its environment, its disk. */
export function ofThisProcess(argv: Texts = {}): SettingSources {
  return {argv, env: process.env, readFile: readText}
}
