import {z} from 'zod'
import {Handle} from './names.ts'
import {pageParams} from './paging.ts'

const Connections = {
  /** @default the caller, where it is a user who is no admin */
  user_id: z.string().min(1).max(255).optional().describe('The user whose sign-in it is.'),
  workspace_id: Handle.optional().describe('The workspace that the server is in, by id or slug.'),
}

export const McpConnectionQuery = z.strictObject(Connections)

export const McpConnectionsQuery = z.strictObject({...pageParams({most: 500}), ...Connections})

/** The sign-in of a user at the server behind an MCP server. */
export const McpConnectionRow = z.strictObject({
  user_id: z.string(),
  connected: z.boolean(),
  created_at: z.iso.datetime(),
  last_updated_at: z.iso.datetime(),
})

/** Tokens as a header takes them. */
const Token = z
  .string()
  .min(1)
  .max(16_384)
  .regex(/^[\x21-\x7e]+$/, 'expected visible ASCII characters without a space')

/** Tokens that a user has of the server behind an MCP server. */
export const McpTokensUpdate = z.strictObject({
  access_token: Token.describe('It is sealed, and never shown.'),
  refresh_token: Token.optional().describe('Kept where the gateway knows with which client, and where, it is used.'),
})

export type McpTokensUpdate = z.output<typeof McpTokensUpdate>

/** The state of a user's tokens, without them. */
export const McpTokenState = z.strictObject({
  connected: z.boolean(),
  /** Null: it is not known, or there is none. */
  expires_at: z.iso.datetime().nullable(),
  scope: z.string().nullable(),
})

export const McpClientInfo = z.strictObject({
  /** Null: none is configured, and the gateway has not registered. */
  client_id: z.string().nullable(),
})
