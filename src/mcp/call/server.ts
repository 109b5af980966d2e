import type {CapabilityType, McpIntegrationsTable} from '../../store/tables/registry.ts'
import type {UpstreamPlace} from '../upstream/upstream.ts'
import type {Pins} from './pins.ts'
import type {Switches} from './switches.ts'
import type {ToolPrices} from './tool-prices.ts'

/** A server as the path names it, inside of an organisation. */
export interface ServerPlace {
  readonly organisation_id: string
  /** The workspace of the credential. */
  readonly workspace_id: string
  /** Slug or id, where the path names it. */
  readonly workspace: string | null
  /** Slug. */
  readonly server: string
}

/** A server of a workspace, opened: ready to be called. */
export interface McpServer {
  readonly id: string
  readonly slug: string
  readonly name: string
  readonly organisation_id: string
  readonly workspace_id: string
  readonly workspace_slug: string
  readonly integration_id: string
  /** Another after each change of its address or its credential: connections of before are not used again. */
  readonly version: string
  readonly place: UpstreamPlace
  /** Its row: the secrets in it are sealed. */
  readonly integration: McpIntegrationsTable
  readonly switches: Switches
  readonly pins: Pins
  readonly prices: ToolPrices
  /** Capabilities of some types that callers do not see, by their keys, in order. */
  hidden(types: readonly CapabilityType[]): readonly string[]
  /** Null of a server of an integration. */
  readonly virtual: VirtualOffer | null
  /** False for a person who may not use it. Null is no person: the workspace's grant is enough. */
  admits(user_id: string | null): boolean
}

/** The tools that a virtual server offers: its integration is empty, and nothing goes to it. */
export interface VirtualOffer {
  /** In the order in which clients see them; those of servers that are gone or closed are not there. */
  readonly tools: readonly VirtualTool[]
  /** True where clients search the tools in place of reading a list of them. */
  readonly is_searched: boolean
}

/** A tool of another server of the workspace, under a name of its own. */
export interface VirtualTool {
  readonly name: string
  readonly server: McpServer
  /** The name that its server has for it. */
  readonly tool: string
}
