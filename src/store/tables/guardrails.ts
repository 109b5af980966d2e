import type {CallTarget} from '../../schema/call-targets.ts'

/** Rows of gateway.db about what calls are checked for. Times are ISO 8601 UTC text, JSON is text. */
export interface GuardrailsTable {
  id: string
  /** Never given twice, for configs and calls name it. */
  slug: string
  organisation_id: string
  /** Null for a guardrail of the organisation. */
  workspace_id: string | null
  name: string
  target: CallTarget
  status: 'active' | 'archived'
  /** The version that runs: the latest. */
  version_id: string
  owner_id: string | null
  updated_by: string | null
  created_at: string
  last_updated_at: string
}

export interface GuardrailVersionsTable {
  id: string
  guardrail_id: string
  version: number
  /** JSON array; the secrets in it are masked. */
  checks: string
  /** Sealed JSON array: `checks` as they are; null where they hold no secret. */
  checks_sealed: Uint8Array | null
  /** JSON object. */
  actions: string
  updated_by: string | null
  created_at: string
}

/** An MCP server whose calls of tools a guardrail judges. */
export interface GuardrailMcpServersTable {
  guardrail_id: string
  mcp_server_id: string
  run_on: 'input' | 'output' | 'both'
}
