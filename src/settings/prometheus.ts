import {metadataLabel} from './prometheus-kinds.ts'
import type {Name, Settings} from './table.ts'

/** The labels and the histograms of /metrics, as settings name them. */
export interface PrometheusSettings {
  readonly labels: {
    readonly model: boolean
    readonly config_name: readonly string[]
    readonly key_name: readonly string[]
    readonly metadata: readonly {readonly label: string; readonly key: string}[]
    readonly source: boolean
    readonly payload_size: boolean
    readonly fixed: readonly {readonly label: string; readonly value: string}[]
  }
  /** Undefined: those of the compatible product. */
  readonly http_s?: readonly number[]
  readonly ms?: readonly number[]
  readonly has_compatible_names: boolean
}

export function prometheusSettings(settings: Settings): PrometheusSettings {
  const extra = new Set(settings.prometheus_extra_labels)
  const named = (is_on: boolean, name: string, other: string) => [
    ...(is_on ? [name] : []),
    ...(extra.has(other) ? [other] : []),
  ]
  const {prometheus_http_duration_buckets: http_s, prometheus_histogram_buckets: ms} = settings
  return {
    labels: {
      model: settings.prometheus_include_model_label,
      config_name: named(settings.prometheus_include_config_name_label, 'config_name', 'configName'),
      key_name: named(settings.prometheus_include_api_key_name_label, 'api_key_name', 'apiKeyName'),
      metadata: settings.prometheus_include_metadata_labels
        ? settings.prometheus_labels_metadata_allowed_keys.map(key => ({label: metadataLabel(key), key}))
        : [],
      source: extra.has('source'),
      payload_size: extra.has('payloadSizeRange'),
      fixed: [
        ...(extra.has('app') ? [{label: 'app', value: settings.service_name}] : []),
        ...(extra.has('env') ? [{label: 'env', value: settings.node_env ?? ''}] : []),
      ],
    },
    ...(http_s && {http_s}),
    ...(ms && {ms}),
    has_compatible_names: settings.prometheus_compatible_names,
  }
}

/** A push gateway that the page of metrics is pushed to. It holds a secret: do not print it. */
export interface PushGatewaySettings {
  /** With the names of its group. */
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
}

/** Undefined: nothing is pushed. `instance` names this process among those that push. */
export function pushGatewaySettings(settings: Settings, instance: string): PushGatewaySettings | undefined {
  const {prometheus_push_enabled, prometheus_gateway_url, prometheus_gateway_auth, service_name, node_env} = settings
  if (!prometheus_push_enabled || prometheus_gateway_url === undefined) return undefined
  const url = new URL(prometheus_gateway_url)
  const group = [
    ...['job', 'aggregator'],
    ...groupPart('service_uid', instance),
    ...groupPart('service', service_name),
    ...groupPart('env', node_env ?? ''),
  ]
  url.pathname = `${url.pathname.replace(/\/+$/, '')}/metrics/${group.join('/')}`
  return {
    url: url.href,
    headers: prometheus_gateway_auth === undefined ? {} : {authorization: `Basic ${prometheus_gateway_auth}`},
  }
}

/** A name and a value of a group as its path has them: base64 where no segment of a path holds the value. */
export function groupPart(name: string, value: string): readonly [string, string] {
  if (value === '') return [`${name}@base64`, '=']
  // a URL drops a segment that is a dot, and two dots take the segment before with them
  if (value.includes('/') || value === '.' || value === '..')
    return [`${name}@base64`, Buffer.from(value).toString('base64url')]
  return [name, encodeURIComponent(value)]
}

export function prometheusFaults(settings: Partial<Settings>, given: (name: Name) => boolean): string[] {
  const faults: string[] = []
  if (settings.prometheus_push_enabled && !given('PROMETHEUS_GATEWAY_URL'))
    faults.push('PROMETHEUS_PUSH_ENABLED=true needs PROMETHEUS_GATEWAY_URL: the address of the push gateway.')
  return faults
}
