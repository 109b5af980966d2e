import type {Usage} from './usage.ts'

/**
 * A part of a call that one model ran: providers may run several models, or one several times, for one request (a
 * summary of the context, an advisor, a fallback behind a refusal). Each is charged by itself.
 */
export interface Hop {
  /** Null: the call's own. */
  readonly model: string | null
  /** The provider's name of the event; empty without one. */
  readonly type: string
  /** Its tokens; units are the whole call's. */
  readonly usage: Usage
  /** False: the provider does not bill it, as it was refused before it wrote anything. */
  readonly is_billed: boolean
}

/** The most parts that are kept of a call. */
export const MAX_HOPS = 64
