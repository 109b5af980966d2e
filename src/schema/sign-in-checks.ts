import {z} from 'zod'

/** As many searches as one request makes of a directory, or twice that. */
export const MOST_CHECKED = 50

/** A page of the people of a connection, or those of them to take out of the organisation. */
export const OrganisationAuthCheck = z
  .strictObject({
    /** Id or name of a connection of type ldap. */
    connection: z.string().min(1).max(255),
    /** `next` of the page before. */
    after: z.uuid().optional(),
    /** Users to archive where the directory has no entry of theirs now, or has it disabled; `user_id` of a page. */
    archive: z.array(z.uuid()).min(1).max(MOST_CHECKED).optional(),
    /** Archives also where the directory has none of the people that the connection let in. */
    force: z.boolean().optional(),
  })
  .refine(({archive, after}) => !archive || !after, {path: ['after'], message: 'is for pages, and excludes archive'})

const CheckedPerson = z.strictObject({
  user_id: z.uuid(),
  email: z.string(),
  role: z.enum(['owner', 'admin', 'member']),
  subject: z.string(),
  state: z.enum(['present', 'disabled', 'locked', 'gone', 'other_entry', 'unclear']),
  /** The name of the entry, and why it is as it is. */
  detail: z.string().nullable(),
  archived: z.boolean(),
  /** Why a user who was to be archived was not. */
  kept: z.string().nullable(),
})
export type CheckedPerson = z.output<typeof CheckedPerson>

export const OrganisationAuthChecked = z.strictObject({
  connection: z.string(),
  data: z.array(CheckedPerson),
  /** Of all links of the connection to active users. */
  total: z.int(),
  next: z.uuid().nullable(),
  object: z.literal('organisation-auth-check'),
})
export type CheckedPage = z.output<typeof OrganisationAuthChecked>
