/**
 * An installation of prices: by `sync`, by a signed bundle, or of one model by `set`. It holds from `effective_at`
 * until `withdrawn_at`.
 */
export interface PriceRevisionsTable {
  /** Counted from 1 in the order of installation. */
  revision: number
  kind: PriceRevisionKind
  /** The origin of the prices, for people: a URL without its credentials, a directory, a file. */
  origin: string
  /** SHA-256 of the list as it was installed, hex. */
  digest: string
  /** Of a bundle: the key that signed it, and its number. */
  key_id: string | null
  serial: number | null
  /** ISO 8601 UTC. */
  effective_at: string
  withdrawn_at: string | null
  added: number
  changed: number
  removed: number
  created_by: string | null
  created_at: string
}
export type PriceRevisionKind = 'sync' | 'bundle' | 'set'

/** A price of a revision. */
export interface PricesTable {
  revision: number
  provider: string
  /** As it was written; compared without regard to case. */
  model: string
  /** `{periods, aliases}` as JSON; null removes the prices of an earlier revision. */
  price: string | null
}
