import {z} from 'zod'
import {Handle, Name, Slug} from './names.ts'
import {pageParams} from './paging.ts'
import {Tags, TagsQuery} from './tags.ts'

/** The kinds of secret manager (docs/mcp.md, Secret references). */
export const MANAGERS = ['aws_sm', 'azure_kv', 'hashicorp_vault'] as const
export type Manager = (typeof MANAGERS)[number]

/** The ARN of a secret of AWS: its partition and its region. */
export const SECRET_ARN = /^arn:(aws[a-z-]*):secretsmanager:([a-z0-9-]+):\d{12}:secret:.+$/

const text = z.string().trim().min(1, 'expected a text').max(2048)
const secret = z.string().trim().min(1, 'expected a secret').max(16_384)
const aws = {aws_region: text.optional()}
const azure = {azure_vault_url: text}
const vault = {vault_addr: text, vault_namespace: text.optional()}

/** How each manager is logged in to: its first field says the way, the others are that way's. */
export const AUTH = {
  aws_sm: z.discriminatedUnion('aws_auth_type', [
    z.strictObject({
      aws_auth_type: z.literal('accessKey'),
      aws_access_key_id: text,
      aws_secret_access_key: secret,
      ...aws,
    }),
    z.strictObject({
      aws_auth_type: z.literal('assumedRole'),
      aws_role_arn: text,
      aws_external_id: text.nullable().optional(),
      ...aws,
    }),
    z.strictObject({aws_auth_type: z.literal('serviceRole'), ...aws}),
  ]),
  azure_kv: z.discriminatedUnion('azure_auth_mode', [
    z.strictObject({
      azure_auth_mode: z.literal('entra'),
      azure_entra_tenant_id: text,
      azure_entra_client_id: text,
      azure_entra_client_secret: secret,
      ...azure,
    }),
    z.strictObject({azure_auth_mode: z.literal('managed'), azure_managed_client_id: text.optional(), ...azure}),
    z.strictObject({azure_auth_mode: z.literal('default'), ...azure}),
  ]),
  hashicorp_vault: z.discriminatedUnion('vault_auth_type', [
    z.strictObject({vault_auth_type: z.literal('token'), vault_token: secret, ...vault}),
    z.strictObject({vault_auth_type: z.literal('approle'), vault_role_id: text, vault_secret_id: secret, ...vault}),
    z.strictObject({vault_auth_type: z.literal('kubernetes'), vault_role: text, ...vault}),
  ]),
} as const satisfies Record<Manager, z.ZodType>

/** The field that says the way. */
export const AUTH_WAY = {
  aws_sm: 'aws_auth_type',
  azure_kv: 'azure_auth_mode',
  hashicorp_vault: 'vault_auth_type',
} as const satisfies Record<Manager, string>
/** The members that all ways of a manager share. */
export const AUTH_SHARED: readonly string[] = [aws, azure, vault].flatMap(Object.keys)
/** The fields of `AUTH` that are never shown. */
export const AUTH_SECRETS: readonly string[] = [
  'aws_secret_access_key',
  'azure_entra_client_secret',
  'vault_token',
  'vault_secret_id',
]
/** Those that hold an address. */
export const AUTH_ADDRESSES: readonly string[] = ['azure_vault_url', 'vault_addr']

const Access = {
  allow_all_workspaces: z.boolean().optional(),
  /** Ids or slugs; naming some closes it to all others. */
  allowed_workspaces: z.array(Handle).min(1).max(1000).optional(),
}

const Writable = {
  name: Name,
  description: z.string().max(1024).nullable().optional(),
  /** Members depend on `manager_type`. */
  auth_config: z.record(z.string(), z.unknown()),
  secret_path: z.string().trim().min(1, 'expected a path').max(1024),
  secret_key: z.string().min(1).max(255).nullable().optional(),
  ...Access,
  tags: Tags.nullable().optional(),
}

export const SecretReferenceCreate = z.strictObject({
  ...Writable,
  manager_type: z.enum(MANAGERS),
  slug: Slug.optional(),
  /** The caller's own; another is not found. */
  organisation_id: Handle.optional(),
})

/** The document's schema of the body, which is read in two steps. */
export const SecretReferenceCreateSaid = SecretReferenceCreate.extend({
  auth_config: z.union([...AUTH.aws_sm.options, ...AUTH.azure_kv.options, ...AUTH.hashicorp_vault.options]),
})

/** `manager_type` never changes. `auth_config` is put in place field by field. */
export const SecretReferenceUpdate = z
  .strictObject({...Writable, manager_type: z.enum(MANAGERS).optional()})
  .partial()
  .refine(({manager_type: _, ...fields}) => Object.keys(fields).length > 0, 'expected one field to change at least')

export const SecretReferencesQuery = z.strictObject({
  ...pageParams({usual: 20, most: 100}),
  manager_type: z.enum(MANAGERS).optional(),
  tags: TagsQuery.optional(),
  /** Part of the name or slug. */
  search: z.string().min(1).max(255).optional(),
})

const Times = {created_at: z.iso.datetime(), last_updated_at: z.iso.datetime()}

export const SecretReferenceRow = z.strictObject({
  id: z.uuid(),
  name: z.string(),
  slug: z.string(),
  manager_type: z.enum(MANAGERS),
  status: z.literal('ACTIVE'),
  ...Times,
  object: z.literal('secret-reference'),
})

export const SecretReferenceView = SecretReferenceRow.extend({
  organisation_id: z.uuid(),
  description: z.string().nullable(),
  secret_path: z.string(),
  secret_key: z.string().nullable(),
  allow_all_workspaces: z.boolean(),
  /** Ids; empty where it is for all. */
  allowed_workspaces: z.array(z.uuid()),
  tags: z.record(z.string(), z.string()).nullable(),
  created_by: z.string(),
  /** A secret is there as `masked_<field>`. */
  auth_config: z.record(z.string(), z.unknown()),
})

/** The result of a test of a reference; nothing of the secret. */
export const SecretReferenceTest = z.strictObject({
  slug: z.string(),
  /** The manager answered. */
  reachable: z.boolean(),
  /** It let the gateway in, and gave the secret. */
  allowed: z.boolean(),
  /** Of `secret_key`; null where none is named, or nothing was read. */
  key_present: z.boolean().nullable(),
  /** Of the value that calls use now; null where none is held. */
  age_s: z.number().nullable(),
  version: z.string().nullable(),
  response_time_ms: z.number(),
  /** Null where calls can use it. */
  error: z.string().nullable(),
  warning: z.string().nullable(),
})

export const SecretReferenceMade = z.strictObject({
  id: z.uuid(),
  slug: z.string(),
  object: z.literal('secret-reference'),
})
