import type {Name, Settings} from './table.ts'

interface Place {
  /** The bucket or container, without a slash at its end. */
  readonly base_url: string
  readonly timeout_ms: number
  readonly failure_threshold: number
  readonly backoff_ms: number
}

interface Keys {
  readonly access_key_id: string
  readonly secret_access_key: string
}

/**
 * A store of objects as the settings name it: by the words it speaks, not by who runs it. It holds secrets: do not
 * print it.
 */
export type LogStoreSettings = Place &
  (
    | {
        readonly kind: 's3'
        readonly region: string
        readonly keys: Keys | null
        /** To become first, with the keys or the gateway's own identity. */
        readonly role: {readonly role_arn: string; readonly external_id: string | null} | null
        readonly extras: {
          readonly encryption: Settings['sse_encryption_type']
          readonly kms_key_id: string | undefined
          readonly bucket_key: boolean
          readonly context: string | undefined
          readonly customer: {readonly key: string; readonly md5: string | undefined} | undefined
          readonly locks: boolean
        }
      }
    | {readonly kind: 'gcs_assume'}
    | {readonly kind: 'azure'; readonly account: string; readonly key: string | undefined}
  )

/** Cloud Storage takes any region that is signed for. */
const GCS_REGION = 'auto'
/** The region in signatures for stores that know no regions. */
const USUAL_REGION = 'us-east-1'

/** The store that bodies go to; undefined: they stay with the log. */
export function logStoreSettings(settings: Settings): LogStoreSettings | undefined {
  const {log_store: kind} = settings
  if (kind === 'local') return undefined
  const place = {
    base_url: baseUrl(settings),
    timeout_ms: settings.log_store_connection_timeout_ms,
    failure_threshold: settings.log_store_connection_failure_threshold,
    backoff_ms: settings.log_store_connection_backoff_ms,
  }
  if (kind === 'gcs_assume') return {...place, kind}
  if (kind === 'azure')
    return {...place, kind, account: settings.azure_storage_account ?? '', key: settings.azure_storage_key}
  const {
    log_store_access_key: access_key_id,
    log_store_secret_key: secret_access_key,
    log_store_aws_role_arn: role_arn,
  } = settings
  const {kms_encryption_customer_key: customer, kms_encryption_customer_key_md5: md5} = settings
  return {
    ...place,
    kind: 's3',
    region: kind === 'gcs' ? GCS_REGION : (settings.log_store_region ?? USUAL_REGION),
    keys: access_key_id && secret_access_key ? {access_key_id, secret_access_key} : null,
    role: kind === 's3_assume' && role_arn ? {role_arn, external_id: settings.log_store_aws_external_id ?? null} : null,
    extras: {
      encryption: settings.sse_encryption_type,
      kms_key_id: settings.kms_key_id,
      bucket_key: settings.kms_bucket_key_enabled,
      context: settings.kms_encryption_context,
      customer: customer ? {key: customer, md5} : undefined,
      locks: settings.log_store_object_lock_retention_enabled,
    },
  }
}

/** LOG_STORE_BASEPATH may have the bucket's name already, as its first label or its last segment. */
function baseUrl(settings: Settings): string {
  const {log_store: kind, log_store_basepath: base, log_store_region: region, azure_storage_account: account} = settings
  const bucket = kind === 'azure' ? settings.azure_storage_container : settings.log_store_generations_bucket
  if (base !== undefined) {
    const {origin, hostname, pathname} = new URL(base)
    const path = pathname.replace(/\/+$/, '')
    const is_named = bucket === undefined || hostname.startsWith(`${bucket}.`) || path.split('/').at(-1) === bucket
    return origin + path + (is_named ? '' : `/${bucket}`)
  }
  if (kind === 'azure') return `https://${account}.blob.core.windows.net/${bucket}`
  if (kind === 'gcs' || kind === 'gcs_assume') return `https://storage.googleapis.com/${bucket}`
  return `https://s3.${region}.${settings.aws_endpoint_domain}/${bucket}`
}

type Kind = Settings['log_store']

const S3 = ['s3', 's3_custom', 's3_assume'] as const satisfies readonly Kind[]
const KEYS = ['LOG_STORE_ACCESS_KEY', 'LOG_STORE_SECRET_KEY'] as const
/** The settings that each kind of store needs, unless LOG_STORE_BASEPATH has them. */
const NEEDED: Readonly<Record<Kind, readonly Name[]>> = {
  local: [],
  s3: ['LOG_STORE_GENERATIONS_BUCKET', 'LOG_STORE_REGION', ...KEYS],
  s3_custom: ['LOG_STORE_BASEPATH', ...KEYS],
  s3_assume: ['LOG_STORE_GENERATIONS_BUCKET', 'LOG_STORE_REGION'],
  gcs: ['LOG_STORE_GENERATIONS_BUCKET', ...KEYS],
  gcs_assume: ['LOG_STORE_GENERATIONS_BUCKET'],
  azure: ['AZURE_STORAGE_ACCOUNT', 'AZURE_STORAGE_CONTAINER'],
}
/** Which kinds each setting is for; all but `local` where it is not here. */
const ONLY_FOR: Partial<Record<Name, readonly Kind[]>> = {
  LOG_STORE_ACCESS_KEY: [...S3, 'gcs'],
  LOG_STORE_SECRET_KEY: [...S3, 'gcs'],
  LOG_STORE_REGION: S3,
  LOG_STORE_GENERATIONS_BUCKET: [...S3, 'gcs', 'gcs_assume'],
  LOG_STORE_AWS_ROLE_ARN: ['s3_assume'],
  LOG_STORE_AWS_EXTERNAL_ID: ['s3_assume'],
  LOG_STORE_OBJECT_LOCK_RETENTION_ENABLED: S3,
  AZURE_STORAGE_ACCOUNT: ['azure'],
  AZURE_STORAGE_KEY: ['azure'],
  AZURE_STORAGE_CONTAINER: ['azure'],
  SSE_ENCRYPTION_TYPE: S3,
  KMS_KEY_ID: S3,
  KMS_BUCKET_KEY_ENABLED: S3,
  KMS_ENCRYPTION_CONTEXT: S3,
  KMS_ENCRYPTION_ALGORITHM: S3,
  KMS_ENCRYPTION_CUSTOMER_KEY: S3,
  KMS_ENCRYPTION_CUSTOMER_KEY_MD5: S3,
}
const OF_ANY = [
  'LOG_STORE_BASEPATH',
  'LOG_STORE_FILE_PATH_FORMAT',
  'LOG_STORE_SPOOL_MAX_MB',
] as const satisfies readonly Name[]
/** Settings that have no effect of their own. */
const IDLE: Partial<Record<Name, (settings: Partial<Settings>) => boolean>> = {
  LOG_STORE_FILE_PATH_FORMAT: ({log_store_file_path_format}) => log_store_file_path_format === 'v1',
  LOG_STORE_OBJECT_LOCK_RETENTION_ENABLED: ({log_store_object_lock_retention_enabled: on}) => on === false,
  KMS_BUCKET_KEY_ENABLED: ({kms_bucket_key_enabled: on}) => on === false,
}

/** A sentence for everything about the log store that is missing, or would be without effect. */
export function logStoreFaults(settings: Partial<Settings>, given: (name: Name) => boolean): string[] {
  const {log_store: kind, log_store_basepath: base} = settings
  if (kind === undefined) return []
  const set = (name: Name) => given(name) && !IDLE[name]?.(settings)
  const missing = NEEDED[kind].filter(name => !given(name) && !(base !== undefined && isInBase(name)))
  const idle = [
    ...OF_ANY.filter(() => kind === 'local'),
    ...(Object.keys(ONLY_FOR) as Name[]).filter(name => !ONLY_FOR[name]!.includes(kind)),
  ]
  const without = idle.filter(set)
  const wrong: string[] = []
  if (missing.length > 0) wrong.push(`LOG_STORE=${kind} needs ${missing.join(', ')} as well.`)
  if (without.length > 0) wrong.push(`${without.join(', ')} would have no effect with LOG_STORE=${kind}.`)
  if (kind === 's3_assume') wrong.push(...both(...KEYS, given))
  if (kind === 's3_assume' && given('LOG_STORE_AWS_EXTERNAL_ID') && !given('LOG_STORE_AWS_ROLE_ARN'))
    wrong.push('LOG_STORE_AWS_EXTERNAL_ID would have no effect without LOG_STORE_AWS_ROLE_ARN.')
  if (kind === 'azure' && !given('AZURE_STORAGE_KEY') && !given('AZURE_AUTH_MODE'))
    wrong.push('LOG_STORE=azure needs AZURE_STORAGE_KEY, or AZURE_AUTH_MODE for a login without one.')
  if (base !== undefined && sendsToken(kind, given) && !isSafe(base))
    wrong.push(
      `LOG_STORE_BASEPATH must begin with https:// with LOG_STORE=${kind}: a token would be sent in the clear.`,
    )
  return [...wrong, ...(S3.some(each => each === kind) ? encryption(settings, given) : [])]
}

function encryption({sse_encryption_type: type}: Partial<Settings>, given: (name: Name) => boolean): string[] {
  const wrong: string[] = []
  const of_kms = (['KMS_KEY_ID', 'KMS_ENCRYPTION_CONTEXT'] as const).filter(given)
  if (of_kms.length > 0 && !type?.startsWith('aws:kms'))
    wrong.push(`${of_kms.join(', ')} would have no effect without SSE_ENCRYPTION_TYPE=aws:kms or aws:kms:dsse.`)
  const of_customer = (['KMS_ENCRYPTION_ALGORITHM', 'KMS_ENCRYPTION_CUSTOMER_KEY_MD5'] as const).filter(given)
  if (given('KMS_ENCRYPTION_CUSTOMER_KEY')) {
    if (type)
      wrong.push(`KMS_ENCRYPTION_CUSTOMER_KEY and SSE_ENCRYPTION_TYPE=${type} are two ways to encrypt; keep one.`)
  } else if (of_customer.length > 0)
    wrong.push(`${of_customer.join(', ')} would have no effect without KMS_ENCRYPTION_CUSTOMER_KEY.`)
  return wrong
}

/** With LOG_STORE_BASEPATH the cloud's own names are not used. */
function isInBase(name: Name): boolean {
  return name === 'LOG_STORE_GENERATIONS_BUCKET' || name === 'AZURE_STORAGE_CONTAINER'
}

function sendsToken(kind: Kind, given: (name: Name) => boolean): boolean {
  return kind === 'gcs_assume' || (kind === 'azure' && !given('AZURE_STORAGE_KEY'))
}

function isSafe(base: string): boolean {
  const {protocol, hostname} = new URL(base)
  return protocol === 'https:' || ['localhost', '127.0.0.1', '[::1]'].includes(hostname)
}

function both(one: Name, other: Name, given: (name: Name) => boolean): string[] {
  if (given(one) === given(other)) return []
  const [there, missing] = given(one) ? [one, other] : [other, one]
  return [`${there} needs ${missing} as well.`]
}
