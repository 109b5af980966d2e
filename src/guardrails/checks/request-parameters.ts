import {z} from 'zod'
import {check, judged} from '../check.ts'
import {isObject, type JsonValue, own} from '../json.ts'
import {quoted, shared} from '../lists.ts'
import {type OfferedTool, offeredTools} from '../tools.ts'

const names = (what: string) => z.array(z.string().min(1)).default([]).describe(what)
const plain = z.union([z.string(), z.number(), z.boolean(), z.null()])
const plains = (what: string) => z.array(plain).default([]).describe(what)
type Plain = z.output<typeof plain>

const Values = z.strictObject({
  allowedValues: plains('Values it may have.'),
  blockedValues: plains('Values it may not have.'),
})

type Reason =
  | `type_${'blocked' | 'not_allowed'}`
  | `name_${'blocked' | 'not_allowed'}`
  | `key_${'blocked' | 'not_allowed'}`
  | `value_${'blocked' | 'not_allowed'}`

interface Violation {
  readonly at: string
  readonly reason: Reason
  readonly name?: string | null
  readonly types?: readonly string[]
}

const MAX_SAID = 50

/** An empty list constrains nothing, so that a check may name tools alone or parameters alone. */
export const requestParametersCheck = check({
  id: 'default.requestParametersCheck',
  title: 'Request parameters',
  about:
    'Passes if the tools and the top-level parameters of the request comply with the lists. An empty list is no constraint.',
  sides: ['input'],
  aliases: ['default.requestParameters', 'default.requestParameterCheck'],
  shape: {
    tools: z
      .strictObject({
        allowedTypes: names('Types of tools that may be offered.'),
        blockedTypes: names('Types that may not.'),
        allowedFunctionNames: names('Names of tools that may be offered: function.name, else name, else the type.'),
        blockedFunctionNames: names('Names that may not.'),
      })
      .prefault({})
      .describe('Constraints on `tools`, and on `functions` of the older spelling.'),
    params: z
      .strictObject({
        allowedKeys: names('Top-level keys that the request may have; all others are refused.'),
        blockedKeys: names('Top-level keys that it may not have.'),
        values: z
          .record(z.string(), Values)
          .default({})
          .describe('Key → values; compared strictly, and only where the key is there.'),
      })
      .prefault({})
      .describe('Constraints on the keys of the request.'),
  },
  refuse({tools, params}) {
    const pairs: [string, readonly Plain[], readonly Plain[]][] = [
      ['tools.allowedTypes and tools.blockedTypes', tools.allowedTypes, tools.blockedTypes],
      [
        'tools.allowedFunctionNames and tools.blockedFunctionNames',
        tools.allowedFunctionNames,
        tools.blockedFunctionNames,
      ],
      ['params.allowedKeys and params.blockedKeys', params.allowedKeys, params.blockedKeys],
      ...Object.entries(params.values).map(
        ([key, {allowedValues, blockedValues}]): [string, readonly Plain[], readonly Plain[]] => [
          `params.values.${key}.allowedValues and .blockedValues`,
          allowedValues,
          blockedValues,
        ],
      ),
    ]
    const wrong = pairs
      .map(([where, one, other]) => ({where, both: shared(one, other)}))
      .filter(({both}) => both.length)
    return wrong.length
      ? `${wrong.map(({where, both}) => `${where} both have ${quoted(both)}`).join('; ')}.`
      : undefined
  },
  run({body}, {tools, params}) {
    const inTools = offeredTools(body).flatMap(tool => toolViolations(tool, tools))
    const inKeys = isObject(body) ? Object.keys(body).flatMap(key => keyViolations(key, params)) : []
    const inValues = Object.entries(params.values).flatMap(([key, expected]) =>
      valueViolations(key, own(body, key), expected),
    )
    const violations = [...inTools, ...inKeys, ...inValues]
    const explanation = violations.length
      ? `The request is not within the constraints: ${[...new Set(violations.map(({reason}) => reason))].join(', ')}.`
      : 'The request is within the constraints.'
    return judged(violations.length === 0, {
      explanation,
      violations: violations.slice(0, MAX_SAID),
      violationCount: violations.length,
    })
  },
})

interface ToolLists {
  readonly allowedTypes: readonly string[]
  readonly blockedTypes: readonly string[]
  readonly allowedFunctionNames: readonly string[]
  readonly blockedFunctionNames: readonly string[]
}

function toolViolations({place, types, name}: OfferedTool, lists: ToolLists): Violation[] {
  const about = {at: place, name: name?.slice(0, 100) ?? null, types: types.map(type => type.slice(0, 100))}
  const {allowedTypes, blockedTypes, allowedFunctionNames, blockedFunctionNames} = lists
  const found: Violation[] = []
  if (types.some(type => blockedTypes.includes(type))) found.push({...about, reason: 'type_blocked'})
  else if (allowedTypes.length && !types.some(type => allowedTypes.includes(type)))
    found.push({...about, reason: 'type_not_allowed'})
  if (name !== null && blockedFunctionNames.includes(name)) found.push({...about, reason: 'name_blocked'})
  else if (allowedFunctionNames.length && (name === null || !allowedFunctionNames.includes(name)))
    found.push({...about, reason: 'name_not_allowed'})
  return found
}

function keyViolations(
  key: string,
  lists: {readonly allowedKeys: readonly string[]; readonly blockedKeys: readonly string[]},
): Violation[] {
  const at = key.slice(0, 100)
  if (lists.blockedKeys.includes(key)) return [{at, reason: 'key_blocked'}]
  return lists.allowedKeys.length && !lists.allowedKeys.includes(key) ? [{at, reason: 'key_not_allowed'}] : []
}

function valueViolations(
  key: string,
  value: JsonValue | undefined,
  {allowedValues, blockedValues}: z.output<typeof Values>,
): Violation[] {
  if (value === undefined) return []
  const is = (each: Plain) => each === value
  if (blockedValues.some(is)) return [{at: key, reason: 'value_blocked'}]
  return allowedValues.length && !allowedValues.some(is) ? [{at: key, reason: 'value_not_allowed'}] : []
}
