import {readFileSync} from 'node:fs'
import {PII_CLASSES, type PiiClass} from '../../src/guardrails/pii/classes.ts'
import {findPii} from '../../src/guardrails/pii/scan.ts'

export interface LabelledLine {
  readonly id: string
  readonly split: 'tuning' | 'held_out'
  readonly text: string
  readonly spans: readonly {readonly class: PiiClass; readonly start: number; readonly end: number}[]
}

export interface ClassScore {
  readonly class: PiiClass
  readonly labelled: number
  readonly found: number
  readonly right: number
  /** 1 where nothing was found. */
  readonly precision: number
  readonly recall: number
}

/**
 * One half of the labelled set (test/fixtures/pii/README.md): `tuning` to work on, `held_out` to report on and never to
 * read.
 */
export function labelledLines(split: LabelledLine['split']): LabelledLine[] {
  const lines = readFileSync(new URL('../fixtures/pii/labelled.jsonl', import.meta.url), 'utf8')
    .trimEnd()
    .split('\n')
  return lines.map(line => JSON.parse(line) as LabelledLine).filter(line => line.split === split)
}

/** A find is right when its class and both its ends are those of a labelled span. */
export function scoresOf(lines: readonly LabelledLine[]): ClassScore[] {
  const counts = new Map(PII_CLASSES.map(name => [name, {labelled: 0, found: 0, right: 0}]))
  for (const {text, spans} of lines) {
    for (const span of spans) counts.get(span.class)!.labelled++
    for (const {class: name, start, end} of findPii(text)) {
      counts.get(name)!.found++
      if (spans.some(span => span.class === name && span.start === start && span.end === end)) counts.get(name)!.right++
    }
  }
  return [...counts].map(([name, {labelled, found, right}]) => ({
    ...{class: name, labelled, found, right},
    precision: found ? right / found : 1,
    recall: labelled ? right / labelled : 1,
  }))
}
