import type {Name, Settings} from './table.ts'

/** A Loki that lines of the process log are pushed to. It holds a secret: do not print it. */
export interface LokiSettings {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly labels: Readonly<Record<string, string>>
  /** Lines have messages of providers and faults. */
  readonly has_content: boolean
}

/** Undefined: no lines are pushed. */
export function lokiSettings(settings: Settings): LokiSettings | undefined {
  const {enable_loki, loki_push_enabled, loki_host, loki_auth, loki_tenant, service_name, node_env} = settings
  if ((!enable_loki && !loki_push_enabled) || loki_host === undefined) return undefined
  const url = new URL(loki_host)
  url.pathname = `${url.pathname.replace(/\/+$/, '')}/loki/api/v1/push`
  return {
    url: url.href,
    headers: {
      ...(loki_auth !== undefined && {authorization: `Basic ${Buffer.from(loki_auth).toString('base64')}`}),
      ...(loki_tenant !== undefined && {'x-scope-orgid': loki_tenant}),
    },
    labels: {app: service_name, ...(node_env !== undefined && {env: node_env})},
    has_content: settings.otel_content === 'full',
  }
}

export function lokiFaults(settings: Partial<Settings>, given: (name: Name) => boolean): string[] {
  const name = settings.enable_loki ? 'ENABLE_LOKI' : settings.loki_push_enabled ? 'LOKI_PUSH_ENABLED' : undefined
  return name === undefined || given('LOKI_HOST') ? [] : [`${name}=true needs LOKI_HOST: the address of Loki.`]
}
