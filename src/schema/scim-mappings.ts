import {z} from 'zod'
import {Handle, Name} from './names.ts'
import {pageParams} from './paging.ts'
import {WORKSPACE_ROLES} from './people.ts'

/** In any case, as directories write it. */
const role = z.preprocess(value => (typeof value === 'string' ? value.toLowerCase() : value), z.enum(WORKSPACE_ROLES))

export const ScimMappingsQuery = z.strictObject({
  workspace_id: Handle.optional(),
  scim_group_id: Handle.optional(),
  role: role.optional(),
  page: pageParams().current_page,
  page_size: pageParams().page_size,
})

/** Of each group so many mappings are shown; the list of mappings has all. */
export const MOST_SHOWN_MAPPINGS = 100

export const ScimGroupsQuery = z.strictObject({
  /** A part of the name, in any case. */
  search: z.string().min(1).max(255).optional(),
  /** Only groups that are mapped to this workspace, with those mappings alone. */
  workspace_id: Handle.optional(),
  page: pageParams().current_page,
  page_size: pageParams().page_size,
})

export const ScimMappingCreate = z
  .strictObject({
    /** Id or slug. */
    workspace_id: Handle,
    role,
    scim_group_id: Handle.optional(),
    /** In place of its id: of a group that is known, or that is yet to come. */
    scim_group_name: Name.optional(),
  })
  .refine(({scim_group_id, scim_group_name}) => (scim_group_id === undefined) !== (scim_group_name === undefined), {
    path: ['scim_group_id'],
    message: 'expected scim_group_id or scim_group_name, one of them',
  })

export const ScimMappingView = z.strictObject({
  id: z.uuid(),
  workspace_id: z.uuid(),
  scim_group: z.string(),
  scim_group_id: z.uuid(),
  role: z.enum(WORKSPACE_ROLES),
})

export const ScimMappingsList = z.strictObject({mappings: z.array(ScimMappingView), total_count: z.int()})

export const ScimGroupsList = z.strictObject({
  groups: z.array(
    z.strictObject({
      id: z.uuid(),
      name: z.string(),
      /** As the directory has it; null for a group that was mapped before it came. */
      external_id: z.string().nullable(),
      /** How many they are. */
      members: z.int(),
      mappings: z
        .array(z.strictObject({id: z.uuid(), workspace_id: z.uuid(), role: z.enum(WORKSPACE_ROLES)}))
        .max(MOST_SHOWN_MAPPINGS),
    }),
  ),
  total_count: z.int(),
})
