import {Counter, Gauge, type Registry} from 'prom-client'
import {after} from '../base/delay.ts'
import type {Log} from '../base/log.ts'
import {startWorker} from '../base/runtime.ts'
import type {Settings, TelemetrySettings} from '../settings/index.ts'
import type {Store} from '../store/database.ts'
import type {StoreOptions} from '../store/dialect/index.ts'
import {openExportMarks} from '../store/export-marks.ts'
import type {Mark} from '../store/journal/index.ts'
import {isBefore} from '../telemetry/export/journal-reader.ts'
import {TelemetryLink} from '../telemetry/link.ts'
import type {TargetTls, TelemetrySetup} from '../telemetry/messages.ts'
import type {JournalFollower} from '../workers/retirement.ts'
import {readClientTls} from './client-tls.ts'

/** Telemetry to collectors: a second reader of the journal, in a thread of its own. */
export interface TelemetryWork {
  readonly follower: JournalFollower
  measure(registry: Registry): void
  close(): Promise<void>
}

export interface TelemetryWorkParts {
  readonly telemetry: TelemetrySettings
  readonly settings: Settings
  readonly store: Store
  readonly store_options: StoreOptions
  readonly log: Log
}

const MB = 1024 * 1024
const SEGMENT_MB = 16

/** Refuses (SettingsFault) certificates that cannot be read. The thread begins with the journal. */
export function openTelemetry({telemetry, settings, store, store_options, log}: TelemetryWorkParts): TelemetryWork {
  if (telemetry.is_full_by_default)
    log.warn('spans have the content of calls: EXPERIMENTAL_GEN_AI_OTEL_TRACES_ENABLED is set, OTEL_CONTENT is not')
  const tls = Object.fromEntries(telemetry.exports.map(one => [one.name, tlsOf(one, settings)]))
  const names = telemetry.exports.map(({name}) => name)
  let link: TelemetryLink | undefined
  return {
    follower: {
      async begin({folder, owner, writer, mark, onMoved}) {
        const of = {writer, epoch: owner.epoch}
        const marks = await openExportMarks(store, of, names, mark)
        const setup: TelemetrySetup = {
          ...{telemetry, tls, folder, owner, writer, marks: [...marks]},
          generation: settings.otel_semconv,
          delay_ms: settings.otel_bsp_schedule_delay,
          most_items: settings.otel_bsp_max_export_batch_size,
          metric_interval_ms: settings.otel_metric_export_interval,
          spool_bytes: settings.telemetry_spool_mb * MB,
          egress: {...egressOf(settings)},
          // the thread has SQLite's library from elsewhere
          store_options: store_options.kind === 'sqlite' ? {...store_options, binding: undefined} : store_options,
        }
        link = new TelemetryLink({
          start: () => startWorker('telemetry', setup),
          mark: [...marks.values()].reduce((least, each) => (isBefore(each, least) ? each : least), mark),
          most_segments: Math.ceil(settings.telemetry_spool_mb / SEGMENT_MB) + 1,
          onPassed: onMoved,
          log,
          after,
        })
      },
      committed: mark => link?.committed(mark),
      least: (committed: Mark) => link?.least(committed) ?? committed,
      passOver: () => link?.passOver(),
    },
    measure: registry => telemetryMetrics(registry, () => link?.status() ?? []),
    close: async () => link?.close(),
  }
}

function egressOf({trusted_custom_hosts, http_proxy, https_proxy, no_proxy, upstream_connect_timeout_ms}: Settings) {
  return {trusted_custom_hosts, http_proxy, https_proxy, no_proxy, upstream_connect_timeout_ms}
}

function tlsOf({kind, target}: TelemetrySettings['exports'][number], settings: Settings): TargetTls {
  const file = (word: 'certificate' | 'client_certificate' | 'client_key') => {
    const path = target[word]
    if (path === undefined) return undefined
    const own = kind === 'analytics' ? undefined : (`otel_exporter_otlp_${SIGNALS[kind]}_${word}` as const)
    const name = own && settings[own] === path ? own : `otel_exporter_otlp_${word}`
    return {path, as: name.toUpperCase()}
  }
  const [ca, cert, key] = [file('certificate'), file('client_certificate'), file('client_key')]
  return readClientTls({ca, cert, key, of: 'OTLP'})
}

const SIGNALS = {calls: 'traces', logs: 'logs', metrics: 'metrics'} as const

function telemetryMetrics(registry: Registry, status: () => ReturnType<TelemetryLink['status']>): void {
  new Counter({
    name: 'gateway_telemetry_items_total',
    help: 'Spans and records by what became of them: sent, rejected or refused by a collector, dropped unsent.',
    labelNames: ['export', 'outcome'],
    registers: [registry],
    collect() {
      this.reset()
      for (const {name, sent, rejected, refused, dropped} of status())
        for (const [outcome, count] of Object.entries({sent, rejected, refused, dropped}))
          this.inc({export: name, outcome}, count)
    },
  })
  new Counter({
    name: 'gateway_telemetry_failures_total',
    help: 'Requests to collectors that failed and were made again.',
    labelNames: ['export'],
    registers: [registry],
    collect() {
      this.reset()
      for (const {name, failures} of status()) this.inc({export: name}, failures)
    },
  })
  new Gauge({
    name: 'gateway_telemetry_behind_bytes',
    help: 'Bytes of the journal that wait for a collector.',
    labelNames: ['export'],
    registers: [registry],
    collect() {
      for (const {name, behind_bytes} of status()) this.set({export: name}, behind_bytes)
    },
  })
}
