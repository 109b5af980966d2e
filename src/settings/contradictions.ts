import {logStoreFaults} from './log-store.ts'
import {lokiFaults} from './loki.ts'
import {prometheusFaults} from './prometheus.ts'
import {semanticCacheFaults} from './semantic-cache.ts'
import {signInFaults} from './sign-in.ts'
import type {Name, Settings} from './table.ts'
import {telemetryFaults} from './telemetry.ts'

const DB_PARTS = ['DB_HOST', 'DB_PORT', 'DB_USER', 'DB_PASS', 'DB_NAME'] as const
const VERIFYING = ['VERIFY_CA', 'VERIFY_IDENTITY', 'Amazon RDS']

/**
 * A sentence for every pair of settings that exclude each other, or that would leave one without effect. `settings` may
 * still lack values that were refused for themselves; `given` has the settings that were set.
 */
export function contradictions(settings: Partial<Settings>, given: (name: Name) => boolean): string[] {
  return [
    ...database(settings, given),
    ...databaseTls(settings, given),
    ...listener(given),
    ...mcpListener(settings, given),
    ...connections(settings, given),
    ...clouds(settings, given),
    ...mail(settings, given),
    ...signInFaults(settings, given),
    ...logStoreFaults(settings, given),
    ...semanticCacheFaults(settings, given),
    ...telemetryFaults(settings, given),
    ...lokiFaults(settings, given),
    ...prometheusFaults(settings, given),
    ...others(settings, given),
  ]
}

function database(settings: Partial<Settings>, given: (name: Name) => boolean): string[] {
  const parts = DB_PARTS.filter(given)
  const wrong: string[] = []
  if (given('DATABASE_URL')) {
    if (parts.length > 0) wrong.push(`DATABASE_URL and ${parts.join(', ')} are both set; keep the URL or the parts.`)
  } else if (given('DB_HOST')) {
    const missing = (['DB_USER', 'DB_NAME'] as const).filter(name => !given(name))
    if (missing.length > 0) wrong.push(`DB_HOST needs ${missing.join(' and ')} as well.`)
  } else if (parts.length > 0) {
    wrong.push(`${parts.join(', ')} would have no effect without DB_HOST; set it, or use DATABASE_URL.`)
  }
  if (hasDatabase(given) && !given('GATEWAY_SEALING_KEY')) {
    wrong.push(
      'GATEWAY_SEALING_KEY is required with a PostgreSQL database: several processes must share the key that seals credentials.',
    )
  }
  if (!hasDatabase(given) && settings.db_ssl && settings.db_ssl !== 'DISABLED') {
    wrong.push(`DB_SSL=${settings.db_ssl} would have no effect without DATABASE_URL or DB_HOST.`)
  }
  return wrong
}

function databaseTls({db_ssl: mode}: Partial<Settings>, given: (name: Name) => boolean): string[] {
  const wrong = pair('DB_SSL_CERT', 'DB_SSL_KEY', given)
  if (!mode) return wrong
  if (given('DB_SSL_CA') && !VERIFYING.includes(mode)) {
    wrong.push(
      `DB_SSL_CA would have no effect with DB_SSL=${mode}; it is used by VERIFY_CA, VERIFY_IDENTITY and Amazon RDS.`,
    )
  }
  if (given('DB_SSL_CERT') && mode === 'DISABLED') wrong.push('DB_SSL_CERT would have no effect with DB_SSL=DISABLED.')
  if (mode === 'Amazon RDS' && !given('DB_SSL_CA')) {
    wrong.push(
      "DB_SSL=Amazon RDS needs the vendor's certificate bundle in DB_SSL_CA_FILE; none comes with this version.",
    )
  }
  return wrong
}

function listener(given: (name: Name) => boolean): string[] {
  const alone = given('TLS_CA') && !given('TLS_CERT') && !given('TLS_KEY')
  return [
    ...pair('TLS_CERT', 'TLS_KEY', given),
    ...(alone ? ['TLS_CA would have no effect without TLS_CERT and TLS_KEY.'] : []),
  ]
}

function mcpListener(settings: Partial<Settings>, given: (name: Name) => boolean): string[] {
  const {port, mcp_port, mcp_enabled, server_mode} = settings
  const wrong: string[] = []
  if (mcp_port !== undefined && mcp_port !== 0 && mcp_port === port)
    wrong.push(`MCP_PORT and PORT are both ${port}: MCP is served there anyway. Leave MCP_PORT out, or change it.`)
  if (given('MCP_PORT') && mcp_enabled === false) wrong.push('MCP_PORT would have no effect with MCP_ENABLED=OFF.')
  if (server_mode !== 'mcp') return wrong
  if (mcp_enabled === false) wrong.push('SERVER_MODE=mcp would serve nothing with MCP_ENABLED=OFF.')
  if (given('MCP_PORT')) wrong.push('MCP_PORT would have no effect with SERVER_MODE=mcp: PORT serves MCP alone.')
  return wrong
}

function connections(settings: Partial<Settings>, given: (name: Name) => boolean): string[] {
  const {
    max_connections: all,
    max_connections_per_address: per_address,
    max_requests_per_connection: requests,
  } = settings
  const wrong: string[] = []
  if (all !== undefined && per_address !== undefined && per_address > all) {
    wrong.push(
      `MAX_CONNECTIONS_PER_ADDRESS=${per_address} would have no effect with MAX_CONNECTIONS=${all}, which is less.`,
    )
  }
  if (requests === 1 && given('CLIENT_KEEP_ALIVE_TIMEOUT_MS')) {
    wrong.push(
      'CLIENT_KEEP_ALIVE_TIMEOUT_MS would have no effect with MAX_REQUESTS_PER_CONNECTION=1: no connection waits for a second request.',
    )
  }
  return wrong
}

const ENTRA = ['AZURE_ENTRA_TENANT_ID', 'AZURE_ENTRA_CLIENT_ID', 'AZURE_ENTRA_CLIENT_SECRET'] as const
const WORKLOAD = ['AZURE_TENANT_ID', 'AZURE_CLIENT_ID', 'AZURE_FEDERATED_TOKEN_FILE'] as const
const WIF = ['GCP_WIF_AUDIENCE', 'GCP_WIF_SERVICE_ACCOUNT_EMAIL', 'GCP_WIF_TOKEN_FILE'] as const

function clouds(
  {azure_auth_mode: azure, gcp_auth_mode: gcp}: Partial<Settings>,
  given: (name: Name) => boolean,
): string[] {
  const wrong = pair('AWS_ASSUME_ROLE_ACCESS_KEY_ID', 'AWS_ASSUME_ROLE_SECRET_ACCESS_KEY', given)
  if (given('AWS_ASSUME_ROLE_SOURCE_EXTERNAL_ID') && !given('AWS_ASSUME_ROLE_SOURCE_ARN'))
    wrong.push('AWS_ASSUME_ROLE_SOURCE_EXTERNAL_ID would have no effect without AWS_ASSUME_ROLE_SOURCE_ARN.')
  const needed = azure === 'entra' ? ENTRA : azure === 'workload' ? WORKLOAD : []
  const missing = needed.filter(name => !given(name))
  if (missing.length > 0) wrong.push(`AZURE_AUTH_MODE=${azure} needs ${missing.join(', ')} as well.`)
  const idle = azure === 'entra' ? [] : ENTRA.filter(given)
  if (idle.length > 0) wrong.push(`${idle.join(', ')} would have no effect without AZURE_AUTH_MODE=entra.`)
  const federated = WIF.filter(given)
  if (gcp === 'workload' && federated.length > 0)
    wrong.push(`${federated.join(', ')} would have no effect with GCP_AUTH_MODE=workload.`)
  else if ((gcp === 'wif' || federated.length > 0) && !given('GCP_WIF_AUDIENCE'))
    wrong.push(`${gcp === 'wif' ? 'GCP_AUTH_MODE=wif' : federated.join(', ')} needs GCP_WIF_AUDIENCE as well.`)
  return wrong
}

const OF_MAIL = [
  'SMTP_PORT',
  'SMTP_SECURITY',
  'SMTP_TLS_CA',
  'SMTP_USER',
  'SMTP_PASSWORD',
  'SMTP_FROM',
  'EMAIL_TEMPLATES_PATH',
  'EMAIL_COMPANY_NAME',
  'EMAIL_LOGO_URL',
  'EMAIL_SUPPORT_EMAIL',
  'EMAIL_DOCS_URL',
] as const

function mail({smtp_mail, smtp_security}: Partial<Settings>, given: (name: Name) => boolean): string[] {
  if (!given('SMTP_HOST')) {
    const alone = OF_MAIL.filter(given)
    if (given('SMTP_MAIL') && smtp_mail) return ['SMTP_MAIL=ON needs SMTP_HOST as well.']
    return alone.length > 0 ? [`${alone.join(', ')} would have no effect without SMTP_HOST.`] : []
  }
  const wrong = pair('SMTP_USER', 'SMTP_PASSWORD', given)
  if (!given('SMTP_FROM')) wrong.push('SMTP_HOST needs SMTP_FROM as well.')
  if (smtp_security === 'none' && given('SMTP_TLS_CA'))
    wrong.push('SMTP_TLS_CA would have no effect with SMTP_SECURITY=none.')
  if (smtp_security === 'none' && given('SMTP_USER'))
    wrong.push('SMTP_SECURITY=none would send SMTP_PASSWORD in the clear; use starttls or tls.')
  return wrong
}

function others(settings: Partial<Settings>, given: (name: Name) => boolean): string[] {
  const wrong: string[] = []
  if (settings.enable_cors && !given('CORS_ALLOWED_ORIGINS')) {
    wrong.push('ENABLE_CORS=true needs CORS_ALLOWED_ORIGINS: the origins that may call, or * for any.')
  }
  if (settings.model_configs_proxy_fetch_enabled && !given('MODEL_CONFIGS_PROXY_URL')) {
    wrong.push('MODEL_CONFIGS_PROXY_FETCH_ENABLED=ON needs MODEL_CONFIGS_PROXY_URL: the service to ask.')
  }
  if (given('MODEL_CONFIGS_PROXY_URL') && settings.model_configs_proxy_fetch_enabled === false) {
    wrong.push('MODEL_CONFIGS_PROXY_URL would have no effect without MODEL_CONFIGS_PROXY_FETCH_ENABLED=ON.')
  }
  if (given('AUDIT_SINKS') && settings.audit_logs_enabled === false) {
    wrong.push('AUDIT_SINKS would have no effect with AUDIT_LOGS_ENABLED=OFF: nothing is recorded.')
  }
  const {bootstrap_admin_key: admin, bootstrap_workspace_key: workspace} = settings
  if (admin && admin === workspace)
    wrong.push('GATEWAY_BOOTSTRAP_ADMIN_KEY and GATEWAY_BOOTSTRAP_WORKSPACE_KEY must differ.')
  return wrong
}

function pair(one: Name, other: Name, given: (name: Name) => boolean): string[] {
  if (given(one) === given(other)) return []
  const [there, missing] = given(one) ? [one, other] : [other, one]
  return [`${there} needs ${missing} as well.`]
}

function hasDatabase(given: (name: Name) => boolean): boolean {
  return given('DATABASE_URL') || given('DB_HOST')
}
