import {z} from 'zod'
import {Handle, Name, Slug} from './names.ts'
import {pageParams} from './paging.ts'

export const DEPLOYMENT_TYPES = ['production', 'non-production'] as const
export type DeploymentType = (typeof DEPLOYMENT_TYPES)[number]

const Writable = {
  name: Name,
  type: z.enum(DEPLOYMENT_TYPES),
  /** The operators' own notes; the gateway reads none of them. Not for secrets. */
  config: z
    .record(z.string(), z.unknown())
    .refine(config => JSON.stringify(config).length <= 65_536, 'expected at most 65536 characters of JSON')
    .optional(),
  allow_all_workspaces: z.boolean().optional(),
  /** Ids or slugs; naming some closes it to all others. */
  allowed_workspaces: z.array(Handle).min(1).max(1000).optional(),
}

export const DeploymentCreate = z.strictObject({...Writable, slug: Slug.optional()})

export const DeploymentUpdate = z
  .strictObject({...Writable, slug: Slug})
  .partial()
  .refine(fields => Object.keys(fields).length > 0, 'expected one field to change at least')

export const DeploymentsQuery = z.strictObject({...pageParams(), type: z.enum(DEPLOYMENT_TYPES).optional()})

export const DeploymentView = z.strictObject({
  id: z.uuid(),
  organisation_id: z.uuid(),
  name: z.string(),
  slug: z.string(),
  type: z.enum(DEPLOYMENT_TYPES),
  config: z.record(z.string(), z.unknown()),
  allow_all_workspaces: z.boolean(),
  /** Ids; empty where it is for all. */
  allowed_workspaces: z.array(z.uuid()),
  status: z.literal('active'),
  created_at: z.iso.datetime(),
  last_updated_at: z.iso.datetime(),
  object: z.literal('deployment'),
})

export const DeploymentMade = z.strictObject({id: z.uuid(), slug: z.string(), object: z.literal('deployment')})
