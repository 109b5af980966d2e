import {storedWord} from '../base/stored-text.ts'
import {UNIT, type Usage} from '../schema/usage.ts'
import {withRemainder} from './remainders.ts'

/**
 * The price of a service tier: the standard price, that of a batch, one of its own that no price list has, or a prepaid
 * one.
 */
type TierClass = 'standard' | 'batch' | 'priority' | 'provisioned'
type Tiers = Readonly<Record<string, TierClass>>

const OPENAI: Tiers = {default: 'standard', flex: 'batch', batch: 'batch', priority: 'priority', fast: 'priority'}
const ANTHROPIC: Tiers = {standard: 'standard', standard_only: 'standard', batch: 'batch', priority: 'priority'}
const GOOGLE: Tiers = {
  ...{
    standard: 'standard',
    unspecified: 'standard',
    default: 'standard',
    SERVICE_TIER_STANDARD: 'standard',
    SERVICE_TIER_UNSPECIFIED: 'standard',
  },
  ...{ON_DEMAND: 'standard', TRAFFIC_TYPE_UNSPECIFIED: 'standard'},
  ...{flex: 'batch', batch: 'batch', SERVICE_TIER_FLEX: 'batch', ON_DEMAND_FLEX: 'batch'},
  ...{priority: 'priority', SERVICE_TIER_PRIORITY: 'priority', ON_DEMAND_PRIORITY: 'priority'},
  PROVISIONED_THROUGHPUT: 'provisioned',
}
const BEDROCK: Tiers = {default: 'standard', flex: 'batch', priority: 'priority', reserved: 'provisioned'}

/**
 * By kind of provider, every word of a service tier that its vendor documents and that has a known price. A word that
 * is not here costs the standard price and is flagged. `all`: what any kind means by them. Sources: OpenAI API
 * reference, service_tier (`fast` is `priority` since 2026-07-30); Anthropic, service tiers;
 * console.groq.com/docs/service-tiers and /flex-processing (flex costs what on demand does); ai.google.dev,
 * ServiceTier; Vertex AI, TrafficType; Bedrock API reference, ServiceTier; openrouter.ai/docs, service tiers.
 */
const TIERS: Readonly<Record<string, Tiers>> = {
  all: {default: 'standard', standard: 'standard', priority: 'priority'},
  openai: OPENAI,
  'azure-openai': OPENAI,
  'azure-ai': {...OPENAI, ...ANTHROPIC},
  openrouter: {...OPENAI, standard: 'standard'},
  anthropic: ANTHROPIC,
  groq: {on_demand: 'standard', flex: 'standard'},
  google: GOOGLE,
  'vertex-ai': {...GOOGLE, ...ANTHROPIC},
  bedrock: {...BEDROCK, ...ANTHROPIC},
  'bedrock-mantle': {...OPENAI, ...BEDROCK, ...ANTHROPIC},
}

/** In which words a kind tells the tier beside its reply: a header of it. Source: ai.google.dev, service tiers. */
const HEADERS: Readonly<Record<string, string>> = {google: 'x-gemini-service-tier'}

/** The mode that a request names; null when it names none. */
export interface RequestedMode {
  readonly tier: string | null
  readonly speed: string | null
}

export const NO_MODE: RequestedMode = Object.freeze({tier: null, speed: null})

/** It leaves the choice to the provider. */
const OPEN = 'auto'
const MAX_WORD_BYTES = 64

/** A word that a provider or a client wrote, as it is kept: undefined for what is none. */
export function tierWord(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? storedWord(value, MAX_WORD_BYTES) : undefined
}

/** The price class of a tier's name at a kind of provider; null for an unknown name. */
export function tierClass(kind: string, word: string): TierClass | null {
  for (const tiers of [TIERS[kind], TIERS.all!]) if (tiers && Object.hasOwn(tiers, word)) return tiers[word]!
  return null
}

/**
 * The usage as its kind of provider means it: the remainder of a total at its place, and how it was served as units and
 * a mode. The mode in the reply counts, else its header; a reply with neither was served as standard, unless the
 * request wants a mode that costs more, or an unknown tier.
 */
export function usageOfKind(
  kind: string,
  reported: Usage,
  requested: RequestedMode = NO_MODE,
  headers: Readonly<Record<string, string>> = {},
): Usage {
  if (requested === NO_MODE && isPlain(kind, reported)) return reported
  const {tier, speed, ...usage} = withRemainder(kind, reported)
  const header = HEADERS[kind] === undefined ? undefined : tierWord(headers[HEADERS[kind]])
  const units = {...usage.units}
  let mode: string | null = null
  const served = chosen(tier) ?? chosen(header)
  const word = served ?? chosen(requested.tier)
  const means = word === null ? 'standard' : tierClass(kind, word)
  if (means === null) mode = word
  else if (means === 'priority') units[UNIT.priority_requests] = 1
  else if (means !== 'standard' && served !== null)
    units[means === 'batch' ? UNIT.batch_requests : UNIT.provisioned_requests] = 1
  const pace = chosen(speed) ?? chosen(requested.speed)
  if (pace === 'fast') units[UNIT.fast_requests] = 1
  else if (pace !== null && pace !== 'standard') mode ??= pace
  return mode === null ? {...usage, units} : {...usage, units, mode}
}

/** Served as standard, as nearly every call is, with nothing to be put elsewhere: the report holds as it is. */
function isPlain(kind: string, {remainder, tier, speed}: Usage): boolean {
  if (remainder !== undefined || speed !== undefined || HEADERS[kind]) return false
  return tier === undefined || (tier !== OPEN && tierClass(kind, tier) === 'standard')
}

function chosen(word: string | null | undefined): string | null {
  return word === undefined || word === OPEN ? null : word
}
