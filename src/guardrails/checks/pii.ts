import {z} from 'zod'
import {type CheckContext, check, excerpt, judged, not, type Verdict} from '../check.ts'
import {PII_CLASSES, type PiiClass, type PiiSpan} from '../pii/classes.ts'
import {knownValues} from '../pii/known.ts'
import {type Vault, vault} from '../pii/redact.ts'
import {findingCalled} from '../pii/scan.ts'
import {rewriting} from '../rewriting.ts'
import {inTimeSlices, type SlicedWork} from '../time-slices.ts'
import type {View} from '../view.ts'

/** Between two pauses. */
const TEXTS_AT_ONCE = 128

export const pii = check({
  id: 'default.pii',
  title: 'Personal data and secrets',
  about:
    'Passes if the body contains no personal data or secrets. With `redact` each finding is replaced with a numbered placeholder everywhere, and the check passes.',
  sides: ['input', 'output'],
  shape: {
    categories: z
      .array(z.enum(PII_CLASSES))
      .min(1)
      .default([...PII_CLASSES])
      .describe(
        'What to look for. Cards, IBANs, national ids and crypto addresses are proven by check digits, all else by form and the words around it.',
      ),
    redact: z
      .boolean()
      .default(false)
      .describe('Replaces what is found by `<EMAIL_1>` and the like, the same value by the same one.'),
    reversible: z
      .boolean()
      .default(false)
      .describe(
        'Puts the values back, for the client alone, where the answer says their placeholders; logs keep these. Needs `redact`.',
      ),
    not,
  },
  parameter_aliases: {classes: 'categories'},
  part: ({not}) => !not,
  forbids: ({not}) => !not,
  redacts: ({redact}) => redact,
  refuse({redact, reversible, not}) {
    if (reversible && !redact)
      return 'parameters.reversible: expected `redact` to be true as well, for without it there is nothing to put back'
    return redact && not ? 'parameters.not: expected false beside `redact`, which always passes' : undefined
  },
  run: (view, parameters, context) => inTimeSlices(judging(view, parameters, context)),
})

interface Parameters {
  readonly categories: readonly PiiClass[]
  readonly redact: boolean
  readonly reversible: boolean
  readonly not: boolean
}

function* judging(view: View, parameters: Parameters, context: CheckContext): SlicedWork<Verdict> {
  const {side, parts} = context
  const {categories, redact, reversible, not} = parameters
  const before = parts?.get(parameters) as Before | undefined
  const given = before?.given ?? (yield* vaultFor(context))
  const looked = lookedAt(categories)
  for (const [index, {text}] of view.strings.entries()) {
    if (index % TEXTS_AT_ONCE === TEXTS_AT_ONCE - 1) yield
    given.reserve(text)
  }
  const spans: (readonly PiiSpan[])[] = []
  for (const [index, {text, called}] of view.strings.entries()) {
    if (index % TEXTS_AT_ONCE === TEXTS_AT_ONCE - 1) yield
    spans.push(yield* looked.at(text, called))
  }
  const learnt = before?.learnt ?? new Map<string, readonly string[]>()
  const known = redact
    ? knownValues(view.strings, spans, parts && behindJudged(learnt, before?.texts ?? []))
    : undefined
  if (parts && redact) {
    // A value keeps its number from one look at an answer to the next, whatever came before it meanwhile.
    for (const [index, {text}] of view.strings.entries()) yield* given.redacting(text, spans[index]!)
    parts.set(parameters, {given, learnt, texts: view.strings.map(({text}) => text)} satisfies Before)
  }
  const kept = parts ? given.beside() : given
  function* redacted(text: string, called = ''): SlicedWork<string> {
    // Another redaction came between: what it wrote is no placeholder of ours.
    if (!looked.has(text, called)) kept.reserve(text)
    const found = yield* looked.at(text, called)
    return yield* kept.redacting(text, known ? known.among(text, found) : found)
  }
  const transformed = redact ? yield* rewriting(redacted).of(view) : undefined
  const counts = countsOf(spans.flatMap((each, index) => (view.strings[index]!.is_echo ? [] : each)))
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

/** State that is kept between two looks at an answer that comes in parts. */
interface Before {
  readonly given: Vault
  /** The texts as they were judged last. */
  readonly texts: readonly string[]
  /** By known value: the texts that had been judged, and may have left, when it was found first. */
  readonly learnt: Map<string, readonly string[]>
}

/**
 * Placeholders for this body: for an answer none that its request was sent with, which are put back as what they stand
 * for there.
 */
function* vaultFor({side, request, is_request_transformed}: CheckContext): SlicedWork<Vault> {
  const made = vault()
  if (side === 'input' || !request || !is_request_transformed) return made
  for (const [index, {text}] of request.strings.entries()) {
    if (index % TEXTS_AT_ONCE === TEXTS_AT_ONCE - 1) yield
    made.reserve(text)
  }
  return made
}

/**
 * The place from which a value may be removed: text that was judged before the value was known may have left with it.
 */
function behindJudged(learnt: Map<string, readonly string[]>, judged: readonly string[]) {
  return (value: string, text: string): number => {
    if (!learnt.has(value)) learnt.set(value, judged)
    let from = 0
    for (const each of learnt.get(value)!) {
      if (each.length > from && text.startsWith(each)) from = each.length
      else if (each.startsWith(text)) return text.length
    }
    return from
  }
}

/** The findings in texts, each looked at once. */
function lookedAt(classes: readonly PiiClass[]) {
  const found = new Map<string, Map<string, readonly PiiSpan[]>>()
  return {
    has: (text: string, called: string) => found.get(called)?.has(text) ?? false,
    *at(text: string, called: string): SlicedWork<readonly PiiSpan[]> {
      const known = found.get(called)?.get(text)
      if (known) return known
      const spans = yield* findingCalled(text, called, {classes})
      if (!found.has(called)) found.set(called, new Map())
      found.get(called)!.set(text, spans)
      return spans
    },
  }
}

/** As much of the judged texts, redacted, as an excerpt is taken of. */
function* shown(view: View, redacted: (text: string) => SlicedWork<string>): SlicedWork<string> {
  let excerpted = ''
  for (const [index, text] of view.texts.entries()) {
    excerpted += (index ? '\n' : '') + (yield* redacted(text))
    if (excerpt(excerpted) !== excerpted) break
  }
  return excerpted
}

function countsOf(spans: readonly PiiSpan[]): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const {class: name} of spans) counts[name] = (counts[name] ?? 0) + 1
  return counts
}
