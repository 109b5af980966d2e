import {LRUCache} from 'lru-cache'
import {isObject, type JsonObject, own} from '../../base/json-member.ts'
import {parsed} from '../../base/json-object.ts'
import type {McpServer} from '../call/server.ts'
import {isWrapped} from '../content/schemas.ts'
import type {McpUpstream, RequestOptions} from '../upstream/upstream.ts'
import {type ParamHeader, paramHeadersOf, paramHeaderValues} from '../wire/param-headers.ts'

/** The parts of a tool's definition that calls of it need. */
export interface KnownTool {
  /** Arguments that a modern request repeats as headers. */
  readonly headers: readonly ParamHeader[]
  /** Legacy clients see its structured content under `result`. */
  readonly is_wrapped: boolean
}

const MOST_SERVERS = 1_000
const MOST_TOOLS = 5_000
const MOST_PAGES = 50

/**
 * Tools of modern upstreams, as their lists define them: learnt from each list that passes, and read once where a call
 * comes first.
 */
export class ToolBook {
  readonly #servers = new LRUCache<string, Map<string, KnownTool>>({max: MOST_SERVERS})

  /** Undefined: no list was seen, or it has no such tool. */
  find(server: McpServer, tool: string): KnownTool | undefined {
    return this.#servers.get(keyOf(server))?.get(tool)
  }

  /** Learns from a page of a list. */
  note(server: McpServer, tools: readonly JsonObject[]): void {
    const known = this.#servers.get(keyOf(server)) ?? new Map<string, KnownTool>()
    for (const tool of tools) {
      const name = own(tool, 'name')
      if (typeof name !== 'string' || (known.size >= MOST_TOOLS && !known.has(name))) continue
      const output = own(tool, 'outputSchema')
      const {headers} = paramHeadersOf(own(tool, 'inputSchema'))
      known.set(name, {headers, is_wrapped: isObject(output) && isWrapped(output)})
    }
    this.#servers.set(keyOf(server), known)
  }

  forget(server: McpServer): void {
    this.#servers.delete(keyOf(server))
  }

  /** `Mcp-Param-*` of a call, from its arguments and the tool's schema. `params`: JSON text. */
  async headersOf(
    server: McpServer,
    upstream: McpUpstream,
    tool: string,
    params: string | undefined,
    options: RequestOptions,
  ): Promise<Readonly<Record<string, string>>> {
    if (upstream.hello.era !== 'modern') return {}
    if (!this.#servers.has(keyOf(server))) await this.#read(server, upstream, options)
    const known = this.find(server, tool)
    if (!known || known.headers.length === 0) return {}
    const of_call = parsed(params ?? '{}')
    return paramHeaderValues(known.headers, isObject(of_call) ? own(of_call, 'arguments') : undefined)
  }

  /** Reads the whole list. A server that has none has tools without headers. */
  async #read(server: McpServer, upstream: McpUpstream, options: RequestOptions) {
    this.note(server, [])
    const sink = {notification: () => undefined, question: () => undefined}
    let cursor: string | undefined
    for (let page = 0; page < MOST_PAGES; page++) {
      const params = cursor === undefined ? undefined : JSON.stringify({cursor})
      const {result} = await upstream.request({method: 'tools/list', params}, sink, options)
      const tools = own(result, 'tools')
      if (Array.isArray(tools)) this.note(server, tools.filter(isObject))
      const next = own(result, 'nextCursor')
      if (typeof next !== 'string' || next === cursor) return
      cursor = next
    }
  }
}

function keyOf({integration_id, version}: McpServer): string {
  return `${integration_id} ${version}`
}
