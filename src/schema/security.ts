import {z} from 'zod'

/**
 * The permissions of members and managers of workspaces, by category: setting → its default. Owners and admins of the
 * organisation and admins of a workspace are not concerned.
 */
export const SECURITY = {
  data_visibility: {membersViewAllData: true, managersViewAllData: true},
  prompts: {
    membersViewPrompts: true,
    managersViewPrompts: true,
    membersWritePrompts: false,
    managersWritePrompts: true,
  },
  analytics: {membersViewAnalytics: true, managersViewAnalytics: true},
  logs: {membersViewLogs: true, managersViewLogs: true, membersViewLogMetadata: true, managersViewLogMetadata: true},
  api_keys: {
    membersViewApiKeys: true,
    managersViewApiKeys: true,
    membersManageApiKeys: false,
    managersManageApiKeys: true,
  },
  providers: {membersViewProviders: true, managersViewProviders: true, managersManageProviders: true},
  configs: {membersViewConfigs: true, managersViewConfigs: true, membersEditConfigs: false, managersEditConfigs: true},
  guardrails: {membersViewGuardrails: true, managersViewGuardrails: true, managersWriteGuardrails: true},
  integrations: {
    managersWriteWsIntegrations: true,
    managersWriteWsMcpIntegrations: true,
    managersWriteMcpServers: true,
  },
  workspace_management: {managersEditWorkspace: false},
} as const satisfies Record<string, Record<string, boolean>>

export type SecurityCategory = keyof typeof SECURITY
type KeysOf<T> = T extends unknown ? keyof T : never
/** The name of a setting; each is in one category. */
export type SecuritySetting = KeysOf<(typeof SECURITY)[SecurityCategory]>
/** Setting → whether it is on. */
export type Security = Readonly<Record<SecuritySetting, boolean>>

export const SECURITY_CATEGORIES = Object.keys(SECURITY) as readonly SecurityCategory[]

function categories<T extends z.ZodType>(value: T) {
  const entries = SECURITY_CATEGORIES.map(category => [
    category,
    z.strictObject(Object.fromEntries(Object.keys(SECURITY[category]).map(name => [name, value]))),
  ])
  return Object.fromEntries(entries) as Record<SecurityCategory, z.ZodObject<Record<string, T>>>
}

/** A change: what is absent stays, `null` goes back to what it is by default. */
export const SecurityChange = z
  .strictObject(
    Object.fromEntries(
      Object.entries(categories(z.boolean().nullable().optional())).map(([category, shape]) => [
        category,
        shape.nullable().optional(),
      ]),
    ),
  )
  .nullable()
export type SecurityChange = Readonly<
  Record<string, Readonly<Record<string, boolean | null | undefined>> | null | undefined>
> | null

/** All settings that count. */
export const SecurityView = z.strictObject(categories(z.boolean()))

/** As rows keep it: only what was set. */
export type KeptSecurity = Readonly<Partial<Record<SecurityCategory, Readonly<Record<string, boolean>>>>>

/** The settings to keep after a change. */
export function changedSecurity(before: KeptSecurity, change: SecurityChange | undefined): KeptSecurity {
  if (change === undefined) return before
  if (change === null) return {}
  const after: Partial<Record<SecurityCategory, Record<string, boolean>>> = {}
  for (const category of SECURITY_CATEGORIES) {
    const setting = change[category]
    if (setting === null) continue
    const settings = Object.entries({...before[category], ...setting}).filter(
      (pair): pair is [string, boolean] => typeof pair[1] === 'boolean',
    )
    if (settings.length) after[category] = Object.fromEntries(settings)
  }
  return after
}

/**
 * The settings that count in a workspace: its own in the categories that the organisation opens to it, else the
 * organisation's.
 */
export function securityOf(
  organisation: KeptSecurity,
  overridable: readonly SecurityCategory[] = [],
  workspace: KeptSecurity = {},
): Security {
  const parts = SECURITY_CATEGORIES.map(category => ({
    ...SECURITY[category],
    ...organisation[category],
    ...(overridable.includes(category) ? workspace[category] : {}),
  }))
  return Object.assign({}, ...parts) as Security
}

/** The same by category, for people to read. */
export function securityView(security: Security): z.input<typeof SecurityView> {
  const entries = SECURITY_CATEGORIES.map(category => [
    category,
    Object.fromEntries(Object.keys(SECURITY[category]).map(name => [name, security[name as SecuritySetting]])),
  ])
  return Object.fromEntries(entries) as z.input<typeof SecurityView>
}
