import {z} from 'zod'
import {check, excerpt, failed, judged, not} from '../check.ts'
import {CheckFault} from '../fault.ts'
import {budget, isFound, patternParameter} from '../pattern.ts'
import {replaceAll} from '../replace.ts'
import {rewriting} from '../rewriting.ts'

export const regexMatch = check({
  id: 'default.regexMatch',
  title: 'Regex match',
  about: 'Passes when the text matches the pattern. With `redact` what matches is replaced in every message, and the check passes.',
  sides: ['input', 'output'],
  shape: {
    rule: patternParameter().describe('The pattern: JavaScript without flags, matched in linear time.'),
    not,
    redact: z.boolean().default(false).describe('Replaces what matches.'),
    replacement: z.string().default('[REDACTED]').describe('What stands in its place.'),
  },
  parameter_aliases: {redactText: 'replacement', inverse: 'not'},
  run(view, {rule, not, redact, replacement}) {
    const spent = budget()
    const transformed = redact ? rewriting(text => replaceAll(rule, text, replacement, spent).text)(view) : undefined
    if (!view.text && !transformed) return failed(new CheckFault('There is no text to match.'))
    const found = isFound(rule, view.text, spent)
    const data = {
      explanation: `The text ${found ? 'matches' : 'does not match'} the pattern.${transformed ? ' What matches was redacted.' : ''}`,
      ...{regexPattern: rule.source, not, redacted: transformed !== undefined, textExcerpt: excerpt(view.text)},
    }
    if (transformed) return {...judged(true, data), transformed}
    return judged(found, data, not)
  },
})
