import {z} from 'zod'
import {check, excerpt, judged, not} from '../check.ts'
import {compare, type Operator, operatorParameter, quoted} from '../lists.ts'

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
  run(view, {words, operator, not}) {
    const {text} = view
    // What forbids sees what an answer says beside its text, too.
    const beside = forbids({operator, not}) ? view.beside : ''
    const {holds, found, missing} = compare(words, word => text.includes(word) || beside.includes(word), operator)
    const explanation = found.length ? `The text has ${quoted(found)}.` : 'The text has none of the words.'
    return judged(holds, {explanation, foundWords: found, missingWords: missing, operator, not, textExcerpt: excerpt(text)}, not)
  },
})
