import {VectorStoreFault} from './fault.ts'

/** An entry as a store outside has it: nothing of it says what it is about. */
export interface StoredPoint {
  /** 53 bits of a keyed hash: every store takes such an id, as a number or as text. */
  readonly id: number
  /** 64 hex digits. */
  readonly partition: string
  readonly vector: Float32Array
  readonly expires_at_ms: number
  /** The rest of the entry, sealed. */
  readonly sealed: string
}

/** An entry that a store found, as it says it; nothing of it is checked. */
export interface FoundPoint {
  readonly id: unknown
  readonly score: unknown
  readonly sealed: unknown
  /** Its vector, where the search wanted vectors. */
  readonly vector: unknown
}

/** A point as a store lists it; nothing of it is checked. */
export interface ListedPoint {
  readonly id: unknown
  readonly partition: unknown
  readonly sealed: unknown
}

/** The place in a list of points from which the next page is read, as the store says it; null is its beginning. */
export type PointCursor = string | number | null

export interface PointPage {
  readonly points: readonly ListedPoint[]
  /** Null on the last page. */
  readonly next: PointCursor
}

export interface PointScan {
  readonly from: PointCursor
  readonly most: number
  readonly now_ms: number
}

export interface PointSearch {
  readonly partition: string
  readonly vector: Float32Array
  readonly most: number
  readonly now_ms: number
  /** The scores of this store are not known to be cosines, so they are computed here. */
  readonly with_vectors: boolean
}

/** A collection as it is. */
export interface PreparedStore {
  /** The length of its vectors; null: it is not there yet, and is made when that length is known. */
  readonly dimensions: number | null
  readonly has_cosines: boolean
}

/** The words of one product. Each function ends when `signal` does; all reject with a VectorStoreFault. */
export interface StoreWire {
  /** Looks at the collection, and makes it where it is missing and may be made. */
  makeReady(dimensions: number | null, signal: AbortSignal): Promise<PreparedStore>
  /** The nearest of a partition that have not ended. */
  search(query: PointSearch, signal: AbortSignal): Promise<readonly FoundPoint[]>
  /** Writes points, each in place of the one with its id. */
  put(points: readonly StoredPoint[], signal: AbortSignal): Promise<void>
  delete(ids: readonly number[], signal: AbortSignal): Promise<void>
  /** One page of the points that have not ended. Those of a page before may be deleted meanwhile. */
  scan(scan: PointScan, signal: AbortSignal): Promise<PointPage>
  /**
   * Deletes points that have ended. The store compares their ends while it deletes: one that was written again
   * meanwhile stays. True: there may be more.
   */
  prune(now_ms: number, most: number, signal: AbortSignal): Promise<boolean>
}

/** Digits behind the point; a float of 32 bits has no more of them in a vector of length 1. */
const DIGITS = 1e8

/** A vector as JSON says it: floats of 32 bits written as they are would be twice as long. */
export function plainVector(vector: Float32Array): number[] {
  return Array.from(vector, value => Math.round(value * DIGITS) / DIGITS)
}

/**
 * True where a store says that its scores are cosines; false where it does not say what they are. Any other metric is
 * refused: a threshold for cosines would mean something else there.
 */
export function isCosine(metric: unknown): boolean {
  if (metric === undefined || metric === null || metric === '') return false
  if (typeof metric === 'string' && metric.toLowerCase() === 'cosine') return true
  throw new VectorStoreFault('unfit', 'its metric is not cosine')
}

/** A list that an answer must have: one without it is no answer, and not an empty one. */
export function answeredList(value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value
  throw new VectorStoreFault('failed', 'its answer has another form')
}

/** The place of the next page; null for anything that is none. */
export function pointCursor(stated: unknown): PointCursor {
  return (typeof stated === 'string' && stated !== '') || typeof stated === 'number' ? stated : null
}

/** The length of vectors that a store states; it is the text of a number in some. */
export function dimensionsOf(stated: unknown): number {
  const dimensions = typeof stated === 'string' && /^\d{1,6}$/.test(stated) ? Number(stated) : stated
  if (typeof dimensions === 'number' && Number.isInteger(dimensions) && dimensions > 0) return dimensions
  throw new VectorStoreFault('unfit', 'it does not state the length of its vectors')
}
