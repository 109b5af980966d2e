/**
 * `failed`: the store did not answer, or with an error. `gone`: it has no such collection. `unfit`: as it is, entries
 * of ours cannot be kept in it.
 */
export type VectorStoreFaultKind = 'failed' | 'gone' | 'unfit'

/** A vector store did not do its work. Its text holds no address, no credential and nothing of an entry. */
export class VectorStoreFault extends Error {
  readonly kind: VectorStoreFaultKind

  constructor(kind: VectorStoreFaultKind, reason: string, options?: ErrorOptions) {
    super(reason, options)
    this.name = 'VectorStoreFault'
    this.kind = kind
  }
}
