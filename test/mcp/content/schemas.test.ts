import {AjvJsonSchemaValidator} from '@modelcontextprotocol/client/validators/ajv'
import fc from 'fast-check'
import {describe, expect, test} from 'vitest'
import type {JsonObject} from '../../../src/base/json-member.ts'
import {isWrapped, withoutBooleans, wrappedSchema} from '../../../src/mcp/content/schemas.ts'
import {edited} from '../../../src/mcp/wire/edits.ts'
import {forRing} from '../../support/ring.ts'

const D2020 = 'https://json-schema.org/draft/2020-12/schema'
const D2019 = 'https://json-schema.org/draft/2019-09/schema'
const D7 = 'http://json-schema.org/draft-07/schema#'

function wrap(schema: object): Record<string, unknown> {
  const text = JSON.stringify(schema)
  return JSON.parse(edited(text, wrappedSchema(JSON.parse(text), [])))
}

/** Schemas, values that they take, and values that they do not. */
const CASES: readonly (readonly [name: string, schema: object, good: readonly unknown[], bad: readonly unknown[]])[] = [
  ['an array', {type: 'array', items: {type: 'integer'}}, [[], [1, 2]], [['a'], {}, null]],
  ['a text', {type: 'string', minLength: 2}, ['ab'], ['a', 5, {result: 'ab'}]],
  ['a number', {type: 'number', maximum: 5}, [1.5], [6, '1']],
  ['a boolean', {type: 'boolean'}, [false], [0, null]],
  ['null', {type: 'null'}, [null], [0, {}]],
  ['several types', {type: ['object', 'null']}, [null, {}], [[], 1]],
  ['a list of one type', {type: ['object']}, [{}], [null]],
  ['no type', {anyOf: [{type: 'string'}, {type: 'array'}]}, ['a', []], [1, {}]],
  ['no type, of objects', {properties: {a: {type: 'string'}}, required: ['a']}, [{a: 'x'}, 5], [{}, {a: 1}]],
  ['nothing', {}, [null, 1, {}, []], []],
  ['a dialect', {$schema: D2020, type: 'array', prefixItems: [{type: 'string'}]}, [['a']], [[1]]],
  [
    'draft 7',
    {$schema: D7, type: 'array', items: [{type: 'string'}], additionalItems: false},
    [['a']],
    [[1], ['a', 1]],
  ],
  [
    'definitions',
    {type: 'array', items: {$ref: '#/$defs/a'}, $defs: {a: {type: 'string'}, b: {$ref: '#/$defs/a'}}},
    [['x']],
    [[1]],
  ],
  [
    'definitions of draft 7',
    {$schema: D7, type: 'array', items: {$ref: '#/definitions/a'}, definitions: {a: {type: 'string'}}},
    [['x']],
    [[1]],
  ],
  [
    'a reference to the root',
    {anyOf: [{type: 'string'}, {type: 'array', items: {$ref: '#'}}]},
    ['a', [['a'], []]],
    [[1], [[1]], {}],
  ],
  [
    'references by place',
    {type: 'array', prefixItems: [{type: 'string'}, {$ref: '#/prefixItems/0'}], items: false},
    [['a', 'b']],
    [['a', 1]],
  ],
  [
    'references with escapes',
    {type: 'array', items: {$ref: '#/$defs/a~1b%20c'}, $defs: {'a/b c': {type: 'string'}}},
    [['x']],
    [[1]],
  ],
  ['an anchor', {type: 'array', items: {$ref: '#word'}, $defs: {a: {$anchor: 'word', type: 'string'}}}, [['x']], [[1]]],
  [
    'an id that is a fragment',
    {
      $schema: D7,
      type: 'array',
      items: {$ref: '#word'},
      definitions: {a: {$id: '#word', type: 'string', not: {$ref: '#/definitions/b'}}, b: {const: 'no'}},
    },
    [['x']],
    [[1], ['no']],
  ],
  [
    'an id at the root',
    {$id: 'https://a.example/root', type: 'array', items: {$ref: '#/$defs/a'}, $defs: {a: {type: 'string'}}},
    [['x']],
    [[1]],
  ],
  [
    'a dialect and an id at the root',
    {$schema: D2020, $id: 'https://b.example/root', type: 'array', items: {$ref: '#'}},
    [[], [[]]],
    [[1]],
  ],
  [
    'an island with an id',
    {
      type: 'array',
      items: {$ref: 'https://c.example/island'},
      $defs: {
        island: {
          $id: 'https://c.example/island',
          anyOf: [{$ref: '#/$defs/word'}, {type: 'array', items: {$ref: '#'}}],
          $defs: {word: {type: 'string'}},
        },
        word: {type: 'number'},
      },
    },
    [['x'], [['x']]],
    [[1], [[1]]],
  ],
  [
    'a recursive reference',
    {$schema: D2019, anyOf: [{type: 'string'}, {type: 'array', items: {$recursiveRef: '#'}}]},
    ['a', [['a']]],
    [[1], 1],
  ],
  [
    'a recursive reference beside another',
    {
      $schema: D2019,
      anyOf: [{type: 'string'}, {type: 'array', items: {$recursiveRef: '#', $ref: '#/$defs/short'}}],
      $defs: {short: {maxLength: 2, maxItems: 1}},
    },
    ['abc', ['ab'], [['ab']]],
    [['abc'], [['ab', 'ab']], [1]],
  ],
  [
    'properties called as keywords are',
    {
      type: 'array',
      items: {properties: {$ref: {$ref: '#/$defs/a'}, default: {$ref: '#/$defs/a'}, const: {type: 'string'}}},
      $defs: {a: {type: 'string'}, enum: {type: 'number'}},
    },
    [[{$ref: 'x', default: 'y'}]],
    [[{$ref: 1}], [{default: 1}], [{const: 1}]],
  ],
  [
    'a property called properties',
    {type: 'array', items: {properties: {properties: {$ref: '#/$defs/a'}}}, $defs: {a: {type: 'string'}}},
    [[{properties: 'x'}]],
    [[{properties: 1}]],
  ],
  [
    'data that look like references',
    {enum: [{$ref: '#/a'}, '#'], default: {$ref: '#/a'}, examples: [{$ref: '#'}]},
    [{$ref: '#/a'}, '#'],
    [{$ref: '#/properties/result/a'}, {}],
  ],
  ['a constant that looks like one', {const: {$ref: '#/a'}}, [{$ref: '#/a'}], [{$ref: '#/b'}]],
]

describe('56: output schemas for legacy clients', () => {
  test.each(CASES)('%s: a value is taken as it was', (_name, schema, good, bad) => {
    expect(isWrapped(schema as JsonObject)).toBe(true)
    const wrapped = wrap(schema)
    expect(wrapped).toMatchObject({type: 'object', required: ['result']})
    const [was, is] = [takes(schema), takes(wrapped)]
    for (const value of good) {
      expect(was(value), JSON.stringify(value)).toBe(true)
      expect(is({result: value}), JSON.stringify(value)).toBe(true)
    }
    for (const value of bad) {
      expect(was(value), JSON.stringify(value)).toBe(false)
      expect(is({result: value}), JSON.stringify(value)).toBe(false)
    }
    for (const value of [{}, [], null, 5, {other: 1}]) expect(is(value)).toBe(false)
  })

  test('the dialect goes to the root', () => {
    expect(wrap({$schema: D7, type: 'array'})).toEqual({
      $schema: D7,
      type: 'object',
      properties: {result: {type: 'array'}},
      required: ['result'],
    })
  })

  test('what is no reference keeps its bytes', () => {
    const text = '{ "type":"array","maxItems" : 1e3, "x":{"$ref":"other.json#/a","n":12345678901234567890} }'
    expect(edited(text, wrappedSchema(JSON.parse(text), []))).toBe(
      `{"type":"object","properties":{"result":${text}},"required":["result"]}`,
    )
  })

  test('an object is left as it is', () => {
    expect(isWrapped({type: 'object', properties: {a: {type: 'array'}}})).toBe(false)
  })

  test('booleans of the top properties become objects that say the same', () => {
    const text = '{"type":"object","properties":{"a":true,"b":false,"c":{"properties":{"d":true}}}}'
    const written = edited(text, withoutBooleans(JSON.parse(text), []))
    expect(written).toBe('{"type":"object","properties":{"a":{},"b":{"not":{}},"c":{"properties":{"d":true}}}}')
    const [was, is] = [takes(JSON.parse(text)), takes(JSON.parse(written))]
    for (const value of [{}, {a: 1}, {b: 1}, {c: {d: 1}}]) expect(is(value)).toBe(was(value))
  })

  test('generated schemas take the same values', () => {
    const runs = forRing({own: 40, ci: 300, full: 3_000})
    let taken = 0
    fc.assert(
      fc.property(SCHEMA, fc.array(VALUE, {minLength: 15, maxLength: 15}), (schema, values) => {
        const [was, is] = [takes(schema), takes(wrap(schema))]
        for (const value of values) {
          if (was(value)) taken++
          expect(is({result: value})).toBe(was(value))
        }
      }),
      {numRuns: runs},
    )
    expect(taken).toBeGreaterThan(runs)
  })
})

/** A validator of its own for each schema: ids of one are not those of another. */
function takes(schema: object): (value: unknown) => boolean {
  const validate = new AjvJsonSchemaValidator().getValidator(schema as never)
  return value => validate(value).valid
}

const NAME = fc.constantFrom('a', 'b', '$ref', 'default')
/** References lead below what holds them, so that each value ends. */
const REFERENCE = fc.constantFrom('#', '#/$defs/a', '#/$defs/b', '#word', '#/$defs/a/items').map($ref => ({$ref}))
const LEAF = fc.constantFrom<object>(
  {type: 'string'},
  {type: 'integer'},
  {type: 'null'},
  {enum: ['x', 1, {$ref: '#/$defs/a'}]},
  {const: []},
  {},
)
const {PART} = fc.letrec<{PART: object; BELOW: object}>(tie => ({
  BELOW: fc.oneof(REFERENCE, tie('PART')),
  PART: fc.oneof(
    {maxDepth: 3, depthSize: 'small'},
    LEAF,
    tie('BELOW').map(items => ({type: 'array', items})),
    fc.dictionary(NAME, tie('BELOW'), {maxKeys: 2}).map(properties => ({properties})),
    fc.array(tie('PART'), {minLength: 1, maxLength: 2}).map(anyOf => ({anyOf})),
    tie('BELOW').map(additionalProperties => ({type: 'object', additionalProperties})),
    tie('PART').map(not => ({not})),
  ),
}))
const SCHEMA = fc.tuple(PART, PART, PART, fc.constantFrom(undefined, D2020)).map(([root, items, b, $schema]) => ({
  ...($schema && {$schema}),
  anyOf: [root],
  $defs: {a: {type: 'array', items: {anyOf: [items]}}, b: {anyOf: [b], $anchor: 'word'}},
}))
const {VALUE} = fc.letrec<{VALUE: unknown}>(tie => ({
  VALUE: fc.oneof(
    {maxDepth: 3, depthSize: 'medium'},
    fc.constantFrom<unknown>('x', 1, null, 'y', 1.5, []),
    fc.array(tie('VALUE'), {maxLength: 2}),
    fc.dictionary(NAME, tie('VALUE'), {maxKeys: 2}),
  ),
}))
