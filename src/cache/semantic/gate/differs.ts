import type {GateClass, GateFeatures, GateMode} from './contract.ts'

/** In this order they are compared: the first difference is the reason that explain shows. */
const STRICT: readonly GateClass[] = [
  'language',
  'numbers',
  'units',
  'dates',
  'quotes',
  'code',
  'wording',
  'names',
  'negation',
  'pronouns',
  'modality',
  'opposites',
  'kind',
  'tense',
]
const NUMBERS: readonly GateClass[] = ['numbers', 'units', 'dates']
/** More words left over than these are another request. */
const MAX_LEFT_OVER = 3

/** The class in which two texts differ; null: an answer to one may serve the other. */
export function differs(stored: GateFeatures, wanted: GateFeatures, mode: GateMode): GateClass | null {
  if (mode === 'off') return null
  if (stored.v !== wanted.v) return 'version'
  const compared = mode === 'numbers' ? NUMBERS : STRICT
  const other = compared.find(name => stored.classes[name] !== wanted.classes[name])
  if (other !== undefined) return other
  if (mode === 'numbers') return null
  if (stored.words !== wanted.words || stored.classes.words !== wanted.classes.words) return 'words'
  if (leftOver(stored.fillers, wanted.fillers) > MAX_LEFT_OVER) return 'fillers'
  return stored.classes.direction === wanted.classes.direction ? null : 'direction'
}

/** How many hashes one side has and the other has not; the greater of the two counts. */
function leftOver(one: string, other: string): number {
  if (one === other) return 0
  const mine = hashesOf(one)
  const theirs = hashesOf(other)
  let shared = 0
  for (const hash of mine) if (theirs.has(hash)) shared++
  return Math.max(mine.size, theirs.size) - shared
}

function hashesOf(text: string): Set<number> {
  const bytes = Buffer.from(text, 'base64url')
  const hashes = new Set<number>()
  for (let at = 0; at + 4 <= bytes.length; at += 4) hashes.add(bytes.readUInt32BE(at))
  return hashes
}
