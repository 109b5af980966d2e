/**
 * Hosts whose name says where calls are served, and nowhere else, by kind of provider: `eu.api.openai.com`. Sources:
 * developers.openai.com, Data residency; docs.x.ai, Regional endpoints.
 */
const REGIONAL: Readonly<Record<string, {readonly origin: RegExp; readonly length: number}>> = {
  openai: regional('api.openai.com'),
  'x-ai': regional('api.x.ai'),
}

function regional(host: string) {
  return {
    origin: new RegExp(`^https://([a-z]{2})\\.${host.replaceAll('.', '\\.')}$`),
    length: `https://xx.${host}`.length,
  }
}

/**
 * The geography (two letters) that the host of a kind says, as a price's `geographies` name it; null where it says
 * none.
 */
export function geographyOfHost(kind: string, origin: string): string | null {
  const known = Object.hasOwn(REGIONAL, kind) ? REGIONAL[kind]! : null
  // nearly every call goes to another host, and the length tells that
  return known?.length === origin.length ? (known.origin.exec(origin)?.[1] ?? null) : null
}

/**
 * True when only the host says where a model of that kind is served: no answer reports it, and a request to another
 * host is served anywhere.
 */
export function isPlacedByHost(kind: string): boolean {
  return Object.hasOwn(REGIONAL, kind)
}

const OF_AMAZON: ReadonlySet<string> = new Set(['bedrock', 'bedrock-mantle'])
const REGION = /^[a-z]{2}(?:-[a-z]+)+-\d{1,2}$/
const LISTED = 'us-'

/**
 * The mode (`region eu-central-1`) of a call to a region whose price may be another than the listed one, which is that
 * of the United States; null where the list holds. Source: aws.amazon.com/bedrock/pricing, a table for each region.
 */
export function regionalMode(kind: string, {aws_region}: Readonly<Record<string, string>>): string | null {
  if (!OF_AMAZON.has(kind) || aws_region === undefined || aws_region.startsWith(LISTED)) return null
  return REGION.test(aws_region) ? `region ${aws_region}` : null
}
