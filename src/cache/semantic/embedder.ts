import type {Principal} from '../../schema/principal.ts'
import type {Spent} from '../../schema/spent.ts'
import {aboutTokens} from './tokens.ts'

/** The charge for one request to a service for embeddings. */
export interface EmbeddingCharge {
  /** Before it leaves. Rejects where it may not. */
  begin(): Promise<void>
  /** It is over; `tokens` null: the service gave no count. Nothing was used where `status` is no 200. */
  end(end: {readonly status: number | null; readonly tokens: number | null; readonly error: string | null}): void
}

/** The claims on limits of one request for an embedding. It ends once. */
export interface EmbeddingAdmission {
  readonly counter_keys: readonly string[]
  /** Those of them that a hold of the request took from. */
  readonly held_keys: readonly string[]
  settle(actual: Spent): void
  /** It never left. */
  release(): void
}

/** The caller that requests for embeddings are charged to. */
export interface EmbeddingPayer {
  readonly organisation_id: string
  readonly workspace_id: string
  readonly principal: Principal
  readonly user_id: string | null
  readonly trace: {readonly trace_id: string; readonly span_id: string}
  /** Counters of limits that the cost is added to. */
  readonly counter_keys: readonly string[]
  /**
   * Admits a request that may use `first`, where no call was admitted for it. Rejects where a limit or a budget has no
   * room; null: nothing limits it.
   */
  readonly admit?: (id: string, first: Spent) => Promise<EmbeddingAdmission | null>
  /** Called with the cost of each request that was answered. */
  readonly onCost?: (nanousd: number) => void
}

/** Makes vectors of texts. */
export interface Embedder {
  /** Says how vectors are made; those of two identities are not compared. */
  readonly identity: string
  /** For explanations: its kind and its model. */
  readonly name: string
  /** The service that is paid; null where nothing is. */
  readonly service: {readonly provider: string; readonly model: string; readonly url: string} | null
  /** The least cosine at which a stored answer is considered, where the settings say none. */
  readonly threshold: number
  /** Longer texts are not embedded. */
  readonly max_tokens: number
  /**
   * The vector of a text, length 1; null where there is none. `charge` is used where a request leaves for it: of
   * several that ask for one text at the same time, it is the first one's.
   */
  embed(text: string, charge: EmbeddingCharge | null): Float32Array | null | Promise<Float32Array | null>
}

/** The least cosines where the settings say none. */
export const BUILTIN_THRESHOLD = 0.8
export const SERVICE_THRESHOLD = 0.95
/** The built-in embedder reads any length; a text is no longer than others read. */
export const BUILTIN_TOKENS = 8_191

/** True for a text that an embedder reads whole. */
export function fits(text: string, {max_tokens}: Pick<Embedder, 'max_tokens'>): boolean {
  return text.length <= MAX_CHARS && aboutTokens(text) < max_tokens
}

const MAX_CHARS = 64 << 10
