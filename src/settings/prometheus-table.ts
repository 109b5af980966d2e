import {maskedUrl} from '../base/masked-url.ts'
import {trueFalse, url} from './kinds.ts'
import {basicCredential, buckets, extraLabels, labelKeys} from './prometheus-kinds.ts'
import type {Setting} from './setting.ts'

/** Metrics in the text format of Prometheus (docs/telemetry.md). */
export const PROMETHEUS = {
  ENABLE_PROMETHEUS: {
    ...{kind: trueFalse, fallback: 'true', group: 'Logs and metrics'},
    meaning: 'Serves /metrics; false: 404.',
  },
  PROMETHEUS_INCLUDE_MODEL_LABEL: {
    ...{kind: trueFalse, fallback: 'false', group: 'Logs and metrics'},
    meaning: 'Adds the model as a label; unknown models are one label, other.',
  },
  PROMETHEUS_INCLUDE_CONFIG_NAME_LABEL: {
    ...{kind: trueFalse, fallback: 'false', group: 'Logs and metrics'},
    meaning: 'Adds the name of the config as the label config_name; N/A where none was saved.',
  },
  PROMETHEUS_INCLUDE_API_KEY_NAME_LABEL: {
    ...{kind: trueFalse, fallback: 'false', group: 'Logs and metrics'},
    meaning: 'Adds the name of the API key as the label api_key_name.',
  },
  PROMETHEUS_EXTRA_LABELS: {
    ...{kind: extraLabels, fallback: '', group: 'Logs and metrics'},
    meaning: 'Further labels of the compatible product: apiKeyName, configName, source, payloadSizeRange, app, env.',
  },
  PROMETHEUS_INCLUDE_METADATA_LABELS: {
    ...{kind: trueFalse, fallback: 'false', group: 'Logs and metrics'},
    meaning: 'Adds members of a call’s metadata as labels, those of PROMETHEUS_LABELS_METADATA_ALLOWED_KEYS alone.',
  },
  PROMETHEUS_LABELS_METADATA_ALLOWED_KEYS: {
    ...{kind: labelKeys, fallback: '', group: 'Logs and metrics'},
    meaning: 'Keys of metadata that may be labels; KEY is the label metadata_KEY.',
  },
  PROMETHEUS_HISTOGRAM_BUCKETS: {
    ...{kind: buckets, group: 'Logs and metrics'},
    meaning: 'Bounds of the buckets of times in milliseconds. Unset: from 0.1 to 10,000,000, in 22 steps.',
  },
  PROMETHEUS_HTTP_DURATION_BUCKETS: {
    ...{kind: buckets, group: 'Logs and metrics'},
    meaning: 'Bounds of the buckets of http_request_duration_seconds. Unset: from 0.1 to 3,000, in 19 steps.',
  },
  PROMETHEUS_GC_BUCKETS: {
    ...{kind: buckets, group: 'Logs and metrics'},
    meaning: 'Accepted, and of no effect: there is no histogram of garbage collections.',
  },
  PROMETHEUS_COMPATIBLE_NAMES: {
    ...{kind: trueFalse, fallback: 'false', group: 'Logs and metrics'},
    meaning: 'Also prints the two times whose names begin with the name of the compatible product.',
  },
  PROMETHEUS_PUSH_ENABLED: {
    ...{kind: trueFalse, fallback: 'false', group: 'Logs and metrics'},
    meaning: 'Pushes the page of /metrics to a push gateway every 30 seconds, and once more at the end.',
  },
  PROMETHEUS_GATEWAY_URL: {
    kind: {...url('a URL such as http://pushgateway.example.com:9091', ['http:', 'https:']), show: maskedUrl},
    group: 'Logs and metrics',
    meaning: 'Address of the push gateway; /metrics/job/aggregator/... is added. It may be private.',
  },
  PROMETHEUS_GATEWAY_AUTH: {
    ...{kind: basicCredential, group: 'Logs and metrics', secret: true},
    meaning: 'Credential for it, sent as it is after Basic: base64 of USER:PASSWORD.',
  },
} as const satisfies Readonly<Record<string, Setting>>
