/** A store of objects, as cloud stores are: flat, by keys with slashes. */
export interface Blobs {
  /** The place of the store, for people: there is no secret in it. */
  readonly place: string
  /** Writes an object whole or not at all. The same key again writes it over. */
  put(key: string, object: NewObject): Promise<void>
  /** Undefined when there is none. */
  get(key: string): Promise<Buffer | undefined>
  /** One that is not there is gone already. */
  remove(key: string): Promise<void>
}

export interface NewObject {
  readonly body: Buffer
  readonly content_type: string
  /** No one should be able to remove it before then, when the store enforces that; epoch milliseconds. */
  readonly keep_until_ms: number
}

/**
 * `unreachable`: no answer, or not in time, or only of its own trouble. `refused`: it does not take our credentials or
 * our requests. `object`: it takes others, but not this one. `paused`: it failed too often, and is left alone for a
 * while.
 */
export type BlobFaultKind = 'unreachable' | 'refused' | 'object' | 'paused'

/** The store did not do what was requested. The sentence says why, without a secret and without a signature. */
export class BlobFault extends Error {
  readonly kind: BlobFaultKind

  constructor(kind: BlobFaultKind, reason: string, options?: ErrorOptions) {
    super(reason, options)
    this.name = 'BlobFault'
    this.kind = kind
  }
}
