/**
 * The usage of one upstream attempt. The token classes are disjoint: a cached, audio or image token is counted in its
 * own class and in no other, so that each can be priced and the sum is right. Counts are non-negative safe integers.
 */
export interface Usage extends Record<TokenClass, number> {
  /**
   * Whatever is not a token, by unit name (see `UNIT` and `imageUnit`): searches, pages, seconds, characters, images
   * ...
   */
  units: Record<string, number>
  /**
   * Paths of numbers in the report that its reader does not know. The kind of provider decides which of them may cost.
   */
  unknown?: readonly string[]
  /**
   * Tokens that the report's total has beyond its input and output, and that it does not name. The kind of provider
   * decides what they are.
   */
  remainder?: number
  /**
   * How it was served, in the report's words: its tier, and its speed. At most 64 bytes each; the kind of provider
   * decides what they cost.
   */
  tier?: string
  speed?: string
  /** A mode of serving without a known price: it is charged at the standard one, and flagged. */
  mode?: string
}

/**
 * Every class of token. `input_uncached_tokens` and `output_text_tokens` are what the classes after them have not
 * taken.
 */
export const INPUT_CLASSES = [
  'input_uncached_tokens',
  'cache_read_tokens',
  'cache_write_5m_tokens',
  'cache_write_1h_tokens',
  'audio_in_tokens',
  'audio_cache_read_tokens',
  'image_in_tokens',
  'image_cache_read_tokens',
] as const
export const OUTPUT_CLASSES = [
  'output_text_tokens',
  'output_reasoning_tokens',
  'audio_out_tokens',
  'image_out_tokens',
] as const
export const TOKEN_CLASSES = [...INPUT_CLASSES, ...OUTPUT_CLASSES] as const
export type TokenClass = (typeof TOKEN_CLASSES)[number]

/**
 * The source of the counts: the provider's own report, our estimate, a report that was cut off, the intent of a process
 * that died, or nothing at all. `unmetered`: the work costs, its reply reported no usage, and nothing of it can be
 * estimated. `reported`: an application reported them in a span; the ledger does not have them.
 */
export const USAGE_SOURCES = ['provider', 'estimated', 'partial', 'recovered', 'unmetered', 'reported', 'none'] as const
export type UsageSource = (typeof USAGE_SOURCES)[number]

/** Names of the units that the bundled catalogue prices. Others are allowed: an operator may price any name. */
export const UNIT = {
  requests: 'requests',
  web_search: 'web_search',
  file_search: 'file_search',
  /** Reranking, as Cohere counts it: one query over up to 100 documents. */
  search_units: 'search_units',
  /** Speech: seconds heard or spoken, rounded up. */
  audio_seconds: 'audio_seconds',
  /** Text-to-speech input. */
  characters: 'characters',
  /** Documents read (OCR), plain and with annotations. */
  pages: 'pages',
  annotated_pages: 'annotated_pages',
  text_messages: 'text_messages',
  /**
   * 1 for a request that was served at the price of a batch: in one, or later than others (OpenAI's flex). The provider
   * reports it.
   */
  batch_requests: 'batch_requests',
  /** Tools of providers: searches of X and of maps, sandboxes that code ran in. */
  x_search: 'x_search',
  maps: 'maps',
  code_execution: 'code_execution',
  /** 1 for a request that throughput bought in advance served; the provider reports it. */
  provisioned_requests: 'provisioned_requests',
  /** 1 for a request that was served before others, at a price of its own (OpenAI's and Bedrock's tier priority). */
  priority_requests: 'priority_requests',
  /** 1 for a request that was answered faster than others, at a price of its own (Anthropic's speed fast). */
  fast_requests: 'fast_requests',
  /** Tokens of a prompt for which another model was chosen (Azure's model router). */
  routing_units: 'routing_units',
  /**
   * 1 for a request that a credit of an earlier refusal was redeemed on (Anthropic): it is billed for less than the
   * list says.
   */
  fallback_credit_requests: 'fallback_credit_requests',
  /** Refused before any output under an unknown policy: whether it is billed is not known either. */
  refusal_unpriced: 'refusal_unpriced',
  /** Parts of a call that were charged as any other, although they are of no known kind, or cannot be distinguished. */
  iterations: 'usage.iterations',
  video_in_tokens: 'video_in_tokens',
  video_out_tokens: 'video_out_tokens',
  citation_tokens: 'citation_tokens',
} as const

/** Units that say how a request was served, of which nothing is used up: they have no price. */
const HOW_SERVED: ReadonlySet<string> = new Set([
  UNIT.batch_requests,
  UNIT.provisioned_requests,
  UNIT.priority_requests,
  UNIT.fast_requests,
  UNIT.fallback_credit_requests,
])

/** True for a unit that is used up and charged for, as opposed to those that describe how a request was served. */
export function isCharged(unit: string): boolean {
  return !HOW_SERVED.has(unit)
}

const GEOGRAPHY = 'inference_geo:'

/**
 * The unit that says in which geography a request was served, where it was not served anywhere. Its price multiplies
 * that of tokens.
 */
export function geographyUnit(name: string): string {
  return `${GEOGRAPHY}${/^[a-z]{2}$/.test(name) ? name : 'other'}`
}

/** The geography that a unit says; null for all other units. */
export function geographyOf(unit: string): string | null {
  return unit.startsWith(GEOGRAPHY) ? unit.slice(GEOGRAPHY.length) : null
}

/** The mode in `usage` that has no price of its own; null for a request served as any other, or as a batch. */
export function modeOf({units, mode}: Partial<Usage>): string | null {
  if (mode !== undefined) return mode
  if (!units) return null
  if (units[UNIT.priority_requests]) return 'priority'
  if (units[UNIT.fast_requests]) return 'fast'
  return units[UNIT.fallback_credit_requests] ? 'fallback_credit' : null
}

/**
 * The fields of a report: each alone, null where the provider was silent. Later reports win field by field
 * (`mergeUsage`).
 */
export type UsageReport = {readonly [K in TokenClass]?: number | null} & {
  readonly units?: Readonly<Record<string, number | null>> | null
}

/** A record of nothing, fresh and free to fill. */
export function emptyUsage(): Usage {
  return {
    input_uncached_tokens: 0,
    cache_read_tokens: 0,
    cache_write_5m_tokens: 0,
    cache_write_1h_tokens: 0,
    audio_in_tokens: 0,
    audio_cache_read_tokens: 0,
    image_in_tokens: 0,
    image_cache_read_tokens: 0,
    output_text_tokens: 0,
    output_reasoning_tokens: 0,
    audio_out_tokens: 0,
    image_out_tokens: 0,
    units: {},
  }
}

/**
 * The later of two reports of one stream over the earlier. Counts are cumulative: a smaller sum of the input, or of the
 * output, replaces nothing.
 */
export function laterReport(earlier: Usage | null, later: Usage | null): Usage | null {
  if (!earlier || !later) return later ?? earlier
  const usage: Usage = {...later, units: {...earlier.units, ...later.units}}
  for (const classes of [INPUT_CLASSES, OUTPUT_CLASSES]) {
    const sum = (of: Usage) => classes.reduce((total, name) => total + of[name], 0)
    if (sum(earlier) > sum(later)) for (const name of classes) usage[name] = earlier[name]
  }
  return usage
}

/**
 * `reports` read in order into one record: by field, the last one that is not null wins. For streams that tell their
 * usage in parts.
 */
export function mergeUsage(...reports: readonly (UsageReport | null | undefined)[]): Usage {
  const usage = emptyUsage()
  for (const report of reports) {
    if (!report) continue
    for (const name of TOKEN_CLASSES) usage[name] = count(report[name]) ?? usage[name]
    for (const [unit, amount] of Object.entries(report.units ?? {})) {
      const value = count(amount)
      if (value !== undefined) usage.units[unit] = value
    }
  }
  return usage
}

/** The sum of two records, in a third. For a call's attempts, a batch's rows, a session's turns. */
export function addUsage(one: Partial<Usage>, other: Partial<Usage>): Usage {
  const sum = emptyUsage()
  for (const name of TOKEN_CLASSES) sum[name] = (one[name] ?? 0) + (other[name] ?? 0)
  for (const {units} of [one, other]) {
    for (const [unit, value] of Object.entries(units ?? {})) sum.units[unit] = (sum.units[unit] ?? 0) + value
  }
  return sum
}

/**
 * Tokens as OpenAI counts them: the prompt with its cached part, the completion with its reasoning. Units are not
 * tokens.
 */
export function totals(usage: Partial<Usage>): {
  prompt_tokens: number
  completion_tokens: number
  total_tokens: number
} {
  let prompt_tokens = 0
  let completion_tokens = 0
  for (const name of INPUT_CLASSES) prompt_tokens += usage[name] ?? 0
  for (const name of OUTPUT_CLASSES) completion_tokens += usage[name] ?? 0
  return {prompt_tokens, completion_tokens, total_tokens: prompt_tokens + completion_tokens}
}

/** True when nothing at all was counted: no token and no unit. */
export function isEmptyUsage(usage: Partial<Usage>): boolean {
  return TOKEN_CLASSES.every(name => !usage[name]) && Object.values(usage.units ?? {}).every(value => !value)
}

/** The unit of a generated image. A size or quality the caller did not choose is `default`. */
export function imageUnit(quality = 'default', size = 'default'): string {
  return `image:${quality}:${size}`
}

/**
 * A provider's number as a count: rounded up, since a provider bills a started second; undefined for what cannot be
 * counted.
 */
function count(value: number | null | undefined): number | undefined {
  if (typeof value !== 'number' || !(value >= 0) || value > Number.MAX_SAFE_INTEGER) return undefined
  return Math.ceil(value)
}
