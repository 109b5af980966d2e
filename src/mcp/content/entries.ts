import {z} from 'zod'
import type {Era} from '../wire/versions.ts'

/** Entries of lists as the revisions define them: a client refuses the whole list for one that is not so. */

export type ListMethod = 'tools/list' | 'prompts/list' | 'resources/list' | 'resources/templates/list'

/** The member of the result that holds the entries, and that of an entry that tells it from others. */
export const LISTS = {
  'tools/list': {member: 'tools', key: 'name'},
  'prompts/list': {member: 'prompts', key: 'name'},
  'resources/list': {member: 'resources', key: 'uri'},
  'resources/templates/list': {member: 'resourceTemplates', key: 'uriTemplate'},
} as const satisfies Record<ListMethod, {readonly member: string; readonly key: string}>

export function isListMethod(method: string): method is ListMethod {
  return Object.hasOwn(LISTS, method)
}

const TEXT = z.string().optional()
const FLAG = z.boolean().optional()
const ANY_OBJECT = z.record(z.string(), z.unknown())

const ICON = z.looseObject({
  src: z.string(),
  mimeType: TEXT,
  sizes: z.array(z.string()).optional(),
  theme: z.enum(['light', 'dark']).optional(),
})

const NAMED = {
  name: z.string(),
  title: TEXT,
  description: TEXT,
  icons: z.array(ICON).optional(),
  _meta: ANY_OBJECT.optional(),
}

const ANNOTATIONS = z.looseObject({
  audience: z.array(z.enum(['user', 'assistant'])).optional(),
  priority: z.number().min(0).max(1).optional(),
  lastModified: z.iso.datetime({offset: true}).optional(),
})

const TOOL = {
  ...NAMED,
  annotations: z
    .looseObject({title: TEXT, readOnlyHint: FLAG, destructiveHint: FLAG, idempotentHint: FLAG, openWorldHint: FLAG})
    .optional(),
}

/** Until 2025-11-25 the schemas of properties are objects. */
const LEGACY_SCHEMA = z.looseObject({
  type: z.literal('object'),
  properties: z.record(z.string(), ANY_OBJECT).optional(),
  required: z.array(z.string()).optional(),
})

const MODERN_TOOL = z.looseObject({
  ...TOOL,
  inputSchema: z.looseObject({$schema: TEXT, type: z.literal('object')}),
  outputSchema: z.looseObject({$schema: TEXT}).optional(),
})

const LEGACY_TOOL = z.looseObject({
  ...TOOL,
  inputSchema: LEGACY_SCHEMA,
  outputSchema: LEGACY_SCHEMA.optional(),
  execution: z.looseObject({taskSupport: z.enum(['required', 'optional', 'forbidden']).optional()}).optional(),
})

const PROMPT = z.looseObject({
  ...NAMED,
  arguments: z.array(z.looseObject({name: z.string(), description: TEXT, required: FLAG})).optional(),
})

const RESOURCE = z.looseObject({
  ...NAMED,
  uri: z.string(),
  mimeType: TEXT,
  size: z.number().optional(),
  annotations: ANNOTATIONS.optional(),
})

const TEMPLATE = z.looseObject({...NAMED, uriTemplate: z.string(), mimeType: TEXT, annotations: ANNOTATIONS.optional()})

const ENTRIES: Readonly<Record<ListMethod, Readonly<Record<Era, z.ZodType>>>> = {
  'tools/list': {modern: MODERN_TOOL, legacy: LEGACY_TOOL},
  'prompts/list': {modern: PROMPT, legacy: PROMPT},
  'resources/list': {modern: RESOURCE, legacy: RESOURCE},
  'resources/templates/list': {modern: TEMPLATE, legacy: TEMPLATE},
}

/** The first rule of an era's revisions that an entry breaks; null where it breaks none. */
export function entryFault(method: ListMethod, era: Era, entry: unknown): string | null {
  const read = ENTRIES[method][era].safeParse(entry)
  if (read.success) return null
  const issue = read.error.issues[0]!
  return issue.path.length === 0 ? issue.message : `${issue.path.map(String).join('.')}: ${issue.message}`
}
