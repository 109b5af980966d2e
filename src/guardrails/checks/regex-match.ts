import {z} from 'zod'
import {check, excerpt, failed, judged, not, type Verdict} from '../check.ts'
import {CheckFault} from '../fault.ts'
import {budget, finding, type Pattern, patternParameter} from '../pattern.ts'
import {replacingAll} from '../replace.ts'
import {rewriting} from '../rewriting.ts'
import {inTimeSlices, type SlicedWork} from '../time-slices.ts'
import type {View} from '../view.ts'

export const regexMatch = check({
  id: 'default.regexMatch',
  title: 'Regex match',
  about:
    'Passes if the text matches the pattern. With `redact` matches are replaced in every string, and the check passes.',
  sides: ['input', 'output'],
  shape: {
    rule: patternParameter().describe('The pattern: JavaScript without flags, matched in linear time.'),
    not,
    redact: z.boolean().default(false).describe('Replaces what matches.'),
    replacement: z.string().default('[REDACTED]').describe('What stands in its place.'),
  },
  // The pattern asks for the end, which is not known yet.
  part: ({rule, not}) => not && !rule.source.includes('$'),
  forbids: ({not, redact}) => not || redact,
  redacts: ({redact}) => redact,
  parameter_aliases: {redactText: 'replacement', inverse: 'not'},
  run: (view, parameters) => inTimeSlices(matching(view, parameters)),
})

interface Parameters {
  readonly rule: Pattern
  readonly not: boolean
  readonly redact: boolean
  readonly replacement: string
}

function* matching(view: View, {rule, not, redact, replacement}: Parameters): SlicedWork<Verdict> {
  const spent = budget()
  const redaction = rewriting(function* (text) {
    return (yield* replacingAll(rule, text, replacement, spent)).text
  })
  const transformed = redact ? yield* redaction.of(view) : undefined
  // A check that forbids also reads the parts of an answer beside its text.
  const beside = not ? view.beside : ''
  if (!view.text && !beside && !transformed) return failed(new CheckFault('There is no text to match.'))
  const found = (yield* finding(rule, view.text, spent)) || (beside !== '' && (yield* finding(rule, beside, spent)))
  const data = {
    explanation: `The text ${found ? 'matches' : 'does not match'} the pattern.${transformed ? ' What matches was redacted.' : ''}`,
    ...{regexPattern: rule.source, not, redacted: transformed !== undefined, textExcerpt: excerpt(view.text)},
  }
  if (transformed) return {...judged(true, data), transformed}
  return judged(found, data, not)
}
