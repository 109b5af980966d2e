import type {RateName} from '../../../src/pricing/price.ts'
import type {EndpointName} from '../../../src/schema/endpoints.ts'
import type {Outcome} from '../../../src/schema/records.ts'
import type {TokenClass, UsageSource} from '../../../src/schema/usage.ts'

type Rates = Partial<Record<RateName, string>>

/** US dollars as they stand on a price list. */
export interface Prices {
  /** For a million tokens. */
  readonly rates?: Rates
  readonly tiers?: readonly {readonly above: number; readonly rates: Rates}[]
  /** For one unit. */
  readonly units?: Readonly<Record<string, string>>
  /** For an hour of speech. */
  readonly hour?: string
  readonly batch?: Rates
}

/** One answer of a provider, what it used and what that costs, worked out by hand. */
export interface Case {
  readonly name: string
  readonly provider: string
  readonly model: string
  readonly endpoint: EndpointName
  /** The figures of the case; with `bundled` they are also those of the bundled catalogue. */
  readonly prices: Prices
  readonly bundled?: true
  /** What was asked, where that is what is charged or estimated by. */
  readonly asked?: object
  /** The provider's answer: JSON, the text of a stream, or nothing. */
  readonly reply?: object
  readonly stream?: string
  readonly status?: number
  readonly outcome?: Outcome
  /** Settled as a row of a batch. */
  readonly batch?: true
  /** When the call was admitted; 2026-11-21T12:00:00Z where it is not said. */
  readonly at?: string
  /** Throughput was bought in advance, and the integration says so. */
  readonly skips_ptu?: true
  /** What is not named is 0. */
  readonly usage: Partial<Record<TokenClass, number>> & {readonly units?: Readonly<Record<string, number>>}
  readonly source?: UsageSource
  /** The sum in nano-dollars: a dollar for a million is 1000 nano-dollars for one. */
  readonly sum: string
  readonly cost_nanousd: number
  readonly unpriced?: true
  readonly unpriced_units?: readonly string[]
  readonly mode_unpriced?: string
}

/** Server-sent events, one JSON each; the last may be `[DONE]`. */
export function events(...all: readonly (object | string)[]): string {
  return all.map(each => `data: ${typeof each === 'string' ? each : JSON.stringify(each)}\n\n`).join('')
}

/** The same with their names before them, as Anthropic and OpenAI's Responses send them. */
export function named(...all: readonly {readonly type: string; readonly [member: string]: unknown}[]): string {
  return all.map(each => `event: ${each.type}\ndata: ${JSON.stringify(each)}\n\n`).join('')
}
