import {z} from 'zod'
import {check, excerpt, judged, type Verdict} from '../check.ts'
import {budget, type Pattern, patternParameter} from '../pattern.ts'
import {replacingAll, replacingFirst} from '../replace.ts'
import {rewriting} from '../rewriting.ts'
import {inTimeSlices, type SlicedWork} from '../time-slices.ts'
import type {View} from '../view.ts'

export const regexReplace = check({
  id: 'default.regexReplace',
  title: 'Regex replace',
  about: 'Replaces matches in every string. Passes, unless `failOnDetection` is set and the text matched.',
  sides: ['input', 'output'],
  shape: {
    rule: patternParameter({slashes: true}).describe(
      'A pattern, `x` or `/x/flags` with the flags `g`, `i`, `s`. Without `g` only the first match of each text is replaced.',
    ),
    redactText: z.string().default('[REDACTED]').describe('What stands in its place.'),
    failOnDetection: z.boolean().default(false).describe('Fails when the text matched.'),
  },
  part: ({rule}) => !rule.source.includes('$'),
  forbids: () => true,
  redacts: () => true,
  parameter_aliases: {replacement: 'redactText'},
  run: (view, parameters) => inTimeSlices(replacing(view, parameters)),
})

interface Parameters {
  readonly rule: Pattern
  readonly redactText: string
  readonly failOnDetection: boolean
}

function* replacing(view: View, {rule, redactText, failOnDetection}: Parameters): SlicedWork<Verdict> {
  const spent = budget()
  const replace = rule.is_global ? replacingAll : replacingFirst
  const matched = new Set<string>()
  const redaction = rewriting(function* (text) {
    const made = yield* replace(rule, text, redactText, spent)
    if (made.count) matched.add(text)
    return made.text
  })
  const transformed = yield* redaction.of(view)
  const fails = failOnDetection && detects(view, matched)
  return {
    ...judged(!fails, {
      explanation: transformed ? 'What matches the pattern was replaced.' : 'Nothing matches the pattern.',
      ...{regexPattern: rule.source, detected: transformed !== undefined, textExcerpt: excerpt(view.text)},
    }),
    ...(transformed ? {transformed} : {}),
  }
}

/** Of a request its last message counts, of an answer every string. */
function detects({side, texts, strings}: View, matched: ReadonlySet<string>): boolean {
  if (side === 'input') return texts.some(text => matched.has(text))
  return strings.some(({text, is_echo}) => !is_echo && matched.has(text))
}
