import {z} from 'zod'
import {Handle, Name} from './names.ts'
import {pageParams} from './paging.ts'

export const CLIENT_AUTH_METHODS = ['none', 'client_secret_basic', 'client_secret_post'] as const

export const McpOAuthClientParams = z.strictObject({
  clientId: z.string().min(1).max(255).describe('The id of a client: `mcp_client_…`.'),
})
export const McpOAuthClientsQuery = z.strictObject(pageParams())

const RedirectUris = z
  .array(z.string().min(1).max(2048))
  .max(10)
  .describe('Where the client hears the answer: https, http to this machine, or a scheme of an app.')
const Scopes = z
  .array(z.string().min(1).max(100))
  .min(1)
  .max(20)
  .nullable()
  .describe('The most that the client may have; null for any.')
const ActsForItself = z.boolean().describe('It may get tokens for itself, without a person (client_credentials).')
const SkipsConsent = z.boolean().describe('People of the organisation see no page of consent for it.')

export const McpOAuthClientCreate = z.strictObject({
  name: Name,
  redirect_uris: RedirectUris.default([]),
  token_endpoint_auth_method: z
    .enum(CLIENT_AUTH_METHODS)
    .default('none')
    .describe('`none` for a program of people; the others have a secret.'),
  acts_for_itself: ActsForItself.default(false),
  skips_consent: SkipsConsent.default(false),
  scopes: Scopes.optional(),
  workspace_id: Handle.nullable().optional().describe('The only workspace whose servers it reaches; by default all.'),
})

export const McpOAuthClientUpdate = z
  .strictObject({
    name: Name,
    redirect_uris: RedirectUris,
    acts_for_itself: ActsForItself,
    skips_consent: SkipsConsent,
    scopes: Scopes,
  })
  .partial()
  .refine(fields => Object.keys(fields).length > 0, 'expected one field to change at least')

export const McpOAuthClientView = z.strictObject({
  id: z.string(),
  name: z.string(),
  redirect_uris: z.array(z.string()),
  token_endpoint_auth_method: z.enum(CLIENT_AUTH_METHODS),
  acts_for_itself: z.boolean(),
  skips_consent: z.boolean(),
  scopes: z.array(z.string()).nullable(),
  workspace_id: z.uuid().nullable(),
  created_at: z.iso.datetime(),
  last_updated_at: z.iso.datetime(),
  last_used_at: z.iso.datetime().nullable(),
  object: z.literal('mcp-oauth-client'),
})
/** The secret is shown here alone. */
export const CreatedMcpOAuthClient = McpOAuthClientView.extend({client_secret: z.string().nullable()})
