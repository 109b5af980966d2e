import fc from 'fast-check'
import {describe, expect, test} from 'vitest'
import {decodedHeaderValue, encodedHeaderValue, headerValue} from '../../../src/mcp/wire/header-values.ts'
import {type RpcRequest, readMessage} from '../../../src/mcp/wire/messages.ts'
import {checkParamHeaders, paramHeadersOf, paramHeaderValues} from '../../../src/mcp/wire/param-headers.ts'
import {checkStandardHeaders, standardHeaders} from '../../../src/mcp/wire/standard-headers.ts'
import {forRing} from '../../support/ring.ts'

const base64 = (text: string) => `=?base64?${Buffer.from(text).toString('base64')}?=`
const VERSION = '2026-07-28'
const REGION = {name: 'Region', path: ['region'], kind: 'string'} as const
const COUNT = {name: 'Count', path: ['deep', 'count'], kind: 'integer'} as const
const FORCE = {name: 'X-Force', path: ['force'], kind: 'boolean'} as const

function call(params: string, method = 'tools/call'): RpcRequest {
  return readMessage(`{"jsonrpc":"2.0","id":"q","method":"${method}","params":${params}}`) as RpcRequest
}

/** Of each plane of Unicode, halves of pairs included. */
const CHARACTERS = fc
  .array(fc.oneof(fc.nat(0xff), fc.nat(0x10ffff)), {maxLength: 12})
  .map(codes => String.fromCodePoint(...codes))

describe('21: values of headers', () => {
  const written: readonly (readonly [text: string, value: string])[] = [
    ['greet', 'greet'],
    ['two words\tand a tab', 'two words\tand a tab'],
    ['a:b,c;d"e', 'a:b,c;d"e'],
    ['köln', '=?base64?a8O2bG4=?='],
    ['', '=?base64??='],
    [' outer', base64(' outer')],
    ['outer\t', base64('outer\t')],
    ['a\nMcp-Name: b', base64('a\nMcp-Name: b')],
    ['a\u0000b', base64('a\u0000b')],
    ['a\u007fb', base64('a\u007fb')],
    ['日本', base64('日本')],
    ['\ufeffa', base64('\ufeffa')],
    ['\u00a0a', base64('\u00a0a')],
    ['=?base64?YQ==?=', base64('=?base64?YQ==?=')],
    ['=?base64?=', base64('=?base64?=')],
    ['=?base64?no end', '=?base64?no end'],
    ['=?BASE64?YQ==?=', '=?BASE64?YQ==?='],
    ['=?utf-8?YQ==?=', '=?utf-8?YQ==?='],
  ]
  test.each(written)('%j is written %j and read again', (text, value) => {
    expect(encodedHeaderValue(text)).toBe(value)
    expect(decodedHeaderValue(value)).toBe(text)
  })

  test.each(['=?base64?YQ?=', '=?base64?Y Q=?=', '=?base64?=', '=?base64?/w==?=', '=?base64?YQ=?=', '=?base64?_-8=?='])(
    '%s cannot be decoded',
    value => {
      expect(decodedHeaderValue(value)).toBeNull()
    },
  )

  test('half a character has no value', () => {
    expect(() => encodedHeaderValue('a\ud800')).toThrow(/half a character/)
  })

  test('each text survives the way through a header', () => {
    fc.assert(
      fc.property(CHARACTERS, text => {
        if (!text.isWellFormed()) return
        const value = encodedHeaderValue(text)
        expect(value).toMatch(/^[\t\x20-\x7e]+$/)
        expect(decodedHeaderValue(headerValue({x: ` ${value}\t`}, 'x')!)).toBe(text)
      }),
      {numRuns: forRing({own: 300, ci: 2_000, full: 20_000})},
    )
  })

  test('a header that comes twice is one value that equals neither', () => {
    expect(headerValue({'mcp-name': ['a', 'a']}, 'mcp-name')).toBe('a, a')
    expect(headerValue({}, 'constructor')).toBeUndefined()
  })
})

describe('standard headers', () => {
  test.each([
    ['tools/call', '{"name":"köln"}', '=?base64?a8O2bG4=?='],
    ['prompts/get', '{"name":"a"}', 'a'],
    ['resources/read', '{"uri":"file:///a b","name":"no"}', 'file:///a b'],
    ['tasks/get', '{"taskId":"t1"}', 't1'],
    ['tasks/update', '{"taskId":"t1"}', 't1'],
    ['tasks/cancel', '{"taskId":"t1"}', 't1'],
    ['tools/list', '{"name":"no"}', undefined],
    ['tools/call', '{"name":5}', undefined],
  ])('22: %s is written from the body %s', (method, params, name) => {
    expect(standardHeaders({version: VERSION, method, params: JSON.parse(params)})).toEqual({
      'mcp-protocol-version': VERSION,
      'mcp-method': method,
      ...(name !== undefined && {'mcp-name': name}),
    })
  })

  test.each(['a\nb', 'a b', 'é', ''])('a method %j has no header', method => {
    expect(() => standardHeaders({version: VERSION, method, params: undefined})).toThrow(/Method not found/)
  })

  const whole = {'mcp-protocol-version': VERSION, 'mcp-method': 'tools/call', 'mcp-name': 'greet'}
  const accepted: readonly Record<string, string>[] = [
    whole,
    {...whole, 'mcp-name': '=?base64?Z3JlZXQ=?='},
    {...whole, 'mcp-method': '  tools/call\t'},
  ]
  test.each(accepted)('19: %j agree with the body', headers => {
    expect(() => checkStandardHeaders(headers, call('{"name":"greet"}'), VERSION)).not.toThrow()
  })

  const refused: readonly (readonly [what: string, headers: Record<string, string | undefined>])[] = [
    ['no version', {...whole, 'mcp-protocol-version': undefined}],
    ['another version', {...whole, 'mcp-protocol-version': '2025-11-25'}],
    ['no method', {...whole, 'mcp-method': undefined}],
    ['another method', {...whole, 'mcp-method': 'tools/list'}],
    ['a method in other letters', {...whole, 'mcp-method': 'Tools/Call'}],
    ['no name', {...whole, 'mcp-name': undefined}],
    ['an empty name', {...whole, 'mcp-name': ''}],
    ['another name', {...whole, 'mcp-name': 'Greet'}],
    ['a name that cannot be decoded', {...whole, 'mcp-name': '=?base64?Z3JlZXQ?='}],
    ['the name twice', {...whole, 'mcp-name': 'greet, greet'}],
  ]
  test.each(refused)('19: %s is 400 -32020 with the id of the request', (_what, headers) => {
    const run = () => checkStandardHeaders(headers, call('{"name":"greet"}'), VERSION)
    expect(run).toThrow(expect.objectContaining({reason: 'header_mismatch', http: 400, code: -32020, id_text: '"q"'}))
  })

  test('19: a call without a name is left to the check of its params; an undecodable header is not', () => {
    const headers = {...whole, 'mcp-name': undefined}
    expect(() => checkStandardHeaders(headers, call('{}'), VERSION)).not.toThrow()
    expect(() => checkStandardHeaders({...whole, 'mcp-name': '=?base64?*?='}, call('{}'), VERSION)).toThrow(/Base64/)
  })

  test('19: a notification may leave them out; what it has is compared', () => {
    const message = readMessage('{"jsonrpc":"2.0","method":"notifications/cancelled"}') as never
    expect(() => checkStandardHeaders({}, message, VERSION)).not.toThrow()
    expect(() => checkStandardHeaders({'mcp-method': 'ping'}, message, VERSION)).toThrow(/disagree/)
  })
})

describe('declarations of x-mcp-header', () => {
  const text = {type: 'string', 'x-mcp-header': 'Region'}
  const valid: readonly (readonly [name: string, schema: object, headers: readonly object[]])[] = [
    ['none', {type: 'object'}, []],
    ['one', {type: 'object', properties: {region: text}}, [REGION]],
    [
      'nested',
      {properties: {deep: {properties: {count: {type: 'integer', 'x-mcp-header': 'Count'}}}, region: text}},
      [COUNT, REGION],
    ],
    ['a boolean', {properties: {force: {type: 'boolean', 'x-mcp-header': 'X-Force'}}}, [FORCE]],
    ['a property called x-mcp-header', {properties: {'x-mcp-header': {type: 'string'}}}, []],
    ['a property called items', {properties: {items: text}}, [{...REGION, path: ['items']}]],
    ['data that looks like one', {default: {'x-mcp-header': 'A'}, enum: [{'x-mcp-header': 'A'}]}, []],
    ['a property called __proto__', JSON.parse('{"properties":{"__proto__":{"type":"string"}}}'), []],
  ]
  test.each(valid)('valid: %s', (_name, schema, headers) => {
    expect(paramHeadersOf(schema as never)).toEqual({valid: true, headers, fault: null})
  })

  const invalid: readonly (readonly [name: string, schema: object])[] = [
    ['at the root', {type: 'string', 'x-mcp-header': 'A'}],
    ['no token', {properties: {a: {type: 'string', 'x-mcp-header': 'a b'}}}],
    ['a line end', {properties: {a: {type: 'string', 'x-mcp-header': 'a\r\nb'}}}],
    ['empty', {properties: {a: {type: 'string', 'x-mcp-header': ''}}}],
    ['no text', {properties: {a: {type: 'string', 'x-mcp-header': 5}}}],
    ['a number', {properties: {a: {type: 'number', 'x-mcp-header': 'A'}}}],
    ['an object', {properties: {a: {type: 'object', 'x-mcp-header': 'A'}}}],
    ['several types', {properties: {a: {type: ['string', 'null'], 'x-mcp-header': 'A'}}}],
    ['no type', {properties: {a: {'x-mcp-header': 'A'}}}],
    [
      'twice but for the case',
      {properties: {a: {type: 'string', 'x-mcp-header': 'A'}, b: {type: 'string', 'x-mcp-header': 'a'}}},
    ],
    ...['items', 'additionalProperties', 'not', 'if', 'then', 'else', 'contains', 'propertyNames'].map(
      key => [key, {properties: {a: {[key]: text}}}] as const,
    ),
    ...['oneOf', 'anyOf', 'allOf', 'prefixItems', 'items'].map(
      key => [`${key} of several`, {[key]: [{type: 'object'}, text]}] as const,
    ),
    ...['$defs', 'definitions', 'patternProperties', 'dependentSchemas'].map(
      key => [key, {[key]: {a: {properties: {b: text}}}}] as const,
    ),
  ]
  test.each(invalid)('invalid: %s', (_name, schema) => {
    expect(paramHeadersOf(schema as never)).toMatchObject({valid: false, headers: [], fault: expect.any(String)})
  })

  test('10,000 properties are read', () => {
    const properties = Object.fromEntries(Array.from({length: 10_000}, (_, at) => [`p${at}`, {type: 'string'}]))
    expect(paramHeadersOf({properties}).valid).toBe(true)
  })
})

describe('parameter headers', () => {
  const DECLARED = [REGION, COUNT, FORCE]

  /** Arguments as JSON, and the headers that they have. */
  const cases: readonly (readonly [args: string, headers: Record<string, string>])[] = [
    ['{"region":"köln"}', {'mcp-param-region': '=?base64?a8O2bG4=?='}],
    ['{"region":""}', {'mcp-param-region': '=?base64??='}],
    ['{"region":null}', {}],
    ['{}', {}],
    ['{"deep":{"count":1}}', {'mcp-param-count': '1'}],
    ['{"deep":{"count":1.0}}', {'mcp-param-count': '1'}],
    ['{"deep":{"count":1e0}}', {'mcp-param-count': '1'}],
    ['{"deep":{"count":-0}}', {'mcp-param-count': '0'}],
    ['{"deep":{"count":9007199254740991}}', {'mcp-param-count': '9007199254740991'}],
    ['{"deep":{"count":-9007199254740991}}', {'mcp-param-count': '-9007199254740991'}],
    ['{"deep":{"count":9007199254740992}}', {}],
    ['{"deep":{"count":1e400}}', {}],
    ['{"deep":{"count":{"a":1}}}', {}],
    ['{"deep":[1]}', {}],
    ['{"force":true}', {'mcp-param-x-force': 'true'}],
    ['{"force":false}', {'mcp-param-x-force': 'false'}],
    ['{"__proto__":{"region":"a"}}', {}],
  ]
  test.each(cases)('21: arguments %s have the headers %j, and agree with them', (args, headers) => {
    expect(paramHeaderValues(DECLARED, JSON.parse(args))).toEqual(headers)
    expect(() => checkParamHeaders(DECLARED, call(`{"name":"x","arguments":${args}}`), headers)).not.toThrow()
  })

  const refused: readonly (readonly [args: string, headers: Record<string, string>, words: RegExp])[] = [
    ['{"region":"a"}', {}, /missing/],
    ['{"region":"a"}', {'mcp-param-region': 'b'}, /says b/],
    ['{"region":"a"}', {'mcp-param-region': 'A'}, /says A/],
    ['{"region":"a"}', {'mcp-param-region': '=?base64?*?='}, /Base64/],
    ['{"region":"köln"}', {'mcp-param-region': 'koeln'}, /says koeln/],
    ['{"region":"1"}', {'mcp-param-region': '1.0'}, /says 1\.0/],
    ['{"deep":{"count":1}}', {'mcp-param-count': '2'}, /says 2/],
    ['{"deep":{"count":1}}', {'mcp-param-count': '1x'}, /says 1x/],
    ['{"deep":{"count":1}}', {'mcp-param-count': '0x1'}, /says 0x1/],
    ['{"deep":{"count":9007199254740991}}', {'mcp-param-count': '9007199254740993'}, /says/],
    ['{"force":true}', {'mcp-param-x-force': 'True'}, /says True/],
    ['{"force":true}', {'mcp-param-x-force': '1'}, /says 1/],
  ]
  test.each(refused)('22: arguments %s and headers %j are 400 -32020', (args, headers, words) => {
    const run = () => checkParamHeaders(DECLARED, call(`{"name":"x","arguments":${args}}`), headers)
    expect(run).toThrow(expect.objectContaining({http: 400, code: -32020, id_text: '"q"'}))
    expect(run).toThrow(words)
  })

  test.each(['1', '1.0', '1e0', '10e-1', '=?base64?MS4w?='])('22: the integer 1 agrees with %s', value => {
    const message = call('{"name":"x","arguments":{"deep":{"count":1.0}}}')
    expect(() => checkParamHeaders(DECLARED, message, {'mcp-param-count': value})).not.toThrow()
  })

  test('22: a header without its argument is of no account', () => {
    const headers = {'mcp-param-region': 'a', 'mcp-param-other': 'b'}
    expect(() => checkParamHeaders(DECLARED, call('{"name":"x"}'), headers)).not.toThrow()
  })
})
