import type {SettingKind} from './kinds.ts'

/**
 * One setting. Its key in the settings file, in `Settings` and (with hyphens) on the command line follow from its name.
 */
export interface Setting {
  readonly kind: SettingKind<unknown>
  /** The default, as text, read as any other value would be; without one the setting may be unset. */
  readonly fallback?: string
  readonly group: SettingsGroup
  readonly meaning: string
  /** Never shown, never echoed, not accepted on the command line; `NAME_FILE` names a file that holds it. */
  readonly secret?: true
  /** `NAME_PATH` says the same as `NAME_FILE`. */
  readonly path?: true
  /** A flag other than the key with hyphens; none may begin with `no-`, which a command line reads as a negation. */
  readonly flag?: string
  /** False where the settings file is too late or not the place. */
  readonly in_file?: false
  /** May change while the gateway serves: SIGHUP has it read again. */
  readonly reloads?: true
  /** Other spellings in the environment. */
  readonly also?: readonly string[]
}

/** The groups, in the order they are shown. */
export const GROUPS = [
  'Listening',
  'Data and first run',
  'Command line',
  'Database',
  'Redis',
  'Egress',
  'Cloud identity',
  'Secret managers',
  'CORS',
  'Timeouts and sizes',
  'Calls and configs',
  'Semantic cache',
  'Logs and metrics',
  'Telemetry',
  'Log store',
  'Mail',
  'Sign-in',
  'Tokens and directories',
  'Pricing',
  'MCP',
  'Feature flags',
] as const
export type SettingsGroup = (typeof GROUPS)[number]
