import type {ReceivedRequest} from '../inbound/request.ts'

/** The name in `x-gateway-beta` that lets the gateway run tools of MCP servers. */
export const SERVER_SIDE_MCP = 'server-side-mcp-2026-06-01'

/** True where the client lets the gateway run tools: one look at the headers, which is all that other calls pay. */
export function wantsRun({own}: Pick<ReceivedRequest, 'own'>): boolean {
  const {beta} = own.values
  return beta !== undefined && betaNames(beta).includes(SERVER_SIDE_MCP)
}

/** True for the endpoints whose requests name MCP servers. */
export function isRunEndpoint({route}: Pick<ReceivedRequest, 'route'>): boolean {
  return route.endpoint?.name === 'createModelResponse' || route.endpoint?.name === 'messages'
}

export function betaNames(text: string): string[] {
  return text
    .split(',')
    .map(name => name.trim())
    .filter(Boolean)
}
