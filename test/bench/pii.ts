import {pathToFileURL} from 'node:url'
import {labelledLines, scoresOf} from '../guardrails/pii-score.ts'

/**
 * Classes whose values prove themselves by check digits, and what the held-out half must come to for them (issue:
 * guardrails).
 */
const CHECKSUMMED = new Set(['credit_card', 'iban', 'national_id', 'crypto_address'])
const MIN_PRECISION = 0.95
const MIN_RECALL = 0.9

export interface PiiBench {
  readonly lines: readonly string[]
  /** Checksummed classes below their floor; empty when all is well. */
  readonly below: readonly string[]
}

/** Precision and recall of each class on the held-out half, as lines to print. No text of that half is in them. */
export function piiBench(): PiiBench {
  const scores = scoresOf(labelledLines('held_out'))
  const head = `${'class'.padEnd(16)} labelled  found  right  precision  recall`
  const lines = scores.map(
    ({class: name, labelled, found, right, precision, recall}) =>
      `${name.padEnd(16)} ${`${labelled}`.padStart(8)} ${`${found}`.padStart(6)} ${`${right}`.padStart(6)} ${precision.toFixed(3).padStart(10)} ${recall.toFixed(3).padStart(7)}`,
  )
  const below = scores.filter(
    ({class: name, precision, recall}) => CHECKSUMMED.has(name) && (precision < MIN_PRECISION || recall < MIN_RECALL),
  )
  return {lines: [head, ...lines], below: below.map(({class: name}) => name)}
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const {lines, below} = piiBench()
  console.log(lines.join('\n'))
  if (below.length) {
    console.error(`below ${MIN_PRECISION} precision or ${MIN_RECALL} recall: ${below.join(', ')}`)
    process.exitCode = 1
  }
}
