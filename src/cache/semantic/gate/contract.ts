/** A change of the rules or of a table is a new version: entries of the old one are not found. */
export const GATE_VERSION = 2

/** `numbers` compares numbers, units and dates only; `off` compares nothing. */
export type GateMode = 'strict' | 'numbers' | 'off'

/** The kinds of difference, each a reason not to serve a stored answer. */
export type GateClass =
  | 'version'
  | 'language'
  | 'numbers'
  | 'units'
  | 'dates'
  | 'quotes'
  | 'code'
  | 'wording'
  | 'names'
  | 'negation'
  | 'opposites'
  | 'kind'
  | 'modality'
  | 'tense'
  | 'pronouns'
  | 'words'
  | 'fillers'
  | 'direction'

/** The meaning of a text in keyed digests. It can be written as JSON of at most 2 KB and has no word of the text. */
export interface GateFeatures {
  /** `GATE_VERSION`. */
  readonly v: number
  /** A digest of each class that the text has something of. */
  readonly classes: Readonly<Partial<Record<GateClass, string>>>
  /** Content words: sorted 32-bit hashes, base64url of big-endian bytes. */
  readonly words: string
  /** Words that may be left over, likewise. */
  readonly fillers: string
}
