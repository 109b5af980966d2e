/** Documented variables that this version does not have, by area. */
interface Area {
  readonly area: string
  /** The available way to do it. */
  readonly instead?: string
  /** Name → the values that ask for nothing. A `*` in a name stands for any rest. */
  readonly variables: Readonly<Record<string, readonly string[]>>
}

const NONE: readonly string[] = []
const OFF = ['OFF', 'false'] as const

// biome-ignore format: a table is read by its lines
export const NOT_AVAILABLE: readonly Area[] = [
  {area: 'further listeners', variables: {GRPC_PORT: ['8789']}},
  {area: 'a separate control plane', instead: 'one process is gateway and control plane', variables: {
    PRIVATE_DEPLOYMENT: ['ON', 'OFF'], HYBRID_DEPLOYMENT: OFF, MANAGED_DEPLOYMENT: OFF, DISABLE_ORG_CREATION: OFF,
    CONTROL_PANEL_URL: NONE, GATEWAY_BASE_URL: NONE, INTERNAL_GATEWAY_URL: NONE, GATEWAY_CLIENT_AUTH: NONE,
    GATEWAY_CACHE_MODE: ['SELF'], SKIP_DATAPLANE_CONFIG_CHECK: OFF, FETCH_SETTINGS_FROM_FILE: OFF, CONFIG_READER_PATH: NONE,
  }},
  {area: 'a reading replica of the database', variables: {'DB_READER_*': NONE, MYSQL_WRITER_HADR_MODE: OFF}},
  {area: 'the kind of cache store', instead: 'REDIS_URL alone decides: Redis when it is set, memory when not', variables: {CACHE_STORE: ['redis']}},
  {area: 'Redis by parts, as a cluster, or with cloud sign-in', instead: 'REDIS_URL names one server, TLS with rediss://', variables: {
    REDIS_HOST: NONE, REDIS_PORT: ['6379'], REDIS_USERNAME: NONE, REDIS_PASSWORD: NONE, REDIS_TLS_ENABLED: OFF, REDIS_TLS_CERTS: NONE,
    REDIS_MODE: ['standalone'], REDIS_SCALE_READS: NONE, REDIS_CLUSTER_ENDPOINTS: NONE, REDIS_CLUSTER_DISCOVERY_URL: NONE,
    REDIS_CLUSTER_DISCOVERY_AUTH: NONE, REDIS_CLUSTER_DISCOVERY_REFRESH_INTERVAL: NONE, AZURE_REDIS_AUTH_MODE: NONE,
    AZURE_REDIS_MANAGED_CLIENT_ID: NONE, AZURE_REDIS_ENTRA_CLIENT_ID: NONE, AZURE_REDIS_ENTRA_CLIENT_SECRET: NONE, AZURE_REDIS_ENTRA_TENANT_ID: NONE,
    AWS_REDIS_AUTH_MODE: NONE, AWS_REDIS_CLUSTER_NAME: NONE, AWS_REDIS_REGION: NONE, AWS_REDIS_ASSUME_ROLE_ARN: NONE,
    AWS_REDIS_ROLE_EXTERNAL_ID: NONE, GCP_REDIS_AUTH_MODE: NONE, REDIS_WORKERS_URL: NONE, REDIS_WORKERS_HOST: NONE, REDIS_WORKERS_PORT: NONE,
    REDIS_WORKERS_USERNAME: NONE, REDIS_WORKERS_PASSWORD: NONE, REDIS_WORKERS_TLS_ENABLED: OFF, REDIS_WORKERS_AUTH_MODE: NONE,
  }},
  {area: 'MongoDB as the log store', instead: 'LOG_STORE names a store of objects, or local', variables: {
    MONGO_DB_CONNECTION_URL: NONE, MONGO_DATABASE: NONE, MONGO_COLLECTION_NAME: NONE, MONGO_GENERATION_HOOKS_COLLECTION_NAME: NONE,
  }},
  {area: 'buckets for exports and fine-tuning', instead: 'exports are files in the data directory', variables: {
    LOG_EXPORTS_BUCKET: NONE, FINETUNES_BUCKET: NONE, FINETUNES_AWS_ROLE_ARN: NONE,
  }},
  {area: 'an analytics store outside the database', instead: 'analytics are kept in the database', variables: {
    ANALYTICS_STORE: ['control_plane'], ANALYTICS_STORE_ENDPOINT: NONE, ANALYTICS_STORE_PORT: ['8123'], ANALYTICS_STORE_NATIVE_PORT: ['9000'],
    ANALYTICS_STORE_USER: NONE, ANALYTICS_STORE_PASSWORD: NONE, ANALYTICS_STORE_DATABASE: ['default'], ANALYTICS_STORE_TLS: OFF,
    ANALYTICS_LOG_TABLE: ['generations'], ANALYTICS_FEEDBACK_TABLE: ['feedbacks'], ANALYTICS_GENERATION_HOOKS_TABLE: ['generation_hooks'], 'CLICKHOUSE_*': NONE,
  }},
  {area: 'connections without certificate checks', instead: 'NODE_EXTRA_CA_CERTS adds a private authority', variables: {NODE_TLS_REJECT_UNAUTHORIZED: ['1']}},
  {area: 'differences of metrics and exponential histograms', instead: 'metrics are cumulative, with fixed bounds', variables: {
    OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE: ['cumulative'],
    OTEL_EXPORTER_OTLP_METRICS_DEFAULT_HISTOGRAM_AGGREGATION: ['explicit_bucket_histogram'],
  }},
]

/** A documented variable of a later version: the area it belongs to and the values that are accepted all the same. */
export interface UnsupportedSetting {
  readonly area: string
  readonly instead?: string
  readonly harmless: readonly string[]
}

const exact = new Map(
  NOT_AVAILABLE.flatMap(area =>
    Object.entries(area.variables).map(([name, harmless]) => [name, {...area, harmless}] as const),
  ),
)
const open = [...exact]
  .filter(([name]) => name.includes('*'))
  .map(([name, later]) => [new RegExp(`^${name.replace('*', '[A-Z0-9_]+')}$`), later] as const)

/** The entry of `name` (upper case) as a variable of a later version; undefined when it is not one. */
export function unsupportedSetting(name: string): UnsupportedSetting | undefined {
  return exact.get(name) ?? open.find(([pattern]) => pattern.test(name))?.[1]
}
