import {z} from 'zod'
import {Handle} from './names.ts'
import {wholeInQuery} from './paging.ts'

/** The registry of MCP servers, as clients and editors read it (server.schema.json of 2025-12-11). */

export const REGISTRY_SCHEMA = 'https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json'

export const RegistryQuery = z.strictObject({
  limit: wholeInQuery(1, 100).default(50),
  cursor: z.string().min(1).max(500).optional(),
  /** Part of the name, in any case. */
  search: z.string().min(1).max(255).optional(),
  updated_since: z.iso.datetime({offset: true}).optional(),
  workspace_id: Handle.optional(),
  /** Sent by galleries of editors: each server has one version. */
  version: z.literal('latest').optional(),
})
export type RegistryQuery = z.output<typeof RegistryQuery>

const RegistryServer = z.strictObject({
  $schema: z.literal(REGISTRY_SCHEMA),
  name: z
    .string()
    .min(3)
    .max(200)
    .regex(/^[a-zA-Z0-9.-]+\/[a-zA-Z0-9._-]+$/),
  title: z.string().min(1).max(100).optional(),
  description: z.string().min(1).max(100),
  version: z.string().min(1).max(255),
  websiteUrl: z.url().optional(),
  icons: z.array(z.looseObject({src: z.url().max(255)})).optional(),
  remotes: z.array(z.strictObject({type: z.literal('streamable-http'), url: z.url()})).length(1),
})

const RegistryMeta = z.record(
  z.string(),
  z.strictObject({publishedAt: z.iso.datetime(), updatedAt: z.iso.datetime(), isLatest: z.literal(true)}),
)

export const RegistryEntry = z.strictObject({server: RegistryServer, _meta: RegistryMeta})
export type RegistryEntry = z.output<typeof RegistryEntry>

export const RegistryPage = z.strictObject({
  servers: z.array(RegistryEntry),
  metadata: z.strictObject({count: z.int(), nextCursor: z.string().optional()}),
})
export type RegistryPage = z.output<typeof RegistryPage>
