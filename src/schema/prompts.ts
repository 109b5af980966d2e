import {z} from 'zod'
import {Handle, Name, Slug} from './names.ts'
import {pageParams} from './paging.ts'

const Times = {created_at: z.iso.datetime(), last_updated_at: z.iso.datetime()}
const Status = z.enum(['active', 'archived'])
const Bag = z.record(z.string(), z.unknown())
const Template = z.string().min(1).max(1_000_000)
const Tools = z.array(Bag).max(128)
/** As calls say it: an object, or a word such as `auto`. */
const ToolChoice = z.union([Bag, z.string().max(255)])
const Description = z.string().max(2000)
const Flag = z.union([z.literal(0), z.literal(1)])
const Version = z.int().min(1).max(1_000_000_000)

/** One version of a prompt: all of a call but its variables. */
export interface PromptTemplate {
  /** A JSON array of messages, or the text of a completion; in the words of templates. */
  readonly string: string
  readonly parameters: Readonly<Record<string, unknown>>
  /** The slug of a provider, or of a saved config. */
  readonly virtual_key: string
  readonly model: string | null
  readonly functions: readonly Readonly<Record<string, unknown>>[] | null
  readonly tools: readonly Readonly<Record<string, unknown>>[] | null
  readonly tool_choice: Readonly<Record<string, unknown>> | string | null
  readonly template_metadata: Readonly<Record<string, unknown>> | null
  readonly is_raw_template: boolean
}

export const PromptsQuery = z.strictObject({
  /** Id or slug. */
  collection_id: Handle.optional(),
  /** Id or slug. */
  workspace_id: Handle.optional(),
  ...pageParams(),
  /** Part of the name. */
  search: z.string().max(255).optional(),
})

export const PromptRow = z.strictObject({
  id: z.uuid(),
  slug: z.string(),
  name: z.string(),
  collection_id: z.uuid(),
  /** Of the published version. */
  model: z.string().nullable(),
  status: Status,
  ...Times,
  object: z.literal('prompt'),
})

export const PromptView = z.strictObject({
  id: z.uuid(),
  slug: z.string(),
  name: z.string(),
  collection_id: z.uuid(),
  string: z.string(),
  parameters: Bag,
  prompt_version: z.int(),
  prompt_version_id: z.uuid(),
  prompt_version_status: Status,
  prompt_version_description: z.string().nullable(),
  /** The label that was given last. */
  prompt_version_label_id: z.uuid().nullable(),
  virtual_key: z.string(),
  model: z.string().nullable(),
  functions: z.array(Bag).nullable(),
  tools: z.array(Bag).nullable(),
  tool_choice: ToolChoice.nullable(),
  template_metadata: Bag.nullable(),
  is_raw_template: z.boolean(),
  status: Status,
  ...Times,
})

export const PromptCreate = z.strictObject({
  name: Name,
  slug: Slug.optional(),
  /** Id or slug. */
  collection_id: Handle,
  string: Template,
  parameters: Bag,
  functions: Tools.nullable().optional(),
  tools: Tools.nullable().optional(),
  tool_choice: ToolChoice.nullable().optional(),
  model: z.string().min(1).max(255).nullable().optional(),
  virtual_key: Handle,
  version_description: Description.nullable().optional(),
  is_raw_template: Flag.optional(),
  template_metadata: Bag.nullable().optional(),
})

/**
 * `name` and `collection_id` are the prompt's; the rest makes a version. With `patch` what is absent is taken from the
 * newest one.
 */
export const PromptUpdate = z.strictObject({
  patch: z.boolean().optional(),
  name: Name.optional(),
  collection_id: Handle.optional(),
  string: Template.optional(),
  parameters: Bag.optional(),
  model: z.string().min(1).max(255).nullable().optional(),
  virtual_key: Handle.optional(),
  version_description: Description.nullable().optional(),
  functions: Tools.nullable().optional(),
  tools: Tools.nullable().optional(),
  tool_choice: ToolChoice.nullable().optional(),
  is_raw_template: Flag.optional(),
  prompt_metadata: Bag.nullable().optional(),
})

export const PromptMade = z.strictObject({
  id: z.uuid(),
  slug: z.string(),
  version_id: z.uuid(),
  object: z.literal('prompt'),
})
/** Empty where no version was made. */
export const PromptChanged = z.strictObject({id: z.uuid(), slug: z.string(), prompt_version_id: z.uuid()}).partial()

export const PromptQuery = z.strictObject({
  /** A number, `latest`, `default` or a label; without it the published one. */
  version: Handle.optional(),
})

export const PromptVersionView = z.strictObject({
  id: z.uuid(),
  prompt_id: z.uuid(),
  prompt_template: Bag,
  prompt_version: z.int(),
  prompt_description: z.string().nullable(),
  label_id: z.uuid().nullable(),
  created_at: z.iso.datetime(),
  status: Status,
  object: z.literal('prompt'),
})

/** Null takes every label from the version. */
export const PromptVersionUpdate = z.strictObject({label_id: z.uuid().nullable().optional()})

export const MakeDefault = z.strictObject({version: Version})

/**
 * The body of a call of a prompt: values for its variables, and members of the call's body that replace the saved ones.
 */
export const PromptCall = z.looseObject({variables: Bag, stream: z.boolean().nullable().optional()})

/** The body that a call of a prompt comes to. */
export const RenderedCall = z.looseObject({
  messages: z.array(Bag).optional(),
  prompt: z.unknown().optional(),
  model: z.string().optional(),
  response_format: Bag.optional(),
  stream_options: Bag.nullable().optional(),
  thinking: Bag.nullable().optional(),
  tools: z.array(Bag).optional(),
  tool_choice: ToolChoice.optional(),
  functions: z.array(Bag).optional(),
  function_call: ToolChoice.optional(),
})

export const PartialsQuery = z.strictObject({
  /** Id or slug. */
  collection_id: Handle.optional(),
})

const PartialPlace = {id: z.uuid(), slug: z.string(), name: z.string(), collection_id: z.uuid()}

export const PartialRow = z.strictObject({...PartialPlace, ...Times, status: Status, object: z.literal('partial')})

export const PartialView = z.strictObject({
  ...PartialPlace,
  string: z.string(),
  version: z.int(),
  version_description: z.string().nullable(),
  prompt_partial_version_id: z.uuid(),
  ...Times,
  status: Status,
})

export const PartialCreate = z.strictObject({
  /** Id or slug. */
  workspace_id: Handle.optional(),
  name: Name,
  slug: Slug.optional(),
  string: Template,
  version_description: Description.nullable().optional(),
})

/** Another `string` makes a version, which is not published; `description` is that version's. */
export const PartialUpdate = z.strictObject({
  name: Name.optional(),
  string: Template.optional(),
  description: Description.nullable().optional(),
  status: Status.optional(),
})

export const PartialMade = z.strictObject({id: z.uuid(), slug: z.string(), version_id: z.uuid()})
/** Of the newest version. */
export const PartialChanged = z.strictObject({prompt_partial_version_id: z.uuid()})

export const PartialVersionView = z.strictObject({
  prompt_partial_id: z.uuid(),
  prompt_partial_version_id: z.uuid(),
  slug: z.string(),
  version: z.string(),
  string: z.string(),
  description: z.string().nullable(),
  created_at: z.iso.datetime(),
  prompt_version_status: Status,
  object: z.literal('partial'),
})
