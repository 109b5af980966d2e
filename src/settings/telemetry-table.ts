import {maskedUrl} from '../base/masked-url.ts'
import {milliseconds, numberBetween, path, switched, text, trueFalse, url, whole, word} from './kinds.ts'
import type {Setting} from './setting.ts'
import {otlpHeaders, otlpProtocol, resourceAttributes, SAMPLERS} from './telemetry-kinds.ts'

/** A query may hold a credential. */
const ENDPOINT = {...url('a URL such as http://collector.example.com:4318', ['http:', 'https:']), show: maskedUrl}
const COMPRESSION = word('gzip', 'none')
const EXPORTER = word('otlp', 'none')
const SAMPLER = word(...SAMPLERS)

/** Traces, logs and metrics that are sent to collectors (docs/telemetry.md). */
export const TELEMETRY = {
  OTEL_PUSH_ENABLED: {
    kind: trueFalse,
    fallback: 'false',
    group: 'Telemetry',
    meaning: 'Sends a span with the analytics of each row of the log to OTEL_ENDPOINT.',
  },
  OTEL_ENDPOINT: {
    kind: ENDPOINT,
    group: 'Telemetry',
    meaning: 'Collector of the analytics; /v1/traces is added.',
  },
  EXPERIMENTAL_GEN_AI_OTEL_TRACES_ENABLED: {
    kind: switched,
    fallback: 'false',
    group: 'Telemetry',
    also: ['EXPERIMENTAL_GEN_AI_OTEL_PUSH_ENABLED'],
    meaning:
      'Sends the spans of each call to EXPERIMENTAL_GEN_AI_OTEL_EXPORTER_OTLP_ENDPOINT, as JSON and ' +
      'with content, unless OTEL_CONTENT says less.',
  },
  EXPERIMENTAL_GEN_AI_OTEL_EXPORTER_OTLP_ENDPOINT: {
    kind: ENDPOINT,
    group: 'Telemetry',
    also: ['EXPERIMENTAL_GEN_AI_OTEL_OTLP_ENDPOINT'],
    meaning: 'Collector of these spans; /v1/traces is added.',
  },
  EXPERIMENTAL_GEN_AI_OTEL_EXPORTER_OTLP_HEADERS: {
    kind: otlpHeaders,
    group: 'Telemetry',
    secret: true,
    also: ['EXPERIMENTAL_GEN_AI_OTEL_OTLP_HEADERS'],
    meaning: 'Headers of requests to it.',
  },
  EXPERIMENTAL_GEN_AI_OTEL_RESOURCE_ATTRIBUTES: {
    kind: resourceAttributes,
    group: 'Telemetry',
    meaning: 'Resource attributes of these spans, beside OTEL_RESOURCE_ATTRIBUTES.',
  },
  OTEL_SDK_DISABLED: {
    kind: trueFalse,
    fallback: 'false',
    group: 'Telemetry',
    meaning: 'true: nothing is sent, whatever else is set.',
  },
  OTEL_SERVICE_NAME: {
    kind: text,
    group: 'Telemetry',
    meaning: 'The resource attribute service.name; unset: that of OTEL_RESOURCE_ATTRIBUTES, else ' + 'SERVICE_NAME.',
  },
  OTEL_RESOURCE_ATTRIBUTES: {
    kind: resourceAttributes,
    group: 'Telemetry',
    meaning: 'Resource attributes of all that is sent, such as deployment.environment.name=production.',
  },
  OTEL_SEMCONV: {
    kind: word('1.40', 'latest'),
    fallback: '1.40',
    group: 'Telemetry',
    meaning: 'Generation of the names of attributes and metrics.',
  },
  OTEL_CONTENT: {
    kind: word('none', 'metadata', 'full'),
    group: 'Telemetry',
    meaning:
      'Content in spans of calls. none: no text of a call; metadata: the metadata of the call; full: ' +
      'messages and tools as well. Unset: none, and full for EXPERIMENTAL_GEN_AI_OTEL_TRACES_ENABLED.',
  },
  OTEL_TRACES_SAMPLER: {
    kind: SAMPLER,
    fallback: 'always_on',
    group: 'Telemetry',
    meaning:
      'Calls whose spans are sent: all, none, or the part of traces that OTEL_TRACES_SAMPLER_ARG says. ' +
      'parentbased_: a call with a traceparent goes by its sampled flag.',
  },
  OTEL_TRACES_SAMPLER_ARG: {
    kind: numberBetween(0, 1),
    fallback: '1',
    group: 'Telemetry',
    meaning: 'Part of traces whose spans are sent, for traceidratio and parentbased_traceidratio.',
  },
  OTEL_TRACES_EXPORTER: {
    kind: EXPORTER,
    fallback: 'otlp',
    group: 'Telemetry',
    meaning: 'none: no spans of calls go to the endpoint of OTEL_EXPORTER_OTLP.',
  },
  OTEL_LOGS_EXPORTER: {
    kind: EXPORTER,
    fallback: 'none',
    group: 'Telemetry',
    meaning: 'otlp: a log record of each call is sent.',
  },
  OTEL_METRICS_EXPORTER: {
    kind: EXPORTER,
    fallback: 'none',
    group: 'Telemetry',
    meaning: 'otlp: metrics of calls are sent, which are cumulative.',
  },
  OTEL_METRIC_EXPORT_INTERVAL: {
    kind: whole(1000, 3_600_000, 'milliseconds'),
    fallback: '60000',
    group: 'Telemetry',
    meaning: 'How often metrics are sent.',
  },
  OTEL_BSP_SCHEDULE_DELAY: {
    kind: whole(100, 600_000, 'milliseconds'),
    fallback: '5000',
    group: 'Telemetry',
    meaning: 'Longest wait of a span or a log record for others, before they are sent.',
  },
  OTEL_BSP_MAX_EXPORT_BATCH_SIZE: {
    kind: whole(1, 10_000, 'spans'),
    fallback: '512',
    group: 'Telemetry',
    meaning: 'Most spans in one request.',
  },
  TELEMETRY_SPOOL_MB: {
    kind: whole(1, 65_536, 'megabytes'),
    fallback: '256',
    group: 'Telemetry',
    meaning:
      'How much of the journal may wait for a collector that takes nothing; past it, or after 24 ' +
      'hours, the oldest is passed over and counted.',
  },
  OTEL_EXPORTER_OTLP_ENDPOINT: {
    kind: ENDPOINT,
    group: 'Telemetry',
    meaning: 'Collector of all signals; /v1/traces, /v1/logs or /v1/metrics is added.',
  },
  OTEL_EXPORTER_OTLP_PROTOCOL: {
    kind: otlpProtocol,
    group: 'Telemetry',
    meaning: 'Encoding. Unset: http/json for OTEL_ENDPOINT, else http/protobuf.',
  },
  OTEL_EXPORTER_OTLP_HEADERS: {
    kind: otlpHeaders,
    group: 'Telemetry',
    secret: true,
    meaning: 'Headers of requests to collectors, such as authorization=Bearer%20....',
  },
  OTEL_EXPORTER_OTLP_TIMEOUT: {
    kind: milliseconds,
    fallback: '10000',
    group: 'Telemetry',
    meaning: 'Longest time of one request with all signals.',
  },
  OTEL_EXPORTER_OTLP_COMPRESSION: {
    kind: COMPRESSION,
    fallback: 'gzip',
    group: 'Telemetry',
    meaning: 'Compression of requests with all signals.',
  },
  OTEL_EXPORTER_OTLP_CERTIFICATE: {
    kind: path,
    group: 'Telemetry',
    meaning:
      'PEM file of the authorities that the collector of all signals is checked against. Unset: those ' +
      'that Node.js trusts.',
  },
  OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE: {
    kind: path,
    group: 'Telemetry',
    meaning: 'PEM file of the client certificate for the collector of all signals.',
  },
  OTEL_EXPORTER_OTLP_CLIENT_KEY: {
    kind: path,
    group: 'Telemetry',
    meaning: 'PEM file of the private key of that certificate.',
  },
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: {
    kind: ENDPOINT,
    group: 'Telemetry',
    meaning:
      'Address to which spans of calls are sent as it is; unset: /v1/traces of ' + 'OTEL_EXPORTER_OTLP_ENDPOINT.',
  },
  OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: {
    kind: otlpProtocol,
    group: 'Telemetry',
    meaning: 'Encoding of spans of calls. Unset: as for all signals.',
  },
  OTEL_EXPORTER_OTLP_TRACES_HEADERS: {
    kind: otlpHeaders,
    group: 'Telemetry',
    secret: true,
    meaning: 'Headers of requests with spans of calls. Unset: as for all signals.',
  },
  OTEL_EXPORTER_OTLP_TRACES_TIMEOUT: {
    kind: milliseconds,
    group: 'Telemetry',
    meaning: 'Longest time of one request with spans of calls. Unset: as for all signals.',
  },
  OTEL_EXPORTER_OTLP_TRACES_COMPRESSION: {
    kind: COMPRESSION,
    group: 'Telemetry',
    meaning: 'Compression of requests with spans of calls. Unset: as for all signals.',
  },
  OTEL_EXPORTER_OTLP_TRACES_CERTIFICATE: {
    kind: path,
    group: 'Telemetry',
    meaning:
      'PEM file of the authorities that the collector of spans of calls is checked against. Unset: as ' +
      'for all signals.',
  },
  OTEL_EXPORTER_OTLP_TRACES_CLIENT_CERTIFICATE: {
    kind: path,
    group: 'Telemetry',
    meaning: 'PEM file of the client certificate for the collector of spans of calls. Unset: as for all ' + 'signals.',
  },
  OTEL_EXPORTER_OTLP_TRACES_CLIENT_KEY: {
    kind: path,
    group: 'Telemetry',
    meaning: 'PEM file of the private key of that certificate. Unset: as for all signals.',
  },
  OTEL_EXPORTER_OTLP_LOGS_ENDPOINT: {
    kind: ENDPOINT,
    group: 'Telemetry',
    meaning: 'Address to which log records are sent as it is; unset: /v1/logs of ' + 'OTEL_EXPORTER_OTLP_ENDPOINT.',
  },
  OTEL_EXPORTER_OTLP_LOGS_PROTOCOL: {
    kind: otlpProtocol,
    group: 'Telemetry',
    meaning: 'Encoding of log records. Unset: as for all signals.',
  },
  OTEL_EXPORTER_OTLP_LOGS_HEADERS: {
    kind: otlpHeaders,
    group: 'Telemetry',
    secret: true,
    meaning: 'Headers of requests with log records. Unset: as for all signals.',
  },
  OTEL_EXPORTER_OTLP_LOGS_TIMEOUT: {
    kind: milliseconds,
    group: 'Telemetry',
    meaning: 'Longest time of one request with log records. Unset: as for all signals.',
  },
  OTEL_EXPORTER_OTLP_LOGS_COMPRESSION: {
    kind: COMPRESSION,
    group: 'Telemetry',
    meaning: 'Compression of requests with log records. Unset: as for all signals.',
  },
  OTEL_EXPORTER_OTLP_LOGS_CERTIFICATE: {
    kind: path,
    group: 'Telemetry',
    meaning:
      'PEM file of the authorities that the collector of log records is checked against. Unset: as ' +
      'for all signals.',
  },
  OTEL_EXPORTER_OTLP_LOGS_CLIENT_CERTIFICATE: {
    kind: path,
    group: 'Telemetry',
    meaning: 'PEM file of the client certificate for the collector of log records. Unset: as for all ' + 'signals.',
  },
  OTEL_EXPORTER_OTLP_LOGS_CLIENT_KEY: {
    kind: path,
    group: 'Telemetry',
    meaning: 'PEM file of the private key of that certificate. Unset: as for all signals.',
  },
  OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: {
    kind: ENDPOINT,
    group: 'Telemetry',
    meaning: 'Address to which metrics are sent as it is; unset: /v1/metrics of ' + 'OTEL_EXPORTER_OTLP_ENDPOINT.',
  },
  OTEL_EXPORTER_OTLP_METRICS_PROTOCOL: {
    kind: otlpProtocol,
    group: 'Telemetry',
    meaning: 'Encoding of metrics. Unset: as for all signals.',
  },
  OTEL_EXPORTER_OTLP_METRICS_HEADERS: {
    kind: otlpHeaders,
    group: 'Telemetry',
    secret: true,
    meaning: 'Headers of requests with metrics. Unset: as for all signals.',
  },
  OTEL_EXPORTER_OTLP_METRICS_TIMEOUT: {
    kind: milliseconds,
    group: 'Telemetry',
    meaning: 'Longest time of one request with metrics. Unset: as for all signals.',
  },
  OTEL_EXPORTER_OTLP_METRICS_COMPRESSION: {
    kind: COMPRESSION,
    group: 'Telemetry',
    meaning: 'Compression of requests with metrics. Unset: as for all signals.',
  },
  OTEL_EXPORTER_OTLP_METRICS_CERTIFICATE: {
    kind: path,
    group: 'Telemetry',
    meaning:
      'PEM file of the authorities that the collector of metrics is checked against. Unset: as ' + 'for all signals.',
  },
  OTEL_EXPORTER_OTLP_METRICS_CLIENT_CERTIFICATE: {
    kind: path,
    group: 'Telemetry',
    meaning: 'PEM file of the client certificate for the collector of metrics. Unset: as for all ' + 'signals.',
  },
  OTEL_EXPORTER_OTLP_METRICS_CLIENT_KEY: {
    kind: path,
    group: 'Telemetry',
    meaning: 'PEM file of the private key of that certificate. Unset: as for all signals.',
  },
} as const satisfies Record<string, Setting>
