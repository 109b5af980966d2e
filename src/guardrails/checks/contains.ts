import {z} from 'zod'
import {check, excerpt, judged, not, type Verdict} from '../check.ts'
import {compare, type Operator, operatorParameter, quoted} from '../lists.ts'
import {inTimeSlices, type SlicedWork} from '../time-slices.ts'
import type {View} from '../view.ts'

const forbids = ({operator, not}: {readonly operator: Operator; readonly not: boolean}) => (operator === 'none') !== not

export const contains = check({
  id: 'default.contains',
  title: 'Contains',
  about: 'Passes if any, all or none of the words or phrases are in the text. Case matters.',
  sides: ['input', 'output'],
  shape: {
    words: z.array(z.string().min(1)).min(1).max(1000).describe('The words or phrases.'),
    operator: operatorParameter('any'),
    not,
  },
  part: forbids,
  forbids,
  run: (view, parameters) => inTimeSlices(containing(view, parameters)),
})

interface Parameters {
  readonly words: readonly string[]
  readonly operator: Operator
  readonly not: boolean
}

/** Code units that are searched between two pauses. */
const UNITS_AT_ONCE = 1 << 18

function* containing(view: View, {words, operator, not}: Parameters): SlicedWork<Verdict> {
  const {text} = view
  // A check that forbids also reads the parts of an answer beside its text.
  const beside = forbids({operator, not}) ? view.beside : ''
  const there = new Set<string>()
  for (const word of words) if ((yield* has(text, word)) || (yield* has(beside, word))) there.add(word)
  const {holds, found, missing} = compare(words, word => there.has(word), operator)
  const explanation = found.length ? `The text has ${quoted(found)}.` : 'The text has none of the words.'
  return judged(
    holds,
    {explanation, foundWords: found, missingWords: missing, operator, not, textExcerpt: excerpt(text)},
    not,
  )
}

function* has(text: string, word: string): SlicedWork<boolean> {
  if (text.length <= UNITS_AT_ONCE) return text.includes(word)
  for (let from = 0; from < text.length; from += UNITS_AT_ONCE) {
    yield
    if (text.slice(from, from + UNITS_AT_ONCE + word.length - 1).includes(word)) return true
  }
  return false
}
