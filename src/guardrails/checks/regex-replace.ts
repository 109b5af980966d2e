import {z} from 'zod'
import {check, excerpt, judged} from '../check.ts'
import {budget, patternParameter} from '../pattern.ts'
import {replaceAll, replaceFirst} from '../replace.ts'
import {rewriting} from '../rewriting.ts'

export const regexReplace = check({
  id: 'default.regexReplace',
  title: 'Regex replace',
  about: 'Replaces what matches, in every message. Passes, unless `failOnDetection` and the text matched.',
  sides: ['input', 'output'],
  shape: {
    rule: patternParameter({slashes: true}).describe(
      'A pattern, `x` or `/x/flags` with the flags `g`, `i`, `s`. Without `g` only the first match of each text is replaced.',
    ),
    redactText: z.string().default('[REDACTED]').describe('What stands in its place.'),
    failOnDetection: z.boolean().default(false).describe('Fails when the text matched.'),
  },
  parameter_aliases: {replacement: 'redactText'},
  run(view, {rule, redactText, failOnDetection}) {
    const spent = budget()
    const replace = rule.is_global ? replaceAll : replaceFirst
    const matched = new Set<string>()
    const transformed = rewriting(text => {
      const made = replace(rule, text, redactText, spent)
      if (made.count) matched.add(text)
      return made.text
    })(view)
    const fails = failOnDetection && view.texts.some(text => matched.has(text))
    const said = transformed ? 'What matches the pattern was replaced.' : 'Nothing matches the pattern.'
    return {
      ...judged(!fails, {
        explanation: said,
        ...{regexPattern: rule.source, detected: transformed !== undefined, textExcerpt: excerpt(view.text)},
      }),
      ...(transformed ? {transformed} : {}),
    }
  },
})
