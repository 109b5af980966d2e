import {onOff} from './kinds.ts'

/**
 * The seven feature flags (docs/settings.md, Feature flags) and what is different when one is `OFF`.
 * Each is `settings.<flag>_enabled`, read where a part is built, never inside it.
 */
export const FLAGS = {
  guardrails: {env: 'GUARDRAILS_ENABLED', off: 'calls pass unguarded'},
  api_access: {
    env: 'API_ACCESS_ENABLED',
    off: 'every route of the administration answers 403; the command line on the data directory works on',
  },
  data_exports: {env: 'DATA_EXPORTS_ENABLED', off: '/logs/exports answers 403'},
  usage_limits: {
    env: 'USAGE_LIMITS_ENABLED',
    off: 'limits of keys, providers, integrations and workspaces are neither checked nor counted',
  },
  audit_logs: {env: 'AUDIT_LOGS_ENABLED', off: 'nothing is recorded and the audit log reads empty'},
  scim: {env: 'SCIM_ENABLED', off: '/scim answers 404'},
  policy: {env: 'POLICY_ENABLED', off: 'policies are not evaluated and their routes answer 403'},
} as const satisfies Record<string, {env: `${string}_ENABLED`; off: string}>

export type FlagName = keyof typeof FLAGS

/** The table's row of a feature flag. */
export function flag(name: FlagName) {
  return {kind: onOff, fallback: 'ON', group: 'Feature flags', meaning: `OFF: ${FLAGS[name].off}.`} as const
}
