import fc from 'fast-check'
import {expect, test} from 'vitest'
import {cleanSchema} from '../../../src/providers/gemini/schema.ts'
import {type Json, UnsupportedInputFault} from '../../../src/providers/translation.ts'

const clean = (schema: unknown) => cleanSchema(schema, 'schema')
const text = {type: 'string'}

test.each([
  [
    'keywords Gemini does not know are left out',
    {
      type: 'object',
      $id: 'x',
      additionalProperties: false,
      properties: {a: {type: 'string', format: 'uuid', minLength: 2, contentEncoding: 'x'}},
    },
    {type: 'object', properties: {a: {type: 'string', minLength: 2}}},
  ],
  [
    'several types are alternatives',
    {type: ['string', 'integer', 'null'], description: 'd'},
    {
      anyOf: [
        {type: 'string', description: 'd', nullable: true},
        {type: 'integer', description: 'd', nullable: true},
      ],
    },
  ],
  [
    'an alternative alone is itself',
    {anyOf: [text, {type: 'null'}], description: 'd'},
    {type: 'string', description: 'd', nullable: true},
  ],
  ['oneOf is anyOf', {oneOf: [text, {type: 'number'}]}, {anyOf: [text, {type: 'number'}]}],
  [
    'members win over alternatives',
    {type: 'object', properties: {a: text}, anyOf: [{required: ['a']}]},
    {type: 'object', properties: {a: text}},
  ],
  [
    'allOf is one schema',
    {allOf: [{type: 'object', properties: {a: text}}, {properties: {b: text}}, {required: ['a', 'b']}]},
    {type: 'object', properties: {a: text, b: text}, required: ['a', 'b']},
  ],
  ['a null among the choices', {enum: ['a', null]}, {type: 'string', enum: ['a'], nullable: true}],
  [
    'choices that are no texts',
    {type: 'integer', description: 'n', enum: [1, 2]},
    {type: 'integer', description: 'n (One of: 1, 2)'},
  ],
  [
    'a tuple',
    {type: 'array', prefixItems: [text, {type: 'number'}]},
    {type: 'array', items: {anyOf: [text, {type: 'number'}]}},
  ],
  [
    'what is required must be described',
    {type: 'object', properties: {a: text}, required: ['a', 'b', 7]},
    {type: 'object', properties: {a: text}, required: ['a']},
  ],
  [
    'a property may have any name',
    JSON.parse('{"type":"object","properties":{"__proto__":{"type":"string"},"$ref":{"type":"number"}}}'),
    JSON.parse('{"type":"object","properties":{"__proto__":{"type":"string"},"$ref":{"type":"number"}}}'),
  ],
  [
    'references with escapes, older definitions, a text beside',
    {definitions: {'a/b c': text}, properties: {x: {$ref: '#/definitions/a~1b%20c', description: 'd'}}},
    {type: 'object', properties: {x: {type: 'string', description: 'd'}}},
  ],
  [
    'a reference to itself',
    {type: 'object', properties: {next: {$ref: '#'}}},
    {type: 'object', properties: {next: {type: 'object', properties: {next: {type: 'object'}}}}},
  ],
  [
    'references in a circle',
    {$ref: '#/$defs/a', $defs: {a: {$ref: '#/$defs/b'}, b: {$ref: '#/$defs/a'}}},
    {type: 'object'},
  ],
])('%s', (_, schema, expected) => {
  const before = JSON.stringify(schema)
  expect(clean(schema)).toEqual(expected)
  expect(JSON.stringify(schema)).toBe(before)
})

test.each([
  [{properties: {a: {$ref: '#/$defs/none'}}}, 'the reference "#/$defs/none" leads nowhere'],
  [{$ref: 'https://example.com/schema.json'}, 'leads nowhere'],
  [{$ref: '#/constructor/name'}, 'leads nowhere'],
  [{properties: {a: 'text'}}, 'expected a JSON schema wherever one stands'],
  [[], 'expected a JSON schema'],
])('%j is refused', (schema, sentence) => {
  expect(() => clean(schema)).toThrow(sentence)
})

test('a schema nested too deep is refused', () => {
  let deep: Json = text
  for (let at = 0; at < 50_000; at++) deep = {type: 'array', items: deep}
  expect(() => clean(deep)).toThrow('nested deeper than 64')
})

test('a few lines of references that would come to millions are refused', () => {
  const $defs: Record<string, Json> = {d0: text}
  for (let at = 1; at < 25; at++)
    $defs[`d${at}`] = {type: 'object', properties: {a: {$ref: `#/$defs/d${at - 1}`}, b: {$ref: `#/$defs/d${at - 1}`}}}
  expect(() => clean({$ref: '#/$defs/d24', $defs})).toThrow('comes to more than 10000 schemas')
})

test('any JSON at all is cleaned or refused, and what is cleaned has only words Gemini knows', () => {
  const word = fc.constantFrom(
    'type',
    'properties',
    'items',
    '$ref',
    'anyOf',
    'allOf',
    'enum',
    'const',
    'required',
    'additionalProperties',
    '$defs',
  )
  const value: fc.Memo<unknown> = fc.memo(
    (depth): fc.Arbitrary<unknown> =>
      depth <= 1
        ? fc.oneof(
            fc.constantFrom('string', 'object', 'null', '#', '#/properties/type', '#/$defs/items'),
            fc.boolean(),
            fc.integer(),
            fc.constant(null),
          )
        : fc.oneof(fc.array(value(depth - 1), {maxLength: 3}), fc.dictionary(word, value(depth - 1), {maxKeys: 4})),
  )
  const known = new Set(
    'type format title description nullable enum maxItems minItems properties required minProperties maxProperties minLength maxLength pattern example anyOf propertyOrdering default items minimum maximum'.split(
      ' ',
    ),
  )
  const check = (schema: Json) => {
    for (const name of Object.keys(schema)) expect(known).toContain(name)
    for (const each of [
      ...Object.values((schema.properties ?? {}) as Json),
      ...((schema.anyOf ?? []) as Json[]),
      ...(schema.items ? [schema.items] : []),
    ])
      check(each as Json)
  }
  fc.assert(
    fc.property(fc.dictionary(word, value(4), {maxKeys: 5}), schema => {
      try {
        check(clean(schema))
      } catch (error) {
        if (!(error instanceof UnsupportedInputFault)) throw error
      }
    }),
    {numRuns: 500},
  )
})
