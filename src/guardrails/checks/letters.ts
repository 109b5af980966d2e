import {z} from 'zod'
import {check, excerpt, judged, not} from '../check.ts'
import {callsTools} from '../tools.ts'

export const alluppercase = check({
  id: 'default.alluppercase',
  title: 'All upper case',
  about: 'Passes if no letter of the text is in lower case.',
  sides: ['input', 'output'],
  aliases: ['default.isAllUpperCase'],
  shape: {not},
  run: ({text}, {not}) => cased(text, !/\p{Ll}/u.test(text), 'upper', not),
})

export const alllowercase = check({
  id: 'default.alllowercase',
  title: 'All lower case',
  about: 'Passes if no letter of the text is in upper case.',
  sides: ['input', 'output'],
  aliases: ['default.isAllLowerCase'],
  shape: {not},
  run: ({text}, {not}) => cased(text, !/[\p{Lu}\p{Lt}]/u.test(text), 'lower', not),
})

export const endsWith = check({
  id: 'default.endsWith',
  title: 'Ends with',
  about: 'Passes if the text ends in the suffix, with or without a full stop after it.',
  sides: ['input', 'output'],
  shape: {suffix: z.string().min(1).describe('The end.'), not},
  run({text}, {suffix, not}) {
    const ends = text.endsWith(suffix) || text.endsWith(`${suffix}.`)
    return judged(
      ends,
      {
        explanation: `The text ${ends ? 'ends' : 'does not end'} in the suffix.`,
        suffix,
        not,
        textExcerpt: excerpt(text),
      },
      not,
    )
  },
})

export const notNull = check({
  id: 'default.notNull',
  title: 'Not empty',
  about: 'Passes if the response has a text other than white space. A response that calls tools passes without text.',
  sides: ['output'],
  shape: {not},
  run(view, {not}) {
    if (callsTools(view.body)) return judged(true, {explanation: 'The answer calls tools and needs no text.', not})
    const is_there = view.text.trim() !== ''
    return judged(
      is_there,
      {explanation: `The answer has ${is_there ? 'a' : 'no'} text.`, not, textExcerpt: excerpt(view.text)},
      not,
    )
  },
})

function cased(text: string, is_all: boolean, which: string, not: boolean) {
  return judged(
    is_all,
    {explanation: `The letters are ${is_all ? 'all' : 'not all'} in ${which} case.`, not, textExcerpt: excerpt(text)},
    not,
  )
}
