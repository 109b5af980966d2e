import {after} from '../../base/delay.ts'
import {isObject, parsed} from '../../base/json-object.ts'
import type {AnswerMarks, Cache, FoundEntry} from '../../ports/cache/index.ts'
import {isSameAnswer} from './agreement.ts'
import {type DescribedText, describeText} from './described-text.ts'
import type {Embedder, EmbeddingCharge} from './embedder.ts'
import {differs, GATE_VERSION, type GateClass, type GateFeatures, type GateMode} from './gate/index.ts'
import {endOf} from './lifetime.ts'
import type {SimilarEntry, VectorStore} from './vector-store.ts'

export interface SemanticCacheOptions {
  /** Null: nothing is searched. */
  readonly embedder: Embedder | null
  readonly vectors: VectorStore
  /** Answers, by the digests of entries. */
  readonly answers: Pick<Cache, 'get' | 'delete'>
  /** Of the digests in features. */
  readonly features_key: Uint8Array
  readonly gate: GateMode
  /** The operator's least cosine; undefined: the embedder's own. */
  readonly threshold: number | undefined
  /** Answers are found, counted and not given. */
  readonly is_shadow: boolean
  readonly now: () => number
  /** Counts the outcome of a search. */
  readonly onResult: (result: SearchResult) => void
  /** Counts, in shadow mode, how the answer that would have been given and the provider's compare. */
  readonly onCompared?: (agreement: Agreement) => void
}

/** The outcomes of searches, as /metrics count them. */
export type SearchResult = 'hit' | 'would_hit' | 'miss' | 'gate' | 'gone' | 'failed' | 'not_embedded'

/** `equal`: the same text but for case and blanks, or the same JSON. Else a person has to read both. */
export type Agreement = 'equal' | 'unknown'

/** A text that may be searched: its vector is known. */
export interface SemanticQuestion extends DescribedText {
  readonly workspace_id: string
  readonly partition: string
  readonly about?: AnswerMarks | undefined
}

export interface FoundSimilar {
  readonly answer: FoundEntry
  readonly similarity: number
  readonly log_id: string
  /** The end of the answer, or of the entry if that comes first. */
  readonly ends_at_ms: number
}

/** The most of a stored score that rounding explains. */
const ROUNDING = 1e-3
/** Clocks of processes differ by no more. */
const MAX_APART_MS = 60_000

/** Finds answers to requests that mean the same, and keeps what comes for others. */
export class SemanticCache {
  readonly #options: SemanticCacheOptions

  constructor(options: SemanticCacheOptions) {
    this.#options = options
  }

  get is_shadow(): boolean {
    return this.#options.is_shadow
  }

  /** As explanations tell it. */
  get embedder(): Embedder | null {
    return this.#options.embedder
  }

  get gate(): GateMode {
    return this.#options.gate
  }

  /** The least cosine: a config may ask for more than the operator, never for less. */
  threshold(of_config: number | null): number {
    const {threshold, embedder} = this.#options
    return Math.max(threshold ?? embedder?.threshold ?? 1, of_config ?? 0)
  }

  /** How vectors and features are made. */
  get make(): {readonly embedder: string; readonly gate_version: number} | null {
    const {embedder} = this.#options
    return embedder && {embedder: embedder.identity, gate_version: GATE_VERSION}
  }

  /** The text as it can be searched; null where it cannot: then its answer is not kept for other words either. */
  async ask(
    text: string,
    place: Pick<SemanticQuestion, 'workspace_id' | 'partition' | 'about'>,
    charge: EmbeddingCharge | null,
  ): Promise<SemanticQuestion | null> {
    const described = await this.describe(text, charge)
    if (described) return {...place, ...described}
    this.#options.onResult('not_embedded')
    return null
  }

  /** The same of a text that no call asks about: it is not counted. */
  describe(text: string, charge: EmbeddingCharge | null): Promise<DescribedText | null> {
    return describeText(text, this.#options, charge)
  }

  /** The stored answer that may be given; null for none. Never rejects. */
  async find(question: SemanticQuestion, threshold: number, max_age_ms: number): Promise<FoundSimilar | null> {
    const {now, answers, onResult, is_shadow} = this.#options
    let result: SearchResult = 'miss'
    try {
      for (const entry of await this.#near(question, threshold)) {
        const ages_at_ms = endOf(entry.created_at_ms, max_age_ms, question.is_relative)
        if (ages_at_ms <= now()) continue
        if (this.#difference(entry, question) !== null) {
          result = 'gate'
          continue
        }
        const {workspace_id, digest, log_id, similarity} = entry
        const answer = await answers.get({workspace_id, digest})
        if (!answer) {
          result = 'gone'
          this.#options.vectors.remove(entry.partition, [entry.id])
          continue
        }
        const ends_at_ms = Math.min(answer.expires_at_ms, entry.expires_at_ms, ages_at_ms)
        if (ends_at_ms <= now() || answer.stored_at_ms + max_age_ms <= now()) continue
        onResult(is_shadow ? 'would_hit' : 'hit')
        return {answer, similarity, log_id, ends_at_ms}
      }
    } catch {
      result = 'failed'
    }
    onResult(result)
    return null
  }

  /** Removes all entries that would be given for the question, and their answers. Never rejects. */
  async forget(question: SemanticQuestion, threshold: number): Promise<void> {
    const {vectors, answers} = this.#options
    for (let round = 0; round < MAX_ROUNDS; round++) {
      const found = await this.#near(question, threshold).catch(() => [])
      const same = found.filter(entry => this.#difference(entry, question) === null)
      if (same.length === 0) return
      vectors.remove(
        question.partition,
        same.map(({id}) => id),
      )
      // else the other words would be answered with the old one still
      const deleted = Promise.all(same.map(async ({workspace_id, digest}) => answers.delete({workspace_id, digest})))
      if (!(await isDoneIn(FORGET_MS, deleted))) return // the answers that are left end in their time
    }
  }

  /** Keeps that the answer of `digest`, which comes from a provider, answers the question. */
  keep({workspace_id, partition, about, vector, features, is_relative}: SemanticQuestion, of: KeptAnswer): void {
    const created_at_ms = Math.trunc(this.#options.now())
    const expires_at_ms = Math.trunc(endOf(created_at_ms, of.max_age_ms, is_relative))
    const {digest, log_id} = of
    const text = JSON.stringify(features)
    this.#options.vectors.add({
      workspace_id,
      partition,
      about,
      digest,
      log_id,
      features: text,
      vector,
      created_at_ms,
      expires_at_ms,
    })
  }

  /** Compares the answer that would have been given with the one that the provider gave. */
  compare(found: FoundEntry, answer: unknown): Agreement {
    const agreement = isSameAnswer(found.body, answer) ? 'equal' : 'unknown'
    this.#options.onCompared?.(agreement)
    return agreement
  }

  /** Waits until what was kept and removed before is written. */
  settled(): Promise<void> {
    return this.#options.vectors.settled()
  }

  close(): Promise<void> {
    return this.#options.vectors.close()
  }

  /** The nearest entries, as far as they can be believed. */
  async #near(
    {workspace_id, partition, vector}: SemanticQuestion,
    threshold: number,
  ): Promise<readonly SimilarEntry[]> {
    const {vectors, now} = this.#options
    const found = await vectors.search(partition, vector)
    return found.filter(
      entry =>
        entry.partition === partition &&
        entry.workspace_id === workspace_id &&
        entry.similarity >= threshold &&
        entry.similarity <= 1 + ROUNDING &&
        entry.expires_at_ms > now() &&
        entry.created_at_ms <= now() + MAX_APART_MS,
    )
  }

  /** The class in which two texts differ; `version` for features that are none. */
  #difference({features}: SimilarEntry, question: SemanticQuestion): GateClass | null {
    const stored = parsed(features)
    if (!isObject(stored)) return 'version'
    try {
      return differs(stored as unknown as GateFeatures, question.features, this.#options.gate)
    } catch {
      return 'version'
    }
  }
}

/** A store of answers that is silent holds up a refresh for no longer. */
const FORGET_MS = 1_000

/** False where it rejects, or takes longer. */
async function isDoneIn(most_ms: number, work: Promise<unknown>): Promise<boolean> {
  const {promise: late, resolve} = Promise.withResolvers<boolean>()
  const cancel = after(most_ms, () => resolve(false))
  const done = work.then(
    () => true,
    () => false,
  )
  return Promise.race([done, late]).finally(cancel)
}

/** Each round removes up to eight entries. */
const MAX_ROUNDS = 16

export interface KeptAnswer {
  /** Of the simple key of its request. */
  readonly digest: string
  readonly log_id: string
  readonly max_age_ms: number
}
