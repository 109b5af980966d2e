import {z} from 'zod'
import {Handle} from './names.ts'
import {pageParams} from './paging.ts'

/** A name that can follow the `@` of a prompt: no number and none of the words that mean a version otherwise. */
export const LabelName = z
  .string()
  .min(1)
  .max(255)
  .regex(
    /^(?!latest$)(?!default$)(?!\d+$)[a-zA-Z0-9_-]*[^@\s]?[a-zA-Z0-9_-]*$/,
    'expected letters, digits, - and _, no number alone, and neither latest nor default',
  )

export const LabelView = z.strictObject({
  id: z.uuid(),
  name: z.string(),
  description: z.string().nullable(),
  color_code: z.string().nullable(),
  organisation_id: z.uuid(),
  /** Null for a label that every workspace has. */
  workspace_id: z.uuid().nullable(),
  is_universal: z.boolean(),
  created_at: z.iso.datetime(),
  last_updated_at: z.iso.datetime(),
  status: z.enum(['active', 'archived']),
})

const Place = {
  /** The caller's own; another is not found. */
  organisation_id: Handle.optional(),
  /** Id or slug. */
  workspace_id: Handle.optional(),
}

export const LabelQuery = z.strictObject(Place)

export const LabelsQuery = z.strictObject({
  ...Place,
  /** Part of the name. */
  search: z.string().max(255).optional(),
  ...pageParams(),
})

const Look = {
  description: z.string().max(2000).nullable().optional(),
  color_code: z.string().max(64).nullable().optional(),
}

export const LabelCreate = z.strictObject({...Place, name: LabelName, ...Look})

/** An absent member stays, null clears. */
export const LabelUpdate = z.strictObject({name: LabelName.optional(), ...Look})

export const LabelMade = z.strictObject({id: z.uuid()})
