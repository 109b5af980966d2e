import {z} from 'zod'

export const ORGANISATION_ROLES = ['owner', 'admin', 'member'] as const
export const WORKSPACE_ROLES = ['admin', 'manager', 'member'] as const
export const OrganisationRole = z.enum(ORGANISATION_ROLES)
export const WorkspaceRole = z.enum(WORKSPACE_ROLES)
/** The roles that a person can be given; owners are made on the command line. */
export const GivenRole = z.enum(['admin', 'member'])

/** An address in lower case: two spellings are one person. */
export const Email = z.string().trim().toLowerCase().meta({format: 'email'}).pipe(z.email().max(255))
