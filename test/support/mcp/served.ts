import {Client as ModernClient, StreamableHTTPClientTransport as ModernTransport} from '@modelcontextprotocol/client'
import {Client as LegacyClient} from '@modelcontextprotocol/sdk/client/index.js'
import {StreamableHTTPClientTransport as LegacyTransport} from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import {
  CreateMessageRequestSchema,
  ElicitRequestSchema,
  ListRootsRequestSchema,
} from '@modelcontextprotocol/sdk/types.js'
import {startGateway, type TestGateway, WORKSPACE_KEY} from '../gateway.ts'

/** A gateway that serves MCP servers, and clients of both SDKs at its door. */
export class McpGateway {
  readonly gateway: TestGateway
  readonly #clients: {close(): Promise<void>}[] = []

  constructor(gateway: TestGateway) {
    this.gateway = gateway
  }

  static async open(
    env: Record<string, string> = {},
    options: Parameters<typeof startGateway>[1] = {},
  ): Promise<McpGateway> {
    return new McpGateway(await startGateway({TRUSTED_CUSTOM_HOSTS: '127.0.0.1', ...env}, options))
  }

  /** Makes an MCP server of this slug in the first workspace. */
  async server(slug: string, url: string, more: object = {}, of_server: object = {}): Promise<void> {
    const workspace = await this.workspace()
    await this.gateway.admin('POST', '/mcp-integrations', {
      ...{name: slug, slug: `${slug}-integration`, url, auth_type: 'none', transport: 'http'},
      workspace_id: workspace.id,
      ...more,
    })
    await this.gateway.admin('POST', '/mcp-servers', {
      ...{name: slug, slug, mcp_integration_id: `${slug}-integration`, workspace_id: workspace.id},
      ...of_server,
    })
  }

  /** The workspace of the bootstrap key. */
  async workspace(): Promise<{readonly id: string; readonly slug: string}> {
    const {data} = await this.gateway.admin<{data: {id: string; slug: string}[]}>('GET', '/admin/workspaces')
    return data.at(-1)!
  }

  /** A key of the first workspace, or of another. */
  async key(name: string, more: object = {}): Promise<string> {
    const workspace = await this.workspace()
    const made = await this.gateway.admin<{key: string}>('POST', '/api-keys/workspace/service', {
      ...{name, workspace_id: workspace.id, scopes: ['mcp.invoke']},
      ...more,
    })
    return made.key
  }

  /** A modern request with its envelope, and the headers that repeat it. */
  modernCall(slug: string, method: string, params: Record<string, unknown>, more: ModernCall = {}): Promise<Response> {
    const {id = 1, key = WORKSPACE_KEY, headers = {}, meta = {}, capabilities = ASKED} = more
    const name = params.name ?? params.uri
    const body = {
      ...{jsonrpc: '2.0', id, method},
      params: {
        ...params,
        _meta: {
          'io.modelcontextprotocol/protocolVersion': '2026-07-28',
          'io.modelcontextprotocol/clientCapabilities': capabilities,
          'io.modelcontextprotocol/clientInfo': {name: 'raw-client', version: '1'},
          ...meta,
        },
      },
    }
    return this.post(slug, body, {
      ...{'x-gateway-api-key': key, 'mcp-protocol-version': '2026-07-28', 'mcp-method': method},
      ...(typeof name === 'string' && {'mcp-name': name}),
      ...headers,
    })
  }

  url(slug: string): URL {
    return new URL(`${this.gateway.url}/${slug}/mcp`)
  }

  /** A client of SDK v1, which answers each question. */
  async legacy(slug: string, {key = WORKSPACE_KEY, capabilities = ASKED}: ClientOptions = {}): Promise<LegacyClient> {
    const client = new LegacyClient({name: 'legacy-client', version: '1.0.0'}, {capabilities})
    if ('elicitation' in capabilities)
      client.setRequestHandler(ElicitRequestSchema, () => ({action: 'accept', content: {ok: true}}))
    if ('sampling' in capabilities)
      client.setRequestHandler(CreateMessageRequestSchema, () => ({
        ...{role: 'assistant', content: {type: 'text', text: 'yes'}, model: 'm'},
      }))
    if ('roots' in capabilities) client.setRequestHandler(ListRootsRequestSchema, () => ({roots: [{uri: 'file:///a'}]}))
    const transport = new LegacyTransport(this.url(slug), {requestInit: {headers: headersOf(key)}})
    await client.connect(transport as Parameters<LegacyClient['connect']>[0])
    this.#clients.push(client)
    return client
  }

  /** A client of SDK v2 that speaks 2026-07-28, and answers each question. */
  async modern(
    slug: string,
    {key = WORKSPACE_KEY, capabilities = ASKED, mode}: ClientOptions = {},
  ): Promise<ModernClient> {
    const client = new ModernClient(
      {name: 'modern-client', version: '2.0.0'},
      {capabilities, versionNegotiation: {mode: mode ?? {pin: '2026-07-28'}}},
    )
    if ('elicitation' in capabilities)
      client.setRequestHandler('elicitation/create', async () => ({action: 'accept', content: {ok: true}}))
    if ('sampling' in capabilities)
      client.setRequestHandler('sampling/createMessage', async () => ({
        ...{role: 'assistant' as const, content: {type: 'text' as const, text: 'yes'}, model: 'm'},
      }))
    if ('roots' in capabilities) client.setRequestHandler('roots/list', async () => ({roots: [{uri: 'file:///a'}]}))
    await client.connect(new ModernTransport(this.url(slug), {requestInit: {headers: headersOf(key)}}))
    this.#clients.push(client)
    return client
  }

  /** One POST, as it is. */
  post(slug: string, body: unknown, headers: Record<string, string> = {}): Promise<Response> {
    return fetch(this.url(slug), {
      method: 'POST',
      headers: {
        ...{'content-type': 'application/json', accept: 'application/json, text/event-stream'},
        ...headersOf(WORKSPACE_KEY),
        ...headers,
      },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    })
  }

  async close(): Promise<void> {
    await Promise.all(this.#clients.map(client => client.close().catch(() => undefined)))
    await this.gateway.close()
  }
}

export interface ModernCall {
  readonly id?: string | number
  readonly key?: string
  readonly headers?: Record<string, string>
  readonly meta?: Record<string, unknown>
  readonly capabilities?: object
}

interface ClientOptions {
  readonly key?: string
  readonly capabilities?: object
  readonly mode?: 'auto' | 'legacy' | {readonly pin: string}
}

export const ASKED = {elicitation: {form: {}, url: {}}, sampling: {}, roots: {}}

function headersOf(key: string): Record<string, string> {
  return {'x-gateway-api-key': key}
}
