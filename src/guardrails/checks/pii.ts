import {setImmediate as pause} from 'node:timers/promises'
import {z} from 'zod'
import {check, excerpt, judged, not, type Verdict} from '../check.ts'
import {PII_CLASSES, type PiiSpan} from '../pii/classes.ts'
import {type Restore, vault} from '../pii/redact.ts'
import {findPii, findPiiGently} from '../pii/scan.ts'
import {rewriting} from '../rewriting.ts'
import type {View} from '../view.ts'

/** A verdict whose placeholders can be put back in the answer. */
export interface ReversibleVerdict extends Verdict {
  readonly restore?: Restore
}

export const pii = check({
  id: 'default.pii',
  title: 'Personal data and secrets',
  about:
    'Passes when the text holds no personal data and no secrets. With `redact` what is found becomes numbered placeholders in every message, and the check passes.',
  sides: ['input', 'output'],
  shape: {
    categories: z
      .array(z.enum(PII_CLASSES))
      .min(1)
      .default([...PII_CLASSES])
      .describe(
        'What to look for. Cards, IBANs, national ids and crypto addresses are proven by check digits, all else by form and the words around it.',
      ),
    redact: z.boolean().default(false).describe('Replaces what is found by `<EMAIL_1>` and the like, the same value by the same one.'),
    reversible: z.boolean().default(false).describe('Puts the values back where the answer says their placeholders. Needs `redact`.'),
    not,
  },
  parameter_aliases: {classes: 'categories'},
  refuse({redact, reversible, not}) {
    if (reversible && !redact)
      return 'parameters.reversible: expected `redact` to be true as well, for without it there is nothing to put back'
    return redact && not ? 'parameters.not: expected false beside `redact`, which always passes' : undefined
  },
  async run(view, {categories, redact, reversible, not}, context): Promise<ReversibleVerdict> {
    const found = new Map<string, readonly PiiSpan[]>()
    const kept = vault()
    const looked = redact ? textsOf(view) : view.texts
    for (const text of looked) kept.reserve(text)
    for (const text of looked) if (!found.has(text)) found.set(text, await findPiiGently(text, {classes: categories, pause}))
    const redacted = (text: string) => {
      // Another redaction came between: what it wrote is no placeholder of ours.
      if (!found.has(text)) kept.reserve(text)
      return kept.redact(text, found.get(text) ?? findPii(text, {classes: categories}))
    }
    const transformed = redact ? rewriting(redacted)(view) : undefined
    const counts = countsOf(view.texts.flatMap(text => found.get(text) ?? []))
    const names = Object.keys(counts)
    const data = {
      explanation: names.length
        ? `Found: ${names.join(', ')}.${transformed ? ' It was redacted.' : ''}`
        : 'No personal data and no secrets were found.',
      ...{categories: counts, redacted: transformed !== undefined, textExcerpt: excerpt(view.texts.map(redacted).join('\n'))},
    }
    if (!redact) return judged(names.length === 0, data, not)
    const is_restored = reversible && transformed !== undefined && context.side === 'input'
    return {...judged(true, data), ...(transformed ? {transformed} : {}), ...(is_restored ? {restore: kept} : {})}
  },
})

/** Every text, judged or not. */
function textsOf(view: View): readonly string[] {
  const texts: string[] = []
  view.rewrite(text => {
    texts.push(text)
    return text
  })
  return texts
}

function countsOf(spans: readonly PiiSpan[]): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const {class: name} of spans) counts[name] = (counts[name] ?? 0) + 1
  return counts
}
