import type {Name, Settings} from './table.ts'
import type {NamedValues, SamplerName} from './telemetry-kinds.ts'

export type Signal = 'traces' | 'logs' | 'metrics'
export type TelemetryContent = 'none' | 'metadata' | 'full'

/** How a collector is talked to. */
export interface OtlpTarget {
  /** The whole address. */
  readonly url: string
  readonly protocol: 'http/json' | 'http/protobuf'
  readonly headers: NamedValues
  readonly timeout_ms: number
  readonly compression: 'gzip' | 'none'
  /** Paths of PEM files. */
  readonly certificate: string | undefined
  readonly client_certificate: string | undefined
  readonly client_key: string | undefined
}

/** One export: what is sent, and where. */
export interface TelemetryExport {
  /** Its mark in the database is kept under this name. */
  readonly name: 'analytics' | 'calls' | 'calls-2' | 'logs' | 'metrics'
  readonly kind: 'analytics' | 'calls' | 'logs' | 'metrics'
  readonly target: OtlpTarget
  readonly content: TelemetryContent
  readonly resource: NamedValues
  /** Of spans of calls. Absent: all of them are sent. */
  readonly sampler?: TraceSampling
}

/** Which traces are sent. */
export interface TraceSampling {
  readonly name: SamplerName
  /** 0 to 1, for the samplers that take a part. */
  readonly ratio: number
}

export interface TelemetrySettings {
  readonly exports: readonly TelemetryExport[]
  /** True where content is sent because of EXPERIMENTAL_GEN_AI_OTEL_TRACES_ENABLED alone. */
  readonly is_full_by_default: boolean
}

/** The exports to collectors; undefined: there are none. */
export function telemetrySettings(settings: Settings): TelemetrySettings | undefined {
  if (settings.otel_sdk_disabled) return undefined
  const exports = [...analytics(settings), ...calls(settings), ...logs(settings), ...metrics(settings)]
  if (exports.length === 0) return undefined
  const is_full_by_default =
    settings.otel_content === undefined && exports.some(({kind, content}) => kind === 'calls' && content === 'full')
  return {exports, is_full_by_default}
}

function analytics(settings: Settings): TelemetryExport[] {
  const {otel_push_enabled, otel_endpoint} = settings
  if (!otel_push_enabled || otel_endpoint === undefined) return []
  const target = {
    ...common(settings),
    url: under(otel_endpoint, 'traces'),
    protocol: settings.otel_exporter_otlp_protocol ?? 'http/json',
  } as const
  return [{name: 'analytics', kind: 'analytics', target, content: 'none', resource: resourceOf(settings)}]
}

/** Spans of calls go to one or two places; two variables that name the same one make one export. */
function calls(settings: Settings): TelemetryExport[] {
  if (settings.otel_traces_sampler === 'always_off') return []
  const usual = standard('traces', settings)
  const url =
    settings.experimental_gen_ai_otel_traces_enabled && settings.experimental_gen_ai_otel_exporter_otlp_endpoint
  const full = url ? under(url, 'traces') : undefined
  const content = settings.otel_content ?? 'none'
  const sampler = {name: settings.otel_traces_sampler, ratio: settings.otel_traces_sampler_arg}
  const found: TelemetryExport[] = []
  if (full !== undefined) {
    const target: OtlpTarget = {
      ...common(settings),
      url: full,
      protocol: 'http/json',
      headers: settings.experimental_gen_ai_otel_exporter_otlp_headers ?? {},
    }
    const resource = {...resourceOf(settings), ...settings.experimental_gen_ai_otel_resource_attributes}
    found.push({name: 'calls-2', kind: 'calls', target, content: settings.otel_content ?? 'full', resource, sampler})
  }
  if (usual && usual.url !== full)
    found.push({name: 'calls', kind: 'calls', target: usual, content, resource: resourceOf(settings), sampler})
  return found
}

function logs(settings: Settings): TelemetryExport[] {
  const target = standard('logs', settings)
  const content = settings.otel_content ?? 'none'
  return target ? [{name: 'logs', kind: 'logs', target, content, resource: resourceOf(settings)}] : []
}

function metrics(settings: Settings): TelemetryExport[] {
  const target = standard('metrics', settings)
  return target ? [{name: 'metrics', kind: 'metrics', target, content: 'none', resource: resourceOf(settings)}] : []
}

function standard(signal: Signal, settings: Settings): OtlpTarget | undefined {
  if (settings[`otel_${signal}_exporter`] !== 'otlp') return undefined
  const all = settings.otel_exporter_otlp_endpoint
  const own = settings[`otel_exporter_otlp_${signal}_endpoint`]
  const url = own ?? (all === undefined ? undefined : under(all, signal))
  if (url === undefined) return undefined
  const usual = common(settings)
  const or = <K extends keyof OtlpTarget>(key: K, value: OtlpTarget[K] | undefined): OtlpTarget[K] =>
    value ?? usual[key]
  return {
    url,
    protocol: or('protocol', settings[`otel_exporter_otlp_${signal}_protocol`]),
    headers: or('headers', settings[`otel_exporter_otlp_${signal}_headers`]),
    timeout_ms: or('timeout_ms', settings[`otel_exporter_otlp_${signal}_timeout`]),
    compression: or('compression', settings[`otel_exporter_otlp_${signal}_compression`]),
    certificate: or('certificate', settings[`otel_exporter_otlp_${signal}_certificate`]),
    client_certificate: or('client_certificate', settings[`otel_exporter_otlp_${signal}_client_certificate`]),
    client_key: or('client_key', settings[`otel_exporter_otlp_${signal}_client_key`]),
  }
}

function common(settings: Settings): OtlpTarget {
  return {
    url: '',
    protocol: settings.otel_exporter_otlp_protocol ?? 'http/protobuf',
    headers: settings.otel_exporter_otlp_headers ?? {},
    timeout_ms: settings.otel_exporter_otlp_timeout,
    compression: settings.otel_exporter_otlp_compression,
    certificate: settings.otel_exporter_otlp_certificate,
    client_certificate: settings.otel_exporter_otlp_client_certificate,
    client_key: settings.otel_exporter_otlp_client_key,
  }
}

function resourceOf({otel_service_name, otel_resource_attributes, service_name}: Settings): NamedValues {
  const named = otel_resource_attributes ?? {}
  return {...named, 'service.name': otel_service_name ?? named['service.name'] ?? service_name}
}

function under(base: string, signal: Signal): string {
  const url = new URL(base)
  url.pathname = `${url.pathname.replace(/\/+$/, '')}/v1/${signal}`
  return url.href
}

/** Sentences for settings of telemetry that would have no effect, or that lack another. */
export function telemetryFaults(settings: Partial<Settings>, given: (name: Name) => boolean): string[] {
  const wrong: string[] = []
  if (settings.otel_push_enabled && !given('OTEL_ENDPOINT'))
    wrong.push('OTEL_PUSH_ENABLED=true needs OTEL_ENDPOINT: the collector of the analytics.')
  if (settings.experimental_gen_ai_otel_traces_enabled && !given('EXPERIMENTAL_GEN_AI_OTEL_EXPORTER_OTLP_ENDPOINT'))
    wrong.push(
      'EXPERIMENTAL_GEN_AI_OTEL_TRACES_ENABLED=true needs EXPERIMENTAL_GEN_AI_OTEL_EXPORTER_OTLP_ENDPOINT: ' +
        'the collector of the spans.',
    )
  for (const signal of ['LOGS', 'METRICS'] as const) {
    const own = `OTEL_EXPORTER_OTLP_${signal}_ENDPOINT` as const
    const exporter = settings[signal === 'LOGS' ? 'otel_logs_exporter' : 'otel_metrics_exporter']
    if (exporter !== 'otlp' || given('OTEL_EXPORTER_OTLP_ENDPOINT') || given(own)) continue
    wrong.push(`OTEL_${signal}_EXPORTER=otlp needs OTEL_EXPORTER_OTLP_ENDPOINT or ${own}: the collector.`)
  }
  return [...wrong, ...['', 'TRACES_', 'LOGS_', 'METRICS_'].flatMap(signal => pairOf(signal as '', given))]
}

function pairOf(signal: '' | 'TRACES_' | 'LOGS_' | 'METRICS_', given: (name: Name) => boolean): string[] {
  const certificate = `OTEL_EXPORTER_OTLP_${signal}CLIENT_CERTIFICATE` as const
  const key = `OTEL_EXPORTER_OTLP_${signal}CLIENT_KEY` as const
  if (given(certificate) === given(key)) return []
  const [there, missing] = given(certificate) ? [certificate, key] : [key, certificate]
  return [`${there} needs ${missing} as well.`]
}
