import fc from 'fast-check'
import {describe, expect, test} from 'vitest'
import type {JsonValue} from '../../src/guardrails/json.ts'
import {readJsonSchema} from '../../src/guardrails/json-schema/read.ts'
import {validating} from '../../src/guardrails/json-schema/validate.ts'
import {atOnce} from '../../src/guardrails/time-slices.ts'

const validate = (...asked: Parameters<typeof validating>) => atOnce(validating(...asked))
const fits = (schema: JsonValue, value: JsonValue) => validate(readJsonSchema(schema), value).length === 0

/** Schema, what fits, what does not (draft 2020-12). */
const ROWS: readonly (readonly [JsonValue, readonly JsonValue[], readonly JsonValue[]])[] = [
  [true, [null, 1, {}], []],
  [false, [], [null, 1, {}]],
  [{type: 'integer'}, [1, 1.0, -3], [1.5, '1', null]],
  [{type: ['string', 'null']}, ['', null], [0, {}, []]],
  [{type: 'array'}, [[]], [{}]],
  [{enum: [1, 'a', {b: [1]}]}, [1, 'a', {b: [1]}], [2, {b: [2]}, '1']],
  [{const: {a: 1, b: 2}}, [{b: 2, a: 1}], [{a: 1}, {a: 1, b: 2, c: 3}]],
  [{minimum: 1, exclusiveMaximum: 3}, [1, 2.9, 'x'], [0.9, 3]],
  [{multipleOf: 0.1}, [0.3, 1, 'x'], [0.35]],
  [{minLength: 2, maxLength: 2}, ['ab', '😀😀', 5], ['a', 'abc', '😀']],
  [{pattern: 'b+'}, ['abbc', 1], ['ac']],
  [{format: 'date'}, ['2026-02-28', 7], ['2026-02-30', 'today']],
  [{format: 'email'}, ['a@b.example'], ['a', 'a@', '@b']],
  [{format: 'uuid'}, ['0198c0de-0000-7000-8000-000000000000'], ['0198c0de']],
  [{items: {type: 'string'}}, [[], ['a'], 'x'], [[1], ['a', 1]]],
  [{prefixItems: [{type: 'string'}, true], items: false}, [['a'], ['a', 1], []], [[1], ['a', 1, 2]]],
  [{contains: {const: 1}}, [[1], [2, 1]], [[], [2]]],
  [{contains: {const: 1}, minContains: 0, maxContains: 1}, [[], [1]], [[1, 1]]],
  [
    {uniqueItems: true},
    [[1, '1', {a: 1}], []],
    [
      [1, 1],
      [
        {a: 1, b: 2},
        {b: 2, a: 1},
      ],
    ],
  ],
  [{minItems: 1, maxItems: 2}, [[1], [1, 2]], [[], [1, 2, 3]]],
  [{required: ['a']}, [{a: null}, {a: 1}, 'x'], [{}]],
  [{required: ['toString', '__proto__']}, [], [{}]],
  [{properties: {a: {type: 'number'}}}, [{}, {a: 1}, {b: 'x'}], [{a: 'x'}]],
  [
    {properties: {a: true}, patternProperties: {'^x-': {type: 'string'}}, additionalProperties: false},
    [{a: 1, 'x-b': 's'}],
    [{b: 1}, {'x-b': 1}],
  ],
  [{propertyNames: {maxLength: 2}}, [{ab: 1}], [{abc: 1}]],
  [{minProperties: 1, maxProperties: 1}, [{a: 1}], [{}, {a: 1, b: 1}]],
  [{dependentRequired: {a: ['b']}}, [{}, {a: 1, b: 1}], [{a: 1}]],
  [{dependentSchemas: {a: {required: ['b']}}}, [{c: 1}], [{a: 1}]],
  [{allOf: [{minimum: 1}, {maximum: 2}]}, [1, 2], [0, 3]],
  [{anyOf: [{type: 'string'}, {minimum: 5}]}, ['a', 6], [4]],
  [{oneOf: [{multipleOf: 2}, {multipleOf: 3}]}, [2, 3], [6, 5]],
  [{not: {type: 'string'}}, [1], ['a']],
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
  [{if: {type: 'string'}, then: {minLength: 2}, else: {minimum: 2}}, ['ab', 3], ['a', 1]],
  [{if: {type: 'string'}}, ['a', 1], []],
  [
    {$defs: {n: {type: 'object', properties: {next: {$ref: '#/$defs/n'}}, required: ['v']}}, $ref: '#/$defs/n'},
    [{v: 1, next: {v: 2}}],
    [{v: 1, next: {}}],
  ],
  [{$defs: {'a/b~c': {const: 1}}, $ref: '#/$defs/a~1b~0c'}, [1], [2]],
  [{title: 't', 'x-unknown': {type: 7}}, [1], []],
]

describe.each(ROWS.map(([schema, good, bad]) => [JSON.stringify(schema), schema, good, bad] as const))(
  '%s',
  (_, schema, good, bad) => {
    test('takes what fits and no more', () => {
      expect(good.filter(value => !fits(schema, value))).toEqual([])
      expect(bad.filter(value => fits(schema, value))).toEqual([])
    })
  },
)

test.each<[JsonValue, string]>([
  [7, 'schema must be an object'],
  [{properties: {a: 1}}, 'schema.properties.a must be an object'],
  [{$ref: '#/properties/none'}, 'leads to no part'],
  [{$ref: '#/enum/0', enum: [{type: 'string'}]}, 'leads to no part'],
  [{$ref: '#/__proto__'}, 'leads to no part'],
  [{unevaluatedProperties: false}, 'not available'],
  [{pattern: '('}, 'not closed'],
  [{patternProperties: {'(?!x)': true}}, 'linear time'],
  [{format: 'phone'}, 'must be one of'],
  [{required: 'a'}, 'a list of texts'],
  [{minLength: -1}, 'at least 0'],
  [{allOf: {}}, 'a list of schemas'],
])('%j is refused', (schema, sentence) => expect(() => readJsonSchema(schema)).toThrow(sentence))

test('complaints name the place and quote nothing', () => {
  const schema = readJsonSchema({properties: {list: {items: {type: 'string'}}}, required: ['z']})
  expect(validate(schema, {list: ['a', 4711]})).toEqual([
    {at: '/list/1', keyword: 'type'},
    {at: '', keyword: 'required'},
  ])
  expect(validate(schema, {list: Array.from({length: 100}, () => 1)})).toHaveLength(10)
})

test('schemas that multiply the work are given up', () => {
  const twice = (name: string): JsonValue => ({
    anyOf: [
      {$ref: `#/$defs/${name}`, minimum: 1},
      {$ref: `#/$defs/${name}`, minimum: 2},
    ],
  })
  const $defs = Object.fromEntries(
    Array.from({length: 40}, (_, level) => [`d${level}`, level === 39 ? false : twice(`d${level + 1}`)]),
  )
  expect(() => validate(readJsonSchema({$defs, $ref: '#/$defs/d0'}), 1)).toThrow('too much')
})

test('whatever the value, a schema of its own shape takes it', () => {
  fc.assert(
    fc.property(fc.jsonValue(), value => {
      expect(fits({const: value as JsonValue}, JSON.parse(JSON.stringify(value)) as JsonValue)).toBe(true)
    }),
  )
})
