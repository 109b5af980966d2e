import fc from 'fast-check'
import {describe, expect, test} from 'vitest'
import {edited, type TextEdit} from '../../../src/mcp/wire/edits.ts'
import {forRing} from '../../support/ring.ts'

const CASES: readonly (readonly [name: string, text: string, edits: readonly TextEdit[], expected: string])[] = [
  ['nothing', ' {"a" : 1.0 }\n', [], ' {"a" : 1.0 }\n'],
  ['a member', '{ "a": 1.0 , "b" : 2e0 }', [{path: ['a'], set: '"x"'}], '{ "a": "x" , "b" : 2e0 }'],
  ['a member that is missing', '{"a":1.0 }', [{path: ['b'], set: '2'}], '{"a":1.0,"b":2 }'],
  ['into an empty object', '{ }', [{path: ['b'], set: '2'}], '{ "b":2}'],
  ['below what is missing', '{"a":1.0}', [{path: ['b', 'c'], set: '2'}], '{"a":1.0,"b":{"c":2}}'],
  ['below what is no object', '{"a":1.0}', [{path: ['a', 'c'], set: '2'}], '{"a":{"c":2}}'],
  ['taken out below what is no object', '{"a":1.0}', [{path: ['a', 'c'], set: undefined}], '{"a":1.0}'],
  ['taken out below what is missing', '{"a":1.0}', [{path: ['b', 'c'], set: undefined}], '{"a":1.0}'],
  ['the first taken out', '{"a":1, "b":2.0}', [{path: ['a'], set: undefined}], '{"b":2.0}'],
  ['the last taken out', '{"a":1, "b":2.0 }', [{path: ['b'], set: undefined}], '{"a":1 }'],
  ['all taken out', '{"a":1}', [{path: ['a'], set: undefined}], '{}'],
  [
    'one out, one in',
    '{"a":1, "b":2.0}',
    [
      {path: ['a'], set: undefined},
      {path: ['c'], set: '3'},
    ],
    '{"b":2.0,"c":3}',
  ],
  ['a key with escapes', '{"\\u0061":1.0,"b\\"":2}', [{path: ['a'], set: '3'}], '{"\\u0061":3,"b\\"":2}'],
  ['keys that look alike', '{"a ":1.0,"A":2.0,"a":3}', [{path: ['a'], set: '0'}], '{"a ":1.0,"A":2.0,"a":0}'],
  [
    'keys that prototypes have',
    '{"__proto__":{"x":1.0},"constructor":2.0}',
    [
      {path: ['__proto__', 'x'], set: '9'},
      {path: ['toString'], set: '1'},
    ],
    '{"__proto__":{"x":9},"constructor":2.0,"toString":1}',
  ],
  ['a member that comes twice', '{"a":1,"a":2,"b":1.0}', [{path: ['a'], set: '3'}], '{"a":3,"a":3,"b":1.0}'],
  ['an element', '[1.0, 2.0 ,3]', [{path: [1], set: '9'}], '[1.0, 9 ,3]'],
  ['an element taken out', '[1.0, 2.0 ,3]', [{path: [1], set: undefined}], '[1.0 ,3]'],
  ['an element beyond the end', '[1.0]', [{path: [4], set: '9'}], '[1.0]'],
  ['an index of an object', '{"0":1.0}', [{path: [0], set: '9'}], '{"0":1.0}'],
  ['a last element', '[1.0 ]', [{path: [], append: '2'}], '[1.0,2 ]'],
  ['the only element', '{"a":[ ]}', [{path: ['a'], append: '2'}], '{"a":[ 2]}'],
  ['an element of a list that is missing', '{}', [{path: ['a'], append: '2'}], '{"a":[2]}'],
  ['an element of what is no list', '{"a":5}', [{path: ['a'], append: '2'}], '{"a":5}'],
  [
    'a wrap around edits below',
    '{"a":{"b":1,"c":1.0}}',
    [
      {path: ['a'], wrap: ['{"x":', '}']},
      {path: ['a', 'b'], set: '2'},
    ],
    '{"a":{"x":{"b":2,"c":1.0}}}',
  ],
  ['a wrap of what is missing', '{"b":1}', [{path: ['a'], wrap: ['[', ']']}], '{"b":1}'],
  [
    'the whole wins over what is below',
    '{"a":{"b":1}}',
    [
      {path: ['a'], set: undefined},
      {path: ['a', 'b'], set: '2'},
    ],
    '{}',
  ],
  [
    'the later of two',
    '{"a":1}',
    [
      {path: ['a'], set: '2'},
      {path: ['a'], set: '3'},
    ],
    '{"a":3}',
  ],
  [
    'numbers beyond 2^53 beside it',
    '{"n":12345678901234567890.0e1,"m":-0,"a":1}',
    [{path: ['a'], set: '2'}],
    '{"n":12345678901234567890.0e1,"m":-0,"a":2}',
  ],
  [
    'braces in texts',
    '{"a":"}],\\"{","b":"\\\\","c":1}',
    [{path: ['c'], set: '2'}],
    '{"a":"}],\\"{","b":"\\\\","c":2}',
  ],
]

describe('edits of JSON texts', () => {
  test.each(CASES)('%s', (_name, text, edits, expected) => {
    expect(edited(text, edits)).toBe(expected)
  })

  test('whatever is changed, everything outside keeps its bytes', () => {
    fc.assert(
      fc.property(TREE, fc.array(fc.nat(1_000), {minLength: 1, maxLength: 6}), fc.boolean(), (tree, steps, out) => {
        const path = pathIn(tree, steps)
        const set = out ? undefined : '{"new":1.0}'
        const text = written(tree, null, undefined)
        expect(JSON.parse(text)).toBeDefined()
        expect(edited(text, [{path, set}])).toBe(written(tree, path, set))
      }),
      {numRuns: forRing({own: 400, ci: 2_000, full: 20_000})},
    )
  })

  test('a wide object of 20,000 members is changed in place', () => {
    const members = Array.from({length: 20_000}, (_, at) => `"k${at}":${at}.0`)
    const text = `{"params":{${members.join(',')}},"id":1}`
    const expected = text.replace('"k19999":19999.0', '"k19999":true')
    expect(edited(text, [{path: ['params', 'k19999'], set: 'true'}])).toBe(expected)
  })
})

/** JSON as it is written: the parts of its text, so that the expected text is made of the same parts. */
type Tree =
  | {readonly leaf: string}
  | {readonly open: string; readonly close: string; readonly parts: readonly Part[]; readonly is_list: boolean}

/** `head`: the key with its colon, of an object. `gap`: what is between the part before and this one. */
interface Part {
  readonly key: string
  readonly head: string
  readonly gap: string
  readonly tree: Tree
}

const BLANK = fc.constantFrom('', ' ', '\n\t', '  ')
const LEAF = fc.constantFrom(
  '1.0',
  '-0',
  '12345678901234567890',
  '1e400',
  'null',
  '"\\u0041}"',
  '"a\\\\"',
  '"ü☃"',
  '""',
)
const KEY = fc.constantFrom('a', 'a ', 'A', '\\u0061b', '__proto__', 'constructor', 'b\\"', '', '0', 'ß')

const {TREE} = fc.letrec<{TREE: Tree}>(tie => {
  const part = fc.tuple(KEY, BLANK, BLANK, BLANK, BLANK, tie('TREE'))
  const several = fc.tuple(fc.uniqueArray(part, {selector: ([key]) => key, maxLength: 5}), BLANK, BLANK, fc.boolean())
  const nested = several.map(([parts, first, last, is_list]): Tree => {
    const [open, close] = is_list ? ['[', ']'] : ['{', '}']
    return {
      open: open + first,
      close: last + close,
      is_list,
      parts: parts.map(([key, a, b, c, d, tree]) => ({
        key: JSON.parse(`"${key}"`) as string,
        head: is_list ? '' : `"${key}"${a}:${b}`,
        gap: `${c},${d}`,
        tree,
      })),
    }
  })
  return {
    TREE: fc.oneof(
      {maxDepth: 6, depthSize: 'large'},
      LEAF.map(leaf => ({leaf})),
      nested,
    ),
  }
})

function pathIn(tree: Tree, steps: readonly number[]): (string | number)[] {
  const path: (string | number)[] = []
  let at = tree
  for (const step of steps) {
    if ('leaf' in at || at.parts.length === 0) break
    const index = step % at.parts.length
    const part = at.parts[index]!
    path.push(at.is_list ? index : part.key)
    at = part.tree
  }
  return path.length > 0 || 'leaf' in tree ? path : tree.is_list ? [0] : ['missing']
}

/** The text of a tree with one place changed. The whole is never taken out: its text stays. */
function written(tree: Tree, path: readonly (string | number)[] | null, set: string | undefined): string {
  if (path?.length === 0) return set ?? written(tree, null, undefined)
  if ('leaf' in tree) return tree.leaf
  const [step, ...rest] = path ?? []
  let out = tree.parts.length > 0 ? tree.open : tree.open + tree.close.slice(0, -1)
  let has_kept = false
  let is_found = false
  tree.parts.forEach(({key, head, gap, tree: below}, at) => {
    const is_here = step === (tree.is_list ? at : key)
    if (is_here) is_found = true
    if (is_here && rest.length === 0 && set === undefined) return
    out += (has_kept ? gap : '') + head + written(below, is_here ? rest : null, set)
    has_kept = true
  })
  if (typeof step === 'string' && !is_found && set !== undefined) out += `${has_kept ? ',' : ''}"${step}":${set}`
  return out + (tree.parts.length > 0 ? tree.close : tree.close.slice(-1))
}
