import type {Gateway} from './connect.ts'
import {CommandFault, EXIT, exitOf, usageFault} from './fault.ts'

const VERSION = '2026-07-28'
const META = 'io.modelcontextprotocol'

export interface McpQuestion {
  readonly method: string
  readonly params?: {
    readonly mode?: string
    readonly message?: string
    readonly url?: string
    readonly requestedSchema?: {readonly properties?: Readonly<Record<string, {readonly type?: string}>>}
  }
}

export interface McpResult {
  readonly resultType?: string
  readonly inputRequests?: Readonly<Record<string, McpQuestion>>
  readonly requestState?: string
  readonly [name: string]: unknown
}

export interface McpError {
  readonly code: number
  readonly message: string
  readonly data?: {readonly type?: string; readonly authorizationUrl?: string}
}

/** How far a call has come, in units of the server's choice. */
export interface McpProgress {
  readonly progress: number
  readonly total?: number
  readonly message?: string
}

/** The answer to a request: one of the two is there. */
export interface McpAnswer {
  readonly result?: McpResult
  readonly error?: McpError
}

/**
 * One request at an MCP server of a gateway, as a client of the latest revision sends it. `capabilities`: the
 * questions that this client answers.
 */
export async function mcpRequest(
  gateway: Gateway,
  server: string,
  {
    method,
    params = {},
    headers = {},
    onProgress,
  }: {
    readonly method: string
    readonly params?: Readonly<Record<string, unknown>>
    readonly headers?: Readonly<Record<string, string>>
    readonly onProgress?: (progress: McpProgress) => void
  },
  capabilities: object = {},
): Promise<McpAnswer> {
  if (gateway.kind === 'here')
    throw usageFault('Tools are called at a gateway that runs.', 'Add --url http://localhost:8787 and a key.')
  if (!/^[\w-]+(?:\/[\w-]+)?$/.test(server))
    throw usageFault(
      `${server} is no name of a server.`,
      'Give its slug, or WORKSPACE/SLUG. See: gateway mcp-servers list',
    )
  const {name} = params
  const _meta = {
    [`${META}/protocolVersion`]: VERSION,
    [`${META}/clientInfo`]: {name: 'gateway-cli', version: '1'},
    [`${META}/clientCapabilities`]: capabilities,
    ...(onProgress && {progressToken: 1}),
  }
  const {status, body} = await gateway.send({
    method: 'POST',
    path: `/${server}/mcp`,
    headers: {
      ...{'mcp-protocol-version': VERSION, 'mcp-method': method},
      ...(typeof name === 'string' && {'mcp-name': headerText(name)}),
      ...headers,
    },
    body: {jsonrpc: '2.0', id: 1, method, params: {...params, _meta}},
    ...(onProgress && {onEvent: (data: unknown) => isNotice(data, onProgress)}),
  })
  const answer = (typeof body === 'object' && body !== null ? body : {}) as McpAnswer
  if (status < 400 && (answer.result || answer.error)) return answer
  if (answer.error && answer.error.code < 0) return answer
  throw refusedBy(status, answer, gateway)
}

/** True for a message that is no answer. One of progress is handed on. */
function isNotice(data: unknown, onProgress: (progress: McpProgress) => void): boolean {
  const {method, params} = (data ?? {}) as {readonly method?: unknown; readonly params?: Partial<McpProgress> | null}
  if (typeof method !== 'string') return false
  const {progress, total, message} = params ?? {}
  if (method === 'notifications/progress' && typeof progress === 'number')
    onProgress({
      progress,
      ...(typeof total === 'number' && {total}),
      ...(typeof message === 'string' && {message}),
    })
  return true
}

/** The fault of an answer that is an error. */
export function mcpFault({code, message, data}: McpError, server: string, gateway: Gateway): CommandFault {
  const next =
    data?.type === 'oauth_required'
      ? `Sign in there first: ${gateway.typed(`mcp connect ${server}`)}`
      : code === -32602
        ? `See what it offers: ${gateway.typed(`mcp tools ${server}`)}`
        : undefined
  return new CommandFault(message, {exit: EXIT.failure, code: `mcp_${code}`, ...(next && {next})})
}

function refusedBy(status: number, {error}: McpAnswer, gateway: Gateway): CommandFault {
  const message = error?.message ?? `The answer was ${status} without a reason. Is it a gateway that serves MCP?`
  const next =
    status === 404
      ? `See the servers there are: ${gateway.typed('mcp-servers list')}`
      : status === 401
        ? 'The key is read from GATEWAY_API_KEY or --api-key-file.'
        : status === 403
          ? 'The key needs the scope mcp.invoke, and has to be of the workspace.'
          : undefined
  return new CommandFault(message, {exit: exitOf(status), code: `http_${status}`, status, ...(next && {next})})
}

/** A header takes visible ASCII; other names come as base64 (the protocol's own form). */
function headerText(name: string): string {
  const is_plain = /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/.test(name) && !name.startsWith('=?base64?')
  return is_plain ? name : `=?base64?${Buffer.from(name).toString('base64')}?=`
}
