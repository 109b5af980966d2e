import {z} from 'zod'
import {UNREADABLE_BODIES} from './guardrails.ts'
import {RateLimitsChange, UsageLimitListChange} from './limit-changes.ts'
import {RateLimits, RateLimitView, UsageLimitList, UsageLimitStanding} from './limits.ts'
import {Metadata} from './metadata.ts'
import {ModelListInput, ModelListView} from './model-lists.ts'
import {Name, Slug} from './names.ts'
import {pageParams} from './paging.ts'
import {listPattern, oneOf} from './query-lists.ts'
import {MemberView} from './users.ts'

const STATUSES = ['active', 'archived'] as const
const Handles = z.array(z.string().min(1).max(255)).max(100)
/** Guardrails that run on every call besides, by id or slug: what is absent stays, `null` clears. */
const DefaultGuardrails = {
  input_guardrails: Handles.nullable().optional(),
  output_guardrails: Handles.nullable().optional(),
}

const Writable = {
  name: Name,
  description: z.string().max(2000).nullable().optional(),
  usage_limits: UsageLimitList.optional(),
  rate_limits: RateLimits.optional(),
  models: ModelListInput.optional(),
}

export const WorkspaceCreate = z.strictObject({
  ...Writable,
  /** Made of the name where it is absent. The word `default` stands for the workspace that every organisation has. */
  slug: Slug.refine(
    slug => slug !== 'default',
    'must not be default, the word for the workspace that every organisation has',
  ).optional(),
  defaults: z.strictObject({metadata: Metadata.nullable().optional()}).nullable().optional(),
  /** Ids of users to be its members. */
  users: Handles.optional(),
})
export type WorkspaceCreate = z.output<typeof WorkspaceCreate>

/** An absent member stays, `null` clears. */
export const WorkspaceUpdate = z.strictObject({
  ...Writable,
  name: Name.optional(),
  usage_limits: UsageLimitListChange.optional(),
  rate_limits: RateLimitsChange.optional(),
  defaults: z
    .strictObject({
      metadata: Metadata.nullable().optional(),
      ...DefaultGuardrails,
      /**
       * The treatment of its calls with bodies that guardrails cannot read; `null`: as the setting UNREADABLE_BODIES.
       */
      unreadable_bodies: z.enum(UNREADABLE_BODIES).nullable().optional(),
    })
    .nullable()
    .optional(),
  /** Brings an archived workspace back, empty: what lived in it stays archived. */
  status: z.literal('active').optional(),
})
export type WorkspaceUpdate = z.output<typeof WorkspaceUpdate>

export const WorkspaceDelete = z.strictObject({
  /** The workspace's exact name, so that no other is deleted by mistake. */
  name: z.string().max(255),
  /** Archives what still lives in it, too. */
  force_delete: z.boolean().nullable().optional(),
})

export const WorkspacesQuery = z.strictObject({
  ...pageParams(),
  name: z.string().max(255).optional(),
  exact_name: z.string().max(255).optional(),
  status: z
    .string()
    .max(100)
    .meta({pattern: listPattern(oneOf(STATUSES), STATUSES.length)})
    .transform((text, {addIssue}) => {
      const words = text.split(',').map(word => word.trim())
      if (words.every(word => STATUSES.some(status => status === word))) return words as (typeof STATUSES)[number][]
      addIssue({code: 'custom', message: `must be one of ${STATUSES.join(', ')}, or both with a comma between`})
      return z.NEVER
    })
    .optional(),
})

export const WorkspaceView = z.strictObject({
  id: z.uuid(),
  slug: z.string(),
  name: z.string(),
  description: z.string().nullable(),
  created_at: z.iso.datetime(),
  last_updated_at: z.iso.datetime(),
  status: z.enum(STATUSES),
  is_default: z.boolean(),
  defaults: z.strictObject({
    metadata: z.record(z.string(), z.string()),
    input_guardrails: z.array(z.string()),
    output_guardrails: z.array(z.string()),
    /** Absent where the setting UNREADABLE_BODIES decides. */
    unreadable_bodies: z.enum(UNREADABLE_BODIES).optional(),
    /** 1 for the workspace that every organisation has and that cannot be deleted. */
    is_default: z.union([z.literal(0), z.literal(1)]),
    object: z.literal('workspace'),
  }),
  usage_limits: z.array(UsageLimitStanding),
  rate_limits: z.array(RateLimitView),
  models: ModelListView,
  object: z.literal('workspace'),
})
/** One workspace comes with its members. */
export const WorkspaceDetails = WorkspaceView.extend({users: z.array(MemberView)})

/** Of an organisation's guardrails: those that run on every call of all its workspaces. */
export const OrganisationDefaultsUpdate = z.strictObject(DefaultGuardrails)
export const OrganisationDefaultsView = z.strictObject({
  input_guardrails: z.array(z.string()),
  output_guardrails: z.array(z.string()),
  object: z.literal('organisation-defaults'),
})
