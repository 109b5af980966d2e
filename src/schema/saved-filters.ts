import {z} from 'zod'
import {LogFilters, Word} from './logs.ts'
import {Name} from './names.ts'
import {pageParams} from './paging.ts'

/** As queries of logs and analytics take them: texts. They are read as those are, and kept as they came. */
const Filters = z.record(z.string().min(1).max(64), z.string().max(8000)).superRefine((filters, context) => {
  const result = z.strictObject(LogFilters).safeParse(filters)
  if (result.success) return
  for (const issue of result.error.issues)
    context.addIssue({code: 'custom', path: [...issue.path], message: issue.message})
})

export const SavedFilterCreate = z.strictObject({
  name: Name,
  filters: Filters,
  /** Id or slug. */
  workspace_id: Word.optional(),
})
export const SavedFilterChange = z.strictObject({name: Name.optional(), filters: Filters.optional()})
export const SavedFilterPath = z.strictObject({id: Word})
export const SavedFilterQuery = z.strictObject({workspace_id: Word.optional(), ...pageParams()})

export const SavedFilterView = z.strictObject({
  id: z.string(),
  name: z.string(),
  filters: z.record(z.string(), z.string()),
  workspace_id: z.string(),
  workspace_slug: z.string(),
  created_by: z.string().nullable(),
  created_at: z.iso.datetime(),
  last_updated_at: z.iso.datetime(),
  object: z.literal('saved-filter'),
})
export const SavedFilterMade = z.strictObject({id: z.string(), object: z.literal('saved-filter')})
