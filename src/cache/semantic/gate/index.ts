import {createHmac} from 'node:crypto'

/** A change of the rules or of a table is a new version: entries of the old one are not found. */
export const GATE_VERSION = 1

/** `numbers` compares numbers, units, dates and versions only; `off` compares nothing. */
export type GateMode = 'strict' | 'numbers' | 'off'

/** The kinds of difference, each a reason not to serve a stored answer. */
export type GateClass =
  | 'version'
  | 'numbers'
  | 'units'
  | 'dates'
  | 'names'
  | 'quotes'
  | 'code'
  | 'language'
  | 'negation'
  | 'kind'
  | 'modality'
  | 'tense'
  | 'pronouns'
  | 'opposites'
  | 'words'
  | 'fillers'
  | 'direction'

/** The meaning of a text in keyed digests. It can be written as JSON of at most 2 KB and has no word of the text. */
export interface GateFeatures {
  /** `GATE_VERSION`. */
  readonly v: number
  /** The text after normalising. Equal texts need no other comparison. */
  readonly text: string
  /** A digest of each class that the text has something of. */
  readonly classes: Readonly<Partial<Record<GateClass, string>>>
  /** Content words: sorted 32-bit hashes, base64url of big-endian bytes. */
  readonly words: string
  /** Words that may be left over, likewise. */
  readonly fillers: string
}

const DIGEST_BYTES = 16

/** The features of a text under a key; null when they would be longer than 2 KB, so that it is neither stored nor served. */
export function featuresOf(text: string, key: Uint8Array): GateFeatures | null {
  const folded = text.normalize('NFKC').toLowerCase().trim().replaceAll(/\s+/g, ' ')
  if (folded === '' || folded.length > 16_384) return null
  const digest = createHmac('sha256', key).update(folded).digest().subarray(0, DIGEST_BYTES).toString('base64url')
  return {v: GATE_VERSION, text: digest, classes: {}, words: '', fillers: ''}
}

/** The class in which two texts differ; null: an answer to one may serve the other. */
export function differs(stored: GateFeatures, asked: GateFeatures, mode: GateMode): GateClass | null {
  if (mode === 'off') return null
  if (stored.v !== asked.v) return 'version'
  return stored.text === asked.text ? null : 'words'
}

/** Says that an answer ages within hours: the text speaks of today, now or the latest. */
export function isRelative(text: string): boolean {
  return /\b(?:today|tonight|now|currently|current|latest|yesterday|tomorrow)\b/i.test(text)
}
