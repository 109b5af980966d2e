import {z} from 'zod'
import {check, excerpt, judged, not} from '../check.ts'

const least = (most: number) => z.int().min(0).default(most)

export const sentenceCount = check({
  id: 'default.sentenceCount',
  title: 'Sentence count',
  about: 'Passes if the number of sentence ends (`.`, `!`, `?`) is within the bounds.',
  sides: ['input', 'output'],
  shape: {
    minSentences: least(0).describe('At least so many.'),
    maxSentences: least(99_999).describe('At most so many.'),
    not,
  },
  refuse: ({minSentences, maxSentences}) => outOfOrder('minSentences', minSentences, 'maxSentences', maxSentences),
  run({text}, {minSentences, maxSentences, not}) {
    return within(text, count(text, isSentenceEnd), 'sentence', minSentences, maxSentences, not, {
      minSentences,
      maxSentences,
    })
  },
})

export const wordCount = check({
  id: 'default.wordCount',
  title: 'Word count',
  about: 'Passes if the number of words, separated by white space, is within the bounds.',
  sides: ['input', 'output'],
  shape: {minWords: least(0).describe('At least so many.'), maxWords: least(99_999).describe('At most so many.'), not},
  refuse: ({minWords, maxWords}) => outOfOrder('minWords', minWords, 'maxWords', maxWords),
  run({text}, {minWords, maxWords, not}) {
    let words = 0
    for (const _ of text.matchAll(/\S+/g)) words++
    return within(text, words, 'word', minWords, maxWords, not, {minWords, maxWords})
  },
})

export const characterCount = check({
  id: 'default.characterCount',
  title: 'Character count',
  about:
    'Passes if the length of the text, without white space at its ends, is within the bounds. Counted in UTF-16 code units.',
  sides: ['input', 'output'],
  shape: {
    minCharacters: least(0).describe('At least so many.'),
    maxCharacters: least(9_999_999).describe('At most so many.'),
    not,
  },
  refuse: ({minCharacters, maxCharacters}) =>
    outOfOrder('minCharacters', minCharacters, 'maxCharacters', maxCharacters),
  run({text}, {minCharacters, maxCharacters, not}) {
    return within(text, text.trim().length, 'character', minCharacters, maxCharacters, not, {
      minCharacters,
      maxCharacters,
    })
  },
})

function outOfOrder(low: string, least: number, high: string, most: number): string | undefined {
  return least > most ? `${low} is ${least}, which is more than ${high}, ${most}.` : undefined
}

function within(
  text: string,
  found: number,
  what: string,
  least: number,
  most: number,
  not: boolean,
  bounds: Readonly<Record<string, number>>,
) {
  const explanation = `The text has ${found} ${what}${found === 1 ? '' : 's'}; between ${least} and ${most} are asked for${not ? ' not to be there' : ''}.`
  return judged(
    found >= least && found <= most,
    {explanation, [`${what}Count`]: found, ...bounds, not, textExcerpt: excerpt(text)},
    not,
  )
}

function count(text: string, is: (unit: number) => boolean): number {
  let found = 0
  for (let at = 0; at < text.length; at++) if (is(text.charCodeAt(at))) found++
  return found
}

function isSentenceEnd(unit: number): boolean {
  return unit === 0x2e || unit === 0x21 || unit === 0x3f
}
