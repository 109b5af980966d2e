import type {UsageHourlyTable} from '../tables/traffic.ts'

/**
 * The columns that identify a row of the hourly sums; the model by its first bytes and its hash (`indexedText`), as
 * indexes bound their rows.
 */
export const SUM_KEY = [
  'hour',
  'workspace_id',
  'api_key_id',
  'provider_slug',
  'provider',
  'model_key',
] as const satisfies readonly (keyof UsageHourlyTable)[]

export const SUMMED = [
  'requests',
  'failures',
  'unpriced',
  'prompt_tokens',
  'completion_tokens',
  'cost_nanousd',
] as const satisfies readonly (keyof UsageHourlyTable)[]

export const SUM_COLUMNS = [
  ...SUM_KEY,
  'model',
  'organisation_id',
  ...SUMMED,
] as const satisfies readonly (keyof UsageHourlyTable)[]
