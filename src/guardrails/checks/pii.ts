import {z} from 'zod'
import type {Side} from '../../schema/guardrails.ts'
import {check, excerpt, judged, not, type Verdict} from '../check.ts'
import {gently, type Work} from '../gently.ts'
import {PII_CLASSES, type PiiClass, type PiiSpan} from '../pii/classes.ts'
import {vault} from '../pii/redact.ts'
import {findingPii} from '../pii/scan.ts'
import {rewriting, textsOf} from '../rewriting.ts'
import type {View} from '../view.ts'

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
    reversible: z
      .boolean()
      .default(false)
      .describe('Puts the values back, for the client alone, where the answer says their placeholders; logs keep these. Needs `redact`.'),
    not,
  },
  parameter_aliases: {classes: 'categories'},
  part: ({not}) => !not,
  refuse({redact, reversible, not}) {
    if (reversible && !redact)
      return 'parameters.reversible: expected `redact` to be true as well, for without it there is nothing to put back'
    return redact && not ? 'parameters.not: expected false beside `redact`, which always passes' : undefined
  },
  run: (view, parameters, {side}) => gently(judging(view, parameters, side)),
})

interface Parameters {
  readonly categories: readonly PiiClass[]
  readonly redact: boolean
  readonly reversible: boolean
  readonly not: boolean
}

function* judging(view: View, {categories, redact, reversible, not}: Parameters, side: Side): Work<Verdict> {
  const found = new Map<string, readonly PiiSpan[]>()
  const kept = vault()
  const looked = new Set(redact ? textsOf(view) : view.texts)
  for (const text of looked) kept.reserve(text)
  for (const text of looked) found.set(text, yield* findingPii(text, {classes: categories}))
  function* redacted(text: string): Work<string> {
    // Another redaction came between: what it wrote is no placeholder of ours.
    if (!found.has(text)) kept.reserve(text)
    return yield* kept.redacting(text, found.get(text) ?? (yield* findingPii(text, {classes: categories})))
  }
  const transformed = redact ? yield* rewriting(redacted).of(view) : undefined
  const counts = countsOf(view.texts.flatMap(text => found.get(text) ?? []))
  const names = Object.keys(counts)
  const data = {
    explanation: names.length
      ? `Found: ${names.join(', ')}.${transformed ? ' It was redacted.' : ''}`
      : 'No personal data and no secrets were found.',
    ...{categories: counts, redacted: transformed !== undefined, textExcerpt: excerpt(yield* shown(view, redacted))},
  }
  if (!redact) return judged(names.length === 0, data, not)
  const is_restored = reversible && transformed !== undefined && side === 'input'
  return {...judged(true, data), ...(transformed ? {transformed} : {}), ...(is_restored ? {restore: kept} : {})}
}

/** As much of the judged texts, redacted, as an excerpt is taken of. */
function* shown(view: View, redacted: (text: string) => Work<string>): Work<string> {
  let said = ''
  for (const [index, text] of view.texts.entries()) {
    said += (index ? '\n' : '') + (yield* redacted(text))
    if (excerpt(said) !== said) break
  }
  return said
}

function countsOf(spans: readonly PiiSpan[]): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const {class: name} of spans) counts[name] = (counts[name] ?? 0) + 1
  return counts
}
