import type {AnswerMarks} from '../../ports/cache/index.ts'

/** An answer that was found by its meaning; nothing of it is believed before it was checked. */
export interface SimilarEntry {
  readonly id: number
  readonly partition: string
  /** The cosine of its vector and the one that is searched. */
  readonly similarity: number
  readonly workspace_id: string
  /** Of the answer in the cache. */
  readonly digest: string
  readonly log_id: string
  /** Of the gate, as they were stored. */
  readonly features: string
  readonly created_at_ms: number
  readonly expires_at_ms: number
}

/** An entry that is to be kept. */
export interface NewSimilarEntry {
  /** As the answer has them: entries are listed and cleared by them. */
  readonly about?: AnswerMarks | undefined
  readonly partition: string
  readonly workspace_id: string
  readonly digest: string
  readonly log_id: string
  readonly features: string
  readonly vector: Float32Array
  readonly created_at_ms: number
  readonly expires_at_ms: number
}

/** Vectors by partition. Whatever is in here may be gone at any moment: that is a miss. */
export interface VectorStore {
  /** The nearest entries of a partition, best first. Rejects where the store fails or is late. */
  search(partition: string, vector: Float32Array): Promise<readonly SimilarEntry[]>
  /** Keeps an entry, some time after the call. Never throws. */
  add(entry: NewSimilarEntry): void
  /** Forgets entries, some time after the call. Never throws. */
  remove(partition: string, ids: readonly number[]): void
  /** Waits for what was added or removed before. */
  settled(): Promise<void>
  /** Waits for what is to be written. */
  close(): Promise<void>
}
