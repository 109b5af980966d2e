import {z} from 'zod'
import {McpCapability, McpMetadataBrief, McpPage} from './mcp-integrations.ts'
import {VirtualTools, VirtualView} from './mcp-virtual.ts'
import {Handle, Name, SLUG} from './names.ts'
import {pageParams} from './paging.ts'

const Writable = {name: Name, description: z.string().max(500).nullable().optional()}

export const McpServerCreate = z
  .strictObject({
    ...Writable,
    /** Id or slug. */
    mcp_integration_id: Handle.optional(),
    /** In place of an integration: tools of other servers of the workspace. */
    virtual: VirtualTools.optional(),
    workspace_id: Handle.optional(),
    /** A part of the server's URL. */
    slug: z.string().min(3).max(50).regex(SLUG, 'expected letters, digits, - and _ only').optional(),
  })
  .superRefine(({mcp_integration_id, virtual}, context) => {
    const say = (path: string, message: string) => context.addIssue({code: 'custom', path: [path], message})
    if (mcp_integration_id === undefined && virtual === undefined)
      say('mcp_integration_id', 'is required, or virtual in its place')
    if (mcp_integration_id !== undefined && virtual !== undefined)
      say('virtual', 'takes the place of mcp_integration_id: send one of them')
  })

export const McpServerUpdate = z
  .strictObject({...Writable, virtual: VirtualTools.optional()})
  .partial()
  .refine(fields => Object.keys(fields).length > 0, 'expected one field to change at least')

export const McpServersQuery = z.strictObject({
  ...pageParams({most: 100}),
  workspace_id: Handle.optional(),
  /** The one of this id or slug. */
  id: Handle.optional(),
  /** Part of the name or slug. */
  search: z.string().min(1).max(255).optional(),
})

const Row = {
  id: z.uuid(),
  name: z.string(),
  description: z.string().nullable(),
  status: z.literal('active'),
  created_at: z.iso.datetime(),
  slug: z.string(),
  workspace_id: z.uuid(),
  /** Null of a virtual server. */
  mcp_integration_id: z.uuid().nullable(),
  /** Of a virtual server alone. */
  virtual: VirtualView.optional(),
}

export const McpServerRow = z.strictObject({
  ...Row,
  organisation_id: z.uuid(),
  last_updated_at: z.iso.datetime(),
  owner_id: z.string(),
  mcp_integration_slug: z.string().nullable(),
  mcp_integration_url: z.string().nullable(),
  auth_type: z.string().nullable(),
  workspace_name: z.string(),
  workspace_slug: z.string(),
  /** The URL for clients of MCP. */
  url: z.string(),
  metadata: McpMetadataBrief,
})

export const McpServerView = z.strictObject({
  ...Row,
  last_updated_at: z.iso.datetime(),
  /** Null of a virtual server. */
  mcp_integration_details: z
    .strictObject({
      id: z.uuid(),
      slug: z.string(),
      status: z.string(),
      /** Secrets are masked. */
      configurations: z.record(z.string(), z.unknown()),
      url: z.string(),
      transport: z.string(),
      auth_type: z.string(),
    })
    .nullable(),
})

/** `integration_enabled` is the integration's word, which comes first. */
export const McpServerCapability = McpCapability.omit({created_at: true, last_updated_at: true}).extend({
  integration_enabled: z.boolean(),
})

export const UserAccessQuery = z.strictObject({
  ...McpPage,
  /** Part of the name or e-mail address. */
  search: z.string().min(1).max(255).optional(),
})

const Default = z.enum(['allow', 'deny'])

export const UserAccessList = z.strictObject({
  data: z.array(
    z.strictObject({
      user_id: z.uuid(),
      first_name: z.string().nullable(),
      last_name: z.string().nullable(),
      enabled: z.boolean(),
      /** It was set for this user, whatever the default. */
      has_override: z.boolean(),
      connection_status: z.enum(['connected', 'not_connected']),
    }),
  ),
  default_user_access: Default,
  total: z.int(),
  has_more: z.boolean(),
})

export const UserAccessCheck = z.strictObject({
  allowed: z.boolean(),
  /** Null: the caller is no user. */
  user_id: z.string().nullable(),
  mcp_server_id: z.uuid(),
})

export const UserAccessUpdate = z
  .strictObject({
    user_access: z
      .array(z.strictObject({user_id: Handle, enabled: z.boolean()}))
      .max(1000)
      .refine(all => new Set(all.map(each => each.user_id)).size === all.length, 'names a user twice: send each once')
      .optional(),
    default_user_access: Default.optional(),
  })
  .refine(fields => Object.keys(fields).length > 0, 'expected user_access, default_user_access or both')
