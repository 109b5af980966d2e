import type {AdminServices} from './services.ts'

/** The address at which clients of MCP reach this gateway: the one that is set, or that of people. */
export function mcpBase({settings}: Pick<AdminServices, 'settings'>): string {
  return settings.mcp_gateway_base_url ?? linkBase({settings})
}

/** The address at which people reach this gateway, without `/v1`: the one that is set, or where it listens. */
export function linkBase({settings}: Pick<AdminServices, 'settings'>): string {
  const {control_plane_url, port, tls_key} = settings
  return (control_plane_url ?? `${tls_key ? 'https' : 'http'}://localhost:${port || 8787}`)
    .replace(/\/+$/, '')
    .replace(/\/v1$/, '')
}
