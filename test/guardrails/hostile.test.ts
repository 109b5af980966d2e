import {describe, expect, test} from 'vitest'
import {embeddedJson, fences} from '../../src/guardrails/embedded-json.ts'
import type {Json} from '../../src/guardrails/json.ts'
import {CHECKS} from '../../src/guardrails/registry.ts'
import {answered, checkOf, run, said} from './support.ts'

const MB = 1024 * 1024
const fill = (part: string) => part.repeat(Math.ceil(MB / part.length)).slice(0, MB)

/** A megabyte each, made to be looked at again and again by whoever is careless. */
const HOSTILE: Readonly<Record<string, string>> = {
  'one letter': fill('a'),
  'letters and then another': `${fill('a').slice(1)}!`,
  braces: fill('{'),
  'braces and quotes': fill('{"'),
  'deep JSON': `${'{"a":'.repeat(MB / 8)}1${'}'.repeat(MB / 8)}`,
  'deep lists': '['.repeat(MB / 2) + ']'.repeat(MB / 2),
  fences: fill('```'),
  'fences of JSON': fill('```json\n{}\n```\n'),
  'backslashes in a string': `{"${fill('\\')}`,
  'addresses of pages': fill('https://a.example/1 '),
  'one long address': `https://${fill('a.')}`,
  'spaces and then a letter': `${fill(' ')}x`,
  'line breaks': fill('\n'),
  'half a pair': fill('\ud83d'),
}

/** Parameters with which each check has something to do. */
const PARAMETERS: Readonly<Record<string, Record<string, unknown>>> = {
  'default.regexMatch': {rule: '^(([a-z{"])+.)+[A-Z]([a-z])+$', redact: true},
  'default.regexReplace': {rule: '/(a|aa)+$/gi'},
  'default.contains': {words: ['aaaaaaaab', '{{{{}', '```x']},
  'default.endsWith': {suffix: 'zz'},
  'default.jsonSchema': {schema: {type: 'object', additionalProperties: {$ref: '#'}, propertyNames: {pattern: '^(a+)+$'}}},
  'default.jsonKeys': {keys: ['a', 'zz']},
  'default.containsCode': {format: 'JSON'},
  'default.modelWhitelist': {models: ['m']},
  'default.modelRules': {rules: {defaults: ['m']}},
  'default.requestParametersCheck': {tools: {blockedTypes: ['x']}},
  'default.requiredMetadataKeys': {metadataKeys: ['k']},
  'default.requiredMetadataKeyValuePairs': {metadataPairs: {k: '^(a+)+$'}, matchType: 'regex'},
  'default.jwt': {jwks: {keys: []}},
  'default.webhook': {webhookURL: 'https://guard.example.com/'},
  'default.log': {logURL: 'https://log.example.com/'},
  'default.addPrefix': {prefix: 'p'},
}

describe.each(CHECKS.map(check => [check.id, check] as const))('%s', (id, check) => {
  test.each(Object.keys(HOSTILE))('ends on a megabyte of %s', async name => {
    const text = HOSTILE[name]!
    const side = check.sides[0]!
    const outcome = await run([{[id]: PARAMETERS[id] ?? {}}], {
      side,
      body: side === 'input' ? said(text) : answered(text),
      metadata: {k: text},
      headers: {authorization: text},
      model: text,
      impatient: true,
    })
    const result = checkOf(outcome)
    expect(typeof result.verdict).toBe('boolean')
    expect(JSON.stringify(result).length).toBeLessThan(10_000)
    // HTTP is asked within bounds, whatever the text says.
    expect(outcome.made.asked.length).toBeLessThanOrEqual(50)
  })
})

describe('JSON in a text is looked for in one pass', () => {
  test.each(Object.keys(HOSTILE))('%s: what is parsed is no more than the text', name => {
    const text = HOSTILE[name]!
    const parse = JSON.parse
    let parsed = 0
    JSON.parse = (source: string) => {
      parsed += source.length
      return parse(source)
    }
    try {
      embeddedJson(text)
    } finally {
      JSON.parse = parse
    }
    expect(parsed).toBeLessThanOrEqual(text.length)
    expect(fences(text).reduce((sum, {tag, body}) => sum + tag.length + body.length, 0)).toBeLessThanOrEqual(text.length)
  })

  test('and is found behind what only begins like it', () => {
    const text = 'He said {"oh\nthen {not json} and {"a": "}"} or {"b": {"c": []}} {'
    expect(embeddedJson(text)).toEqual([{a: '}'}, {b: {c: []}}])
  })
})

test('a body of many messages, and one that is deep, are walked once', async () => {
  const many = {messages: Array.from({length: 20_000}, () => ({role: 'user', content: 'a secret'}))}
  const outcome = await run([{regexReplace: {rule: '/secret/g', redactText: 's'}}], {body: many})
  expect(outcome.view.body).toEqual({messages: many.messages.map(() => ({role: 'user', content: 'a s'}))})
  let deep: Json = 'end'
  for (let level = 0; level < 5000; level++) deep = {content: [deep]}
  expect(checkOf(await run([{regexReplace: {rule: '/end/g'}}], {body: {messages: [deep]}})).verdict).toBe(true)
})

describe('keys of a prototype are never read', () => {
  const NAMES = ['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'valueOf']

  test.each(NAMES)('%s', async name => {
    const named = (value: unknown) => JSON.parse(`{${JSON.stringify(name)}:${JSON.stringify(value)}}`) as Record<string, unknown>
    const verdicts = async (guardrail: object, side: 'input' | 'output' = 'input') =>
      checkOf(await run([guardrail], {side, body: side === 'input' ? said('x') : answered('{"x":1}')})).verdict
    expect(await verdicts({requiredMetadataKeys: {metadataKeys: [name]}})).toBe(false)
    expect(await verdicts({jsonKeys: {keys: [name]}}, 'output')).toBe(false)
    expect(await verdicts({jsonSchema: {schema: {required: [name]}}}, 'output')).toBe(false)
    expect(await verdicts({requestParametersCheck: {params: {values: named({allowedValues: [1]})}}})).toBe(true)
    expect(await verdicts({requestParametersCheck: {params: {blockedKeys: [name]}}})).toBe(true)
    expect(await verdicts({modelRules: {rules: {defaults: ['other'], metadata: named({x: ['model-a']})}}})).toBe(false)
    await expect(run([named({})], {body: said('x')})).rejects.toThrow('There is no check')
    await expect(run([{wordCount: named(1)}], {body: said('x')})).rejects.toThrow()
    const body = JSON.parse(
      `{${JSON.stringify(name)}:{"messages":[{"content":"secret"}]},"messages":[{"role":"user","content":"x"}]}`,
    ) as Json
    const outcome = await run([{regexReplace: {rule: '/secret/g'}}, {addPrefix: {prefix: 'p '}}], {body})
    expect(JSON.stringify(outcome.view.body)).toBe(JSON.stringify(body).replace('"x"', '"p x"'))
    expect(({} as Record<string, unknown>).messages).toBeUndefined()
  })
})
