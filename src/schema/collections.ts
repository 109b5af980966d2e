import {z} from 'zod'
import {Handle, Name, Slug} from './names.ts'
import {pageParams} from './paging.ts'

const Times = {created_at: z.iso.datetime(), last_updated_at: z.iso.datetime()}

const Contents = z.strictObject({
  child_collections_count: z.int(),
  prompts_count: z.int(),
  child_collections_last_updated_at: z.iso.datetime().nullable(),
  prompts_last_updated_at: z.iso.datetime().nullable(),
})

const Collection = z.strictObject({
  id: z.uuid(),
  name: z.string(),
  workspace_id: z.uuid(),
  slug: z.string(),
  parent_collection_id: z.uuid().nullable(),
  is_default: z.boolean(),
  status: z.enum(['active', 'archived']),
  ...Times,
})

export const CollectionView = Collection.extend({collection_details: Contents})

export const CollectionDetails = Collection.extend({
  child_collections: z.array(
    z.strictObject({id: z.uuid(), name: z.string(), last_updated_at: z.iso.datetime(), collection_details: Contents}),
  ),
})

export const CollectionsQuery = z.strictObject({
  /** Id or slug; a key of the whole organisation must name it. */
  workspace_id: Handle.optional(),
  ...pageParams(),
  /** Part of the name. */
  search: z.string().max(255).optional(),
})

export const CollectionCreate = z.strictObject({
  /** Id or slug. */
  workspace_id: Handle.optional(),
  name: Name,
  slug: Slug.optional(),
  /** Id or slug. */
  parent_collection_id: Handle.optional(),
})

export const CollectionUpdate = z.strictObject({name: Name})

export const CollectionMade = z.strictObject({id: z.uuid(), slug: z.string()})
