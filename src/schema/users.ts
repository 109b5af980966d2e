import {z} from 'zod'
import {Name} from './names.ts'
import {pageParams, wholeInQuery} from './paging.ts'
import {LONGEST_PASSWORD, SHORTEST_PASSWORD} from './passwords.ts'
import {Email, GivenRole, OrganisationRole, WORKSPACE_ROLES, WorkspaceRole} from './people.ts'

/** The page of lists of people; their parameters are in camel case (decisions: envelopes and ids). */
export function camelPage() {
  return {currentPage: wholeInQuery(0, 1_000_000).default(0), pageSize: wholeInQuery(1, 1000).default(100)}
}

export const pageOfCamel = ({currentPage, pageSize}: {currentPage: number; pageSize: number}) => ({
  current_page: currentPage,
  page_size: pageSize,
})

export const UserParams = z.strictObject({userId: z.string().min(1).max(255)})
export const UsersQuery = z.strictObject({...camelPage(), role: OrganisationRole.optional(), email: Email.optional()})

/** `owner` is for the command line on the data directory. */
export const UserUpdate = z.strictObject({role: OrganisationRole})

export const UserCreate = z.strictObject({
  email: Email,
  role: OrganisationRole,
  first_name: Name.optional(),
  last_name: Name.optional(),
})

export const UserView = z.strictObject({
  id: z.uuid(),
  first_name: z.string().nullable(),
  last_name: z.string().nullable(),
  role: OrganisationRole,
  email: z.string(),
  created_at: z.iso.datetime(),
  last_updated_at: z.iso.datetime(),
  workspace_ids: z.array(z.uuid()),
  object: z.literal('user'),
})

const WorkspacePart = z.strictObject({id: z.string().min(1).max(255), role: WorkspaceRole})

export const InviteCreate = z.strictObject({
  email: Email,
  role: GivenRole,
  /** Workspaces to be a member of, by id or slug. */
  workspaces: z
    .array(WorkspacePart)
    .max(100)
    .refine(parts => new Set(parts.map(({id}) => id)).size === parts.length, 'names a workspace twice: send each once'),
  /** Makes a user key with these scopes in each of the workspaces when the invite is accepted. */
  workspace_api_key_details: z
    .strictObject({scopes: z.array(z.string().min(1).max(100)).min(1).max(200)})
    .nullable()
    .optional(),
})

const INVITE_STATUSES = ['pending', 'cancelled', 'accepted', 'expired'] as const
export const InviteParams = z.strictObject({inviteId: z.string().min(1).max(255)})
export const InvitesQuery = z.strictObject({
  ...camelPage(),
  role: GivenRole.optional(),
  email: Email.optional(),
  status: z.enum(INVITE_STATUSES).optional(),
})

/** The link holds the token that accepts the invite. It is shown here alone; a new invite gets a new one. */
export const CreatedInvite = z.strictObject({id: z.uuid(), invite_link: z.url(), object: z.literal('invite')})
export const ResentInvite = z.strictObject({inviteLink: z.url()})

export const InviteView = z.strictObject({
  id: z.uuid(),
  email: z.string(),
  role: GivenRole,
  created_at: z.iso.datetime(),
  expires_at: z.iso.datetime(),
  accepted_at: z.iso.datetime().nullable(),
  status: z.enum(INVITE_STATUSES),
  invited_by: z.string().nullable(),
  /** By id. */
  workspaces: z.array(z.strictObject({id: z.uuid(), role: WorkspaceRole})),
  object: z.literal('invite'),
})

export const InviteAccept = z.strictObject({
  token: z.string().min(1).max(255),
  first_name: Name.optional(),
  last_name: Name.optional(),
})
/** The session and the keys are shown here alone. */
export const AcceptedInvite = z.strictObject({
  user_id: z.uuid(),
  organisation_id: z.uuid(),
  /** Without `token` for a page of this gateway, which keeps it in a cookie. */
  session: z.strictObject({id: z.uuid(), token: z.string().optional(), expires_at: z.iso.datetime()}),
  api_keys: z.array(z.strictObject({workspace_id: z.uuid(), id: z.uuid(), key: z.string()})),
  object: z.literal('accepted-invite'),
})

export const MembersParams = z.strictObject({workspaceId: z.string().min(1).max(255)})
export const MemberParams = MembersParams.extend({userId: z.string().min(1).max(255)})
export const MembersQuery = z.strictObject({
  ...pageParams({usual: 50}),
  role: z.enum(WORKSPACE_ROLES).optional(),
  email: Email.optional(),
})
export const MembersAdd = z.strictObject({
  users: z
    .array(z.strictObject({id: z.string().min(1).max(255), role: WorkspaceRole}))
    .min(1)
    .max(100)
    .refine(users => new Set(users.map(({id}) => id)).size === users.length, 'names a user twice: send each once'),
})
export const MemberUpdate = z.strictObject({role: WorkspaceRole})

export const MemberView = z.strictObject({
  /** Of the user. */
  id: z.uuid(),
  first_name: z.string().nullable(),
  last_name: z.string().nullable(),
  org_role: OrganisationRole,
  role: WorkspaceRole,
  created_at: z.iso.datetime(),
  last_updated_at: z.iso.datetime(),
  status: z.literal('active'),
  workspace_id: z.uuid(),
  email: z.string(),
  /** The permissions of the role here. */
  scopes: z.array(z.string()),
  settings: z.null(),
  object: z.literal('workspace-user'),
})

const MIN_TTL_S = 60
const MAX_TTL_S = 90 * 86_400
export const SessionCreate = z.strictObject({
  /** Of a user of the organisation. */
  email: Email,
  ttl_s: z.int().min(MIN_TTL_S).max(MAX_TTL_S).default(3600),
})
export const SessionParams = z.strictObject({sessionId: z.string().min(1).max(255).describe('The id of the session.')})
export const SessionsQuery = z.strictObject({...pageParams(), user_id: z.string().min(1).max(255).optional()})
/** The token is shown here alone. */
export const CreatedSession = z.strictObject({
  id: z.uuid(),
  token: z.string(),
  user_id: z.uuid(),
  expires_at: z.iso.datetime(),
  object: z.literal('session'),
})
export const SessionView = z.strictObject({
  id: z.uuid(),
  user_id: z.uuid(),
  email: z.string(),
  kind: z.enum(['browser', 'cli', 'operator', 'invite']),
  /** The way in which the person came in. */
  method: z.enum(['oidc', 'saml', 'ldap', 'password', 'operator', 'invite', 'setup']),
  client_ip: z.string().nullable(),
  user_agent: z.string().nullable(),
  last_seen_at: z.iso.datetime(),
  created_at: z.iso.datetime(),
  expires_at: z.iso.datetime(),
  object: z.literal('session'),
})
export const EndedSessions = z.strictObject({ended: z.int(), object: z.literal('ended-sessions')})

/** Of an active owner; null takes the password out. */
export const PasswordSet = z.strictObject({
  email: Email,
  password: z.string().min(SHORTEST_PASSWORD).max(LONGEST_PASSWORD).nullable(),
})
export const PasswordKept = z.strictObject({
  user_id: z.uuid(),
  has_password: z.boolean(),
  object: z.literal('password'),
})
