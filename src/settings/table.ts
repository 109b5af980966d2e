import {auditSinks} from './audit-sinks.ts'
import {flag} from './flags.ts'
import {
  base64Key,
  bucketUrl,
  bytes32,
  CERTIFICATE,
  days,
  domain,
  email,
  givenKey,
  headerNames,
  headerNamesOrAll,
  label,
  listenAddress,
  logStoreKind,
  mailAddress,
  mailbox,
  methods,
  milliseconds,
  onOff,
  origins,
  PRIVATE_KEY,
  password,
  path,
  pem,
  postgresUrl,
  ranges,
  type SettingKind,
  scopes,
  segment,
  switched,
  text,
  trueFalse,
  trustedHosts,
  unproxiedHosts,
  url,
  urlPath,
  uuids,
  whole,
  word,
} from './kinds.ts'
import {LOKI} from './loki-table.ts'
import {MCP} from './mcp-table.ts'
import {PROMETHEUS} from './prometheus-table.ts'
import {SEMANTIC_CACHE} from './semantic-cache-table.ts'
import type {Setting} from './setting.ts'
import {SIGN_IN} from './sign-in-table.ts'
import {TELEMETRY} from './telemetry-table.ts'

export {GROUPS, type Setting, type SettingsGroup} from './setting.ts'

const PROXY = url('a URL such as http://proxy.example.com:3128', ['http:', 'https:'], {credentials: true})
const SERVICE = url('a URL such as https://login.microsoftonline.us', ['http:', 'https:'])
const CUSTOMER_KEY = base64Key(32, 'a key of 32 bytes as base64 (openssl rand -base64 32)')
const DB_SSL = word('DISABLED', 'PREFERRED', 'REQUIRED', 'VERIFY_CA', 'VERIFY_IDENTITY', 'Amazon RDS')

/**
 * Every setting of this version: the one table from which types, parsing, `config show` and the settings page follow.
 */
// biome-ignore format: a table is read by its lines
export const SETTINGS = {
  HOST: {kind: listenAddress, fallback: '127.0.0.1', group: 'Listening', meaning: 'Address to listen on; 0.0.0.0 or :: for every interface.'},
  PORT: {kind: whole(0, 65_535), fallback: '8787', group: 'Listening', meaning: 'TCP port to listen on; 0 takes any free one.'},
  TRUSTED_PROXIES: {
    ...{kind: ranges, fallback: '', group: 'Listening'},
    meaning:
      'Addresses and CIDR ranges of proxies before the gateway. Behind these the address of a client, for the audit ' +
      'log, sign-ins and limits by address, is that of X-Forwarded-For or Forwarded; else that of the connection.',
  },
  TLS_KEY: {kind: PRIVATE_KEY, group: 'Listening', secret: true, path: true, reloads: true, meaning: 'Private key of the listener; with TLS_CERT it serves https.'},
  TLS_CERT: {kind: CERTIFICATE, group: 'Listening', secret: true, path: true, reloads: true, meaning: 'Certificate of the listener, followed by its chain.'},
  TLS_CA: {kind: CERTIFICATE, group: 'Listening', secret: true, path: true, reloads: true, meaning: 'Certificate authorities that the listener trusts for client certificates.'},
  MAX_CONNECTIONS: {kind: whole(1, 10_000_000, 'connections'), group: 'Listening', reloads: true, meaning: 'Maximum number of client connections; above it the oldest connection without a complete request is closed. Unset: half of the file descriptors (ulimit -n) less 64.'},
  MAX_CONNECTIONS_PER_ADDRESS: {kind: whole(1, 10_000_000, 'connections'), group: 'Listening', reloads: true, meaning: 'Maximum number of connections from one address; further ones get 503. Unset: no limit, because behind a proxy all connections have one address.'},
  MAX_REQUESTS_PER_CONNECTION: {kind: whole(1, 1_000_000_000, 'requests'), group: 'Listening', reloads: true, meaning: 'Number of requests after which a connection is closed, so that clients rebalance over several gateways. Unset: no limit.'},
  DRAIN_TIMEOUT_MS: {kind: milliseconds, fallback: '30000', group: 'Listening', reloads: true, meaning: 'On SIGTERM, how long running calls may continue before they are aborted.'},
  SERVICE_NAME: {kind: text, fallback: 'gateway', group: 'Listening', meaning: 'Name of this service in its logs and its health response.'},
  CONTROL_PLANE_URL: {kind: url('a URL such as https://gateway.example.com', ['http:', 'https:']), group: 'Listening', meaning: 'Public address of this gateway, used in invite links; unset: localhost and PORT.'},
  NODE_ENV: {kind: text, group: 'Listening', meaning: 'The label env at Loki, at a push gateway and of PROMETHEUS_EXTRA_LABELS. Production and development behave alike.'},

  GATEWAY_DATA_DIR: {kind: path, fallback: './.gateway', group: 'Data and first run', meaning: 'Directory of the databases, the journal and the sealing key.'},
  GATEWAY_SETTINGS_FILE: {kind: path, group: 'Data and first run', flag: 'settings', in_file: false, meaning: 'Settings file (YAML); unset: settings.yaml in the data directory, if it exists.'},
  GATEWAY_BOOTSTRAP_ADMIN_KEY: {kind: givenKey, group: 'Data and first run', secret: true, meaning: 'Admin API key to create on the first run instead of a generated one.'},
  GATEWAY_BOOTSTRAP_WORKSPACE_KEY: {kind: givenKey, group: 'Data and first run', secret: true, meaning: 'Workspace API key to create on the first run instead of a generated one.'},
  GATEWAY_SEALING_KEY: {kind: bytes32, group: 'Data and first run', secret: true, meaning: 'Key that seals stored credentials; unset: generated in the data directory. Required with a PostgreSQL database.'},

  GATEWAY_URL: {kind: url('a URL such as https://gateway.example.com', ['http:', 'https:']), group: 'Command line', in_file: false, meaning: 'Gateway that commands talk to; unset: the data directory of this machine.'},
  GATEWAY_API_KEY: {kind: text, group: 'Command line', secret: true, in_file: false, meaning: 'API key that commands send to GATEWAY_URL.'},

  DATABASE_URL: {kind: postgresUrl, group: 'Database', secret: true, meaning: 'PostgreSQL database; unset: SQLite in the data directory.'},
  DB_HOST: {kind: text, group: 'Database', meaning: 'Host of the PostgreSQL database, if DATABASE_URL is not used.'},
  DB_PORT: {kind: whole(1, 65_535), fallback: '5432', group: 'Database', meaning: 'Port of the database at DB_HOST.'},
  DB_USER: {kind: text, group: 'Database', meaning: 'User of the database at DB_HOST.'},
  DB_PASS: {kind: password, group: 'Database', secret: true, meaning: 'Password of DB_USER.'},
  DB_NAME: {kind: text, group: 'Database', meaning: 'Name of the database at DB_HOST.'},
  DB_SSL: {kind: DB_SSL, fallback: 'DISABLED', group: 'Database', meaning: 'TLS to the database. DISABLED: none; PREFERRED: when offered; REQUIRED: unverified; VERIFY_CA: chain verified; VERIFY_IDENTITY: chain and host name verified; Amazon RDS: the same, with that vendor’s CA bundle in DB_SSL_CA.'},
  DB_SSL_CA: {kind: CERTIFICATE, group: 'Database', secret: true, path: true, meaning: 'Authorities for the verifying modes of DB_SSL; unset: those that Node.js trusts.'},
  DB_SSL_CERT: {kind: CERTIFICATE, group: 'Database', secret: true, path: true, meaning: 'Client certificate for the database.'},
  DB_SSL_KEY: {kind: PRIVATE_KEY, group: 'Database', secret: true, path: true, meaning: 'Private key of DB_SSL_CERT.'},
  DB_POOL_SIZE: {kind: whole(1, 1000, 'connections'), fallback: '12', group: 'Database', meaning: 'Maximum number of connections of one process to PostgreSQL.'},
  DB_QUERY_TIMEOUT_MS: {kind: milliseconds, fallback: '5000', group: 'Database', meaning: 'How long calls and the administration wait for an answer of PostgreSQL or Redis, for a lock of SQLite, or for the ledger to be written; after it 503, and a connection that carried nothing is given up. Lists and reports on PostgreSQL wait 60 seconds.'},
  CALLER_CACHE_MAX_STALE_S: {kind: whole(0, 86_400, 'seconds'), fallback: '60', group: 'Database', meaning: 'How long callers, providers, configs and guardrails are used from memory while the database does not say what was revoked; after it calls get 503. While it answers, a revocation acts within a second.'},

  REDIS_URL: {kind: url('a URL such as redis://user:password@host:6379/0 (rediss:// for TLS)', ['redis:', 'rediss:'], {credentials: true}), group: 'Redis', secret: true, meaning: 'Redis for counters and cache shared by several processes; unset: memory of the process.'},

  TRUSTED_CUSTOM_HOSTS: {kind: trustedHosts, fallback: '', group: 'Egress', meaning: 'Custom hosts that may be private addresses; *.domain means the domain and all below it. Metadata addresses and risky ports stay blocked.'},
  HTTP_PROXY: {kind: PROXY, group: 'Egress', secret: true, also: ['http_proxy'], meaning: 'Forward proxy for http upstreams.'},
  HTTPS_PROXY: {kind: PROXY, group: 'Egress', secret: true, also: ['https_proxy'], meaning: 'Forward proxy for https upstreams.'},
  NO_PROXY: {kind: unproxiedHosts, fallback: '', group: 'Egress', flag: 'proxy-except', also: ['no_proxy'], meaning: 'Hosts reached without the forward proxy.'},
  CUSTOM_HEADERS_TO_IGNORE: {kind: headerNames, fallback: '', group: 'Egress', meaning: 'Client headers that pass-through calls do not send upstream.'},

  AWS_ASSUME_ROLE_ACCESS_KEY_ID: {kind: text, group: 'Cloud identity', secret: true, meaning: 'Access key of the gateway’s own identity at AWS. Used by integrations with aws_auth_type serviceRole, or assumedRole without keys, and by LOG_STORE=s3_assume; unset: the identity of the platform.'},
  AWS_ASSUME_ROLE_SECRET_ACCESS_KEY: {kind: password, group: 'Cloud identity', secret: true, meaning: 'Secret of that access key.'},
  AWS_ASSUME_ROLE_REGION: {kind: label, group: 'Cloud identity', meaning: 'Region of the STS endpoint for the gateway’s own identity; unset: the region of the call.'},
  AWS_ASSUME_ROLE_SOURCE_ARN: {kind: text, group: 'Cloud identity', meaning: 'Role that the gateway assumes first, before any other role.'},
  AWS_ASSUME_ROLE_SOURCE_EXTERNAL_ID: {kind: text, group: 'Cloud identity', meaning: 'External id that this role requires.'},
  AWS_ENDPOINT_DOMAIN: {kind: domain, fallback: 'amazonaws.com', group: 'Cloud identity', meaning: 'Domain of the AWS endpoints, including STS, if an integration names no other.'},
  AWS_IMDS_V1: {kind: switched, fallback: 'OFF', group: 'Cloud identity', meaning: 'Uses version 1 of the EC2 metadata service, without a session token.'},
  AWS_WEB_IDENTITY_TOKEN_FILE: {kind: path, group: 'Cloud identity', meaning: 'File with the token of a pod; set by EKS, with AWS_ROLE_ARN.'},
  AWS_ROLE_ARN: {kind: text, group: 'Cloud identity', meaning: 'Role of this token.'},
  AWS_CONTAINER_CREDENTIALS_FULL_URI: {kind: SERVICE, group: 'Cloud identity', meaning: 'Address of the container credentials; set by EKS Pod Identity.'},
  AWS_CONTAINER_CREDENTIALS_RELATIVE_URI: {kind: urlPath, group: 'Cloud identity', meaning: 'Path of the container credentials at the ECS address; set by ECS.'},
  AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE: {kind: path, group: 'Cloud identity', meaning: 'File with the token for requesting those credentials.'},
  AZURE_AUTH_MODE: {kind: word('managed', 'entra', 'workload'), group: 'Cloud identity', meaning: 'How the gateway authenticates to Azure. Used by integrations with azure_auth_mode gateway, and by LOG_STORE=azure without a key.'},
  AZURE_MANAGED_CLIENT_ID: {kind: text, group: 'Cloud identity', meaning: 'Managed identity of the machine to use, if an integration names none.'},
  AZURE_ENTRA_TENANT_ID: {kind: segment, group: 'Cloud identity', meaning: 'Tenant of the gateway’s application with AZURE_AUTH_MODE=entra.'},
  AZURE_ENTRA_CLIENT_ID: {kind: text, group: 'Cloud identity', meaning: 'Client id of that application.'},
  AZURE_ENTRA_CLIENT_SECRET: {kind: password, group: 'Cloud identity', secret: true, meaning: 'Secret of that application.'},
  AZURE_AUTHORITY_HOST: {kind: SERVICE, fallback: 'https://login.microsoftonline.com', group: 'Cloud identity', meaning: 'Address of Microsoft Entra ID, for another cloud or your own endpoint.'},
  AZURE_TENANT_ID: {kind: segment, group: 'Cloud identity', meaning: 'Tenant of the workload identity; set by Azure Workload Identity.'},
  AZURE_CLIENT_ID: {kind: text, group: 'Cloud identity', meaning: 'Client id of the workload identity.'},
  AZURE_FEDERATED_TOKEN_FILE: {kind: path, group: 'Cloud identity', meaning: 'File with the token of the workload identity.'},
  IDENTITY_ENDPOINT: {kind: SERVICE, group: 'Cloud identity', meaning: 'Address of the managed identity; set by App Service and Container Apps.'},
  IDENTITY_HEADER: {kind: text, group: 'Cloud identity', secret: true, meaning: 'Secret header value for requests to that address.'},
  AWS_REGION: {kind: label, group: 'Cloud identity',
    meaning: 'Region of AWS Secrets Manager, if a secret reference names none. Other parts do not use it.'},
  AWS_DEFAULT_REGION: {kind: label, group: 'Cloud identity', meaning: 'The same, if AWS_REGION is not set.'},
  GCP_AUTH_MODE: {kind: word('workload', 'wif'), group: 'Cloud identity', meaning: 'The gateway’s own identity at Google Cloud. Used by integrations with vertex_auth_type workload, and by LOG_STORE=gcs_assume. workload: the account of the machine or pod; wif: a federated identity; unset: wif if GCP_WIF_AUDIENCE is set.'},
  GCP_WIF_AUDIENCE: {kind: text, group: 'Cloud identity', meaning: 'Provider of the workload identity pool: //iam.googleapis.com/projects/NUMBER/locations/global/workloadIdentityPools/POOL/providers/PROVIDER.'},
  GCP_WIF_SERVICE_ACCOUNT_EMAIL: {kind: email, group: 'Cloud identity', meaning: 'Service account that the federated identity impersonates; unset: none.'},
  GCP_WIF_TOKEN_FILE: {kind: path, group: 'Cloud identity', meaning: 'File with the OIDC token for the pool; unset: the gateway’s own identity at AWS.'},

  SECRET_MANAGER_HOSTS: {kind: trustedHosts, fallback: '', group: 'Secret managers',
    meaning: 'Hosts of secret managers that may be private addresses, in addition to TRUSTED_CUSTOM_HOSTS. The ' +
      'gateway shows its own identity (azure managed and default, vault kubernetes) only to these hosts and ' +
      'to vaults of Azure.'},
  SECRET_STALE_GRACE_S: {kind: whole(0, 86_400, 'seconds'), fallback: '900', group: 'Secret managers',
    meaning: 'How long a fetched secret is used after its 5 minutes if its manager does not answer or throttles; ' +
      'never after a definite no.'},
  VAULT_KUBERNETES_TOKEN_FILE: {kind: path,
    fallback: '/var/run/secrets/kubernetes.io/serviceaccount/token', group: 'Secret managers',
    meaning: 'File with the service account token of this pod, for references with vault_auth_type kubernetes. ' +
      'Read at every login.'},

  ENABLE_CORS: {kind: trueFalse, fallback: 'false', group: 'CORS', meaning: 'Allows browsers of other origins (needs CORS_ALLOWED_ORIGINS).'},
  CORS_ALLOWED_ORIGINS: {kind: origins, fallback: '', group: 'CORS', meaning: 'Allowed origins.'},
  CORS_ALLOWED_METHODS: {kind: methods, fallback: '*', group: 'CORS', meaning: 'Allowed methods.'},
  CORS_ALLOWED_HEADERS: {kind: headerNamesOrAll, fallback: '*', group: 'CORS', meaning: 'Allowed request headers.'},
  CORS_ALLOWED_EXPOSE_HEADERS: {kind: headerNamesOrAll, fallback: '*', group: 'CORS', meaning: 'Response headers that browsers may read.'},

  UPSTREAM_CONNECT_TIMEOUT_MS: {kind: milliseconds, fallback: '10000', group: 'Timeouts and sizes', meaning: 'Time to open a connection to a provider, including TLS.'},
  UPSTREAM_FIRST_BYTE_TIMEOUT_MS: {kind: milliseconds, fallback: '600000', group: 'Timeouts and sizes', reloads: true, meaning: 'Longest time from the end of the upstream request to the head of its response, and to the first event of a stream.'},
  UPSTREAM_IDLE_TIMEOUT_MS: {kind: milliseconds, fallback: '300000', group: 'Timeouts and sizes', reloads: true, meaning: 'Longest pause inside a response.'},
  REQUEST_TIMEOUT: {kind: milliseconds, group: 'Timeouts and sizes', reloads: true, meaning: 'Longest time of one upstream request, its whole stream included; unset: only the other limits apply.'},
  CLIENT_HEAD_TIMEOUT_MS: {kind: milliseconds, fallback: '15000', group: 'Timeouts and sizes', reloads: true, meaning: 'Time from the first byte of a request to the end of its head (408 after it), and for a new connection to send a byte.'},
  CLIENT_BODY_IDLE_TIMEOUT_MS: {kind: milliseconds, fallback: '30000', group: 'Timeouts and sizes', reloads: true, meaning: 'Longest pause inside a request body (408 after it); for a caller without a valid key, the longest time for the whole body.'},
  CLIENT_KEEP_ALIVE_TIMEOUT_MS: {kind: milliseconds, fallback: '75000', group: 'Timeouts and sizes', meaning: 'How long a connection may be idle between two requests.'},
  CLIENT_WRITE_TIMEOUT_MS: {kind: milliseconds, fallback: '60000', group: 'Timeouts and sizes', reloads: true, meaning: 'Longest time that a client may read no bytes of its response.'},
  MAX_JSON_PAYLOAD_SIZE_IN_MB: {kind: whole(1, 1024, 'megabytes'), fallback: '64', group: 'Timeouts and sizes', meaning: 'Largest request body that is parsed (413 above it); streamed pass-through has no limit.'},

  CHARGE_UNANSWERED: {kind: onOff, fallback: 'ON', group: 'Calls and configs', meaning: 'ON: an attempt whose request was sent whole and got no answer, as the client left, a timeout passed or the gateway stopped, is charged the estimate of its prompt, for the provider may charge it too, and a call of a tool its price. OFF: it is charged nothing. Of local engines only those that count the prompt themselves (llama.cpp, vLLM) have tokens in such a row.'},
  EPHEMERAL_KEYS: {kind: word('auto', 'allow', 'deny'), fallback: 'auto', group: 'Calls and configs', meaning: 'Operations with which a provider hands the client a credential or an address of its own, past every limit, list and log. auto: refused where a limit of cost or tokens, a list of models, or a guardrail that denies covers the call; allow; deny.'},
  GUARDRAIL_MAX_BODY_MB: {kind: whole(1, 1024, 'megabytes'), fallback: '16', group: 'Calls and configs', meaning: 'Longest body that guardrails read. A longer one cannot be read (UNREADABLE_BODIES).'},
  UNREADABLE_BODIES: {kind: word('allow', 'deny'), fallback: 'allow', group: 'Calls and configs', meaning: 'Calls with files, sound or other bodies that guardrails cannot read. allow: they pass, and the log says skipped; deny: 446, while a guardrail that denies or redacts is attached.'},
  STREAM_USAGE: {kind: word('auto', 'exact', 'metered'), fallback: 'auto', group: 'Calls and configs', meaning: 'Streams. exact: every byte unchanged; metered: requests usage from the provider and hides what a client did not request; auto: metered for calls under a cost or token limit.'},
  HEADERS_TO_METADATA: {kind: headerNames, fallback: '', group: 'Calls and configs', meaning: 'Request headers copied into the metadata of a call, with lower-case names.'},
  MAX_ROOT_CONFIG_TARGETS: {kind: whole(1, 100_000, 'targets'), fallback: '100', group: 'Calls and configs', meaning: 'Maximum number of targets at the root of a config.'},
  MAX_CONDITIONAL_ROOT_CONFIG_TARGETS: {kind: whole(1, 100_000, 'targets'), fallback: '1000', group: 'Calls and configs', meaning: 'The same if the strategy is conditional.'},
  MAX_NESTED_CONFIG_TARGETS: {kind: whole(1, 100_000, 'targets'), fallback: '50', group: 'Calls and configs', meaning: 'Maximum number of targets below one target of the root.'},

  ...SEMANTIC_CACHE,

  LOG_LEVEL: {kind: word('trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'), fallback: 'info', group: 'Logs and metrics', reloads: true, meaning: 'Lowest level of lines in the process log.'},
  LOG_RETENTION_DAYS: {kind: days, fallback: '90', group: 'Logs and metrics', meaning: 'How long the log row of a call is kept.'},
  LOG_BODY_RETENTION_DAYS: {kind: days, fallback: '30', group: 'Logs and metrics', meaning: 'How long the bodies of a call are kept; never longer than its row.'},
  LOG_BODY_MAX_BYTES: {kind: whole(0, 64 * 2 ** 20, 'bytes'), fallback: '262144', group: 'Logs and metrics', meaning: 'Longer bodies are cut to this size in the log and marked as cut.'},
  METRICS_RETENTION_DAYS: {kind: days, fallback: '365', group: 'Logs and metrics', meaning: 'How long the hourly sums of the analytics are kept.'},
  LOG_RETENTION_DISPLAY: {kind: days, fallback: '90', group: 'Logs and metrics', meaning: 'Log retention shown to users; changes nothing else.'},
  METRICS_RETENTION_DISPLAY: {kind: days, fallback: '365', group: 'Logs and metrics', meaning: 'Metrics retention shown to users; changes nothing else.'},
  ORGANISATION_HEADERS_TO_MASK: {kind: headerNames, fallback: '', group: 'Logs and metrics', meaning: 'Headers masked in logs, in addition to authorization, keys and cookies.'},
  AUDIT_SINKS: {
    ...{kind: auditSinks, fallback: '', group: 'Logs and metrics'},
    meaning:
      'Places that get a line for each row of the audit log (docs/access.md). ca, cert and key of syslog+tls are paths ' +
      'of PEM files.',
  },
  ...PROMETHEUS,

  ...TELEMETRY,
  ...LOKI,

  LOG_STORE: {kind: logStoreKind, fallback: 'local', group: 'Log store', meaning: 'Where bodies of calls are stored. local (control_plane is the same): beside the log; otherwise as objects in a bucket (docs/log-store.md).'},
  LOG_STORE_GENERATIONS_BUCKET: {kind: segment, group: 'Log store', meaning: 'Bucket of S3 or Cloud Storage.'},
  LOG_STORE_REGION: {kind: label, group: 'Log store', meaning: 'Region of the bucket; with s3_custom the default is us-east-1.'},
  LOG_STORE_BASEPATH: {kind: bucketUrl, group: 'Log store', meaning: 'Address of the bucket or container instead of the cloud’s own; https if no scheme is given. Required with s3_custom.'},
  LOG_STORE_ACCESS_KEY: {kind: text, group: 'Log store', secret: true, meaning: 'Access key; for Cloud Storage the HMAC key of a service account. With s3_assume: the identity that assumes the role; unset: the gateway’s own.'},
  LOG_STORE_SECRET_KEY: {kind: password, group: 'Log store', secret: true, meaning: 'Secret of that access key.'},
  LOG_STORE_AWS_ROLE_ARN: {kind: text, group: 'Log store', meaning: 'Role to assume with s3_assume; unset: the gateway’s own identity at AWS is used directly.'},
  LOG_STORE_AWS_EXTERNAL_ID: {kind: text, group: 'Log store', meaning: 'External id that the role requires.'},
  AZURE_STORAGE_ACCOUNT: {kind: label, group: 'Log store', meaning: 'Storage account with LOG_STORE=azure.'},
  AZURE_STORAGE_CONTAINER: {kind: segment, group: 'Log store', meaning: 'Container of that account.'},
  AZURE_STORAGE_KEY: {kind: base64Key(16, 'a key of a storage account, in base64'), group: 'Log store', secret: true, meaning: 'Key of that account; unset: the gateway authenticates by AZURE_AUTH_MODE.'},
  LOG_STORE_FILE_PATH_FORMAT: {kind: word('v1', 'v2'), fallback: 'v1', group: 'Log store', meaning: 'Keys of new objects. v1: days of retention/organisation/log.json; v2: days/organisation/workspace/year/month/day/hour/log.json.'},
  LOG_STORE_OBJECT_LOCK_RETENTION_ENABLED: {kind: switched, fallback: 'OFF', group: 'Log store', meaning: 'Locks each object (GOVERNANCE) for LOG_BODY_RETENTION_DAYS; the bucket needs Object Lock.'},
  SSE_ENCRYPTION_TYPE: {kind: word('AES256', 'aws:kms', 'aws:kms:dsse'), group: 'Log store', meaning: 'Encryption requested from S3; unset: the bucket’s own.'},
  KMS_KEY_ID: {kind: text, group: 'Log store', meaning: 'KMS key for encryption; unset: the account’s own.'},
  KMS_BUCKET_KEY_ENABLED: {kind: switched, fallback: 'OFF', group: 'Log store', meaning: 'Makes S3 use a bucket key, which calls KMS less often.'},
  KMS_ENCRYPTION_CONTEXT: {kind: text, group: 'Log store', meaning: 'Encryption context: a JSON object, or its base64.'},
  KMS_ENCRYPTION_ALGORITHM: {kind: word('AES256'), group: 'Log store', meaning: 'Algorithm of KMS_ENCRYPTION_CUSTOMER_KEY; only this one is supported.'},
  KMS_ENCRYPTION_CUSTOMER_KEY: {kind: CUSTOMER_KEY, group: 'Log store', secret: true, meaning: 'Your own key, which S3 uses for encryption and does not keep (SSE-C).'},
  KMS_ENCRYPTION_CUSTOMER_KEY_MD5: {kind: base64Key(16, 'an MD5 digest as base64'), group: 'Log store', meaning: 'MD5 of that key in base64; unset: computed.'},
  LOG_STORE_SPOOL_MAX_MB: {kind: whole(1, 1_000_000_000, 'megabytes'), group: 'Log store', meaning: 'Maximum size of local bodies that wait for upload; above it bodies of new calls are dropped and counted. Unset: no limit, nothing is dropped.'},
  LOG_STORE_CONNECTION_FAILURE_THRESHOLD: {kind: whole(1, 1000, 'failures'), fallback: '5', group: 'Log store', meaning: 'Consecutive failures after which uploads to the log store pause.'},
  LOG_STORE_CONNECTION_BACKOFF_MS: {kind: milliseconds, fallback: '60000', group: 'Log store', meaning: 'Length of that pause.'},
  LOG_STORE_CONNECTION_TIMEOUT_MS: {kind: milliseconds, fallback: '15000', group: 'Log store', meaning: 'Longest time for one request to the log store, including the connection.'},

  SMTP_MAIL: {kind: onOff, fallback: 'ON', group: 'Mail', meaning: 'OFF: no mail is sent, even if SMTP_HOST names a server.'},
  SMTP_HOST: {kind: listenAddress, group: 'Mail', meaning: 'Mail server for alerts; unset: alerts appear only in the process log and the audit log.'},
  SMTP_PORT: {kind: whole(1, 65_535), fallback: '587', group: 'Mail', meaning: 'Port of the mail server.'},
  SMTP_SECURITY: {kind: word('auto', 'tls', 'starttls', 'none'), fallback: 'auto', group: 'Mail', meaning: 'TLS to the mail server. tls: from the first byte; starttls: required; none: never; auto: tls on port 465, otherwise STARTTLS, which is required if SMTP_USER is set and optional otherwise.'},
  SMTP_TLS_CA: {kind: CERTIFICATE, group: 'Mail', secret: true, path: true, meaning: 'Certificate authorities for the mail server; unset: those that Node.js trusts.'},
  SMTP_USER: {kind: text, group: 'Mail', meaning: 'User at the mail server; unset: no login.'},
  SMTP_PASSWORD: {kind: password, group: 'Mail', secret: true, meaning: 'Password of SMTP_USER.'},
  SMTP_FROM: {kind: mailbox, group: 'Mail', meaning: 'Sender: an address, or Name <address>. Required with SMTP_HOST.'},
  EMAIL_TEMPLATES_PATH: {kind: path, group: 'Mail', meaning: 'Directory of your own mail templates (docs/operating.md); missing ones use the bundled template.'},
  EMAIL_COMPANY_NAME: {kind: text, fallback: 'Gateway', group: 'Mail', meaning: 'Company name in mails.'},
  EMAIL_LOGO_URL: {kind: url('a URL such as https://example.com/logo.png', ['http:', 'https:']), group: 'Mail', meaning: 'Image at the top of mails; unset: none.'},
  EMAIL_SUPPORT_EMAIL: {kind: mailAddress, group: 'Mail', meaning: 'Support address in mails; unset: none.'},
  EMAIL_DOCS_URL: {kind: url('a URL such as https://docs.example.com', ['http:', 'https:']), group: 'Mail', meaning: 'Documentation page in mails; unset: none.'},

  ...SIGN_IN,
  ...MCP,

  JWT_ENABLED: {kind: switched, fallback: 'ON', group: 'Tokens and directories', meaning: 'OFF: no token of an identity provider is taken, whatever organisations have set (docs/tokens.md).'},
  JWT_LOCAL_AUTH_DEFAULT_SCOPES: {kind: scopes, fallback: '', group: 'Tokens and directories', meaning: 'Scopes of tokens that name none, where the organisation has no default_scopes.'},
  ORGANISATIONS_TO_SYNC: {kind: uuids, fallback: '', group: 'Tokens and directories', meaning: 'Organisations whose tokens are taken; empty: all. A single one is also that of tokens that name none.'},
  JWKS_REFETCH_MIN_INTERVAL_MS: {kind: whole(100, 3_600_000, 'milliseconds'), fallback: '30000', group: 'Tokens and directories', meaning: 'Shortest time between two requests for one key set because of an unknown key or a failure.'},
  SCIM_MEMBERSHIP_USER_MODE: {kind: switched, fallback: 'OFF', group: 'Tokens and directories', meaning: 'ON: a directory says at /Users which groups a user is in, and members of /Groups are ignored (docs/scim.md).'},

  ...MCP,

  MODEL_CONFIGS_PROXY_FETCH_ENABLED: {kind: onOff, fallback: 'OFF', group: 'Pricing', meaning: 'ON: prices and capabilities are read from MODEL_CONFIGS_PROXY_URL before all other sources.'},
  MODEL_CONFIGS_PROXY_URL: {kind: url('a URL such as https://prices.example.com', ['http:', 'https:']), group: 'Pricing', meaning: 'Service with /pricing/{provider} and /general/{provider}; it may be a private address.'},
  MODEL_CONFIGS_PRICING_LOG_STORE_PATH: {kind: path, group: 'Pricing', meaning: 'Directory of price files {provider}.json in the log store, read after the proxy and before local files.'},
  MODEL_CONFIGS_PRICING_LOCAL_PATH: {kind: path, group: 'Pricing', meaning: 'Directory of price files {provider}.json, read before the bundled prices.'},
  MODEL_CONFIGS_CAPABILITIES_LOG_STORE_PATH: {kind: path, group: 'Pricing', meaning: 'Directory of capability files {provider}.json in the log store.'},
  MODEL_CONFIGS_CAPABILITIES_LOCAL_PATH: {kind: path, group: 'Pricing', meaning: 'Directory of capability files {provider}.json.'},

  MCP_SYNC_INTERVAL_MS: {
    ...{kind: whole(60_000, 2_592_000_000, 'milliseconds'), fallback: '21600000', group: 'MCP'},
    meaning: 'Time between two readings of an MCP server, give or take a tenth.',
  },
  GATEWAY_BUNDLE_PUBLIC_KEY: {kind: pem(/PUBLIC KEY/, 'one or more public keys'), group: 'Pricing', secret: true, path: true, meaning: 'Ed25519 public keys of trusted bundles; unset: each command that applies a bundle names the key.'},

  MAX_PRODUCTION_DEPLOYMENTS: {
    kind: whole(0, 100_000, 'deployments'),
    group: 'Feature flags',
    meaning: 'Most deployments of the type production in an organisation; unset: any number.',
  },
  MAX_NON_PRODUCTION_DEPLOYMENTS: {
    kind: whole(0, 100_000, 'deployments'),
    group: 'Feature flags',
    meaning: 'Most deployments of the type non-production in an organisation; unset: any number.',
  },
  GUARDRAILS_ENABLED: flag('guardrails'),
  API_ACCESS_ENABLED: flag('api_access'),
  DATA_EXPORTS_ENABLED: flag('data_exports'),
  USAGE_LIMITS_ENABLED: flag('usage_limits'),
  AUDIT_LOGS_ENABLED: flag('audit_logs'),
  SCIM_ENABLED: flag('scim'),
  POLICY_ENABLED: flag('policy'),
} as const satisfies Record<string, Setting>

export type Name = keyof typeof SETTINGS
/** The key of a setting in the file and in `Settings`: its name in lower case, without the prefix `GATEWAY_`. */
export type SettingKey<N extends string> = N extends `GATEWAY_${infer Rest}` ? Lowercase<Rest> : Lowercase<N>
type ValueOf<S extends Setting> =
  S['kind'] extends SettingKind<infer T> ? (S extends {fallback: string} ? T : T | undefined) : never
/** Every setting, read, checked and frozen. Printed or serialised, it shows a secret as `set` or `not set`. */
export type Settings = {readonly [N in Name as SettingKey<N>]: ValueOf<(typeof SETTINGS)[N]>}

/** The names in the order of the table. */
export const NAMES = Object.keys(SETTINGS) as readonly Name[]

/** The row of a setting with every optional column in view. */
export function row(name: Name): Setting {
  return SETTINGS[name]
}

export function keyOf<N extends Name>(name: N): SettingKey<N> {
  return name.replace(/^GATEWAY_/, '').toLowerCase() as SettingKey<N>
}

/** The endings that name a file instead of the value: none, `_FILE`, or `_FILE` and `_PATH`. */
export function fileEndings(name: Name): readonly string[] {
  const {secret, path} = row(name)
  return secret ? (path ? ['_FILE', '_PATH'] : ['_FILE']) : []
}

/**
 * The flag of a setting without its two hyphens; undefined for a secret, which other users of the machine would see in
 * `ps`.
 */
export function flagOf(name: Name): string | undefined {
  const {secret, flag: own} = row(name)
  return secret ? undefined : (own ?? keyOf(name).replaceAll('_', '-'))
}
