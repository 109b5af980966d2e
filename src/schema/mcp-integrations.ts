import {z} from 'zod'
import {McpConfigurations} from './mcp-configurations.ts'
import {CapabilityPin, DefinitionHash} from './mcp-pins.ts'
import {Handle, Name, Slug} from './names.ts'
import {pageParams, wholeInQuery} from './paging.ts'
import {KeptSecretMappings, SecretMapping} from './secret-mappings.ts'

export const CAPABILITY_TYPES = ['tool', 'prompt', 'resource', 'resource_template'] as const

const anything = z.record(z.string(), z.unknown())
export const MCP_AUTH_TYPES = ['oauth_auto', 'oauth_client_credentials', 'headers', 'none'] as const
export type McpAuthType = (typeof MCP_AUTH_TYPES)[number]

const Writable = {
  name: Name,
  description: z.string().max(2000).nullable().optional(),
  configurations: McpConfigurations.optional(),
  url: z.string().trim().min(1).max(2048),
  auth_type: z.enum(MCP_AUTH_TYPES),
  transport: z.enum(['http', 'sse']),
  secret_mappings: KeptSecretMappings.optional(),
}

export const McpIntegrationCreate = z.strictObject({
  ...Writable,
  slug: Slug.optional(),
  /** The caller's own; another is not found. */
  organisation_id: Handle.optional(),
  /** Of the workspace it is for alone; without one it is the organisation's. */
  workspace_id: Handle.optional(),
})

export const McpIntegrationUpdate = z
  .strictObject(Writable)
  .partial()
  .refine(fields => Object.keys(fields).length > 0, 'expected one field to change at least')

export const McpIntegrationsQuery = z.strictObject({
  ...pageParams(),
  organisation_id: Handle.optional(),
  type: z.enum(['workspace', 'organisation', 'all']).default('all'),
  workspace_id: Handle.optional(),
  /** Part of the name or slug. */
  search: z.string().min(1).max(255).optional(),
})

/** A server's report of itself when it was last synced; all is null, and `sync_status` pending, before. */
export const McpMetadata = z.strictObject({
  title: z.string().nullable(),
  description: z.string().nullable(),
  icons: z.array(z.unknown()).nullable(),
  server_name: z.string().nullable(),
  server_version: z.string().nullable(),
  website_url: z.string().nullable(),
  protocol_version: z.string().nullable(),
  capability_flags: anything.nullable(),
  sync_status: z.string(),
  last_synced_at: z.iso.datetime().nullable(),
  sync_error: z.string().nullable(),
  /** Entries of the lists that were left out, and why. */
  sync_warnings: z.array(z.string()),
})
export type McpMetadata = z.output<typeof McpMetadata>

export const UNSYNCED: McpMetadata = {
  title: null,
  description: null,
  icons: null,
  server_name: null,
  server_version: null,
  website_url: null,
  protocol_version: null,
  capability_flags: null,
  sync_status: 'pending',
  last_synced_at: null,
  sync_error: null,
  sync_warnings: [],
}

/** The part of it that rows of lists carry. */
export const McpMetadataBrief = McpMetadata.omit({
  ...{capability_flags: true, sync_error: true},
  ...{website_url: true, sync_warnings: true},
})

const Times = {created_at: z.iso.datetime(), last_updated_at: z.iso.datetime()}

const Row = {
  id: z.uuid(),
  name: z.string(),
  description: z.string().nullable(),
  owner_id: z.string(),
  status: z.literal('active'),
  type: z.enum(['workspace', 'organisation']),
  url: z.string(),
  auth_type: z.enum(MCP_AUTH_TYPES),
  transport: z.enum(['http', 'sse']),
  /** Secrets are masked. */
  configurations: anything,
  slug: z.string(),
  workspace_id: z.uuid().nullable(),
  secret_mappings: z.array(SecretMapping),
  ...Times,
}

const GlobalAccess = z.strictObject({enabled: z.boolean()})

export const McpIntegrationRow = z.strictObject({...Row, workspaces_count: z.int(), metadata: McpMetadataBrief})
export const McpIntegrationView = z.strictObject({...Row, global_workspace_access: GlobalAccess.nullable()})

/** The envelope of these lists (decisions: envelopes and ids). */
export function mcpListOf<T extends z.ZodType>(item: T) {
  return z.strictObject({data: z.array(item), total: z.int(), has_more: z.boolean()})
}

/** One page as that envelope has it. */
export function mcpList<Row>(
  data: readonly Row[],
  total: number,
  {current_page, page_size}: {current_page: number; page_size: number},
) {
  return {data: [...data], total, has_more: (current_page + 1) * page_size < total}
}

export const McpAccessQuery = z.strictObject({
  /** Whatever it says, the rows are under `data`, with `total`. */
  version: z.string().max(64).optional(),
})

const AccessRow = z.strictObject({id: z.uuid(), enabled: z.boolean(), status: z.string(), ...Times})

export const McpAccessList = z.strictObject({
  workspaces: z.array(AccessRow).optional(),
  data: z.array(AccessRow).optional(),
  total: z.int().optional(),
  global_workspace_access: GlobalAccess.nullable(),
})

export const McpAccessUpdate = z
  .strictObject({
    workspaces: z.array(z.strictObject({id: Handle, enabled: z.boolean()})).max(1000),
    global_workspace_access: GlobalAccess.nullable().optional(),
    override_existing_workspace_access: z.boolean().default(false),
  })
  .refine(
    ({workspaces, global_workspace_access: everywhere, override_existing_workspace_access: override}) =>
      workspaces.length > 0 || everywhere !== undefined || override,
    {
      path: ['workspaces'],
      message: 'an empty list is taken with global_workspace_access or override_existing_workspace_access alone',
    },
  )

/** `page` counts from 1 (decisions: envelopes and ids). */
export const McpPage = {page: wholeInQuery(1, 1_000_000).default(1), page_size: wholeInQuery(1, 500).default(100)}

export const McpCapabilitiesQuery = z.strictObject({
  ...McpPage,
  type: z.enum(CAPABILITY_TYPES).optional(),
  /** Those whose pin has this state; without it all but those that are gone. */
  pin_state: z.enum(['approved', 'changed', 'new', 'gone']).optional(),
})

/** The discovered details of a capability besides its name. */
export const CapabilityDetails = z.strictObject({
  title: z.string().nullable(),
  description: z.string().nullable(),
  icons: z.array(z.unknown()).nullable(),
  input_schema: anything.nullable(),
  output_schema: anything.nullable(),
  execution: anything.nullable(),
  annotations: anything.nullable(),
  arguments: z.array(z.unknown()).nullable(),
  uri: z.string().nullable(),
  uri_template: z.string().nullable(),
  mime_type: z.string().nullable(),
  size: z.number().nullable(),
})
export type CapabilityDetails = z.output<typeof CapabilityDetails>

export const McpCapability = CapabilityDetails.extend({
  name: z.string(),
  type: z.enum(CAPABILITY_TYPES),
  enabled: z.boolean(),
  pin: CapabilityPin.nullable(),
  ...Times,
})

const Count = z.strictObject({total: z.int(), enabled: z.int()})
export const CapabilityCounts = z.strictObject({
  tools: Count,
  prompts: Count,
  resources: Count,
  resource_templates: Count,
})

export function capabilitiesOf<T extends z.ZodType>(item: T) {
  return mcpListOf(item).extend({counts: CapabilityCounts})
}

const Switched = {name: z.string().min(1).max(1024), type: z.enum(CAPABILITY_TYPES)}

/** A list of changes of capabilities, each of which is named once. */
function changesOf<T extends z.ZodType<{readonly type: string; readonly name: string}>>(change: T) {
  return z.strictObject({
    capabilities: z
      .array(change)
      .min(1)
      .max(5000)
      .refine(
        all => new Set(all.map(({type, name}) => `${type} ${name}`)).size === all.length,
        'names a capability twice: send each once',
      ),
  })
}

/** Of an MCP server: its own switches. */
export const McpServerCapabilitiesUpdate = changesOf(z.strictObject({...Switched, enabled: z.boolean()}))

/** Of an MCP integration: switches for all of its servers, and approvals of definitions. */
export const McpCapabilitiesUpdate = changesOf(
  z
    .strictObject({
      ...Switched,
      enabled: z.boolean().optional(),
      /** `pin.seen_hash`, or another hash that was seen: that definition is approved. */
      approved_hash: DefinitionHash.optional(),
    })
    .refine(
      ({enabled, approved_hash}) => enabled !== undefined || approved_hash !== undefined,
      'expected enabled, approved_hash or both',
    ),
)

export const Success = z.strictObject({success: z.literal(true)})
