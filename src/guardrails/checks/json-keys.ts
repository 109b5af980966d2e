import {z} from 'zod'
import {check, excerpt, judged, not, type Verdict} from '../check.ts'
import {embeddedJson} from '../embedded-json.ts'
import {isObject} from '../json.ts'
import {compare, type Operator, operatorParameter} from '../lists.ts'
import {inTimeSlices, type SlicedWork} from '../time-slices.ts'

export const jsonKeys = check({
  id: 'default.jsonKeys',
  title: 'JSON keys',
  about:
    'Passes if any, all or none of the keys are at the top level of some JSON in the response. Without any JSON it fails.',
  sides: ['output'],
  shape: {
    keys: z.array(z.string().min(1)).min(1).max(1000).describe('The keys.'),
    operator: operatorParameter('any'),
    not,
  },
  run: ({text}, parameters) => inTimeSlices(judging(text, parameters)),
})

function* judging(
  text: string,
  {keys, operator, not}: {readonly keys: readonly string[]; readonly operator: Operator; readonly not: boolean},
): SlicedWork<Verdict> {
  const objects = (yield* embeddedJson(text)).filter(isObject)
  const compared = objects.map(object => compare(keys, key => Object.hasOwn(object, key), operator))
  // `none` is about all of the answer: one object without the keys does not excuse another that has them.
  const holds =
    compared.length > 0 &&
    (operator === 'none' ? compared.every(each => each.holds) : compared.some(each => each.holds))
  const best = compared.find(each => each.holds === holds)
  const explanation = objects.length
    ? `The keys ${holds ? 'are' : 'are not'} as asked for.`
    : 'There is no JSON in the answer.'
  const about = {foundKeys: best?.found ?? [], missingKeys: best?.missing ?? keys, operator, not}
  return judged(holds, {explanation, ...about, textExcerpt: excerpt(text)}, not)
}
