/**
 * The dimensions of sums of usage. `provider` is a provider of the workspace by its slug, `kind` the kind of provider
 * it is.
 */
export const USAGE_DIMENSIONS = [
  'key',
  'user',
  'workspace',
  'provider',
  'kind',
  'model',
  'hour',
  'day',
  'month',
] as const
export type UsageDimension = (typeof USAGE_DIMENSIONS)[number]
