/**
 * Hosts whose name says where calls are served, and nowhere else, by kind of provider: `eu.api.openai.com`. Sources: developers.openai.com,
 * Data residency; docs.x.ai, Regional endpoints.
 */
const REGIONAL: Readonly<Record<string, RegExp>> = {
  openai: /^https:\/\/([a-z]{2})\.api\.openai\.com$/,
  'x-ai': /^https:\/\/([a-z]{2})\.api\.x\.ai$/,
}

/** The geography (two letters) that the host of a kind says, as a price's `geographies` name it; null where it says none. */
export function geographyOfHost(kind: string, origin: string): string | null {
  return (Object.hasOwn(REGIONAL, kind) && REGIONAL[kind]!.exec(origin)?.[1]) || null
}

/** Whether the host alone says where a model of that kind is served: no answer does, and a request to another host is served anywhere. */
export function isPlacedByHost(kind: string): boolean {
  return Object.hasOwn(REGIONAL, kind)
}

const OF_AMAZON: ReadonlySet<string> = new Set(['bedrock', 'bedrock-mantle'])
const REGION = /^[a-z]{2}(?:-[a-z]+)+-\d{1,2}$/
const LISTED = 'us-'

/**
 * The mode (`region eu-central-1`) of a call to a region whose price may be another than the listed one, which is that of the United States;
 * null where the list holds. Source: aws.amazon.com/bedrock/pricing, a table for each region.
 */
export function regionalMode(kind: string, {aws_region}: Readonly<Record<string, string>>): string | null {
  if (!OF_AMAZON.has(kind) || aws_region === undefined || aws_region.startsWith(LISTED)) return null
  return REGION.test(aws_region) ? `region ${aws_region}` : null
}
