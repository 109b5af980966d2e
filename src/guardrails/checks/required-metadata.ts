import {z} from 'zod'
import {perObject} from '../../base/memo.ts'
import {check, judged, not} from '../check.ts'
import {compare, operatorParameter, quoted} from '../lists.ts'
import {matcher, matchType, refusePatterns, valueList} from '../matcher.ts'

export const requiredMetadataKeys = check({
  id: 'default.requiredMetadataKeys',
  title: 'Required metadata keys',
  about: 'Passes if all, any or none of the keys are in the metadata of the call.',
  sides: ['input'],
  shape: {
    metadataKeys: z.array(z.string().min(1)).min(1).describe('The keys.'),
    operator: operatorParameter('all'),
    not,
  },
  run(_, {metadataKeys, operator, not}, {metadata}) {
    const {holds, found, missing} = compare(metadataKeys, key => Object.hasOwn(metadata, key), operator)
    const explanation = missing.length ? `The metadata lacks ${quoted(missing)}.` : 'The metadata has all of the keys.'
    return judged(holds, {explanation, foundKeys: found, missingKeys: missing, operator, not}, not)
  },
})

export const requiredMetadataKeyValuePairs = check({
  id: 'default.requiredMetadataKeyValuePairs',
  title: 'Required metadata pairs',
  about: 'Passes if all, any or none of the pairs are in the metadata of the call.',
  sides: ['input'],
  shape: {
    metadataPairs: z
      .record(z.string().min(1), valueList)
      .refine(pairs => Object.keys(pairs).length > 0, 'must have at least one pair')
      .describe('Key → value or values.'),
    operator: operatorParameter('all'),
    matchType,
    not,
  },
  parameter_aliases: {pairs: 'metadataPairs'},
  refuse: ({metadataPairs, matchType}) => refusePatterns(matchType, Object.values(metadataPairs).flat()),
  run(_, parameters, {metadata}) {
    const {metadataPairs, operator, matchType, not} = parameters
    const matchers = matchersOf(parameters)
    const holdsFor = (key: string) => Object.hasOwn(metadata, key) && matchers.get(key)!(metadata[key]!)
    const {holds, found, missing} = compare(Object.keys(metadataPairs), holdsFor, operator)
    const explanation = missing.length
      ? `The metadata does not have the value asked for at ${quoted(missing)}.`
      : 'The metadata has all of the pairs.'
    return judged(holds, {explanation, foundKeys: found, missingKeys: missing, operator, matchType, not}, not)
  },
})

interface Pairs {
  readonly metadataPairs: Readonly<Record<string, readonly string[]>>
  readonly matchType: Parameters<typeof matcher>[0]
}

const matchersOf = perObject(
  ({metadataPairs, matchType}: Pairs) =>
    new Map(Object.entries(metadataPairs).map(([key, values]) => [key, matcher(matchType, values)] as const)),
)
