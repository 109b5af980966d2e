import {z} from 'zod'
import {Name, Slug} from './names.ts'
import {
  type KeptSecurity,
  SECURITY_CATEGORIES,
  SecurityChange,
  SecurityView,
  securityOf,
  securityView,
} from './security.ts'

const Days = z.int().min(1).max(3650)
const Category = z.enum(
  SECURITY_CATEGORIES as [(typeof SECURITY_CATEGORIES)[number], ...(typeof SECURITY_CATEGORIES)[number][]],
)

const KeyRules = z.strictObject({
  /** Of keys made without an expiry; `null`: they do not expire. */
  default_expiry_days: Days.nullable().optional(),
  /** No key may live longer; `null`: any time. */
  max_expiry_days: Days.nullable().optional(),
  /** Most user keys in one workspace; `null`: any number. */
  max_user_keys_per_workspace: z.int().min(0).max(1_000_000).nullable().optional(),
})

/** A change of an organisation's settings: what is absent stays, `null` goes back to the default. */
export const OrganisationUpdate = z.strictObject({
  name: Name.optional(),
  settings: z
    .strictObject({
      security: SecurityChange.optional(),
      /** The categories in which a workspace's own security settings count. */
      workspace_overrides: z.array(Category).max(SECURITY_CATEGORIES.length).nullable().optional(),
      api_keys: KeyRules.nullable().optional(),
    })
    .optional(),
})

export const OrganisationCreate = z.strictObject({name: Name, slug: Slug.optional()})

/** The keys are shown here alone. */
export const CreatedOrganisation = z.strictObject({
  id: z.uuid(),
  slug: z.string(),
  workspace_id: z.uuid(),
  workspace_slug: z.string(),
  admin_key: z.string(),
  workspace_key: z.string(),
  object: z.literal('organisation'),
})

export const OrganisationView = z.strictObject({
  id: z.uuid(),
  slug: z.string(),
  name: z.string(),
  created_at: z.iso.datetime(),
  last_updated_at: z.iso.datetime(),
  object: z.literal('organisation'),
})

export const OrganisationDetails = OrganisationView.extend({
  /** Days that the log and its sums are kept, as shown to users (LOG_RETENTION_DISPLAY, METRICS_RETENTION_DISPLAY). */
  retention_display: z.strictObject({log_days: z.int(), metrics_days: z.int()}),
  settings: z.strictObject({
    security: SecurityView,
    workspace_overrides: z.array(Category),
    api_keys: z.strictObject({
      default_expiry_days: z.int().nullable(),
      max_expiry_days: z.int().nullable(),
      max_user_keys_per_workspace: z.int().nullable(),
    }),
  }),
})

export const WorkspaceSettingsUpdate = z.strictObject({security: SecurityChange})

export const WorkspaceSettingsView = z.strictObject({
  workspace_id: z.uuid(),
  /**
   * The settings that were set here; they count in the categories of the organisation's `workspace_overrides` alone.
   */
  security: z.record(z.string(), z.record(z.string(), z.boolean())),
  /** The settings that count here. */
  effective: SecurityView,
  object: z.literal('workspace-settings'),
})

/** As rows keep them: only what was set. */
export interface KeptOrganisationSettings {
  readonly security?: KeptSecurity
  readonly workspace_overrides?: readonly (typeof SECURITY_CATEGORIES)[number][]
  readonly api_keys?: Readonly<Record<string, number | null>>
}

export interface KeptWorkspaceSettings {
  readonly security?: KeptSecurity
}

export function readSettings<T extends KeptOrganisationSettings | KeptWorkspaceSettings>(
  column: string | null | undefined,
): T {
  return (column ? JSON.parse(column) : {}) as T
}

/** The settings that count in a workspace, by the columns of the two rows. */
export function securityIn(organisation: string | null | undefined, workspace?: string | null) {
  const {security = {}, workspace_overrides} = readSettings<KeptOrganisationSettings>(organisation)
  return securityOf(security, workspace_overrides, readSettings<KeptWorkspaceSettings>(workspace).security)
}

/** Settings of an organisation, whole. */
export function organisationSettings(
  column: string | null | undefined,
): z.input<typeof OrganisationDetails>['settings'] {
  const {workspace_overrides = [], api_keys} = readSettings<KeptOrganisationSettings>(column)
  return {
    security: securityView(securityIn(column)),
    workspace_overrides: [...workspace_overrides],
    api_keys: keyRules(api_keys),
  }
}

/** The rules for keys, whole; `null` where there is none. */
export function keyRules(kept: KeptOrganisationSettings['api_keys'] = {}) {
  return {
    default_expiry_days: kept.default_expiry_days ?? null,
    max_expiry_days: kept.max_expiry_days ?? null,
    max_user_keys_per_workspace: kept.max_user_keys_per_workspace ?? null,
  }
}
