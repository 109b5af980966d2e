import type {PolicyFacts} from '../../limits/policies.ts'
import type {McpServer} from '../call/server.ts'
import type {McpCaller} from '../services.ts'

const METADATA = 'metadata.'

/** The facts of one call of a tool for policies, by the names that conditions and groups have for them. */
export class ToolFacts implements PolicyFacts {
  readonly #caller: McpCaller
  readonly #server: Pick<McpServer, 'id' | 'slug'>
  readonly #tool: string
  readonly #metadata: Readonly<Record<string, string>>

  constructor(
    caller: McpCaller,
    server: Pick<McpServer, 'id' | 'slug'>,
    tool: string,
    metadata: Readonly<Record<string, string>>,
  ) {
    this.#caller = caller
    this.#server = server
    this.#tool = tool
    this.#metadata = metadata
  }

  names(key: string): readonly string[] | null {
    if (key === 'workspace_id') return [this.#caller.workspace_id, this.#caller.workspace_slug]
    if (key === 'mcp_server') return [this.#server.slug, this.#server.id]
    const value = this.group(key)
    return value === null ? null : [value]
  }

  group(key: string): string | null {
    switch (key) {
      case 'api_key':
        return this.#caller.kind === 'api_key' ? this.#caller.id : null
      case 'workspace_id':
        return this.#caller.workspace_id
      case 'organisation_id':
        return this.#caller.organisation_id
      case 'user':
        return this.#caller.user_id
      case 'mcp_server':
        return this.#server.slug
      case 'mcp_tool':
        return this.#tool
      default:
        return this.#ofMetadata(key)
    }
  }

  #ofMetadata(key: string): string | null {
    const name = key.slice(METADATA.length)
    return key.startsWith(METADATA) && Object.hasOwn(this.#metadata, name) ? this.#metadata[name]! || null : null
  }
}
